"""Is the new text of an edit somebody else's?  Pure functions from its shape to a stamp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from callground.provenance import shapes, signals
from callground.provenance.align import Run
from callground.provenance.intervals import AI, UNKNOWN, Stamp
from callground.provenance.regions import Change, Region
from callground.provenance.tokens import KEYWORDS


class New(NamedTuple):
    """The new words of one region that came from nowhere that we know."""

    change: Change
    fresh: tuple[Run, ...]


class Hints(NamedTuple):
    """What is known of an edit apart from its text."""

    trigger: str = ""
    """A word that was typed just before and taken out with this edit."""
    stream: bool = False
    """It came in many small pieces."""
    blocks: int = 0
    """Changes of several lines that the editor sent as one."""


def judged(news: Sequence[New], hints: Hints) -> list[Stamp | None]:
    """A stamp for what is new in each region; None: it is a person's."""
    nothing: list[Stamp | None] = [None] * len(news)
    count = sum(len(run.words) for new in news for run in new.fresh)
    if not count:
        return nothing
    fresh = [run for new in news for run in new.fresh]
    several = len(fresh) > 1
    if several and shapes.is_renaming(fresh):
        return nothing
    if _is_repeated(news):
        return nothing
    if not hints.stream and len(news) == 1:
        inserted = "".join(news[0].change.region.new[start:end] for start, end in _inserted(news[0]))
        if shapes.is_completion(inserted):
            return nothing
        if hints.trigger and shapes.may_be_expansion(hints.trigger, inserted, count):
            return nothing
    return [_judge(new, hints) for new in news]


def _judge(new: New, hints: Hints) -> Stamp | None:
    change, fresh = new
    region = change.region
    words = [word for run in fresh for word in run.words]
    if not words:
        return None
    spots = change.spots(fresh)
    calls = shapes.calls_in(region.new, words, spots)
    whole_lines = change.carried is None and all(_whole_lines(region, *spot) for spot in region.inserted)
    own = sum(word.key not in KEYWORDS for word in words)
    if calls.with_arguments or (calls.empty and own >= shapes.MANY_WORDS):
        if hints.stream:
            return Stamp(AI, signals.STREAM, 0.9)
        if change.carried is not None:
            return Stamp(AI, signals.REWRITE, 0.7)
        if whole_lines:
            # An assistant's block and a paste from the browser are the same edit.
            return Stamp(UNKNOWN, signals.PASTE, 0.6)
        return Stamp(AI, signals.INSERTION, 0.7)
    if change.carried is None:
        if len(region.inserted) == 1:
            start, end = region.inserted[0]
            if shapes.are_arguments(region.new, start, end, own):
                return Stamp(AI, signals.INSERTION, 0.5)
        return None
    if hints.blocks and len(fresh) > 1 and shapes.touches_call(region.new, fresh):
        return Stamp(AI, signals.REWRITE, 0.6)
    return None


def _inserted(new: New) -> Sequence[tuple[int, int]]:
    return new.change.region.inserted


def _is_repeated(news: Sequence[New]) -> bool:
    """Whether the same new words stand on each of several lines: several cursors, a macro."""
    lines: list[list[str]] = []
    for new in news:
        by_line: dict[int, list[str]] = {}
        for run in new.fresh:
            for word in run.words:
                line = new.change.region.new.count("\n", 0, word.start)
                by_line.setdefault(line, []).append(word.key)
        lines += by_line.values()
    return len(lines) > 1 and all(line == lines[0] for line in lines)


def _whole_lines(region: Region, start: int, end: int) -> bool:
    """Whether an insertion is made of lines, however the editor cut it out."""
    text = region.new[start:end]
    if "\n" not in text:
        return not region.new[:start].rpartition("\n")[2].strip() and not region.new[end:].partition("\n")[0]
    head = region.new[:start].rpartition("\n")[2]
    return not head.strip() or region.new[end : end + 1] in ("", "\n") or text.startswith("\n")


__all__ = ["Hints", "New", "judged"]
