/** Which server is started: decided from plain values, so that it can be tested without an editor. */

export interface Surroundings {
  readonly trusted: boolean;
  /** The setting `callground.path`; in a workspace that is not trusted, the person's own value. */
  readonly path: string;
  readonly importStrategy: string;
  /** The folder of the selected interpreter, where installed programs lie. */
  readonly scripts: string | undefined;
  /** The folders of `PATH`. */
  readonly searchPath: readonly string[];
  readonly workspaceFolders: readonly string[];
  readonly windows: boolean;
  readonly isExecutable: (path: string) => boolean;
  readonly join: (...parts: string[]) => string;
}

export type Choice =
  | { readonly kind: "program"; readonly program: string; readonly why: string }
  | { readonly kind: "bundled"; readonly why: string }
  | { readonly kind: "missing"; readonly path: string };

/** The setting, the interpreter's scripts, PATH, the bundled copy: in this order. */
export function chooseServer(around: Surroundings): Choice {
  const given = around.path.trim();
  if (given !== "") {
    return around.isExecutable(given)
      ? { kind: "program", program: given, why: "the setting callground.path" }
      : { kind: "missing", path: given };
  }
  if (!around.trusted) {
    return { kind: "bundled", why: "the workspace is not trusted" };
  }
  if (around.importStrategy === "useBundled") {
    return { kind: "bundled", why: "the setting callground.importStrategy" };
  }
  const beside = around.scripts === undefined ? undefined : program("callground", [around.scripts], around);
  if (beside !== undefined) {
    return { kind: "program", program: beside, why: "beside the selected interpreter" };
  }
  const found = program("callground", outside(around.searchPath, around.workspaceFolders), around);
  if (found !== undefined) {
    return { kind: "program", program: found, why: "on PATH" };
  }
  return { kind: "bundled", why: "no installed callground was found" };
}

/** Interpreters that may run the bundled server, best first. */
export function interpretersToTry(
  around: Pick<
    Surroundings,
    "trusted" | "searchPath" | "workspaceFolders" | "windows" | "isExecutable" | "join"
  >,
  selected: readonly string[],
): string[] {
  const names = around.windows ? ["python", "py"] : ["python3", "python"];
  const chosen = selected.filter((path) => around.trusted || !lies(path, around.workspaceFolders));
  const folders = outside(around.searchPath, around.workspaceFolders);
  const onPath = names.flatMap((name) => program(name, folders, around) ?? []);
  return [...new Set([...chosen, ...onPath])];
}

/** The folders that are absolute and not part of a workspace folder: a program there may be anybody's. */
export function outside(folders: readonly string[], workspace: readonly string[]): string[] {
  return folders.filter((folder) => isAbsolute(folder) && !lies(folder, workspace));
}

/** Whether a path lies in one of the folders. */
export function lies(path: string, folders: readonly string[]): boolean {
  const plain = normal(path);
  return folders.map(normal).some((folder) => plain === folder || plain.startsWith(folder + "/"));
}

function normal(path: string): string {
  const slashed = path.replaceAll("\\", "/").replace(/\/+$/, "");
  return /^[A-Za-z]:/.test(slashed) ? slashed.toLowerCase() : slashed;
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path) || path.startsWith("\\\\");
}

function program(
  name: string,
  folders: readonly string[],
  around: Pick<Surroundings, "windows" | "isExecutable" | "join">,
): string | undefined {
  const file = around.windows ? `${name}.exe` : name;
  return folders.map((folder) => around.join(folder, file)).find((path) => around.isExecutable(path));
}

/** The environment for the server: without what would put the workspace's modules in its way. */
export function cleanEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(environment)) {
    if (!/^PYTHON(PATH|HOME|STARTUP|INSPECT|DEBUG|BREAKPOINT|WARNINGS|PLATLIBDIR|EXECUTABLE)$/i.test(name)) {
      kept[name] = value;
    }
  }
  return { ...kept, PYTHONSAFEPATH: "1", PYTHONUTF8: "1" };
}
