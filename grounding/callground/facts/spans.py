"""Cutting source text at the positions that ``ast`` gives (lines, UTF-8 byte columns)."""

from __future__ import annotations

import ast
import hashlib
from typing import Protocol

from callground.text.lines import line_starts

LONGEST_TEXT = 2_000
"""Expressions with more characters than this are not kept as text."""


class Positioned(Protocol):
    """Anything with the four position attributes of ``ast``."""

    lineno: int
    col_offset: int
    end_lineno: int | None
    end_col_offset: int | None


def digest(text: str) -> str:
    """16 hex digits that stand for `text`."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Spans:
    """A text (``\\n`` line ends) with its line starts: gives the source of a node in constant time."""

    __slots__ = ("ascii", "starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = line_starts(text)
        self.ascii = text.isascii()

    def offset(self, line: int, column: int) -> int:
        """Offset of a 1-based line and a byte column; positions past the end are clamped."""
        starts = self.starts
        if line >= len(starts):
            return len(self.text)
        start = starts[line - 1]
        if self.ascii:
            return start + column
        row = self.text[start : starts[line]]
        if row.isascii():
            return start + column
        return start + len(row.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def source(self, node: Positioned) -> str:
        """The node's source text, as it stands (a text over several lines keeps its line ends)."""
        end_line = node.end_lineno or node.lineno
        end_column = node.end_col_offset or 0
        if self.ascii:
            starts = self.starts
            return self.text[starts[node.lineno - 1] + node.col_offset : starts[end_line - 1] + end_column]
        return self.text[self.offset(node.lineno, node.col_offset) : self.offset(end_line, end_column)]

    def short(self, node: Positioned) -> str | None:
        """The node's source text, or None when it is longer than `LONGEST_TEXT`."""
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return self.text[start:end] if end - start <= LONGEST_TEXT else None

    def statement(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
        """The text of a whole definition, from the line of its first decorator."""
        first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
        return self.text[self.starts[first - 1] : self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)]
