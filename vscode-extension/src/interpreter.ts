/** The interpreter that is selected for a folder: by the setting, else by one of the two Python extensions. */

import { statSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

const PYTHON = "ms-python.python";
const ENVIRONMENTS = "ms-python.vscode-python-envs";

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(environment: {
      readonly path: string;
    }): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/** The part of the Python Environments extension's API that is used here. */
interface EnvironmentsApi {
  getEnvironment(
    scope: vscode.Uri | undefined,
  ): Promise<{ readonly execInfo?: { readonly run?: { readonly executable?: string } } } | undefined>;
  readonly onDidChangeEnvironment: vscode.Event<unknown>;
}

export class Interpreters implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [this.changed];
  private readonly listening = new Set<string>();
  private readonly known = new Map<string, string | undefined>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly log: vscode.LogOutputChannel) {
    this.disposables.push(
      vscode.extensions.onDidChange(() => {
        this.forget();
      }),
    );
  }

  /** The interpreter's path for a folder, or undefined where nothing selects one. */
  async selected(folder: vscode.Uri | undefined): Promise<string | undefined> {
    const set = vscode.workspace.getConfiguration("callground", folder).get<string | null>("python");
    if (set) {
      const root = folder?.fsPath ?? "";
      return executable(path.isAbsolute(set) || !/[\\/.]/.test(set) ? set : path.join(root, set));
    }
    const key = folder?.toString() ?? "";
    if (!this.known.has(key)) {
      this.known.set(key, (await this.fromEnvironments(folder)) ?? (await this.fromPython(folder)));
    }
    return this.known.get(key);
  }

  private async fromEnvironments(folder: vscode.Uri | undefined): Promise<string | undefined> {
    const api = await this.api<EnvironmentsApi>(ENVIRONMENTS);
    try {
      if (api?.onDidChangeEnvironment && !this.listening.has(ENVIRONMENTS)) {
        this.listening.add(ENVIRONMENTS);
        this.disposables.push(
          api.onDidChangeEnvironment(() => {
            this.forget();
          }),
        );
      }
      return (await api?.getEnvironment(folder))?.execInfo?.run?.executable;
    } catch (error) {
      this.log.warn(`${ENVIRONMENTS} does not tell its interpreter: ${String(error)}`);
      return undefined;
    }
  }

  private async fromPython(folder: vscode.Uri | undefined): Promise<string | undefined> {
    const api = await this.api<PythonApi>(PYTHON);
    try {
      if (api && !this.listening.has(PYTHON)) {
        this.listening.add(PYTHON);
        this.disposables.push(
          api.environments.onDidChangeActiveEnvironmentPath(() => {
            this.forget();
          }),
        );
      }
      const active = api?.environments.getActiveEnvironmentPath(folder);
      const resolved = active && (await api?.environments.resolveEnvironment(active));
      return resolved?.executable.uri?.fsPath;
    } catch (error) {
      this.log.warn(`${PYTHON} does not tell its interpreter: ${String(error)}`);
      return undefined;
    }
  }

  private async api<T>(id: string): Promise<T | undefined> {
    const extension = vscode.extensions.getExtension<T>(id);
    if (extension === undefined) {
      return undefined;
    }
    try {
      // Without an API the extension gives undefined, whatever its type says.
      return await extension.activate();
    } catch (error) {
      this.log.warn(`${id} could not be activated: ${String(error)}`);
      return undefined;
    }
  }

  private forget(): void {
    this.known.clear();
    this.changed.fire();
  }

  dispose(): void {
    for (const disposable of this.disposables) {
      disposable.dispose();
    }
  }
}

/** The interpreter of an environment's folder; a program is kept. */
function executable(place: string): string {
  const windows = process.platform === "win32";
  try {
    if (statSync(place).isDirectory()) {
      return windows ? path.join(place, "Scripts", "python.exe") : path.join(place, "bin", "python");
    }
  } catch {
    // Not there: whoever starts it says so.
  }
  return place;
}
