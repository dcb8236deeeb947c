/** Marks beside the text that an assistant inserted. */

import * as vscode from "vscode";
import type { Place } from "./pure/overlap";
import type { Attach } from "./server";

interface ProvenanceMessage {
  readonly uri: string;
  readonly version: number;
  readonly ranges: readonly { readonly range: Place; readonly origin: string; readonly tool?: string }[];
}

/** Says where a range came from. */
export type Tell = (document: vscode.TextDocument, range: Place, origin: string, tool: string) => void;

const MARKED = new Set(["ai", "agent"]);

export class Decorations implements vscode.Disposable {
  private type: vscode.TextEditorDecorationType | undefined;
  private readonly ranges = new Map<string, vscode.Range[]>();
  private readonly known = new Map<string, ProvenanceMessage>();
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly context: vscode.ExtensionContext) {
    this.disposables = [
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        editors.forEach(this.draw);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.ranges.delete(document.uri.toString());
        this.known.delete(document.uri.toString());
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("callground.decorations")) {
          this.prepare();
        }
      }),
    ];
    this.prepare();
  }

  readonly attach: Attach = (client) => {
    this.ranges.clear();
    vscode.window.visibleTextEditors.forEach(this.draw);
    return client.onNotification("callground/provenance", (message: ProvenanceMessage) => {
      const key = vscode.Uri.parse(message.uri).toString();
      this.known.set(key, message);
      const marked = message.ranges.filter((each) => MARKED.has(each.origin));
      this.ranges.set(
        key,
        marked.map(
          ({ range: { start, end } }) =>
            new vscode.Range(start.line, start.character, end.line, end.character),
        ),
      );
      vscode.window.visibleTextEditors.forEach(this.draw);
    });
  };

  /** A server that was started anew is told what the one before knew of texts that are as they were. */
  tellAgain(tell: Tell): void {
    for (const document of vscode.workspace.textDocuments) {
      const message = this.known.get(document.uri.toString());
      if (message?.version === document.version) {
        for (const { range, origin, tool } of message.ranges) {
          tell(document, range, origin, tool ?? "");
        }
      }
    }
  }

  private prepare(): void {
    this.type?.dispose();
    const wanted = vscode.workspace
      .getConfiguration("callground")
      .get<string>("decorations", "gutterAndRuler");
    const icon = (theme: string) => vscode.Uri.file(this.context.asAbsolutePath(`media/gutter-${theme}.svg`));
    const gutter = wanted === "gutterAndRuler" || wanted === "gutter";
    const ruler = wanted === "gutterAndRuler" || wanted === "ruler";
    this.type = vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      ...(ruler && {
        overviewRulerColor: new vscode.ThemeColor("callground.aiRange"),
        overviewRulerLane: vscode.OverviewRulerLane.Left,
      }),
      ...(gutter && {
        gutterIconSize: "contain",
        dark: { gutterIconPath: icon("dark") },
        light: { gutterIconPath: icon("light") },
      }),
    });
    vscode.window.visibleTextEditors.forEach(this.draw);
  }

  private readonly draw = (editor: vscode.TextEditor): void => {
    if (this.type !== undefined && editor.document.languageId === "python") {
      const ranges = this.ranges.get(editor.document.uri.toString()) ?? [];
      // A range that ends at the start of a line has nothing on that line.
      editor.setDecorations(
        this.type,
        ranges.map((range) =>
          range.end.character === 0 && range.end.line > range.start.line
            ? range.with({ end: new vscode.Position(range.end.line - 1, 0) })
            : range,
        ),
      );
    }
  };

  dispose(): void {
    this.type?.dispose();
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }
}
