/** The editor's settings as the server reads them: its own keys, and only what a person has set. */

/** Setting of ours -> key of the server. */
export const SERVER_KEYS: Readonly<Record<string, string>> = {
  python: "python",
  scope: "scope",
  exclude: "exclude",
  roots: "roots",
  severity: "severity",
  perFileIgnores: "per-file-ignores",
  suggestions: "suggestions",
  ignoreNames: "ignore-names",
};

/** Settings after whose change a new server has to be started. */
export const RESTART_KEYS: readonly string[] = ["path", "importStrategy", "logLevel"];

export interface Inspected {
  readonly globalValue?: unknown;
  readonly workspaceValue?: unknown;
  readonly workspaceFolderValue?: unknown;
}

/** What the server is told.  A value that nobody has set is left out: `pyproject.toml` speaks then. */
export function serverSettings(
  inspect: (key: string) => Inspected | undefined,
  get: (key: string) => unknown,
  interpreter: string | undefined,
): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const [ours, theirs] of Object.entries(SERVER_KEYS)) {
    const found = inspect(ours);
    const isSet = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue].some(
      (value) => value !== undefined,
    );
    const value = get(ours);
    if (isSet && value !== null && value !== undefined && value !== "") {
      settings[theirs] = value;
    }
  }
  if (settings.python === undefined && interpreter !== undefined) {
    settings.python = interpreter;
  }
  return settings;
}
