/**
 * The editor's own account of an edit, where the running editor gives one to extensions.  It is no part of the
 * stable API: it is looked for, never declared, and nothing depends on it.  No other file knows its name.
 */

import type * as vscode from "vscode";
import type { EditSource } from "./pure/aiSource";

export function editSource(event: vscode.TextDocumentChangeEvent): EditSource | undefined {
  try {
    const reason: unknown = "detailedReason" in event ? event.detailedReason : undefined;
    if (typeof reason !== "object" || reason === null || !("source" in reason)) {
      return undefined;
    }
    const source = reason.source;
    if (typeof source !== "string") {
      return undefined;
    }
    const metadata: unknown = "metadata" in reason ? reason.metadata : undefined;
    const extension =
      typeof metadata === "object" && metadata !== null && "$extensionId" in metadata
        ? metadata.$extensionId
        : undefined;
    return typeof extension === "string" ? { source, extension } : { source };
  } catch {
    // An editor that refuses says so by an error.
    return undefined;
  }
}
