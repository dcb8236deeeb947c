"""Certain repairs of a text that is only supposed, and the names that a finding may have meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from callground.gate.changed import Lines
from callground.gate.layers import layer
from callground.graph.changes import never
from callground.graph.driver import verify_snapshot
from callground.graph.snapshot import Snapshot
from callground.repairs.service import Repairs
from callground.resolve.memo import Memo
from callground.rules.ignores import comments, silence
from callground.text.edits import Edit, apply_edits
from callground.verdict.model import Finding, Suggestion, Verdict

ROUNDS = 50
"""Repairs that are applied to one text."""


class Fixed(NamedTuple):
    """A text after its certain repairs."""

    text: str
    rounds: tuple[tuple[Edit, ...], ...]
    """The edits of each repair, with offsets in the text as it was by then."""
    changes: tuple[str, ...]
    """What was changed, for people."""
    left: int
    """Findings without a certain repair."""


def fix(
    path: str,
    text: str,
    snapshot: Snapshot,
    known: tuple[Memo, Snapshot],
    lines: Lines | None,
    wanted: Callable[[Finding], bool],
    kinds: frozenset[str] | None = None,
    *,
    stop: Callable[[], bool] = never,
) -> Fixed:
    """Apply certain, verified repairs to the findings on `lines` until none is left.

    `snapshot` shows the rest of the plan; `known` is what is known, and of which state; `wanted` says which
    findings count, `kinds` which repairs.
    """
    rounds: list[tuple[Edit, ...]] = []
    changes: list[str] = []
    hopeless: set[tuple[str, str, str]] = set()
    while True:
        view = snapshot.with_overlay({path: text})
        memo = layer(*known, view)
        verdicts, _ = silence(verify_snapshot(path, view, memo, None, stop=stop), comments(text))
        memo.settle()
        wrong = [
            verdict
            for verdict in verdicts
            if verdict.finding is not None and _inside(verdict, lines) and wanted(verdict.finding)
        ]
        edits = None
        if len(rounds) < ROUNDS:
            repairs = Repairs(path, text, verdicts, view, memo, texts=lambda _: None)
            for verdict in wrong:
                if _name(verdict) in hopeless:
                    continue
                edits = _certain(repairs, verdict, kinds, changes, stop)
                if edits is not None:
                    break
                hopeless.add(_name(verdict))
        if edits is None:
            return Fixed(text, tuple(rounds), tuple(changes), len(wrong))
        lines = moved(lines, text, edits)
        text = apply_edits(text, edits)
        rounds.append(edits)


def _certain(
    repairs: Repairs,
    verdict: Verdict,
    kinds: frozenset[str] | None,
    changes: list[str],
    stop: Callable[[], bool],
) -> tuple[Edit, ...] | None:
    for repair in repairs.offered(verdict, certain_only=True, stop=stop):
        inside = [change.path for change in repair.changes] == [repairs.path]
        if repair.certain and inside and (kinds is None or repair.kind in kinds):
            changes.append(f"`{verdict.callee}`: {_short(repair.title)}")
            return tuple(sorted(repair.changes[0].edits))
    return None


def suggested(
    path: str,
    text: str,
    snapshot: Snapshot,
    raw: Sequence[Verdict],
    shown: Sequence[Verdict],
    known: tuple[Memo, Snapshot],
) -> tuple[Verdict, ...]:
    """The shown verdicts with the real names that their findings may have meant, signatures included."""
    if not any(verdict.finding for verdict in shown):
        return tuple(shown)
    repairs = Repairs(path, text, raw, snapshot, layer(*known, snapshot), texts=lambda _: None)
    proved = {(v.range, v.finding.code): v for v in raw if v.finding is not None}
    result = []
    for verdict in shown:
        finding = verdict.finding
        origin = proved.get((verdict.range, finding.code)) if finding is not None else None
        if finding is not None and origin is not None:
            near = repairs.suggestions(origin) or _signed(finding.suggestions, repairs, origin)
            verdict = replace(verdict, finding=replace(finding, suggestions=near))
        result.append(verdict)
    return tuple(result)


def _signed(names: tuple[Suggestion, ...], repairs: Repairs, verdict: Verdict) -> tuple[Suggestion, ...]:
    """The nearest names with their signatures, though the call's arguments do not fit them."""
    known = {ranked.candidate.name: ranked.signature for ranked in repairs.ranked(verdict)} if names else {}
    return tuple(name if name.signature else name._replace(signature=known.get(name.text, "")) for name in names)


def moved(lines: Lines | None, text: str, edits: Sequence[Edit]) -> Lines | None:
    """The same lines after edits of the text."""
    if lines is None:
        return None
    shifts = [
        (text.count("\n", 0, edit.start) + 1, edit.text.count("\n") - text.count("\n", edit.start, edit.end))
        for edit in edits
    ]
    result = []
    for first, last in lines:
        before = sum(grown for line, grown in shifts if line < first)
        within = sum(grown for line, grown in shifts if first <= line <= last)
        result.append((first + before, last + before + within))
    return tuple(result)


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "..."


def _inside(verdict: Verdict, lines: Lines | None) -> bool:
    if lines is None:
        return True
    return any(first <= verdict.range.end_line and verdict.range.line <= last for first, last in lines)


def _name(verdict: Verdict) -> tuple[str, str, str]:
    finding = verdict.finding
    assert finding is not None
    return (finding.code, finding.callee, finding.name)
