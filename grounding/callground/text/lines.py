"""Lines and columns of a text, in the units that the world uses.

Lines are 1-based, columns 0-based, and a line ends at ``\\n``, ``\\r\\n`` or ``\\r`` as in Python's
tokenizer (``str.splitlines`` also splits at form feeds and at U+2028, which no tokenizer and no
editor does).  Positions outside the text are moved to the nearest one inside; nothing here raises.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

UTF8 = "utf-8"
"""Columns count bytes, as in ``ast``."""
UTF16 = "utf-16"
"""Columns count UTF-16 code units, as in LSP by default."""
UTF32 = "utf-32"
"""Columns count code points."""

_ONE_MORE = (1).__add__
_LINE_END = re.compile(r"\r\n?|\n")


class LineIndex:
    """Offsets (code points from the start of the text) to lines and columns, and back."""

    __slots__ = ("_ascii", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts: list[int] = [0, *(match.end() for match in _LINE_END.finditer(text))]
        """Offset of each line's first character.  A text that ends with a line end has an empty last line."""
        self._ascii = text.isascii()

    @property
    def count(self) -> int:
        """Number of lines, at least 1."""
        return len(self.starts)

    def line(self, number: int) -> str:
        """The text of a line without its line end; ``""`` for a line that does not exist."""
        if not 1 <= number <= len(self.starts):
            return ""
        start, end = self._bounds(number)
        return self.text[start:end]

    def offset(self, line: int, column: int, unit: str = UTF32) -> int:
        """Offset of a position.

        A column past the line's end is the line's end, one inside a character is the character's
        start; a line before the first is the start of the text, one after the last its end.
        """
        if line < 1:
            return 0
        if line > len(self.starts):
            return len(self.text)
        start, end = self._bounds(line)
        if column <= 0:
            return start
        if unit == UTF32 or self._ascii:
            return min(start + column, end)
        return start + _points(self.text[start:end], column, unit)

    def position(self, offset: int, unit: str = UTF32) -> tuple[int, int]:
        """Line and column of an offset.  An offset between ``\\r`` and ``\\n`` belongs to the line's end."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset)
        start, end = self._bounds(line)
        column = min(offset, end) - start
        if unit == UTF32 or self._ascii:
            return line, column
        return line, _units(self.text[start : start + column], unit)

    def column(self, line: int, column: int, unit: str, target: str) -> int:
        """A column of a line, from one unit to another."""
        if unit == target or not 1 <= line <= len(self.starts):
            return max(column, 0)
        start, end = self._bounds(line)
        if self._ascii:
            return min(max(column, 0), end - start)
        text = self.text[start:end]
        points = min(max(column, 0), len(text)) if unit == UTF32 else _points(text, column, unit)
        return points if target == UTF32 else _units(text[:points], target)

    def _bounds(self, line: int) -> tuple[int, int]:
        """Offsets of the start of a line and of its line end."""
        start = self.starts[line - 1]
        if line == len(self.starts):
            return start, len(self.text)
        end = self.starts[line] - 1
        if end > start and self.text[end] == "\n" and self.text[end - 1] == "\r":
            end -= 1
        return start, end


def line_starts(text: str) -> list[int]:
    """Offsets (code points) of the line starts of a text whose lines end with ``\\n`` only.

    One more entry than there are lines: the last is past the end, so that every line has an end.
    """
    starts = list(accumulate(map(_ONE_MORE, map(len, text.split("\n"))), initial=0))
    # The last part has no line end, and is no line at all when it is empty.
    if len(starts) > 1:
        starts[-1] -= 1
        if starts[-1] == starts[-2]:
            starts.pop()
    return starts


def _units(text: str, unit: str) -> int:
    """Length of a text in a unit."""
    if text.isascii():
        return len(text)
    if unit == UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(character > "\uffff" for character in text)


def _points(text: str, column: int, unit: str) -> int:
    """Code points before a column of a line."""
    if column <= 0:
        return 0
    if text.isascii():
        return min(column, len(text))
    left = column
    for number, character in enumerate(text):
        if unit == UTF8:
            left -= 1 if character < "\x80" else 2 if character < "\u0800" else 3 if character < "\U00010000" else 4
        else:
            left -= 2 if character > "\uffff" else 1
        if left < 0:
            return number
    return len(text)
