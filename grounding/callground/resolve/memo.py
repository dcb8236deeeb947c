"""Results kept between questions, each with what it read, so that a change drops exactly what it touched."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Any

from callground.verdict.model import Key

_NOTHING: frozenset[Key] = frozenset()
MAX_ENTRIES = 200_000


class Memo:
    """A bounded table: key -> (value, what it read)."""

    def __init__(self, *, tracking: bool = True) -> None:
        self.tracking = tracking
        """Whether entries keep what they read.  A run over one state of the world saves half its memory without."""
        self.entries: dict[Hashable, tuple[Any, frozenset[Key]]] = {}
        self._by_read: dict[Key, set[Hashable]] = {}
        self.classes: dict[Any, Any] = {}
        """Classes that stand in functions or that factory calls make, by a Ref that names their content: entries
        speak of them, so they live as long."""

    def get(self, key: Hashable) -> tuple[Any, frozenset[Key]] | None:
        """The entry of `key`, if it is there."""
        return self.entries.get(key)

    def put(self, key: Hashable, value: Any, reads: frozenset[Key]) -> None:
        """Keep a result.  When the table is full it is emptied: it is a cache, entries may vanish at any time."""
        if len(self.entries) >= MAX_ENTRIES:
            self.clear()
        if not self.tracking:
            self.entries[key] = (value, _NOTHING)
            return
        self.entries[key] = (value, reads)
        for read in reads:
            self._by_read.setdefault(read, set()).add(key)

    def invalidate(self, keys: Iterable[Key]) -> int:
        """Drop every entry that read one of `keys`; returns how many were dropped."""
        dropped = 0
        for key in keys:
            for entry in self._by_read.pop(key, ()):
                dropped += self.entries.pop(entry, None) is not None
        return dropped

    def forget(self, modules: Collection[str]) -> int:
        """Drop every entry that read anything of these modules; returns how many were dropped.

        Entries speak of classes and functions by the version of the file that they were found in: when the text
        changes, what reads the same keys must find the new version.
        """
        return self.invalidate([key for key in self._by_read if len(key) > 1 and key[1] in modules])

    def clear(self) -> None:
        """Forget everything."""
        self.entries.clear()
        self._by_read.clear()
        self.classes.clear()
