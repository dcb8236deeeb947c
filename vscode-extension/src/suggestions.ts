/** Inline suggestions of the server, where it has any: switched by a setting, counted and marked when accepted. */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

export const ACCEPTED = "callground.suggestionAccepted";

type Next = Parameters<NonNullable<Middleware["provideInlineCompletionItems"]>>[4];

export type Report = (uri: vscode.Uri, range: vscode.Range, origin: string, tool: string) => void;

export class Suggestions implements vscode.Disposable {
  accepted = 0;
  private readonly command: vscode.Disposable;

  constructor(
    private readonly report: Report,
    private readonly run: (command: vscode.Command) => Promise<unknown>,
  ) {
    this.command = vscode.commands.registerCommand(
      ACCEPTED,
      async (uri: vscode.Uri, start: vscode.Position, text: string, then?: vscode.Command) => {
        this.accepted += 1;
        const lines = text.split(/\r\n|\r|\n/);
        const last = lines[lines.length - 1] ?? "";
        const end = new vscode.Position(
          start.line + lines.length - 1,
          lines.length === 1 ? start.character + last.length : last.length,
        );
        this.report(uri, new vscode.Range(start, end), "ai", "callground");
        if (then !== undefined) {
          await this.run(then);
        }
      },
    );
  }

  async provide(
    document: vscode.TextDocument,
    position: vscode.Position,
    context: vscode.InlineCompletionContext,
    token: vscode.CancellationToken,
    next: Next,
  ): Promise<vscode.InlineCompletionItem[]> {
    const wanted = vscode.workspace.getConfiguration("callground", document.uri);
    if (!wanted.get<boolean>("inlineSuggestions.enabled", true)) {
      return [];
    }
    const answer = (await next(document, position, context, token)) ?? [];
    const items = Array.isArray(answer) ? answer : answer.items;
    for (const item of items) {
      const text = typeof item.insertText === "string" ? item.insertText : item.insertText.value;
      const start = item.range?.start ?? position;
      item.command = {
        title: "callground",
        command: ACCEPTED,
        arguments: [document.uri, start, text, item.command],
      };
    }
    return items;
  }

  dispose(): void {
    this.command.dispose();
  }
}
