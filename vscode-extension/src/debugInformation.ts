/** What a bug report needs; nothing of the code. */

import * as vscode from "vscode";
import type { Parts } from "./commands";

export function debugInformation({ context, server, suggestions, activation }: Parts): string {
  const manifest = context.extension.packageJSON as { version: string };
  const result = server.running?.initializeResult;
  const settings = vscode.workspace.getConfiguration("callground");
  const lines = [
    `callground extension ${manifest.version}, ${vscode.env.appName} ${vscode.version}, ${process.platform} ${process.arch}`,
    `server: ${server.state}, version ${result?.serverInfo?.version ?? "unknown"}`,
    `started as: ${[server.found?.command ?? "nothing", ...(server.found?.parameters ?? [])].join(" ")}`,
    `because: ${server.found?.why ?? "it was not found"}`,
    `last problem: ${server.lastProblem === "" ? "none" : server.lastProblem}`,
    `activation: ${activation[0].toFixed(1)} ms, ${activation[1].toFixed(1)} ms of the processor`,
    `position encoding: ${result?.capabilities.positionEncoding ?? "utf-16"}`,
    `workspace: ${vscode.workspace.isTrusted ? "trusted" : "not trusted"}, ${vscode.workspace.workspaceFolders?.length ?? 0} folders`,
    `inline suggestions: ${result?.capabilities.inlineCompletionProvider ? "offered" : "not offered by this server"}, ${suggestions.accepted} accepted`,
    `settings: ${JSON.stringify(settings)}`,
  ];
  return lines.join("\n") + "\n";
}
