// The extension in one file, the language client in another that is loaded when a server is started.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts", "src/client.ts"],
  outdir: "dist",
  bundle: true,
  minify: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "./client.js"],
  supported: { "dynamic-import": false },
  // The clock that activation is measured by: loading this file counts.
  banner: {
    js: "var bundleStarted = performance.now(), bundleProcessor = ((t) => (t.user + t.system) / 1000)(process.cpuUsage());",
  },
  legalComments: "linked",
  logLevel: "warning",
});
