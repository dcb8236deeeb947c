"""Whose the lines of files are, for those who see no edits: the terminal, and an editor that opens a file.

What an editor or a hook has kept of this very text counts first, then the records, and of the rest what
differs from HEAD is unknown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from callground.config.model import Provenance
from callground.provenance import persist, signals
from callground.provenance.align import stamps_of
from callground.provenance.changed_lines import Lines
from callground.provenance.intervals import UNKNOWN, Spans, Stamp, filled, in_scope, kept, normal, stamped
from callground.provenance.records.gather import Records
from callground.provenance.tokens import words
from callground.text.lines import LineIndex

UNCOMMITTED = Stamp(UNKNOWN, signals.GIT, 0.3)


def attribution(
    records: Records,
    store: persist.KeyValue | None,
    path: str,
    text: str,
    changed: Sequence[tuple[int, int]],
    switches: Provenance,
    *,
    committed: bool = True,
) -> Spans:
    """What is known of a file's text; `changed` are its lines that differ from HEAD."""
    known = persist.load(store, text) if store is not None else None
    spans = kept(known or (), lambda span: _is_on(span.stamp.source, switches))
    for start, end, stamp in records.spans(path, text, committed=committed):
        spans = filled(spans, start, end, stamp)
    if known is None and switches.uncommitted:
        index = LineIndex(text)
        for first, last in changed:
            start, end = index.offset(first, 0), index.offset(last + 1, 0)
            if start < end:
                spans = filled(spans, start, end, UNCOMMITTED)
    return spans


def lines_of_scope(text: str, spans: Spans) -> Lines:
    """The lines (1-based) with words that scope ``ai`` looks at."""
    found = words(text)
    index = LineIndex(text)
    lines: list[tuple[int, int]] = []
    for word, stamp in zip(found, stamps_of(found, in_scope(spans)), strict=True):
        if stamp is None:
            continue
        first, last = index.position(word.start)[0], index.position(max(word.start, word.end - 1))[0]
        if lines and first <= lines[-1][1] + 1:
            lines[-1] = (lines[-1][0], max(lines[-1][1], last))
        else:
            lines.append((first, last))
    return tuple(lines)


def scope_of_files(
    records: Records,
    store: persist.KeyValue | None,
    paths: Iterable[str],
    read: Callable[[str], str | None],
    changed: Mapping[str, Lines | None],
    switches: Provenance,
    since: Mapping[str, Lines | None] | None = None,
) -> dict[str, Lines]:
    """The lines of each file that scope ``ai`` looks at; files without any are left out.

    `changed` are the lines that differ from HEAD, `since` those that differ from another revision: then only
    these count.
    """
    by_path = {os.path.realpath(path): lines for path, lines in changed.items()}
    limits = {os.path.realpath(path): lines for path, lines in since.items()} if since is not None else None
    touched = records.touched()
    told = {os.path.realpath(path) for path in (*records.traced(), *(touched or ()))}
    found: dict[str, Lines] = {}
    for path in paths:
        real = os.path.realpath(path)
        if limits is not None and real not in limits:
            continue
        if real not in by_path and touched is not None and real not in told:
            continue
        text = read(path)
        if text is None:
            continue
        every = (1, text.count("\n") + 1)
        mine = by_path.get(real, ())
        spans = attribution(records, store, path, text, (every,) if mine is None else mine, switches)
        limit = limits[real] if limits is not None else None
        if limit is not None:
            spans = _only(spans, LineIndex(text), limit)
        lines = lines_of_scope(text, spans)
        if lines:
            found[path] = lines
    return found


def _only(spans: Spans, index: LineIndex, lines: Lines) -> Spans:
    """The spans on these lines."""
    result = spans
    done = 0
    for first, last in lines:
        result = stamped(result, done, index.offset(first, 0), None) if index.offset(first, 0) > done else result
        done = index.offset(last + 1, 0)
    end = len(index.text)
    return normal(stamped(result, done, end, None) if done < end else result)


def _is_on(source: str, switches: Provenance) -> bool:
    switch = signals.SIGNALS[source].switch
    return not switch or bool(getattr(switches, switch.replace("-", "_")))
