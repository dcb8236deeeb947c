// What a person does with the extension.  Each scenario has a window of its own.
import fs from "node:fs";
import path from "node:path";
import { check } from "./workbench.mjs";

const BLOCK =
  'def shout(text):\n    note = "😀"; chosen = tools.invented(text)\n    return tools.real(text, colour="red")\n';

/** The first minutes: an assistant's insertion, squiggles, hover, quick fix, no problems. */
export async function first(w, { root }, step) {
  const file = path.join(root, "app.py");
  step("opened", await w.open(root, file));
  await w.ask("trusted");
  step("probe answers");
  await w.findings(file, []);
  await w.languageStatusSays(/callground: \d+ grounded, 0 ungrounded/);
  step("first result", Date.now() - w.opened);
  const lines = (await w.ask("text", { file })).split("\n").length - 1;
  const inserted = Date.now();
  await w.ask("insert", { file, line: lines, text: `\n\n${BLOCK}`, report: true });
  const found = await w.findings(file, [
    ["invented", "unknown-member"],
    ["colour", "unknown-keyword"],
  ]);
  step("findings after the insertion", Date.now() - inserted);
  check(
    found.every((each) => each.severity === 0),
    "errors are errors",
  );
  await w.squiggleUnder("invented");
  await w.squiggleUnder("colour");
  check((await w.squiggles()).length === 2, "two squiggles and no more");
  check(/(Errors: 2|2 Errors)/.test(await w.problems()), await w.problems());
  await w.languageStatusSays(/2 ungrounded/);

  const line = await w.cursor(file, "invented");
  const hovers = await w.ask("hover", { file, line, character: 33 });
  check(hovers.join("").includes("unknown-member"), `hover: ${hovers.join("")}`);
  const box = await w.box("invented");
  await w.page.mouse.move((box[0] + box[1]) / 2, box[2] + 8);
  const hover = w.page.locator(".monaco-hover:visible", { hasText: "invented" }).first();
  await hover.waitFor();
  await w.shot("hover");
  const said = await hover.innerText();
  check(said.includes("callground"), said);
  await w.page.mouse.move(5, 5);
  await w.page.keyboard.press("Escape");
  step("hover");

  await w.until("marks in the gutter", () =>
    w.page.locator('.cgmr[class*="TextEditorDecorationType"]').count(),
  );
  await w.shot("marks");
  await w.cursor(file, "invented");
  const menu = await w.quickFixes();
  const titles = await menu.innerText();
  step("quick fixes", titles);
  check(titles.includes("invent"), titles);
  await w.shot("quick-fix");
  await w.page.keyboard.press("Enter");
  await w.findings(file, [["colour", "unknown-keyword"]]);
  step("fixed", (await w.ask("text", { file })).split("\n")[line]);
  await w.cursor(file, "colour");
  await w.quickFixes();
  await w.page.keyboard.press("Enter");
  await w.findings(file, []);
  await w.until("No Problems", async () => /No Problems/.test((await w.problems()) ?? ""));
  await w.page.keyboard.press("Control+s");
  await w.until("saved", () => /invented_style\(text\)[^]*color="red"/.test(fs.readFileSync(file, "utf-8")));
  step("no problems");
}

/** Fix all, marks by hand, the commands that speak. */
export async function commands(w, { root }, step) {
  const file = path.join(root, "app.py");
  await w.open(root, file);
  await w.languageStatusSays(/\d+ grounded/);
  const lines = (await w.ask("text", { file })).split("\n").length - 1;
  await w.ask("insert", { file, line: lines, text: "tools.inventd(1)\ntools.real(1)\ntools.invnted(2)\n" });
  await w.findings(file, [
    ["inventd", "unknown-member"],
    ["invnted", "unknown-member"],
  ]);

  await w.cursor(file, "inventd");
  await w.palette("callground: Explain This Call");
  await w.until("an explanation", async () =>
    (await w.ask("visible")).some((text) => text.includes("inventd") && text.includes("ungrounded")),
  );
  await w.shot("explain");
  step("explained");

  await w.palette("callground: Copy Debug Information");
  const copied = await w.until("the clipboard", async () => {
    const text = await w.ask("clipboard");
    return text.includes("callground extension") && text;
  });
  step("debug information", copied);
  check(/server: running, version \d/.test(copied), copied);
  check(/because: bundled/.test(copied), copied);

  await w.palette("callground: Check This File");
  await w.page
    .locator(".statusbar-item", { hasText: /callground: .*ungrounded/ })
    .first()
    .waitFor();
  await w.page.locator(".markers-panel-container").first().waitFor();
  step("checked");
  await w.palette("callground: Check What Changed since HEAD");
  await w.page
    .locator(".statusbar-item", { hasText: /ungrounded in the changed lines of 2 files/ })
    .waitFor();
  const closed = path.join(root, "closed.py");
  const elsewhere = await w.ask("diagnostics", { file: closed });
  check(elsewhere.length === 1 && elsewhere[0].code === "unknown-member", JSON.stringify(elsewhere));
  await w.shot("changes");
  step("changes");

  await w.cursor(file, "inventd");
  await w.palette("callground: Mark the Selection as Written by AI");
  const marks = () => w.page.locator('.cgmr[class*="TextEditorDecorationType"]').count();
  await w.until("a mark", marks);
  await w.ask("set", { key: "callground.decorations", value: "ruler" });
  await w.until("no mark in the gutter", async () => (await marks()) === 0);
  await w.ask("set", { key: "callground.decorations", value: undefined });
  await w.until("a mark again", marks);
  await w.palette("callground: Mark the Selection as Mine");
  await w.until("no mark", async () => (await marks()) === 0);
  step("marked by hand");

  await w.palette("callground: Fix All Certain in This File");
  await w.findings(file, []);
  step("fixed all", (await w.ask("text", { file })).split("\n").slice(-4));
}

/** An inline suggestion of another extension is accepted. */
export async function suggestion(w, { root }, step) {
  const file = path.join(root, "app.py");
  await w.open(root, file);
  await w.languageStatusSays(/\d+ grounded/);
  await w.cursor(file, "import");
  await w.page.keyboard.press("Control+End");
  await w.page.keyboard.type("answer = ", { delay: 60 });
  await w.page.locator('[class*="ghost-text"]').first().waitFor();
  await w.shot("ghost-text");
  await w.page.keyboard.press("Tab");
  await w.findings(file, [["suggested", "unknown-member"]]);
  step("finding in an accepted suggestion");
  // Where the editor tells the source of the edit (this one does), it is marked without being asked.
  await w.until("a mark", () => w.page.locator('.cgmr[class*="TextEditorDecorationType"]').count());
  await w.shot("accepted");
}

/** Settings take effect at once; somebody else's error hides our squiggle, not our fix. */
export async function settings(w, { root }, step) {
  const file = path.join(root, "app.py");
  await w.open(root, file);
  await w.languageStatusSays(/\d+ grounded/);
  await w.ask("insert", { file, line: 2, text: "tools.inventd(1)\n" });
  await w.findings(file, [["inventd", "unknown-member"]]);
  await w.ask("set", { key: "callground.severity", value: { "unknown-member": "warning" } });
  await w.squiggleUnder("inventd", "warning");
  step("a warning");
  await w.ask("set", { key: "callground.severity", value: undefined });
  await w.squiggleUnder("inventd", "error");

  const [own] = await w.findings(file, [["inventd", "unknown-member"]]);
  await w.ask("mark", { file, range: own.range });
  await w.findings(file, []);
  check((await w.squiggles()).length === 1, "one squiggle, not two");
  await w.cursor(file, "inventd");
  const menu = await w.quickFixes();
  check((await menu.innerText()).includes("invented"), await menu.innerText());
  await w.page.keyboard.press("Escape");
  step("hidden behind another's error, fix kept");
  await w.ask("set", { key: "callground.hideDuplicates", value: false });
  await w.findings(file, [["inventd", "unknown-member"]]);
  await w.ask("set", { key: "callground.hideDuplicates", value: undefined });
  await w.findings(file, []);
  await w.ask("unmark");
  await w.findings(file, [["inventd", "unknown-member"]]);
  step("shown again");
}

/** The server is killed: it says so, comes back, and finds the same. */
export async function killed(w, { root, bundled }, step) {
  const file = path.join(root, "app.py");
  await w.open(root, file);
  await w.languageStatusSays(/\d+ grounded/);
  await w.ask("insert", { file, line: 2, text: "tools.inventd(1)\n" });
  await w.findings(file, [["inventd", "unknown-member"]]);
  const pids = () => w.ask("servers", { bundled });
  const before = await pids();
  check(before.length === 1, `servers: ${before}`);
  process.kill(before[0], "SIGKILL");
  await w.languageStatusSays(/starts again in 1 s|starting/);
  step("says so");
  await w.until("another server", async () => (await pids()).some((pid) => !before.includes(pid)));
  await w.languageStatusSays(/1 ungrounded/);
  await w.findings(file, [["inventd", "unknown-member"]]);
  const said = await w.notifications();
  check(said.length === 0, `something popped up: ${said.join(" | ")}`);
  step("back");
  await w.palette("callground: Restart the Server");
  await w.languageStatusSays(/1 ungrounded/);
  await w.findings(file, [["inventd", "unknown-member"]]);
  step("restarted by hand");
}

/** Two folders, each with its own modules and settings. */
export async function folders(w, { workspace, one, two }, step) {
  const files = [path.join(one, "app.py"), path.join(two, "app.py")];
  await w.open(workspace, files[0]);
  await w.findings(files[0], [["only_two", "unknown-member"]]);
  await w.ask("show", { file: files[1] });
  await w.findings(files[1], [["only_one", "unknown-member"]]);
  const [found] = await w.findings(files[1], [["only_one", "unknown-member"]]);
  check(found.severity === 1, "the second folder's pyproject.toml says warning");
  step("each by its own folder");
}

/** Cells share a namespace. */
export async function notebook(w, { root }, step) {
  const file = path.join(root, "book.ipynb");
  await w.open(root, path.join(root, "tools.py"));
  await w.ask("notebook", { file });
  await w.page.locator(".notebookOverlay").first().waitFor();
  let seen;
  await w
    .until("the findings of the cells", async () => {
      seen = await w.ask("cells", { file });
      return JSON.stringify(seen) === JSON.stringify([[], ["invented"]]);
    })
    .catch((error) => {
      throw new Error(`${error.message}: ${JSON.stringify(seen)}`);
    });
  await w.shot("notebook");
  step("cells");
}

/** Nothing of a workspace that is not trusted is run. */
export async function restricted(w, { root, marker }, step) {
  const file = path.join(root, "app.py");
  await w.open(root, file);
  check((await w.ask("trusted")) === false, "the workspace is not trusted");
  await w.findings(file, [["invented", "unknown-member"]]);
  await w.ask("command", { id: "callground.copyDebugInformation" });
  step("debug information", await w.ask("clipboard"));
  await w.shot("restricted");
  check(
    !fs.existsSync(marker),
    `something of the workspace was run: ${fs.existsSync(marker) && fs.readFileSync(marker, "utf-8")}`,
  );
}

/** The interpreter that the Python extension names: its packages count, and it runs the server. */
export async function interpreter(w, { root, python }, step) {
  const file = path.join(root, "app.py");
  await w.open(root, file);
  await w.findings(file, [["not_there", "unknown-member"]]);
  await w.ask("command", { id: "callground.copyDebugInformation" });
  const said = await w.ask("clipboard");
  check(said.includes(`started as: ${python}`), said);
  step("debug information", said);
}

/** How long activation takes, and the first diagnostic of a warm workspace. */
export async function startup(w, { root }, step) {
  const file = path.join(root, "app.py");
  await w.open(root, file);
  const ready = Date.now();
  await w.findings(file, [["invented", "unknown-member"]]);
  step("first diagnostic after the window is ready", Date.now() - ready);
  await w.ask("command", { id: "callground.copyDebugInformation" });
  const said = await w.ask("clipboard");
  return { activation: Number(/activation: .* ([\d.]+) ms of the processor/.exec(said)[1]) };
}
