// Unit tests of what needs no editor: bundled one by one, then run by node's own runner.
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { build } from "esbuild";

const tests = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
await build({
  entryPoints: tests.map((name) => `test/${name}`),
  outdir: "dist/test",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  logLevel: "warning",
});
const files = tests.map((name) => `dist/test/${name.replace(/\.ts$/, ".js")}`);
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
