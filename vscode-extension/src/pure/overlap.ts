/** Findings that somebody else marks already. */

export interface Place {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };
}

/** Whether two ranges share at least one character (an empty range counts where it stands inside). */
export function overlap(one: Place, other: Place): boolean {
  return before(one.start, other.end) && before(other.start, one.end);
}

function before(one: Place["start"], other: Place["start"]): boolean {
  return one.line < other.line || (one.line === other.line && one.character < other.character);
}

/** Those of ours that no error of somebody else covers. */
export function withoutDuplicates<T extends { readonly range: Place }>(
  ours: readonly T[],
  others: readonly Place[],
): T[] {
  return ours.filter((diagnostic) => !others.some((other) => overlap(diagnostic.range, other)));
}
