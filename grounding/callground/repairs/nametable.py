"""Every name that the workspace defines, ready to be searched for likeness without touching each of them.

One table per set of postings.  Names are only ever added to postings, in order, so the table grows at its
end; what a name's current definitions are is asked of the snapshot afterwards.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from weakref import WeakKeyDictionary

from callground.graph.indexes import Postings
from callground.graph.snapshot import Snapshot
from callground.repairs import distance
from callground.repairs.words import parts, plain, related_verbs

_COMMON = 120
"""A part that more names have than this says nothing: those that only share it are left out."""
_LETTERS = 0.66
_MOST = 40


class NameTable:
    """Names with their plain forms, and one long text of the plain forms to search for parts."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.plains: list[str] = []
        self._by_plain: dict[str, list[int]] = {}
        self._text = ""
        self._starts: list[int] = []

    def grow(self, postings: Postings) -> None:
        """Take in the names that came since."""
        definitions = postings.definitions
        if len(definitions) == len(self.names):
            return
        first = len(self.names)
        # A copy first: another thread may add names meanwhile.
        for name in islice(list(definitions), first, None):
            low = plain(name)
            self._by_plain.setdefault(low, []).append(len(self.names))
            self.names.append(name)
            self.plains.append(low)
        self._text = "\n".join(self.plains)
        self._starts = []
        start = 0
        for low in self.plains:
            self._starts.append(start)
            start += len(low) + 1

    def like(self, wrong: str) -> list[str]:
        """Names that may be meant by a wrong one: candidates for a closer look, in no order."""
        low = plain(wrong)
        if not low:
            return []
        found = {index for index, _ in distance.nearest(low, self.plains, _LETTERS, _MOST)}
        found.update(self._by_plain.get(low, ()))
        first, *rest = parts(wrong) or ("",)
        for verb in related_verbs(first):
            found.update(self._by_plain.get(verb + "".join(rest), ()))
        for part in dict.fromkeys((first, *rest)):
            if len(part) >= 3:
                found.update(self._holding(part))
        # What stands in the wrong name whole, but for words before or behind it.
        pieces = parts(wrong)
        for i in range(len(pieces)):
            for j in range(i + 1, len(pieces) + 1):
                found.update(self._by_plain.get("".join(pieces[i:j]), ()))
        return [self.names[index] for index in found]

    def _holding(self, part: str) -> list[int]:
        hits: list[int] = []
        position = self._text.find(part)
        while position >= 0:
            index = bisect_right(self._starts, position) - 1
            hits.append(index)
            if len(hits) > _COMMON:
                return []
            next_start = self._starts[index + 1] if index + 1 < len(self._starts) else len(self._text)
            position = self._text.find(part, next_start)
        return hits


_tables: WeakKeyDictionary[Postings, NameTable] = WeakKeyDictionary()


def table_of(snapshot: Snapshot) -> NameTable:
    """The table of a snapshot's workspace."""
    postings = snapshot.postings
    table = _tables.get(postings)
    if table is None:
        table = _tables[postings] = NameTable()
    table.grow(postings)
    return table
