"""Open documents: their text and how positions in it count."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from callground.text.edits import Edit
from callground.text.lines import UTF32, LineIndex

_LINE_END = re.compile(r"\r\n|\n|\r")


class Change(NamedTuple):
    """One content change as a client sends it: positions in the client's units, None for the whole text."""

    range: tuple[int, int, int, int] | None
    text: str


@dataclass
class Document:
    """One open document.  Lines end at CRLF, LF or CR only, as the protocol says."""

    uri: str
    path: str
    version: int
    text: str
    language: str = "python"
    _starts: list[int] | None = field(default=None, repr=False)

    @property
    def starts(self) -> list[int]:
        """Offset of each line's first character."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        return self._starts

    def line(self, number: int) -> str:
        """The text of a 0-based line, without its end; empty past the last line."""
        starts = self.starts
        if not 0 <= number < len(starts):
            return ""
        end = starts[number + 1] if number + 1 < len(starts) else len(self.text)
        return self.text[starts[number] : end].rstrip("\r\n")

    def offset(self, line: int, character: int, encoding: str) -> int:
        """The offset of a position in the client's units; positions past an end are moved to it."""
        starts = self.starts
        if line >= len(starts):
            return len(self.text)
        return starts[max(line, 0)] + from_units(self.line(line), character, encoding)

    def position(self, offset: int, encoding: str) -> tuple[int, int]:
        """The position of an offset, in the client's units."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self.starts, offset) - 1
        return line, to_units(self.line(line), offset - self.starts[line], encoding)

    def apply(self, changes: Iterable[Change], version: int, encoding: str) -> list[Edit]:
        """Apply a client's changes in order; gives them as offsets, each in the text that it met."""
        edits: list[Edit] = []
        for change in changes:
            if change.range is None:
                edit = Edit(0, len(self.text), change.text)
            else:
                line, character, end_line, end_character = change.range
                start = self.offset(line, character, encoding)
                end = self.offset(end_line, end_character, encoding)
                edit = Edit(min(start, end), max(start, end), change.text)
            self._splice(edit)
            edits.append(edit)
        self.version = version
        return edits

    def _splice(self, edit: Edit) -> None:
        text = self.text
        self.text = text[: edit.start] + edit.text + text[edit.end :]
        starts = self._starts
        if starts is None:
            return
        # A carriage return at a seam may join with a line feed: then count again.
        seam = "\r" in edit.text or text[edit.start - 1 : edit.start] == "\r" or text[edit.end : edit.end + 1] == "\n"
        if seam and "\r" in self.text:
            self._starts = None
            return
        first = bisect_right(starts, edit.start)
        last = bisect_right(starts, edit.end)
        shift = len(edit.text) - (edit.end - edit.start)
        inner = [edit.start + match.end() for match in _LINE_END.finditer(edit.text)]
        self._starts = [*starts[:first], *inner, *(start + shift for start in starts[last:])]


def from_units(line: str, units: int, encoding: str) -> int:
    """Code points before the position `units` of a line, given in the client's units."""
    return LineIndex(line).column(1, units, encoding, UTF32)


def to_units(line: str, column: int, encoding: str) -> int:
    """The position in the client's units of a column in code points."""
    return LineIndex(line).column(1, column, UTF32, encoding)


__all__ = ["Change", "Document", "Edit", "from_units", "to_units"]
