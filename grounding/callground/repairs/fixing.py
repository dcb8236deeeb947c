"""Repairs that are certain, applied one after the other until nothing certain is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from callground.graph.changes import never
from callground.graph.driver import Lines, verify_with_loading
from callground.graph.workspace import Workspace
from callground.repairs.model import Repair
from callground.repairs.service import Repairs
from callground.repairs.verified import patched
from callground.rules.ignores import comments, silence
from callground.verdict.model import Finding, Verdict

MAX_CHANGES = 200
"""Most repairs that are applied to one text."""


class Applied(NamedTuple):
    """One repair that was applied."""

    finding: Finding
    """With its place in the text before this repair."""
    repair: Repair


@dataclass(frozen=True)
class Repaired:
    """What became of a text."""

    text: str
    changes: tuple[Applied, ...] = ()
    left: tuple[Finding, ...] = ()
    """What is still wrong in the text as it is now."""
    verdicts: tuple[Verdict, ...] = field(default=(), repr=False)

    @property
    def is_grounded(self) -> bool:
        """Whether nothing is proven wrong any more."""
        return not self.left


Judge = Callable[[str], Sequence[Verdict]]
Wanted = Callable[[Verdict], bool]


def ground_report_and_repair(
    text: str,
    path: str,
    workspace: Workspace,
    ranges: Lines | None = None,
    *,
    review: Callable[[str, Sequence[Verdict]], Sequence[Verdict]] | None = None,
    stop: Callable[[], bool] = never,
) -> Repaired:
    """Judge a text, apply the repairs that are certain, and judge again, until none is left.

    `text` stands for the file at `path`; nothing is written.  With `ranges` (lines, first and last) only
    findings on these lines of the given text are repaired.  `review` may silence findings, as settings do;
    comments in the text that silence are always respected.
    """
    path = workspace.absolute(path)
    marked = _Marks(text, ranges)
    applied: list[Applied] = []
    tried: set[tuple[str, str, str, int]] = set()
    while True:
        verdicts = _judged(text, path, workspace, review, stop)
        wrong = [v for v in verdicts if v.finding is not None and v.finding.severity == "error"]
        chosen = [v for v in wrong if marked.holds(v)]
        one = _next(text, path, workspace, verdicts, chosen, tried, stop) if len(applied) < MAX_CHANGES else None
        if one is None:
            left = tuple(v.finding for v in chosen if v.finding is not None)
            return Repaired(text, tuple(applied), left, tuple(verdicts))
        found, repair = one
        new = patched(repair.changes, lambda p, text=text: text if p == path else None)  # type: ignore[misc]
        assert new is not None
        assert found.finding is not None
        marked.edited(text, repair)
        text = new[path]
        applied.append(Applied(found.finding, repair))


def _judged(
    text: str,
    path: str,
    workspace: Workspace,
    review: Callable[[str, Sequence[Verdict]], Sequence[Verdict]] | None,
    stop: Callable[[], bool],
) -> list[Verdict]:
    verdicts: Sequence[Verdict] = verify_with_loading(text, path, workspace, stop=stop)
    verdicts, _ = silence(verdicts, comments(text))
    return list(review(text, verdicts) if review is not None else verdicts)


def _next(
    text: str,
    path: str,
    workspace: Workspace,
    verdicts: list[Verdict],
    chosen: list[Verdict],
    tried: set[tuple[str, str, str, int]],
    stop: Callable[[], bool],
) -> tuple[Verdict, Repair] | None:
    """The first finding that has a certain repair, with it."""
    if not chosen:
        return None
    snapshot = workspace.snapshot()
    memo = workspace.memo if snapshot.has_text(path, text) else None
    if memo is None:
        snapshot = snapshot.with_overlay({path: text})
    repairs = Repairs(path, text, verdicts, snapshot, memo)
    seen: dict[tuple[str, str, str], int] = {}
    for verdict in chosen:
        finding = verdict.finding
        assert finding is not None
        name = (finding.code, finding.callee, finding.name)
        seen[name] = seen.get(name, -1) + 1
        if (*name, seen[name]) in tried:
            continue
        certain = [r for r in repairs.offered(verdict, certain_only=True, stop=stop) if r.certain]
        inside = [r for r in certain if all(c.path == path for c in r.changes)]
        if inside:
            return verdict, inside[0]
        # Without a certain repair now there is none later either: nothing else of it changes.
        tried.add((*name, seen[name]))
    return None


class _Marks:
    """The lines that may be repaired, as they move with each repair."""

    def __init__(self, text: str, ranges: Lines | None) -> None:
        self._ranges = list(ranges) if ranges is not None else None
        del text

    def holds(self, verdict: Verdict) -> bool:
        """Whether a finding stands on the lines."""
        if self._ranges is None:
            return True
        return any(first <= verdict.range.end_line and verdict.range.line <= last for first, last in self._ranges)

    def edited(self, text: str, repair: Repair) -> None:
        """Carry the lines over an edit of the text."""
        if self._ranges is None:
            return
        shifts = [
            (text.count("\n", 0, edit.start) + 1, edit.text.count("\n") - text.count("\n", edit.start, edit.end))
            for change in repair.changes
            for edit in change.edits
        ]
        moved = []
        for first, last in self._ranges:
            before = sum(grown for line, grown in shifts if line < first)
            within = sum(grown for line, grown in shifts if first <= line <= last)
            moved.append((first + before, last + before + within))
        self._ranges = moved
