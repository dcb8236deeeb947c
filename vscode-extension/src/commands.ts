/** The commands of the palette. */

import * as vscode from "vscode";
import type { Changes } from "./changes";
import { debugInformation } from "./debugInformation";
import type { Place } from "./pure/overlap";
import type { Server } from "./server";
import type { Signals } from "./signals";
import type { Status } from "./status";
import type { Suggestions } from "./suggestions";

const EXPLANATION = "callground-explanation";

/** What a model might have written: one call that does not exist, one keyword that does not. */
const SAMPLE = `"""A sample: two calls that do not exist, as an assistant might write them."""

import json
import shutil


def save(settings: dict[str, str], path: str) -> None:
    shutil.copy(path, path + ".bak", overwrite=True)
    with open(path, "w") as file:
        file.write(json.dump_string(settings))
`;

export interface Parts {
  readonly context: vscode.ExtensionContext;
  readonly server: Server;
  readonly log: vscode.LogOutputChannel;
  readonly status: Status;
  readonly signals: Signals;
  readonly changes: Changes;
  readonly suggestions: Suggestions;
  /** Milliseconds from the bundle's first line to the end of the activation: of the clock, of the processor. */
  activation: readonly [number, number];
}

export function registerCommands(parts: Parts): vscode.Disposable {
  const { server, log, status, signals, changes } = parts;
  const explanations = new Explanations();
  const commands: Record<string, (...given: never[]) => unknown> = {
    checkFile: () => checkFile(server, status),
    checkSelection: () => checkSelection(server),
    checkChangesSinceHead: () => changes.check(),
    fixAll: () =>
      vscode.commands.executeCommand("editor.action.codeAction", {
        kind: "source.fixAll.callground",
        apply: "first",
      }),
    markAi: () => {
      mark(signals, "ai");
    },
    markMine: () => {
      mark(signals, "human");
    },
    explainCall: () => explanations.explain(server),
    showProblems: () => vscode.commands.executeCommand("workbench.panel.markers.view.focus"),
    openSample: async () => {
      const document = await vscode.workspace.openTextDocument({ language: "python", content: "" });
      const editor = await vscode.window.showTextDocument(document);
      const start = new vscode.Position(0, 0);
      // As an assistant puts it in, for that is what is checked.
      await editor.edit((edit) => {
        edit.insert(start, SAMPLE);
      });
      signals.didInsert(
        document,
        new vscode.Range(start, document.positionAt(SAMPLE.length)),
        "ai",
        "sample",
      );
    },
    restart: () => server.restart("asked for by the command"),
    showLogs: () => {
      log.show();
    },
    showServerTrace: () => {
      server.trace.show();
    },
    copyDebugInformation: async () => {
      await vscode.env.clipboard.writeText(debugInformation(parts));
      vscode.window.setStatusBarMessage("callground: debug information copied", 5000);
    },
    // For other extensions: they know best what their assistant has inserted.
    reportInsertion: (uri: vscode.Uri, range: Place, origin: string, tool: string) => {
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
      if (document !== undefined) {
        signals.didInsert(document, range, origin, tool);
      }
    },
  };
  const registered = Object.entries(commands).map(([name, run]) =>
    vscode.commands.registerCommand(`callground.${name}`, run),
  );
  return vscode.Disposable.from(explanations, ...registered);
}

interface Found {
  readonly complete: boolean;
  readonly sites: { readonly grounded: number; readonly findings: number; readonly abstained: number };
  readonly findings: readonly { readonly message: string; readonly range: readonly number[] }[];
}

async function verify(server: Server, document: vscode.TextDocument): Promise<Found | undefined> {
  const uri = document.uri.toString();
  const answer = await server.running?.command<Record<string, Found>>("callground.verify", uri);
  return Object.values(answer ?? {})[0];
}

async function checkFile(server: Server, status: Status): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  // Every finding is shown from here on, whatever the scope.
  await server.running?.command("callground.checkFile", document?.uri.toString());
  const found = document && (await verify(server, document));
  if (document === undefined || found === undefined) {
    vscode.window.setStatusBarMessage("callground: this file could not be checked", 10_000);
    return;
  }
  const { grounded, findings, abstained } = found.sites;
  const counts =
    status.countsOf(document.uri) ?? `${grounded} grounded, ${findings} ungrounded, ${abstained} abstained`;
  vscode.window.setStatusBarMessage(`callground: ${counts}`, 10_000);
  if (findings > 0) {
    await vscode.commands.executeCommand("callground.showProblems");
  }
}

async function checkSelection(server: Server): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const found = editor && (await verify(server, editor.document));
  if (editor === undefined || found === undefined) {
    return;
  }
  const { start, end } = editor.selection;
  // Lines count from 1 there.
  const inside = found.findings.filter(
    ({ range }) => (range[0] ?? 0) - 1 <= end.line && (range[2] ?? 0) - 1 >= start.line,
  );
  const first = inside[0];
  vscode.window.setStatusBarMessage(
    first === undefined
      ? "callground: nothing ungrounded in the selection"
      : `callground: ${inside.length} ungrounded in the selection: ${first.message}`,
    15_000,
  );
  if (first !== undefined) {
    const line = (first.range[0] ?? 1) - 1;
    editor.revealRange(new vscode.Range(line, 0, line, 0));
  }
}

function mark(signals: Signals, origin: string): void {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    return;
  }
  // Without a selection the line is meant.
  const ranges = editor.selections.map((selection) =>
    selection.isEmpty ? editor.document.lineAt(selection.active.line).range : selection,
  );
  signals.mark(editor.document, ranges, origin);
}

/** "Explain this call": text beside the editor. */
class Explanations implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(EXPLANATION, this);
  private text = "";
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(): string {
    return this.text;
  }

  async explain(server: Server): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      return;
    }
    const text = await server.running?.command<string>(
      "callground.explain",
      editor.document.uri.toString(),
      editor.selection.active.line,
    );
    this.text = text ?? "This call could not be explained; see the logs.";
    const uri = vscode.Uri.parse(`${EXPLANATION}:How this call was decided`);
    this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, {
      viewColumn: vscode.ViewColumn.Beside,
      preserveFocus: true,
      preview: true,
    });
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }
}
