/** Where the inserted texts of one change event lie after it. */

import type { Place } from "./overlap";

export interface Change {
  readonly range: Place;
  readonly rangeOffset: number;
  readonly text: string;
}

/** Changes all refer to the text before the event; the ranges are those of their texts after it. */
export function insertedRanges(changes: readonly Change[]): Place[] {
  const ordered = [...changes].sort((a, b) => a.rangeOffset - b.rangeOffset);
  const ranges: Place[] = [];
  let lines = 0;
  // How far the rest of the line that the last change ended on has moved, and which line (before) that was.
  let shift = { line: -1, characters: 0 };
  for (const change of ordered) {
    const { start, end } = change.range;
    const startCharacter = start.character + (start.line === shift.line ? shift.characters : 0);
    const parts = change.text.split(/\r\n|\r|\n/);
    const added = parts.length - 1;
    const last = parts[added]?.length ?? 0;
    const begin = { line: start.line + lines, character: startCharacter };
    const finish = { line: begin.line + added, character: added === 0 ? startCharacter + last : last };
    if (change.text !== "") {
      ranges.push({ start: begin, end: finish });
    }
    lines += added - (end.line - start.line);
    shift = { line: end.line, characters: finish.character - end.character };
  }
  return ranges;
}
