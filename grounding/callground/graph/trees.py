"""Parsed pieces, kept in a bounded cache: facts are kept, trees are not."""

from __future__ import annotations

import ast
import threading
from collections import OrderedDict

from callground.graph.interface import SourceFile
from callground.source.repair import read_piece

DEFAULT_LIMIT = 12_000_000
"""Bytes of source text whose trees are kept: a tree takes about twenty times its text."""


class TreeCache:
    """Trees of pieces by the piece's digest: equal text has one tree, whichever file it stands in."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._size = 0
        self._trees: OrderedDict[str, tuple[ast.Module | None, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.parsed = 0
        """How many pieces were parsed: for tests that count work."""

    def get(self, file: SourceFile, piece: int) -> ast.Module | None:
        """The tree of one piece, its lines relative to the piece; None when it does not parse."""
        row = file.facts.pieces[piece]
        with self._lock:
            hit = self._trees.get(row.digest)
            if hit is not None:
                self._trees.move_to_end(row.digest)
                return hit[0]
        text = piece_text(file, piece)
        source = read_piece(text)
        tree = None if source.lost else source.tree
        with self._lock:
            self.parsed += 1
            if row.digest not in self._trees:
                self._trees[row.digest] = (tree, len(text))
                self._size += len(text)
                while self._size > self._limit and len(self._trees) > 1:
                    _, (_, size) = self._trees.popitem(last=False)
                    self._size -= size
        return tree


def piece_text(file: SourceFile, piece: int) -> str:
    """The text of one piece of a read file (whose lines end with line feeds only)."""
    starts = _offsets(file)
    return file.text[starts[piece] : starts[piece + 1]]


_last: tuple[SourceFile, list[int]] | None = None


def _offsets(file: SourceFile) -> list[int]:
    """Offsets of the pieces of a file, and its end; the last file's are kept, for questions come in runs."""
    global _last
    last = _last
    if last is not None and last[0] is file:
        return last[1]
    offsets: list[int] = []
    position = 0
    line = 1
    text = file.text
    for start in file.facts.starts:
        while line < start:
            position = text.index("\n", position) + 1
            line += 1
        offsets.append(position)
    offsets.append(len(text))
    _last = (file, offsets)
    return offsets
