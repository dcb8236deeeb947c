/** The trace of the messages, switched by our setting instead of the channel's own log level. */

import * as vscode from "vscode";

export class TraceChannel implements vscode.Disposable {
  private readonly output: vscode.LogOutputChannel;
  private readonly level = new vscode.EventEmitter<vscode.LogLevel>();
  /** What the client writes to: it asks the channel's level whether there is anything to write. */
  readonly channel: vscode.LogOutputChannel;

  constructor() {
    const output = vscode.window.createOutputChannel("callground trace", { log: true });
    this.output = output;
    this.channel = Object.create(output, {
      logLevel: { get: () => level() },
      onDidChangeLogLevel: { value: this.level.event },
      trace: {
        value: (message: string) => {
          output.info(message);
        },
      },
      // The client disposes what it was given; ours outlives it.
      dispose: { value: () => undefined },
    }) as vscode.LogOutputChannel;
  }

  /** The setting has changed. */
  refresh(): void {
    this.level.fire(level());
  }

  show(): void {
    this.output.show();
  }

  dispose(): void {
    this.level.dispose();
    this.output.dispose();
  }
}

function level(): vscode.LogLevel {
  const wanted = vscode.workspace.getConfiguration("callground").get<string>("trace.server", "off");
  return wanted === "off" ? vscode.LogLevel.Info : vscode.LogLevel.Trace;
}
