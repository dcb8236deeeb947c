// The extension and its client in one file.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  // The clock that activation is measured by: loading this file counts.
  banner: {
    js: "var bundleStarted = performance.now(), bundleProcessor = ((t) => (t.user + t.system) / 1000)(process.cpuUsage());",
  },
  legalComments: "linked",
  logLevel: "warning",
});
