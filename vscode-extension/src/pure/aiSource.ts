/** What the editor's own name for the source of an edit says about its origin. */

const AI = new Set([
  "inlineCompletionAccept",
  "inlineCompletionPartialAccept",
  "inlineChat.applyEdits",
  "Chat.applyEdits",
]);

export interface EditSource {
  readonly source: string;
  readonly extension?: string;
}

/** The tool behind an edit that an assistant made; undefined where the editor does not say that it was one. */
export function aiTool(reason: EditSource | undefined): string | undefined {
  if (reason === undefined || !AI.has(reason.source)) {
    return undefined;
  }
  return reason.extension ?? reason.source;
}

const HUMAN: Readonly<Record<string, string>> = {
  suggest: "completion",
  snippet: "snippet",
  rename: "rename",
};

/** The origin that the server is told for what a person did by other means than keys. */
export function humanAction(reason: EditSource | undefined): string | undefined {
  return reason === undefined ? undefined : HUMAN[reason.source];
}
