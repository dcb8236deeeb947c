/** What the client does differently from the client library's defaults. */

import * as vscode from "vscode";
import type { LanguageClientOptions, StaticFeature } from "vscode-languageclient/node";
import type { Interpreters } from "./interpreter";
import { withoutDuplicates } from "./pure/overlap";
import { serverSettings } from "./pure/settings";
import { SELECTOR, type Server } from "./server";
import type { Suggestions } from "./suggestions";

const SECTION = "callground";

export function clientOptions(interpreters: Interpreters, suggestions: Suggestions): LanguageClientOptions {
  return {
    documentSelector: SELECTOR,
    diagnosticPullOptions: { onChange: true, onTabs: true },
    middleware: {
      workspace: {
        configuration: (params) =>
          Promise.all(
            params.items.map(async (item) => {
              if (item.section !== SECTION) {
                return null;
              }
              const scope = item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri);
              return settingsOf(interpreters, scope);
            }),
          ),
      },
      // The whole answer each time: what is left out of it depends on others, not on our server.
      provideDiagnostics: async (document, _previous, token, next) => {
        const report = await next(document, undefined, token);
        if (report && "items" in report) {
          return { ...report, items: shownOf("uri" in document ? document.uri : document, report.items) };
        }
        return report;
      },
      handleDiagnostics: (uri, diagnostics, next) => {
        next(uri, shownOf(uri, diagnostics));
      },
      provideInlineCompletionItems: (document, position, context, token, next) =>
        suggestions.provide(document, position, context, token, next),
    },
  };
}

/** Our own messages are asked for by a capability. */
export const extraCapabilities: StaticFeature = {
  fillClientCapabilities(capabilities) {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    experimental.callground = { status: true, provenance: true };
    capabilities.experimental = experimental;
  },
  initialize: () => undefined,
  getState: () => ({ kind: "static" }),
  clear: () => undefined,
};

async function settingsOf(
  interpreters: Interpreters,
  folder: vscode.Uri | undefined,
): Promise<Record<string, unknown>> {
  const settings = vscode.workspace.getConfiguration(SECTION, folder);
  return serverSettings(
    (key) => settings.inspect(key),
    (key) => settings.get(key),
    await interpreters.selected(folder),
  );
}

function shownOf(uri: vscode.Uri, ours: vscode.Diagnostic[]): vscode.Diagnostic[] {
  if (!vscode.workspace.getConfiguration(SECTION, uri).get<boolean>("hideDuplicates", true)) {
    return ours;
  }
  const others = vscode.languages
    .getDiagnostics(uri)
    .filter((each) => each.source !== SECTION && each.severity === vscode.DiagnosticSeverity.Error);
  return withoutDuplicates(
    ours,
    others.map((each) => each.range),
  );
}

/** Somebody else's diagnostics have changed: ours may have to be shown, or not any more. */
export function watchOthers(server: Server): vscode.Disposable {
  const seen = new Map<string, string>();
  const rest = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const listener = vscode.languages.onDidChangeDiagnostics((event) => {
    for (const uri of event.uris) {
      const others = vscode.languages
        .getDiagnostics(uri)
        .filter((each) => each.source !== SECTION && each.severity === vscode.DiagnosticSeverity.Error)
        .map(
          (each) =>
            `${each.range.start.line}:${each.range.start.character}-${each.range.end.line}:${each.range.end.character}`,
        )
        .join();
      const key = uri.toString();
      if ((seen.get(key) ?? "") !== others) {
        seen.set(key, others);
        rest.add(key);
      }
    }
    if (rest.size > 0) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        rest.clear();
        pullAgain(server);
      }, 50);
    }
  });
  return new vscode.Disposable(() => {
    clearTimeout(timer);
    listener.dispose();
  });
}

/** Ask the server for the diagnostics of what is open once more. */
export function pullAgain(server: Server): void {
  const feature = server.running?.getFeature("textDocument/diagnostic");
  for (const document of vscode.workspace.textDocuments) {
    if (document.languageId === "python") {
      feature?.getProvider(document)?.onDidChangeDiagnosticsEmitter.fire();
      return;
    }
  }
}
