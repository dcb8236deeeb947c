/** The language status item, and what the server tells about itself. */

import * as vscode from "vscode";
import { counted, type DocumentStatus, type FolderStatus, shown, type CallerStatus } from "./pure/statusText";
import { type Attach, SELECTOR, type Server } from "./server";

interface StatusMessage {
  readonly folders: FolderStatus[];
  readonly caller?: CallerStatus;
}

export class Status implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem("callground.status", SELECTOR);
  private readonly callerItem = vscode.languages.createLanguageStatusItem("callground.caller", SELECTOR);
  private readonly disposables: vscode.Disposable[];
  private folders: FolderStatus[] = [];
  private readonly documents = new Map<string, DocumentStatus>();

  constructor(private readonly server: Server) {
    this.item.name = "callground";
    this.item.command = { title: "Problems", command: "callground.showProblems" };
    this.callerItem.name = "callground suggestions";
    this.callerItem.severity = vscode.LanguageStatusSeverity.Information;
    this.callerItem.text = "callground suggestions: off";
    this.callerOf(undefined);
    this.disposables = [
      this.item,
      this.callerItem,
      server.onDidChange(() => {
        if (server.state !== "running") {
          this.folders = [];
          this.documents.clear();
        }
        this.refresh();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => {
        this.refresh();
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.documents.delete(document.uri.toString());
      }),
    ];
    this.refresh();
  }

  readonly attach: Attach = (client) =>
    vscode.Disposable.from(
      client.onNotification("callground/status", (message: StatusMessage) => {
        this.folders = message.folders;
        this.callerOf(message.caller);
        this.refresh();
      }),
      client.onNotification("callground/documentStatus", (message: DocumentStatus) => {
        this.documents.set(vscode.Uri.parse(message.uri).toString(), message);
        this.refresh();
      }),
    );

  /** The counts of a document, in words. */
  countsOf(uri: vscode.Uri): string | undefined {
    const found = this.documents.get(uri.toString());
    return found && counted(found);
  }

  private callerOf(caller: CallerStatus | undefined): void {
    // The item is only there while there is something to do about it.
    const off = caller?.available === false;
    this.callerItem.selector = off ? SELECTOR : { scheme: "callground-nothing" };
    this.callerItem.detail = caller?.message;
    this.callerItem.command = off
      ? { title: "How to install", command: "callground.showLogs", tooltip: caller.message }
      : undefined;
  }

  private refresh(): void {
    const active = vscode.window.activeTextEditor?.document;
    const document = active && this.documents.get(keyOf(active));
    const view = shown(this.server.state, this.folders, document, this.server.wait);
    this.item.text = `callground: ${view.text}`;
    this.item.detail = view.detail;
    this.item.busy = view.busy;
    this.item.severity = {
      information: vscode.LanguageStatusSeverity.Information,
      warning: vscode.LanguageStatusSeverity.Warning,
      error: vscode.LanguageStatusSeverity.Error,
    }[view.severity];
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }
}

/** The server counts a notebook as one document. */
function keyOf(document: vscode.TextDocument): string {
  if (document.uri.scheme !== "vscode-notebook-cell") {
    return document.uri.toString();
  }
  const notebook = vscode.workspace.notebookDocuments.find((each) =>
    each.getCells().some((cell) => cell.document === document),
  );
  return (notebook?.uri ?? document.uri).toString();
}
