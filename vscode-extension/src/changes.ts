/** "Check what changed since HEAD": findings of files that are not open, until they are opened. */

import * as vscode from "vscode";
import type { Server } from "./server";

interface Finding {
  readonly range: vscode.Range;
  readonly severity: string;
  readonly code: string;
  readonly message: string;
}

interface Answer {
  readonly files: Readonly<Record<string, readonly Finding[]>>;
  readonly problems: readonly string[];
}

const SEVERITY: Readonly<Record<string, vscode.DiagnosticSeverity>> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  hint: vscode.DiagnosticSeverity.Hint,
};

export class Changes implements vscode.Disposable {
  private readonly collection = vscode.languages.createDiagnosticCollection("callground changes");
  private readonly listeners: vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.listeners = [
      // From here on the server itself tells what is in it.
      vscode.workspace.onDidOpenTextDocument((document) => {
        this.collection.delete(document.uri);
      }),
      server.onDidChange(() => {
        if (server.state !== "running") {
          this.collection.clear();
        }
      }),
    ];
  }

  async check(): Promise<void> {
    const client = this.server.running;
    if (client === undefined) {
      return;
    }
    const answer = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: "callground: checking what changed" },
      () => client.command<Answer>("callground.checkChanges"),
    );
    this.collection.clear();
    if (answer === null) {
      void vscode.window.showWarningMessage("callground: the changes could not be checked; see the logs.");
      return;
    }
    const open = new Set(vscode.workspace.textDocuments.map((document) => document.uri.toString()));
    let total = 0;
    for (const [text, findings] of Object.entries(answer.files)) {
      const uri = vscode.Uri.parse(text);
      total += findings.length;
      if (!open.has(uri.toString())) {
        this.collection.set(uri, findings.map(diagnostic));
      }
    }
    const files = Object.keys(answer.files).length;
    const summary =
      answer.problems.length > 0
        ? answer.problems.join("; ")
        : `${total} ungrounded in the changed lines of ${files} ${files === 1 ? "file" : "files"}`;
    vscode.window.setStatusBarMessage(`callground: ${summary}`, 15_000);
    if (total > 0) {
      await vscode.commands.executeCommand("callground.showProblems");
    }
  }

  dispose(): void {
    this.collection.dispose();
    for (const listener of this.listeners) {
      listener.dispose();
    }
  }
}

function diagnostic({ range: { start, end }, severity, code, message }: Finding): vscode.Diagnostic {
  const made = new vscode.Diagnostic(
    new vscode.Range(start.line, start.character, end.line, end.character),
    message,
    SEVERITY[severity] ?? vscode.DiagnosticSeverity.Error,
  );
  made.source = "callground";
  made.code = code;
  return made;
}
