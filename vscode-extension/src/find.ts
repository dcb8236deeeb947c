/** Finds the server to start, and the interpreter for the copy inside of this extension. */

import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Interpreters } from "./interpreter";
import { chooseServer, cleanEnvironment, interpretersToTry, type Surroundings } from "./pure/lookup";

export interface Found {
  readonly command: string;
  readonly parameters: readonly string[];
  readonly why: string;
}

/** A set-up that cannot work; the message is for people. */
export class SetupError extends Error {}

export async function findServer(
  context: vscode.ExtensionContext,
  interpreters: Interpreters,
  log: vscode.LogOutputChannel,
): Promise<Found> {
  const settings = vscode.workspace.getConfiguration("callground");
  const folders = (vscode.workspace.workspaceFolders ?? []).filter((folder) => folder.uri.scheme === "file");
  const selected: string[] = [];
  for (const folder of folders.length > 0 ? folders.map((each) => each.uri) : [undefined]) {
    const interpreter = await interpreters.selected(folder);
    if (interpreter !== undefined) {
      selected.push(interpreter);
    }
  }
  const around: Surroundings = {
    trusted: vscode.workspace.isTrusted,
    path: settings.get<string>("path", ""),
    importStrategy: settings.get<string>("importStrategy", "fromEnvironment"),
    scripts: selected[0] === undefined ? undefined : path.dirname(selected[0]),
    searchPath: (process.env.PATH ?? "").split(path.delimiter),
    workspaceFolders: folders.map((folder) => folder.uri.fsPath),
    windows: process.platform === "win32",
    isExecutable,
    join: (...parts) => path.join(...parts),
  };
  const choice = chooseServer(around);
  if (choice.kind === "missing") {
    throw new SetupError(`The setting callground.path names ${choice.path}, which is no program.`);
  }
  const parameters = ["lsp", "--log-level", settings.get<string>("logLevel", "warning").toUpperCase()];
  if (choice.kind === "program") {
    return { command: choice.program, parameters, why: choice.why };
  }
  // An interpreter that is not trusted is not started, a setting of the person's own excepted.
  const tried = interpretersToTry(around, selected);
  for (const interpreter of tried) {
    if (await isNewEnough(interpreter, log)) {
      if (!around.trusted) {
        parameters.push("--untrusted");
      }
      const start = context.asAbsolutePath(path.join("bundled", "start.py"));
      return {
        command: interpreter,
        parameters: ["-I", start, ...parameters],
        why: `bundled: ${choice.why}`,
      };
    }
  }
  const looked = tried.length > 0 ? `Tried: ${tried.join(", ")}.` : "None was found.";
  throw new SetupError(`callground needs a Python 3.10 or newer to run. ${looked}`);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isNewEnough(interpreter: string, log: vscode.LogOutputChannel): Promise<boolean> {
  const probe = "import sys; sys.exit(0 if sys.version_info >= (3, 10) else 9)";
  return new Promise((resolve) => {
    execFile(
      interpreter,
      ["-I", "-S", "-c", probe],
      { timeout: 15_000, env: cleanEnvironment(process.env), cwd: path.dirname(process.execPath) },
      (error) => {
        if (error) {
          log.info(`${interpreter} is not used: ${error.code === 9 ? "older than 3.10" : error.message}`);
        }
        resolve(!error);
      },
    );
  });
}
