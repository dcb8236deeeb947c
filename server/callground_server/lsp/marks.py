"""Silencing comments of a document under edit: found anew only in the statements that changed."""

from __future__ import annotations

from collections import OrderedDict

from callground.graph.interface import SourceFile
from callground.graph.trees import piece_text
from callground.rules.ignores import Comment, comments
from callground.verdict.model import Range

_MOST = 5_000
# A comment above all code may speak for the whole file; one above a later statement may not.  So a line of
# code is put before every statement but the first.
_CODE = "0\n"


class Marks:
    """The comments of statements, by their text."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bool], tuple[Comment, ...]] = OrderedDict()

    def of(self, file: SourceFile) -> list[Comment]:
        """The silencing comments of a file, as `comments` finds them in its whole text."""
        found: list[Comment] = []
        for number, piece in enumerate(file.facts.pieces):
            key = (piece.digest, number == 0)
            marks = self._known.get(key)
            if marks is None:
                marks = self._known[key] = self._read(file, number)
            start = file.facts.starts[number] - 1
            found += [_moved(mark, start) for mark in marks] if start else marks
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return found

    def _read(self, file: SourceFile, number: int) -> tuple[Comment, ...]:
        text = piece_text(file, number)
        if number == 0:
            return tuple(comments(text))
        return tuple(_moved(mark, -1) for mark in comments(_CODE + text))


def _moved(mark: Comment, lines: int) -> Comment:
    span = mark.range
    moved = Range(span.line + lines, span.column, span.end_line + lines, span.end_column)
    return mark._replace(range=moved, line=mark.line + lines if mark.line else 0)
