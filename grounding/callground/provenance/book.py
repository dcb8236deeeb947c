"""What is known about every open document, and what they share: text that is cut here and pasted there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from callground.provenance import signals
from callground.provenance.history import History, Source
from callground.provenance.intervals import AGENT, Spans, Stamp
from callground.provenance.ledger import Ledger, Lookup
from callground.provenance.streams import Pace
from callground.text.edits import Edit

BY_DISK = Stamp(AGENT, signals.DISK, 0.8)
MOST_CLOSED = 50


class Book:
    """The ledgers of the open documents, by any key (the editor's URI)."""

    def __init__(self) -> None:
        self.history = History()
        self.pace = Pace()
        self.watching = True
        self._ledgers: dict[str, Ledger] = {}
        self._sources: dict[str, Source] = {}
        self._closed: dict[str, tuple[str, Spans]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._ledgers

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._ledgers))

    def ledger(self, key: str) -> Ledger | None:
        """The ledger of an open document."""
        return self._ledgers.get(key)

    def spans(self, key: str) -> Spans:
        """What is known of an open document."""
        ledger = self._ledgers.get(key)
        return ledger.spans if ledger is not None else ()

    def open(self, key: str, text: str, known: Spans | None = None, *, written: Stamp | None = None) -> None:
        """A document was opened.

        `known` is what a record says of this very text.  Without one, what was known when the document
        was closed is carried over, and what is new since then gets `written`: a person who goes back to
        what lies on the disk, git (None), or another program.
        """
        ledger = Ledger(text, known or (), self.history, self.pace, lambda: self._others(key), self.watching)
        closed = self._closed.pop(key, None)
        if known is None and closed is not None:
            ledger.replace(*closed)
            if closed[0] != text:
                ledger.reload(text, written)
        self._ledgers[key] = ledger

    def change(self, key: str, edits: Iterable[Edit], now: float) -> None:
        """A document was edited; `now` is a clock that never goes back, in seconds."""
        ledger = self._ledgers.get(key)
        if ledger is not None:
            ledger.watching = self.watching
            ledger.change(edits, now)

    def close(self, key: str) -> None:
        """A document was closed."""
        ledger = self._ledgers.pop(key, None)
        self._sources.pop(key, None)
        if ledger is not None:
            # Editors close and open a document again to read it from the disk.
            self._closed[key] = (ledger.text, ledger.spans)
            while len(self._closed) > MOST_CLOSED:
                del self._closed[next(iter(self._closed))]

    def closed(self, key: str) -> tuple[str, Spans] | None:
        """The text that a document had when it was closed, and what was known of it."""
        return self._closed.get(key)

    def lookups(self, key: str) -> list[Lookup]:
        """Insertions that may be copies from files that are not open; each is given once."""
        ledger = self._ledgers.get(key)
        if ledger is None:
            return []
        wanted, ledger.lookups = ledger.lookups, []
        return wanted

    def _others(self, key: str) -> Iterator[Source]:
        for other, ledger in self._ledgers.items():
            if other == key:
                continue
            source = self._sources.get(other)
            if source is None or source.text is not ledger.text or source.spans is not ledger.spans:
                source = self._sources[other] = Source(ledger.text, ledger.spans)
            yield source
