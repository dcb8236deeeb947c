"""Text to facts.

`extract_module` is what an index runs on a file, `extract_piece` what an edited document runs on
the pieces that changed; both make the same rows for the same piece of text.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from itertools import pairwise
from typing import NamedTuple

from callground.facts.model import ModuleFacts, Piece
from callground.facts.rows import class_row, function_row
from callground.facts.spans import Spans, digest
from callground.facts.walk import Walker
from callground.facts.words import KEYWORDS, hot_offsets, words
from callground.source.parse import parse
from callground.source.pieces import cut_lines, cut_tree, normalized
from callground.source.repair import PieceSource, read_piece

LARGEST_TEXT = 5_000_000
"""Longest text, in characters, that is parsed: a tree takes near a hundred times the memory of its text."""


class ReadPiece(NamedTuple):
    """The facts of a piece and what was wrong with its text."""

    piece: Piece
    source: PieceSource


def extract_module(text: str, encoding: str = "utf-8") -> ModuleFacts:
    """The facts of a whole module.  Never raises: what is wrong stands in ``error`` and ``masked``."""
    if len(text) > LARGEST_TEXT:
        return ModuleFacts((), (), encoding, "too-large")
    if "\0" in text:
        return ModuleFacts((), (), encoding, "not-text")
    text = normalized(text)
    parsed = parse(text)
    if parsed.tree is None:
        return _extract_broken(text, encoding)
    spans = Spans(text)
    line_count = len(spans.starts) - 1
    body = parsed.tree.body
    starts = cut_tree(text, body, spans.starts)
    pieces: list[Piece] = []
    taken = 0
    for index, first in enumerate(starts):
        last = starts[index + 1] - 1 if index + 1 < len(starts) else line_count
        begin = taken
        while taken < len(body) and body[taken].lineno <= last:
            taken += 1
        pieces.append(_build(spans, body[begin:taken], first, last, ()))
    return ModuleFacts(tuple(pieces), tuple(starts), encoding, None)


extract = extract_module
"""The same, under the short name."""


def extract_piece(text: str) -> ReadPiece:
    """The facts of one piece of normalized text."""
    source = read_piece(text)
    spans = Spans(text)
    piece = _build(spans, source.tree.body, 1, len(spans.starts) - 1, source.masked)
    return ReadPiece(piece, source)


def module_of_pieces(read: list[ReadPiece], encoding: str = "utf-8") -> ModuleFacts:
    """The facts of the module that consists of these pieces, in order."""
    starts: list[int] = []
    line = 1
    for item in read:
        starts.append(line)
        line += item.piece.lines
    return ModuleFacts(tuple(item.piece for item in read), tuple(starts), encoding, _error(read))


def _extract_broken(text: str, encoding: str) -> ModuleFacts:
    spans = Spans(text)
    starts = cut_lines(text)
    offsets = [spans.starts[line - 1] for line in starts]
    offsets.append(len(text))
    read = [extract_piece(text[begin:end]) for begin, end in pairwise(offsets)]
    return module_of_pieces(read, encoding)


def _error(read: list[ReadPiece]) -> str | None:
    """The module's error: newer syntax anywhere, else the first error when every piece is lost."""
    errors = [item.source.error for item in read if item.source.error is not None]
    if "syntax-newer-than-server" in errors:
        return "syntax-newer-than-server"
    if errors and all(item.source.lost or not item.source.tree.body for item in read):
        return errors[0]
    return None


def _build(spans: Spans, body: list[ast.stmt], first: int, last: int, masked: tuple[tuple[int, int], ...]) -> Piece:
    """The row of the piece on lines `first` to `last` of the spans' text."""
    base = first - 1
    begin = spans.starts[base]
    text = spans.text[begin : spans.starts[last]]
    found = words(text)
    hot_lines = [bisect_right(spans.starts, begin + offset) for offset in hot_offsets(text, found)]
    walker = Walker(spans, base, found, hot_lines)
    walker.walk(body)
    return Piece(
        digest(text),
        last - base,
        tuple(walker.bindings),
        tuple([function_row(item.node, item.qualname, item.scope.generator, spans, base) for item in walker.functions]),
        tuple([class_row(builder, spans, base) for builder in walker.classes]),
        tuple(walker.attr_stores),
        tuple(walker.exports),
        tuple(walker.dynamic),
        found - KEYWORDS,
        masked,
        tuple(walker.imports),
    )
