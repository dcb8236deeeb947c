"""Which sites a piece of text has: known once per text, so that an edit elsewhere does not walk it again."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from callground.facts.model import ModuleFacts, Piece
from callground.verdict.model import Range

if TYPE_CHECKING:
    from callground.verdict.verify import Site

_MOST = 20_000


class SiteKey(NamedTuple):
    """A site's identity across edits elsewhere in its file: which text it stands in, and where in that."""

    piece: str
    """Digest of the top-level statement."""
    occurrence: int
    """Which of the pieces with that very text."""
    place: Range
    """Relative to the piece."""
    kind: str
    """Kind and role."""


class Place(NamedTuple):
    """One site of a piece, whichever file the piece stands in."""

    place: Range
    kind: str


class Outlines:
    """The sites of pieces, by the pieces' text."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[object, ...], tuple[Place, ...]] = OrderedDict()

    def get(self, piece: Piece) -> tuple[Place, ...] | None:
        """The sites of a piece in the order of its text; None when nobody has looked."""
        key = (piece.digest, piece.masked)
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def learn(self, facts: ModuleFacts, numbers: Iterable[int], sites: Iterable[Site]) -> None:
        """Note the sites that these pieces of a file were found to have."""
        places: dict[int, list[Place]] = {number: [] for number in numbers}
        for site in sites:
            number = piece_of(facts, site.range.line)
            if number in places:
                places[number].append(place_of(site, facts.starts[number]))
        for number, found in places.items():
            piece = facts.pieces[number]
            self._known[piece.digest, piece.masked] = tuple(found)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)


def piece_of(facts: ModuleFacts, line: int) -> int:
    """The number of the piece that a line of the file stands in."""
    return max(bisect_right(facts.starts, line) - 1, 0)


def place_of(site: Site, start: int) -> Place:
    """Where a site stands in its piece."""
    return Place(moved(site.range, 1 - start), f"{site.kind}:{site.role}")


def moved(span: Range, lines: int) -> Range:
    """The range some lines further down."""
    return Range(span.line + lines, span.column, span.end_line + lines, span.end_column)


def occurrences(facts: ModuleFacts) -> list[int]:
    """For each piece, how many pieces with the same text stand before it."""
    seen: dict[str, int] = {}
    found: list[int] = []
    for piece in facts.pieces:
        found.append(seen.get(piece.digest, 0))
        seen[piece.digest] = found[-1] + 1
    return found
