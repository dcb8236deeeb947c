"""A text under edit: what an edit does not touch is not parsed again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from callground.source.parse import parse
from callground.source.pieces import Cutter, cut_tree, normalized, whole_cut
from callground.text.edits import Edit, apply_edits, common_prefix, common_suffix
from callground.text.lines import line_starts

T = TypeVar("T")


@dataclass(frozen=True)
class DocumentPiece(Generic[T]):
    """One piece of a document and what was made of it."""

    text: str
    lines: int
    value: T
    broken: bool
    """The piece does not parse as it stands."""


class Document(Generic[T]):
    """One version of a text, cut into pieces; immutable.

    `build` makes a value of a piece's text and says whether the text is broken.  It is called for
    every piece of a first version, and after an edit only for pieces whose text is new.  The value
    must depend on nothing but the text.  Any sequence of edits ends in the same pieces as
    `Document.from_text` of the last text.
    """

    __slots__ = ("_build", "_cut_whole", "_normal", "_offsets", "built", "pieces", "text")

    def __init__(
        self,
        text: str,
        normal: str,
        offsets: list[int],
        pieces: tuple[DocumentPiece[T], ...],
        built: tuple[int, ...],
        build: Callable[[str], tuple[T, bool]],
        cut_whole: bool,
    ) -> None:
        self.text = text
        """The text as it was given."""
        self.pieces = pieces
        self.built = built
        """Numbers of the pieces that `build` was called for in this version."""
        self._normal = normal
        self._offsets = offsets
        self._build = build
        self._cut_whole = cut_whole

    @staticmethod
    def from_text(text: str, build: Callable[[str], tuple[T, bool]]) -> Document[T]:
        """A document of `text`, with nothing to start from."""
        normal = normalized(text)
        return _assemble(text, normal, *whole_cut(normal), {}, build)

    def edit(self, change: str | Sequence[Edit]) -> Document[T]:
        """The document after a change: its new text, or edits with offsets in its text.

        Raises ValueError when edits overlap.
        """
        text = change if isinstance(change, str) else apply_edits(self.text, change)
        normal = normalized(text)
        old = self._normal
        if normal == old:
            return Document(text, normal, self._offsets, self.pieces, (), self._build, self._cut_whole)
        known = {piece.text: piece for piece in self.pieces}
        cuts = None if self._cut_whole else self._cut_again(normal)
        offsets, whole = (cuts, False) if cuts is not None else whole_cut(normal)
        return _assemble(text, normal, offsets, whole, known, self._build)

    def _cut_again(self, normal: str) -> list[int] | None:
        """Cut the pieces that differ from the old text, and keep the other cuts; None if in doubt."""
        old, offsets = self._normal, self._offsets
        if not offsets or not normal:
            return None
        start = common_prefix(old, normal)
        behind = common_suffix(old, normal, min(len(old), len(normal)) - start)
        shift = len(normal) - len(old)
        # The piece before is cut again too: what it ends with may now belong to it, or no longer.
        first = max(bisect_right(offsets, start) - 2, 0)
        result = offsets[: first + 1]
        cutter = Cutter(normal)
        old_offsets = set(offsets)
        for cut in cutter.cuts(offsets[first]):
            if cut >= len(normal) - behind and cut - shift in old_offsets:
                if cutter.looked_far:
                    return None
                same = bisect_right(offsets, cut - shift) - 1
                result.extend(offset + shift for offset in offsets[same:])
                return result
            result.append(cut)
        return None if cutter.looked_far or cutter.unclosed is not None else result


def _assemble(
    text: str,
    normal: str,
    offsets: list[int],
    cut_whole: bool,
    known: dict[str, DocumentPiece[T]],
    build: Callable[[str], tuple[T, bool]],
) -> Document[T]:
    pieces, built = _pieces(normal, offsets, known, build)
    if any(piece.broken for piece in pieces):
        tree = parse(normal).tree
        if tree is not None:
            # The text is right and the cut was wrong: the tree knows where the statements end.
            starts = line_starts(normal)
            offsets = [starts[line - 1] for line in cut_tree(normal, tree.body, starts)]
            known = {**known, **{piece.text: piece for piece in pieces}}
            before = {pieces[number].text for number in built}
            pieces, again = _pieces(normal, offsets, known, build)
            built = [number for number in range(len(pieces)) if number in again or pieces[number].text in before]
            cut_whole = True
    return Document(text, normal, offsets, tuple(pieces), tuple(built), build, cut_whole)


def _pieces(
    normal: str,
    offsets: list[int],
    known: dict[str, DocumentPiece[T]],
    build: Callable[[str], tuple[T, bool]],
) -> tuple[list[DocumentPiece[T]], list[int]]:
    pieces: list[DocumentPiece[T]] = []
    built: list[int] = []
    fresh: dict[str, DocumentPiece[T]] = {}
    for number, begin in enumerate(offsets):
        end = offsets[number + 1] if number + 1 < len(offsets) else len(normal)
        text = normal[begin:end]
        piece = known.get(text) or fresh.get(text)
        if piece is None:
            value, broken = build(text)
            lines = text.count("\n") + (not text.endswith("\n"))
            piece = fresh[text] = DocumentPiece(text, lines, value, broken)
            built.append(number)
        pieces.append(piece)
    return pieces, built
