/** The server's life: start, restart with patience, stop. */

import * as vscode from "vscode";
import type { LanguageClientOptions } from "vscode-languageclient/node";
import type { Client } from "./client";
import { findServer, type Found, SetupError } from "./find";
import type { Interpreters } from "./interpreter";
import { Backoff } from "./pure/backoff";
import { cleanEnvironment } from "./pure/lookup";
import type { ServerState } from "./pure/statusText";
import type { TraceChannel } from "./trace";

/** The documents that are ours: files, unsaved ones, cells of notebooks. */
export const SELECTOR = ["file", "untitled", "vscode-notebook-cell"].map((scheme) => ({
  scheme,
  language: "python",
}));

/** Something that has to be there in each client anew. */
export type Attach = (client: Client) => vscode.Disposable;

export class Server implements vscode.Disposable {
  private client: Client | undefined;
  private attached: vscode.Disposable[] = [];
  private readonly backoff = new Backoff();
  private timer: NodeJS.Timeout | undefined;
  /** Starts and stops run one after the other. */
  private queue: Promise<void> = Promise.resolve();
  private generation = 0;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  readonly attach: Attach[] = [];
  state: ServerState = "stopped";
  wait = 0;
  found: Found | undefined;
  lastProblem = "";

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly interpreters: Interpreters,
    private readonly log: vscode.LogOutputChannel,
    readonly trace: TraceChannel,
    private readonly options: (server: Server) => LanguageClientOptions,
  ) {}

  /** The client, while it runs. */
  get running(): Client | undefined {
    return this.state === "running" ? this.client : undefined;
  }

  /** Start anew, whatever runs. */
  restart(why: string): Promise<void> {
    this.log.info(`start: ${why}`);
    this.backoff.reset();
    return this.enqueue(async () => {
      await this.end();
      await this.begin();
    });
  }

  stop(): Promise<void> {
    return this.enqueue(async () => {
      await this.end();
      this.become("stopped");
    });
  }

  private enqueue(job: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(job).catch((error: unknown) => {
      this.log.error(String(error));
    });
    return this.queue;
  }

  private async begin(): Promise<void> {
    this.become("starting");
    const generation = ++this.generation;
    try {
      this.found = await findServer(this.context, this.interpreters, this.log);
    } catch (error) {
      this.become("failed");
      this.complain(error instanceof SetupError ? error.message : String(error));
      return;
    }
    const { command, parameters, why } = this.found;
    this.log.info(`server (${why}): ${[command, ...parameters].join(" ")}`);
    const library = await import("./client.js");
    const client = new library.Client(
      "callground",
      "callground",
      {
        command,
        args: [...parameters],
        transport: library.TransportKind.stdio,
        options: { cwd: this.context.extensionPath, env: cleanEnvironment(process.env) },
      },
      {
        ...this.options(this),
        outputChannel: this.log,
        traceOutputChannel: this.trace.channel,
        revealOutputChannelOn: library.RevealOutputChannelOn.Never,
        initializationFailedHandler: (error) => {
          this.log.error(`the server did not start: ${String(error)}`);
          return false;
        },
        errorHandler: {
          error: (error) => {
            this.log.error(`connection: ${error.message}`);
            return { action: library.ErrorAction.Continue, handled: true };
          },
          closed: () => {
            this.ended(generation, "its connection was closed");
            return { action: library.CloseAction.DoNotRestart, handled: true };
          },
        },
      },
    );
    this.client = client;
    try {
      this.attached = this.attach.map((attach) => attach(client));
      await client.start();
    } catch (error) {
      this.ended(generation, String(error));
      return;
    }
    // It may have ended meanwhile: `ended` has changed the generation then.
    if (this.generation === generation) {
      this.backoff.started(Date.now());
      this.become("running");
    }
  }

  /** The server of a generation has gone without being asked to. */
  private ended(generation: number, why: string): void {
    if (generation !== this.generation) {
      return;
    }
    this.generation += 1;
    this.lastProblem = why;
    const delay = this.backoff.crashed(Date.now());
    if (delay === undefined) {
      this.log.error(`the server ended (${why}), once too often`);
      this.become("failed");
      this.complain("The callground server ends again and again.");
      return;
    }
    this.log.warn(`the server ended (${why}); it starts again in ${Math.round(delay / 1000)} s`);
    this.wait = delay;
    this.become("waiting");
    this.timer = setTimeout(() => {
      void this.enqueue(async () => {
        await this.end();
        await this.begin();
      });
    }, delay);
  }

  private async end(): Promise<void> {
    clearTimeout(this.timer);
    this.generation += 1;
    const client = this.client;
    this.client = undefined;
    for (const disposable of this.attached) {
      disposable.dispose();
    }
    this.attached = [];
    try {
      await client?.dispose(5000);
    } catch (error) {
      // A client that has failed cannot be stopped; its process is gone.
      this.log.debug(String(error));
    }
  }

  private become(state: ServerState): void {
    this.state = state;
    this.changed.fire();
  }

  /** The only message that comes by itself: nothing works before somebody acts. */
  private complain(message: string): void {
    this.lastProblem = message;
    this.log.error(message);
    void vscode.window
      .showErrorMessage(`callground: ${message}`, "Open Settings", "Show Logs", "Restart")
      .then((chosen) => {
        if (chosen === "Open Settings") {
          void vscode.commands.executeCommand("workbench.action.openSettings", "callground");
        } else if (chosen === "Show Logs") {
          this.log.show();
        } else if (chosen === "Restart") {
          void this.restart("asked for in the message");
        }
      });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.changed.dispose();
  }
}
