"""Whether a repair holds: the patched text is judged as any other text is.

A repair holds when the finding is gone, its call is grounded, and nothing is worse anywhere else: not in
the file, whose statements around the edit and whatever read the changed names are judged again, and not in
the modules whose files it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from callground.facts.interface_hash import changed_keys
from callground.graph.changes import Change, index_keys, never
from callground.graph.driver import Lines, verify_snapshot
from callground.graph.layers import absolute_imports
from callground.graph.snapshot import Snapshot
from callground.repairs.model import FileEdits, Repair
from callground.resolve.memo import Memo
from callground.rules.ignores import comments, silence
from callground.text.edits import apply_edits
from callground.text.lines import LineIndex
from callground.verdict.model import Key, Verdict

Texts = Callable[[str], "str | None"]
"""The text of a file as it is now; None when there is none."""


class Outcome(NamedTuple):
    """What the patched text turned out to be."""

    holds: bool
    grounded: bool
    """The call itself is grounded (or there is no call any more), not merely silent."""
    texts: dict[str, str]
    verdicts: tuple[Verdict, ...] = ()
    """Of the lines that were judged again, in the file of the finding."""


def patched(changes: Iterable[FileEdits], texts: Texts) -> dict[str, str] | None:
    """Every changed file with its edits applied; None when one of them is not there or edits overlap."""
    result: dict[str, str] = {}
    for change in changes:
        before = texts(change.path)
        if before is None:
            return None
        try:
            result[change.path] = apply_edits(before, change.edits)
        except ValueError:
            return None
    return result


def verify(
    repair: Repair,
    path: str,
    finding: Verdict,
    before: Sequence[Verdict],
    snapshot: Snapshot,
    texts: Texts,
    memo: Memo | None = None,
    *,
    stop: Callable[[], bool] = never,
) -> Outcome:
    """Judge what a repair makes.  `before` are the file's verdicts, `finding` the one that is repaired."""
    made = patched(repair.changes, texts)
    if not made or path not in made:
        return Outcome(False, False, made or {})
    after_snapshot = snapshot.with_overlay(made)
    change = _difference(snapshot, after_snapshot, made)
    table = Layered(memo, change) if memo is not None and memo.tracking and change is not None else Memo()
    old, new = texts(path) or "", made[path]
    touched = _touched_lines(new, next(c for c in repair.changes if c.path == path))
    mapped = _Mapping(old, new, next(c for c in repair.changes if c.path == path))
    ranges = _lines_to_judge(path, before, after_snapshot, touched, mapped, change)
    after = verify_snapshot(path, after_snapshot, table, ranges, stop=stop)
    quiet, _ = silence(before, comments(old))
    if any(v is finding for v in quiet):
        # What a comment silences counts neither before nor after.
        before = quiet
        after, _ = silence(after, comments(new))
    # What was judged before on the same lines, to count against.
    judged_before = [v for v in before if ranges is None or _meets(mapped.lines(v), ranges)]
    span = mapped.span(finding)
    # What is called on the repaired call's own result was not known before: that it is wrong too is no harm done.
    shown = [v for v in after if not _continues(v, span)]
    more = _faults(shown) - _faults(v for v in judged_before if v is not finding)
    fewer = sum(_faults(shown).values()) < sum(_faults(judged_before).values())
    holds = not more and fewer and not _names_lost(after, judged_before)
    here = [v for v in shown if span[:2] <= v.range[:2] and v.range[2:] <= span[2:]]
    grounded = holds and _grounded(here, finding, mapped)
    return Outcome(holds, grounded, made, tuple(after))


def confirmed(repair: Repair, outcome: Outcome) -> Repair | None:
    """The repair with what its verification says; None when it must not be offered."""
    if not outcome.holds:
        return None
    return replace(repair, verified=outcome.grounded, certain=repair.certain and outcome.grounded)


class Layered(Memo):
    """A memo over another one: what the change has not touched is read from below, nothing is written there."""

    def __init__(self, below: Memo, change: Change) -> None:
        super().__init__()
        # Entries of both speak of classes by names of their content: what one knows of them, both know.
        self.classes = below.classes
        self._below = below
        self._change = change

    def clear(self) -> None:
        """Forget this layer."""
        self.entries.clear()
        self._by_read.clear()

    def get(self, key: Hashable) -> tuple[Any, frozenset[Key]] | None:
        """The entry of `key`, of this layer or of the one below where it still holds."""
        entry = self.entries.get(key)
        if entry is not None:
            return entry
        entry = self._below.get(key)
        return entry if entry is not None and not self._change.touches(entry[1]) else None


def _difference(before: Snapshot, after: Snapshot, texts: Mapping[str, str]) -> Change | None:
    """What the new texts change for anybody who asks by name; None where that is not known."""
    keys: set[Key] = set()
    for path in texts:
        old_entry, document = before.files.entry(path), after.files.open.get(path)
        if old_entry is None or document is None:
            return None
        old_document = before.files.open.get(path)
        old_file = old_document.file if old_document is not None else before.space.contents.get(path)
        if old_file is None or old_file.digest != old_entry.digest:
            return None
        old_index = before.space.reader.index(old_file)
        keys |= index_keys(
            old_index,
            document.index,
            absolute_imports(old_index, old_entry.module, old_entry.is_package),
            document.imports,
        )
        for name in {old_entry.module or path, path, *before.space.paths.get(path, ())}:
            keys |= changed_keys(name, old_file.facts, document.file.facts)
    return Change(frozenset(keys), paths=frozenset(texts))


def _touched_lines(new: str, change: FileEdits) -> list[tuple[int, int]]:
    """Lines of the new text that the edits have made or changed."""
    index = LineIndex(new)
    shift = 0
    found: list[tuple[int, int]] = []
    for edit in sorted(change.edits):
        start = edit.start + shift
        found.append((index.position(start)[0], index.position(start + len(edit.text))[0]))
        shift += len(edit.text) - (edit.end - edit.start)
    return found


def _lines_to_judge(
    path: str,
    before: Sequence[Verdict],
    after: Snapshot,
    touched: list[tuple[int, int]],
    mapped: _Mapping,
    change: Change | None,
) -> Lines | None:
    """The top-level statements around the edits, and the sites that read what has changed; None for the whole file."""
    document = after.files.open.get(path)
    if document is None or change is None:
        return None
    facts = document.file.facts
    ranges: list[tuple[int, int]] = []
    for start, piece in zip(facts.starts, facts.pieces, strict=True):
        last = start + piece.lines - 1
        if any(first <= last and start <= end for first, end in touched):
            ranges.append((start, last))
    for verdict in before:
        lines = mapped.lines(verdict)
        if not _meets(lines, ranges) and change.touches(verdict.reads):
            # Somebody else in the file reads what has changed.
            ranges.append(lines)
    return ranges


class _Mapping:
    """Where lines of the old text stand in the new one."""

    def __init__(self, old: str, new: str, change: FileEdits) -> None:
        self._old = LineIndex(old)
        self._new = LineIndex(new)
        self._edits = sorted(change.edits)

    def offset(self, offset: int, *, end: bool = False) -> int:
        """An offset of the old text in the new one."""
        shift = 0
        for edit in self._edits:
            inserted_behind = edit.start == edit.end == offset and end
            if edit.end <= offset and not inserted_behind:
                shift += len(edit.text) - (edit.end - edit.start)
            elif edit.start < offset:
                return edit.start + shift + (len(edit.text) if end else 0)
            else:
                break
        return offset + shift

    def span(self, verdict: Verdict) -> tuple[int, int, int, int]:
        """First line and column, last line and column, of a verdict's site in the new text."""
        old, span = self._old, verdict.range
        start = self.offset(old.offset(span.line, span.column))
        end = self.offset(old.offset(span.end_line, span.end_column), end=True)
        return (*self._new.position(start), *self._new.position(max(start, end)))

    def lines(self, verdict: Verdict) -> tuple[int, int]:
        """The lines of the new text where a verdict's site stands."""
        first, _, last, _ = self.span(verdict)
        return first, last


def _meets(lines: tuple[int, int], ranges: Lines) -> bool:
    return any(first <= lines[1] and lines[0] <= last for first, last in ranges)


def _faults(verdicts: Iterable[Verdict]) -> Counter[tuple[str, str, str]]:
    return Counter(
        (v.finding.code, v.finding.name, v.finding.callee)
        for v in verdicts
        if v.finding is not None and v.finding.severity == "error"
    )


def _continues(verdict: Verdict, span: tuple[int, int, int, int]) -> bool:
    """Whether a site begins where the span begins and goes on behind it: `a().b()` for `a()`."""
    return verdict.range[:2] == span[:2] and verdict.range[2:] > span[2:]


def _names_lost(after: Iterable[Verdict], before: Iterable[Verdict]) -> bool:
    """Whether more sites than before have become nonsense that is not called a fault (a syntax error)."""

    def broken(verdicts: Iterable[Verdict]) -> int:
        return sum(v.reason is not None and v.reason.value == "syntax-error" for v in verdicts)

    return broken(after) > broken(before)


def _grounded(here: Sequence[Verdict], finding: Verdict, mapped: _Mapping) -> bool:
    """Whether the repaired site is grounded: the site itself, or (where it went) all that stands there."""
    place = mapped.span(finding)
    same = [v for v in here if (v.range.line, v.range.column, v.range.end_line, v.range.end_column) == place]
    if same:
        return any(v.status == "grounded" for v in same) and not any(v.finding for v in same)
    return not any(v.status in ("ungrounded", "arity") for v in here)
