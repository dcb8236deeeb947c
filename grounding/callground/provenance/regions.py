"""Edits of one moment, put together and widened to whole lines, each with the words that it takes and brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from callground.provenance.align import Run, runs, transfer
from callground.provenance.intervals import Spans, cut
from callground.provenance.shapes import trimmed
from callground.provenance.tokens import Word, words
from callground.text.edits import Edit, apply_edits


class Region(NamedTuple):
    """Lines that became other lines."""

    old: str
    old_start: int
    new: str
    new_start: int
    inserted: tuple[tuple[int, int], ...]
    """Offsets in `new` of what was put in."""
    removes: bool
    """Words went."""


class Change(NamedTuple):
    """A region with what is new in it."""

    region: Region
    carried: Spans | None
    """The spans of the new lines, from the words that were kept; None where nothing was taken out."""
    fresh: tuple[Run, ...]
    words: tuple[Word, ...]
    """All words of the new lines."""

    def spots(self, fresh: Sequence[Run]) -> list[tuple[int, int]]:
        """Stretches of the new lines in which everything came with the words of `fresh`."""
        if self.carried is None:
            return list(self.region.inserted)
        starts = sorted(word.start for word in self.words)
        result = []
        for run in fresh:
            behind = next((start for start in starts if start >= run.end), len(self.region.new))
            result.append((run.start, behind))
        return result


def regions_of(base: str, edits: Sequence[Edit]) -> tuple[list[Region], list[Edit], str]:
    """The regions that disjoint edits of `base` touch, what the edits come down to, and the text after them."""
    short = [slid(edit, base) for edit in (trimmed(each, base) for each in edits) if edit is not None]
    after = apply_edits(base, short)
    grouped: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(short):
        start = base.rfind("\n", 0, edit.start) + 1
        end = base.find("\n", edit.end)
        end = len(base) if end < 0 else end
        if grouped and start <= grouped[-1][1]:
            first, last, mine = grouped[-1]
            grouped[-1] = (first, max(last, end), [*mine, edit])
        else:
            grouped.append((start, end, [edit]))
    regions: list[Region] = []
    shift = 0
    for start, end, mine in grouped:
        new_start = start + shift
        inserted = []
        removes = False
        for edit in mine:
            place = edit.start + shift - new_start
            if edit.text:
                inserted.append((place, place + len(edit.text)))
            removes = removes or bool(words(base[edit.start : edit.end]))
            shift += len(edit.text) - (edit.end - edit.start)
        new = after[new_start : end + shift]
        regions.append(Region(base[start:end], start, new, new_start, tuple(inserted), removes))
    return regions, short, after


FURTHEST = 400
"""Characters by which an insertion is slid at most."""


def slid(edit: Edit, text: str) -> Edit:
    """The same insertion where it cuts no word, at the start of a line if it can stand there.

    Editors say where two texts differ, and of ``import b`` before ``import a`` they say ``b, line end, import``.
    """
    if edit.start != edit.end or not edit.text:
        return edit
    best = edit if _cuts(edit, text) == 0 else None
    for step in (-1, 1):
        at, new = edit.start, edit.text
        for _ in range(FURTHEST):
            if step < 0:
                if at == 0 or text[at - 1] != new[-1]:
                    break
                at, new = at - 1, new[-1] + new[:-1]
            else:
                if at == len(text) or text[at] != new[0]:
                    break
                at, new = at + 1, new[1:] + new[0]
            other = Edit(at, at, new)
            cuts = _cuts(other, text)
            if cuts == 0 and (best is None or _begins_line(at, text) > _begins_line(best.start, text)):
                best = other
    return best or edit


def _cuts(edit: Edit, text: str) -> int:
    """How many words an insertion begins or ends inside of."""
    before, behind = text[edit.start - 1 : edit.start] if edit.start else "", text[edit.start : edit.start + 1]
    return int(_joins(before, edit.text[0])) + int(_joins(edit.text[-1], behind))


def _joins(one: str, other: str) -> bool:
    return (one.isalnum() or one == "_") and (other.isalnum() or other == "_")


def _begins_line(offset: int, text: str) -> bool:
    return offset == 0 or text[offset - 1] == "\n"


def change_of(region: Region, spans: Spans) -> Change:
    """What is new in a region; `spans` are those of the text before."""
    if region.removes:
        moved = transfer(region.old, cut(spans, region.old_start, region.old_start + len(region.old)), region.new)
        return Change(region, moved.spans, moved.fresh, moved.words)
    found = words(region.new)
    # Nothing was taken out: what overlaps the insertions is new, the rest was there.
    source = [None if _overlaps(word, region.inserted) else 0 for word in found]
    return Change(region, None, tuple(runs(found, source)), tuple(found))


def _overlaps(word: Word, stretches: Sequence[tuple[int, int]]) -> bool:
    return any(word.start < end and start < word.end for start, end in stretches)
