/** Activation: the parts are made and put together here.  No part sends anything off this machine. */

import * as vscode from "vscode";
import { Changes } from "./changes";
import { clientOptions, extraCapabilities, pullAgain, watchOthers } from "./clientOptions";
import { type Parts, registerCommands } from "./commands";
import { Decorations } from "./decorations";
import { Interpreters } from "./interpreter";
import { RESTART_KEYS } from "./pure/settings";
import { Server } from "./server";
import { Signals } from "./signals";
import { Status } from "./status";
import { Suggestions } from "./suggestions";
import { TraceChannel } from "./trace";

/** Set by the bundle's first line: milliseconds of the clock, and of the processor. */
declare const bundleStarted: number;
declare const bundleProcessor: number;

let running: Server | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("callground", { log: true });
  const trace = new TraceChannel();
  const interpreters = new Interpreters(log);
  const suggestions = new Suggestions(
    (uri, range, origin, tool) => {
      void vscode.commands.executeCommand("callground.reportInsertion", uri, range, origin, tool);
    },
    // The server's own command, run by the server.
    async ({ command, arguments: parameters }) =>
      server.running?.command(command, ...((parameters ?? []) as unknown[])),
  );
  const server: Server = new Server(context, interpreters, log, trace, () =>
    clientOptions(interpreters, suggestions),
  );
  running = server;
  const status = new Status(server);
  const decorations = new Decorations(context);
  const signals = new Signals(server);
  const changes = new Changes(server);
  server.attach.push(
    (client) => {
      client.registerFeature(extraCapabilities);
      return new vscode.Disposable(() => undefined);
    },
    status.attach,
    decorations.attach,
  );
  const parts: Parts = { context, server, log, status, signals, changes, suggestions, activation: [0, 0] };
  context.subscriptions.push(
    log,
    trace,
    interpreters,
    suggestions,
    server,
    status,
    decorations,
    signals,
    changes,
    watchOthers(server),
    server.onDidChange(() => {
      if (server.state === "running") {
        decorations.tellAgain((...told) => {
          signals.didInsert(...told);
        });
      }
    }),
    registerCommands(parts),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      void server.restart("the workspace is trusted now");
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (RESTART_KEYS.some((key) => event.affectsConfiguration(`callground.${key}`))) {
        void server.restart("a setting was changed");
      }
      if (event.affectsConfiguration("callground.trace.server")) {
        trace.refresh();
      }
      if (event.affectsConfiguration("callground.hideDuplicates")) {
        pullAgain(server);
      }
    }),
    interpreters.onDidChange(() => {
      // Another server may lie beside the other interpreter, and other packages count.
      void server.restart("another interpreter was selected");
    }),
  );
  void server.restart("the extension was activated");
  parts.activation = [performance.now() - bundleStarted, processorTime() - bundleProcessor];
  log.info(`activated in ${parts.activation.map((each) => each.toFixed(1)).join(" ms, processor ")} ms`);
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
