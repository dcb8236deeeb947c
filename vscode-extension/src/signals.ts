/** What the editor knows about where text comes from, told to the local server. */

import * as vscode from "vscode";
import { editSource } from "./editReason";
import { aiTool, humanAction } from "./pure/aiSource";
import type { Place } from "./pure/overlap";
import { insertedRanges } from "./pure/ranges";
import type { Server } from "./server";

export class Signals implements vscode.Disposable {
  private readonly listener: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.listener = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document.languageId === "python" && event.contentChanges.length > 0) {
        this.changed(event);
      }
    });
  }

  private changed(event: vscode.TextDocumentChangeEvent): void {
    const { document, contentChanges, reason } = event;
    if (!vscode.workspace.getConfiguration("callground").get<boolean>("provenance.editorSignals", true)) {
      return;
    }
    // Undo and redo bring text back: the server knows where it came from.
    if (reason !== undefined) {
      return;
    }
    const source = editSource(event);
    const tool = aiTool(source);
    const origin = tool === undefined ? humanAction(source) : "ai";
    if (origin !== undefined) {
      for (const range of insertedRanges(contentChanges)) {
        this.didInsert(document, range, origin, tool ?? "");
      }
    }
  }

  /** Somebody knows where a range of an open document came from. */
  didInsert(document: vscode.TextDocument, range: Place, origin: string, tool: string): void {
    this.send("callground/didInsert", document, { range: plain(range), origin, tool });
  }

  /** A person says so. */
  mark(document: vscode.TextDocument, ranges: readonly Place[], origin: string): void {
    this.send("callground/mark", document, { ranges: ranges.map(plain), origin });
  }

  private send(method: string, document: vscode.TextDocument, params: object): void {
    const version = document.version;
    // After the client's own listener has told the edit itself.
    setTimeout(() => {
      void this.server.running
        ?.sendNotification(method, { uri: document.uri.toString(), version, ...params })
        .catch(() => undefined);
    }, 0);
  }

  dispose(): void {
    this.listener.dispose();
  }
}

function plain({ start, end }: Place): Place {
  return {
    start: { line: start.line, character: start.character },
    end: { line: end.line, character: end.character },
  };
}
