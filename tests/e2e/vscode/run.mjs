// Runs one scenario; the arguments come as JSON in $CALLGROUND_E2E, and a report goes to a file.
import fs from "node:fs";
import path from "node:path";
import * as scenarios from "./scenarios.mjs";
import { Workbench } from "./workbench.mjs";

const given = JSON.parse(process.env.CALLGROUND_E2E);
const workbench = new Workbench(given);
const report = { ok: false, steps: [] };
const began = Date.now();
const step = (name, value = null) => {
  report.steps.push([name, Date.now() - began, value]);
};
try {
  report.value = (await scenarios[given.scenario](workbench, given, step)) ?? null;
  report.ok = true;
} catch (error) {
  report.problem = error.stack;
  // No log files are written by this build of the workbench: the panel shows what there is.
  await workbench.ask("command", { id: "callground.copyDebugInformation" }).catch(() => undefined);
  report.debug = await workbench.ask("clipboard").catch(String);
  await workbench.ask("command", { id: "callground.showLogs" }).catch(() => undefined);
  await workbench.page
    ?.screenshot({ path: path.join(given.shots, `failed-${given.scenario}.png`) })
    .catch(() => undefined);
}
fs.writeFileSync(given.report, JSON.stringify(report));
await workbench.close();
process.exit(report.ok ? 0 : 1);
