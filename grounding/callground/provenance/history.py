"""Text that was taken out, kept for a while: what comes back by undo, redo or a move is whose it was."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from callground.provenance.align import stamps_of
from callground.provenance.intervals import Spans, Stamp
from callground.provenance.tokens import SEPARATOR, Word, is_name, joined, words

MOST_TEXTS = 400
MOST_CHARACTERS = 1_000_000


class Source:
    """A text in which a run of words can be found, with whose each of them is."""

    __slots__ = ("_joined", "_places", "_words", "spans", "text")

    def __init__(self, text: str, spans: Spans = ()) -> None:
        self.text = text
        self.spans = spans
        self._words: list[Word] | None = None
        self._joined = ""
        self._places: list[int] = []

    @property
    def words(self) -> list[Word]:
        """The words of the text, read when they are first asked for."""
        if self._words is None:
            self._words = words(self.text)
            keys = [word.key for word in self._words]
            self._joined = joined(keys)
            self._places = list(accumulate((len(key) + 1 for key in keys), initial=0))
        return self._words

    def find(self, keys: Sequence[str]) -> int | None:
        """Number of the first word of a place where these words stand one after the other."""
        if self._words is None and not all(key in self.text for key in keys if is_name(key)):
            return None  # most texts need not be read for that
        _ = self.words
        place = self._joined.find(joined(list(keys)))
        return bisect_right(self._places, place) - 1 if place >= 0 else None

    def longest(self, keys: Sequence[str]) -> tuple[int, int] | None:
        """The longest beginning of `keys` that stands here: (number of its first word, its length)."""
        low, high = 0, len(keys)
        while low < high:
            middle = (low + high + 1) // 2
            if self.find(keys[:middle]) is not None:
                low = middle
            else:
                high = middle - 1
        first = self.find(keys[:low]) if low else None
        return (first, low) if first is not None else None

    def stamps(self, first: int, count: int) -> list[Stamp | None]:
        """Whose the words are, from number `first` on."""
        return stamps_of(self.words[first : first + count], self.spans)


class History:
    """What was removed last, newest first.  Bounded."""

    def __init__(self) -> None:
        self._removed: deque[Source] = deque()
        self._characters = 0

    def add(self, text: str, spans: Spans) -> None:
        """A text was taken out."""
        if SEPARATOR in text or len(text) > MOST_CHARACTERS:
            return
        for known in list(self._removed)[:8]:
            if known.text == text and known.spans == spans:
                return
        self._removed.appendleft(Source(text, spans))
        self._characters += len(text)
        while len(self._removed) > MOST_TEXTS or self._characters > MOST_CHARACTERS:
            self._characters -= len(self._removed.pop().text)

    def __iter__(self) -> Iterator[Source]:
        return iter(tuple(self._removed))


def whole(keys: Sequence[str], sources: Iterable[Source]) -> list[Stamp | None] | None:
    """Whose these words are, when all of them stand in one source one after the other."""
    for source in sources:
        first = source.find(keys)
        if first is not None:
            return source.stamps(first, len(keys))
    return None


def line_by_line(lines: Sequence[Sequence[str]], sources: Sequence[Source]) -> list[Stamp | None] | None:
    """Whose the words of these lines are, when each line stands in some source."""
    result: list[Stamp | None] = []
    for keys in lines:
        stamps = whole(keys, sources)
        if stamps is None:
            return None
        result += stamps
    return result


def pieced(keys: Sequence[str], sources: Sequence[Source]) -> list[Stamp | None] | None:
    """Whose these words are, when they are put together of pieces that stand in the sources.

    Two words that follow each other are the least that tells a piece.
    """
    result: list[Stamp | None] = []
    while len(result) < len(keys):
        rest = keys[len(result) :]
        best: tuple[int, int] | None = None
        best_source: Source | None = None
        for source in sources:
            found = source.longest(rest)
            if found is not None and (best is None or found[1] > best[1]):
                best, best_source = found, source
                if found[1] == len(rest):
                    break
        if best is None or best_source is None or best[1] < min(2, len(keys)):
            return None
        result += best_source.stamps(*best)
    return result
