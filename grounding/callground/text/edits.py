"""Edits of a text: applied, composed, found by comparison, and carried over to ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from callground.text.lines import UTF32, LineIndex


class Edit(NamedTuple):
    """``text[start:end]`` becomes `text`; offsets in code points of the text before the edit."""

    start: int
    end: int
    text: str


class Replacement(NamedTuple):
    """An edit between two positions, as editors send it (lines 1-based, columns 0-based)."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def resolve(index: LineIndex, replacement: Replacement, unit: str = UTF32) -> Edit:
    """The edit that a replacement stands for; positions outside the text are moved inside."""
    start = index.offset(replacement.line, replacement.column, unit)
    end = index.offset(replacement.end_line, replacement.end_column, unit)
    return Edit(min(start, end), max(start, end), replacement.text)


def apply_changes(text: str, changes: Iterable[Replacement | str], unit: str = UTF32) -> str:
    """Apply changes one after the other, each to the result of the one before (a ``str`` replaces all)."""
    for change in changes:
        if isinstance(change, str):
            text = change
        else:
            edit = resolve(LineIndex(text), change, unit)
            text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """Apply edits that all refer to `text`.

    Insertions at the same place keep their order.  Raises ValueError when two edits overlap.
    """
    parts: list[str] = []
    done = 0
    for edit in _sorted(edits):
        parts.append(text[done : edit.start])
        parts.append(edit.text)
        done = edit.end
    parts.append(text[done:])
    return "".join(parts)


def compose(first: Sequence[Edit], second: Sequence[Edit]) -> list[Edit]:
    """One list of edits with the effect of `first` and then `second` (whose offsets follow `first`).

    Raises ValueError when edits of one list overlap.
    """
    # What the text in between consists of: inserted text, or a stretch of the old text.  The last
    # stretch has no end.
    middle: list[str | tuple[int, int]] = []
    done = 0
    for edit in _sorted(first):
        middle.extend(((done, edit.start), edit.text))
        done = edit.end
    middle.append((done, _FAR))
    result: list[Edit] = []
    reader = _Stretches(middle)
    writer = _Writer(result)
    position = 0
    for edit in _sorted(second):
        for stretch in reader.take(edit.start - position):
            writer.add(stretch)
        for _ in reader.take(edit.end - edit.start):
            pass
        writer.add(edit.text)
        position = edit.end
    for stretch in reader.rest():
        writer.add(stretch)
    return result


def difference(old: str, new: str) -> Edit | None:
    """The one edit, as short as can be at both ends, that makes `new` of `old`; None when they are equal."""
    if old == new:
        return None
    start = common_prefix(old, new)
    behind = common_suffix(old, new, min(len(old), len(new)) - start)
    return Edit(start, len(old) - behind, new[start : len(new) - behind])


def common_prefix(one: str, other: str) -> int:
    """Number of characters that both texts begin with."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(one: str, other: str, most: int) -> int:
    """Number of characters, `most` at most, that both texts end with."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def rebase(ranges: Iterable[tuple[int, int]], edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """The ranges (start, end offsets) where they stand after the edits, which all refer to the old text.

    An edit inside a range grows or shrinks it; one that cuts off an end leaves the rest; text that is
    inserted exactly at an end stays outside.  A range of which nothing is left is dropped.
    """
    ordered = _sorted(edits)
    result: list[tuple[int, int]] = []
    for start, end in ranges:
        low, high = start, end
        shift = 0
        for edit in ordered:
            grown = len(edit.text) - (edit.end - edit.start)
            if edit.end <= start:
                shift += grown
            elif edit.start >= end:
                break
            elif edit.start <= start and edit.end >= end:
                low = high = start
                break
            elif edit.start <= start:
                low = start + (edit.end - start)
                shift += grown
            elif edit.end >= end:
                high = edit.start
                break
            else:
                high += grown
        if low < high:
            # `high` already counts what grew inside; `shift` what lies before.
            result.append((low + shift, high + shift))
    return result


_FAR = 1 << 62


def _sorted(edits: Sequence[Edit]) -> list[Edit]:
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for before, after in pairwise(ordered):
        if before.end > after.start:
            raise ValueError(f"edits overlap: {before} and {after}")
    return ordered


class _Stretches:
    """Reads stretches of text by length."""

    def __init__(self, stretches: list[str | tuple[int, int]]) -> None:
        self._left = stretches[::-1]

    def take(self, length: int) -> list[str | tuple[int, int]]:
        taken: list[str | tuple[int, int]] = []
        while length > 0 and self._left:
            stretch = self._left.pop()
            size = len(stretch) if isinstance(stretch, str) else stretch[1] - stretch[0]
            if size > length:
                if isinstance(stretch, str):
                    self._left.append(stretch[length:])
                    stretch = stretch[:length]
                else:
                    self._left.append((stretch[0] + length, stretch[1]))
                    stretch = (stretch[0], stretch[0] + length)
                size = length
            length -= size
            taken.append(stretch)
        return taken

    def rest(self) -> list[str | tuple[int, int]]:
        left, self._left = self._left[::-1], []
        return left


class _Writer:
    """Turns stretches of the new text back into edits of the old one."""

    def __init__(self, edits: list[Edit]) -> None:
        self._edits = edits
        self._done = 0
        self._text = ""

    def add(self, stretch: str | tuple[int, int]) -> None:
        if isinstance(stretch, str):
            self._text += stretch
            return
        start, end = stretch
        if start == end:
            return
        if self._text or start != self._done:
            self._edits.append(Edit(self._done, start, self._text))
            self._text = ""
        self._done = end
