"""Where new words come from: text that was taken out lately, or that stands in a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from callground.provenance.align import Run, spread
from callground.provenance.history import History, Source, line_by_line, pieced, whole
from callground.provenance.intervals import Span, Spans, Stamp, normal
from callground.provenance.regions import Change
from callground.provenance.tokens import Word, by_line, words

FEW_WORDS = 4
"""So many words of a line are enough to say that it was copied from a place where they stand too."""


class Origin(NamedTuple):
    """What became of the new words of a change."""

    left: tuple[Run, ...]
    """They come from nowhere that is known."""
    taken: Spans
    """What the others bring with them, in the new lines."""
    copied: bool = False
    """The whole of what was put in is a copy; words that were kept by chance are part of it."""


class Whence:
    """Looks for the words of one edit."""

    def __init__(self, history: History, documents: Callable[[], list[Source]] | None) -> None:
        self._gone = tuple(history)
        self._ask = documents
        """None: only what was taken out is looked through."""
        self._asked: list[Source] | None = None

    def of(self, change: Change) -> Origin:
        """Look for the new words of a change."""
        block = self._block(change)
        if block is not None:
            return Origin((), block, copied=True)
        left: list[Run] = []
        taken: list[Span] = []
        for run in change.fresh:
            found = self._run(change, run)
            if found is not None:
                taken += _placed(change, run.words, found)
            else:
                left += self._without_moved(change, run, taken)
        return Origin(tuple(left), tuple(taken))

    @property
    def _documents(self) -> list[Source]:
        if self._asked is None:
            self._asked = self._ask() if self._ask is not None else []
        return self._asked

    def _block(self, change: Change) -> Spans | None:
        """All that was put in, where a block takes another's place: it may be moved as a whole."""
        if change.carried is None or len(change.region.inserted) != 1:
            return None
        ((start, end),) = change.region.inserted
        mine = [word for word in change.words if word.start < end and start < word.end]
        if len(mine) >= FEW_WORDS and len(mine) > sum(len(run.words) for run in change.fresh):
            stamps = self._anywhere(mine)
            if stamps is not None:
                return tuple(_placed(change, mine, stamps))
        rows = [[change.words[n] for n in row] for row in by_line(change.words, change.region.new)]
        lines = [word for row in rows if row[-1].end > start and row[0].start < end for word in row]
        if not change.fresh or len(lines) < 2:
            return None
        stamps = self._anywhere(lines)
        return tuple(_placed(change, lines, stamps)) if stamps is not None else None

    def _anywhere(self, found: Sequence[Word]) -> list[Stamp | None] | None:
        keys = [word.key for word in found]
        stamps = whole(keys, self._gone)
        return stamps if stamps is not None else whole(keys, self._documents)

    def _run(self, change: Change, run: Run) -> list[Stamp | None] | None:
        """Whose the words of a run are, where they come from."""
        keys = [word.key for word in run.words]
        if len(keys) < 2:
            return None
        stamps = whole(keys, self._gone)
        if stamps is None and len(keys) >= FEW_WORDS:
            stamps = pieced(keys, self._gone)
        if stamps is not None or self._ask is None:
            return stamps
        stamps = self._line(change, run)
        lines = _is_lines(change, run)
        if stamps is None and (lines or len(keys) >= FEW_WORDS):
            stamps = whole(keys, self._documents)
        if stamps is None and lines:
            rows = by_line(run.words, change.region.new)
            stamps = line_by_line([[keys[number] for number in row] for row in rows], self._documents)
        return stamps

    def _line(self, change: Change, run: Run) -> list[Stamp | None] | None:
        """A line that was begun has become one that stands elsewhere: a completion of lines."""
        rows = [[change.words[n] for n in row] for row in by_line(change.words, change.region.new)]
        mine = [row for row in rows if row[-1].end > run.start and row[0].start < run.end]
        if len(mine) != 1 or len(mine[0]) < FEW_WORDS or len(mine[0]) == len(run.words):
            return None
        stamps = whole([word.key for word in mine[0]], self._documents)
        if stamps is None:
            return None
        known = dict(zip(mine[0], stamps, strict=True))
        return [known.get(word) for word in run.words]

    def _without_moved(self, change: Change, run: Run, taken: list[Span]) -> list[Run]:
        """The run without those of its lines that were taken out lately: they are moved."""
        rows = by_line(run.words, change.region.new)
        if len(rows) < 2:
            return [run]
        kept: list[list[Word]] = []
        next_row = -1
        for number, row in enumerate(rows):
            mine = [run.words[index] for index in row]
            stamps = whole([word.key for word in mine], self._gone) if len(mine) > 1 else None
            if stamps is not None:
                taken += _placed(change, mine, stamps)
            elif number == next_row:
                kept[-1] += mine
                next_row = number + 1
            else:
                kept.append(mine)
                next_row = number + 1
        return [Run(mine[0].start, mine[-1].end, tuple(mine)) for mine in kept]


def _placed(change: Change, mine: Sequence[Word], stamps: Sequence[Stamp | None]) -> list[Span]:
    """The spans of words with these stamps, no further than what was put in."""
    part = spread(mine, stamps)
    if change.carried is not None:
        return list(part)
    return list(
        normal(
            span._replace(start=max(span.start, start), end=min(span.end, end))
            for start, end in change.region.inserted
            for span in part
            if span.start < end and span.end > start
        )
    )


def _is_lines(change: Change, run: Run) -> bool:
    """Whether new words are all the words of their lines."""
    before = change.region.new[: run.start].rpartition("\n")[2]
    behind = change.region.new[run.end :].partition("\n")[0]
    return not words(before) and not words(behind)
