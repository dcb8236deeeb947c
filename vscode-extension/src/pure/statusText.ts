/** What the status item says. */

export interface FolderStatus {
  readonly uri: string;
  readonly indexing: boolean;
  readonly done: number;
  readonly total: number;
  readonly environment?: EnvironmentStatus | null;
}

export interface EnvironmentStatus {
  readonly python: string | null;
  readonly version: string;
  /** Why it is probably the wrong one. */
  readonly doubtful: string | null;
}

export interface CallerStatus {
  readonly available: boolean;
  readonly message?: string;
}

export interface DocumentStatus {
  readonly uri: string;
  readonly version: number;
  readonly grounded: number;
  readonly ungrounded: number;
  readonly abstained: number;
  /** Those of the ungrounded that the scope leaves out. */
  readonly hidden?: number;
  readonly complete: boolean;
  readonly reasons: Readonly<Record<string, number>>;
}

export type ServerState = "starting" | "running" | "waiting" | "stopped" | "failed";

export interface Shown {
  readonly text: string;
  readonly detail: string;
  readonly busy: boolean;
  readonly severity: "information" | "warning" | "error";
}

/** The sum over all folders that are being indexed. */
export function indexProgress(folders: readonly FolderStatus[]): string | undefined {
  const busy = folders.filter((folder) => folder.indexing);
  if (busy.length === 0) {
    return undefined;
  }
  const done = busy.reduce((sum, folder) => sum + folder.done, 0);
  const total = busy.reduce((sum, folder) => sum + folder.total, 0);
  return total > 0 ? `indexing, ${done} of ${total} files` : "indexing";
}

export function shown(
  state: ServerState,
  folders: readonly FolderStatus[],
  document: DocumentStatus | undefined,
  wait = 0,
): Shown {
  switch (state) {
    case "starting":
      return { text: "starting", detail: "", busy: true, severity: "information" };
    case "waiting":
      return {
        text: `the server ended; it starts again in ${Math.max(1, Math.round(wait / 1000))} s`,
        detail: "",
        busy: true,
        severity: "warning",
      };
    case "stopped":
      return { text: "stopped", detail: "", busy: false, severity: "warning" };
    case "failed":
      return { text: "the server does not run", detail: "see the logs", busy: false, severity: "error" };
    case "running":
  }
  const indexing = indexProgress(folders);
  const hidden = document?.hidden ? `${document.hidden} ungrounded outside of the scope` : undefined;
  const environment = environmentOf(folders, document?.uri);
  const detail = [
    indexing,
    hidden,
    document === undefined ? undefined : mainReason(document),
    inWords(environment),
  ]
    .filter((part) => part !== undefined)
    .join("; ");
  return {
    text: document === undefined ? (indexing ?? "ready") : counted(document),
    detail,
    busy: indexing !== undefined || document?.complete === false,
    severity: environment?.doubtful ? "warning" : "information",
  };
}

/** The environment of the innermost folder that holds a document; without a document that of the first folder. */
export function environmentOf(
  folders: readonly FolderStatus[],
  uri: string | undefined,
): EnvironmentStatus | undefined {
  const holding = folders.filter(
    (folder) => uri === undefined || uri === folder.uri || uri.startsWith(folder.uri.replace(/\/?$/, "/")),
  );
  const chosen = uri === undefined ? holding[0] : holding.sort((a, b) => b.uri.length - a.uri.length)[0];
  return chosen?.environment ?? undefined;
}

function inWords(environment: EnvironmentStatus | undefined): string | undefined {
  if (environment === undefined) {
    return undefined;
  }
  const python = `Python ${environment.version || "of unknown version"}${environment.python ? ` (${environment.python})` : ""}`;
  return environment.doubtful ? `${python}, doubtful: ${environment.doubtful}` : python;
}

export function counted(document: DocumentStatus): string {
  return `${document.grounded} grounded, ${document.ungrounded} ungrounded, ${document.abstained} abstained`;
}

function mainReason(document: DocumentStatus): string | undefined {
  const [first] = Object.entries(document.reasons).sort(([, a], [, b]) => b - a);
  return first === undefined ? undefined : `most often abstained: ${first[0]}`;
}
