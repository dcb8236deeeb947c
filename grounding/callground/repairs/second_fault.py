"""Two faults in one call: what is left wrong once the callee is right is repaired along with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from callground.graph.snapshot import Snapshot
from callground.repairs import arguments
from callground.repairs.asked import Source
from callground.repairs.model import FileEdits, Repair
from callground.repairs.verified import Outcome
from callground.text.edits import Edit
from callground.verdict.model import Verdict

MOST_TRIED = 3
"""Callees that are tried, and repairs of the arguments for each."""
_CALLEES = frozenset({"replace-callee", "add-import", "use-existing"})


def joined(repair: Repair, outcome: Outcome, verdict: Verdict, snapshot: Snapshot) -> Iterator[Repair]:
    """A repaired callee together with repairs of its arguments; none is verified, and none is certain."""
    if repair.kind not in _CALLEES or len(repair.changes) != 1 or not outcome.texts:
        return
    ((path, first),) = repair.changes
    text = outcome.texts[path]
    left = [
        each
        for each in outcome.verdicts
        if each.finding is not None and each.finding.kind == "arity" and each.range.line >= verdict.range.line
    ]
    if len(left) != 1:
        return
    source = Source(path, text, snapshot.with_overlay({path: text}))
    asked = source.find(left[0])
    if asked is None:
        return
    for number, second in enumerate(arguments.repairs(asked)):
        if number == MOST_TRIED:
            return
        if len(second.changes) != 1 or second.changes[0].path != path:
            continue
        edits = composed(first, second.changes[0].edits)
        if edits is not None:
            yield replace(
                second,
                kind=repair.kind,
                title=f"{repair.title}; {second.title[:1].lower()}{second.title[1:]}",
                changes=(FileEdits(path, edits),),
                reasons=(*repair.reasons, *second.reasons),
                score=repair.score,
                candidate=repair.candidate,
                certain=False,
            )


def composed(first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...] | None:
    """The edits of a text that do what `first` and, on the text that it makes, `second` do; None where they overlap."""
    made: list[tuple[int, int, int]] = []
    shift = 0
    for edit in sorted(first):
        start = edit.start + shift
        grown = len(edit.text) - (edit.end - edit.start)
        shift += grown
        made.append((start, start + len(edit.text), grown))
    back: list[Edit] = []
    for edit in second:
        if any(edit.start < end and start < edit.end for start, end, _ in made):
            return None
        moved = sum(grown for _, end, grown in made if end <= edit.start)
        back.append(Edit(edit.start - moved, edit.end - moved, edit.text))
    return tuple(sorted([*first, *back]))
