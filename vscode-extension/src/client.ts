/**
 * The language client, less the part that makes an editor command of each command of the server.  A bundle of its
 * own: it is loaded when the first server is started, and activation does not wait for it.
 */

import { type DynamicFeature, LanguageClient, type StaticFeature } from "vscode-languageclient/node";

export { CloseAction, ErrorAction, RevealOutputChannelOn, TransportKind } from "vscode-languageclient/node";

const COMMANDS = "workspace/executeCommand";

export class Client extends LanguageClient {
  /** The palette's commands are ours; the server's are asked for by requests. */
  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    if ("registrationType" in feature && feature.registrationType.method === COMMANDS) {
      return;
    }
    super.registerFeature(feature);
  }

  /** To the log alone: a server that ends is told by the status item, and `Server` says when that does not help. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  /** Run a command of the server. */
  command<T>(name: string, ...parameters: unknown[]): Promise<T | null> {
    return this.sendRequest<T | null>(COMMANDS, { command: name, arguments: parameters });
  }
}
