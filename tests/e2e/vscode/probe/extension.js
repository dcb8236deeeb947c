// The tests' hand inside of the extension host: requests come as files, and answers go as files.
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const folder = process.env.CALLGROUND_PROBE;
const errors = vscode.languages.createDiagnosticCollection("probe");
const uriOf = (file) => vscode.Uri.file(file);
const rangeOf = (r) => new vscode.Range(r[0], r[1], r[2], r[3]);

const actions = {
  /** An edit as an assistant's extension makes it. */
  async insert({ file, line, text, report }) {
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uriOf(file), new vscode.Position(line, 0), text);
    const done = await vscode.workspace.applyEdit(edit);
    if (report) {
      const lines = text.split("\n").length - 1;
      const range = new vscode.Range(line, 0, line + lines, 0);
      await vscode.commands.executeCommand("callground.reportInsertion", uriOf(file), range, "ai", "probe");
    }
    return done;
  },
  diagnostics({ file }) {
    const all = file
      ? vscode.languages.getDiagnostics(uriOf(file))
      : vscode.languages.getDiagnostics().flatMap(([, each]) => each);
    return all.map((d) => ({
      range: [d.range.start.line, d.range.start.character, d.range.end.line, d.range.end.character],
      message: d.message,
      source: d.source,
      severity: d.severity,
      code: typeof d.code === "object" ? d.code.value : d.code,
    }));
  },
  cells({ file }) {
    const notebook = vscode.workspace.notebookDocuments.find((each) => each.uri.fsPath === file);
    return notebook
      .getCells()
      .map((cell) =>
        vscode.languages.getDiagnostics(cell.document.uri).map((d) => cell.document.getText(d.range)),
      );
  },
  /** A file that is opened by its address alone comes as text. */
  async notebook({ file }) {
    await vscode.window.showNotebookDocument(await vscode.workspace.openNotebookDocument(uriOf(file)));
  },
  async hover({ file, line, character }) {
    const found = await vscode.commands.executeCommand(
      "vscode.executeHoverProvider",
      uriOf(file),
      new vscode.Position(line, character),
    );
    return found.flatMap((each) => each.contents.map((content) => content.value ?? content));
  },
  text({ file }) {
    return vscode.workspace.textDocuments
      .find((each) => each.uri.scheme === "file" && each.uri.fsPath === file)
      ?.getText();
  },
  async set({ key, value }) {
    await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
  },
  /** Another checker's error. */
  mark({ file, range }) {
    const made = new vscode.Diagnostic(rangeOf(range), "somebody else's error", 0);
    made.source = "other";
    errors.set(uriOf(file), [made]);
  },
  unmark() {
    errors.clear();
  },
  async show({ file }) {
    await vscode.window.showTextDocument(uriOf(file), { preview: false });
  },
  async select({ range }) {
    const editor = vscode.window.activeTextEditor;
    editor.selection = new vscode.Selection(range[0], range[1], range[2], range[3]);
    editor.revealRange(editor.selection);
  },
  async command({ id, parameters = [] }) {
    await vscode.commands.executeCommand(id, ...parameters);
  },
  async clipboard() {
    return await vscode.env.clipboard.readText();
  },
  visible() {
    return vscode.window.visibleTextEditors.map((each) => each.document.getText());
  },
  /** The processes of this window's servers: those of windows that were closed live on for a while. */
  servers({ bundled }) {
    return fs
      .readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        try {
          const parent = fs.readFileSync(`/proc/${pid}/stat`, "utf-8").split(") ")[1].split(" ")[1];
          const command = fs.readFileSync(`/proc/${pid}/cmdline`, "utf-8");
          return Number(parent) === process.pid && command.includes(bundled) && command.includes("start.py");
        } catch {
          return false;
        }
      })
      .map(Number);
  },
  trusted() {
    return vscode.workspace.isTrusted;
  },
};

exports.activate = (context) => {
  // Hosts of windows that were closed live on for a while: only the newest answers.
  const owner = path.join(folder, "owner");
  fs.writeFileSync(owner, String(process.pid));
  const mine = () => fs.existsSync(owner) && fs.readFileSync(owner, "utf-8") === String(process.pid);
  let busy = false;
  const timer = setInterval(async () => {
    const request = path.join(folder, "request.json");
    if (busy || !fs.existsSync(request) || !mine()) {
      return;
    }
    busy = true;
    let answer;
    try {
      const { action, ...given } = JSON.parse(fs.readFileSync(request, "utf-8"));
      fs.rmSync(request);
      answer = { value: (await actions[action](given)) ?? null };
    } catch (error) {
      answer = { error: String(error) };
    }
    fs.writeFileSync(path.join(folder, "answer.part"), JSON.stringify(answer));
    fs.renameSync(path.join(folder, "answer.part"), path.join(folder, "answer.json"));
    busy = false;
  }, 50);
  context.subscriptions.push(new vscode.Disposable(() => clearInterval(timer)), errors);

  // An assistant that completes a line of its own.
  context.subscriptions.push(
    vscode.languages.registerInlineCompletionItemProvider(
      { language: "python" },
      {
        provideInlineCompletionItems(document, position) {
          const before = document.lineAt(position).text.slice(0, position.character);
          return before.endsWith("answer = ")
            ? [new vscode.InlineCompletionItem("tools.suggested(1, 2)", new vscode.Range(position, position))]
            : [];
        },
      },
    ),
  );
};
