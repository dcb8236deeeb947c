"""Look-ups over the facts of one module, merged over its pieces when they are first asked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

from callground.facts.model import AttrStore, Binding, Class, Function, ModuleFacts


class Exports(NamedTuple):
    """What ``__all__`` says."""

    names: tuple[str, ...] | None
    """The names that are listed, in order, without doubles; None when the module has no ``__all__``."""
    open: bool
    """There may be more (or fewer) names than `names` and the sources give."""
    sources: tuple[str, ...]
    """Expressions or dotted modules whose own ``__all__`` belongs to it (``.x`` or ``name`` as written)."""


class ModuleIndex:
    """Look-ups over one `ModuleFacts`.  Rows come with the number of their piece, in source order."""

    def __init__(self, facts: ModuleFacts) -> None:
        self.facts = facts
        self._bindings: dict[str, tuple[tuple[int, Binding], ...]] | None = None
        self._classes: dict[str, list[tuple[int, Class]]] | None = None
        self._functions: dict[str, list[tuple[int, Function]]] | None = None
        self._exports: Exports | None = None
        self._dynamic: tuple[str, ...] | None = None
        self._masked: bool | None = None

    def _merged(self) -> dict[str, tuple[tuple[int, Binding], ...]]:
        merged = self._bindings
        if merged is None:
            lists: dict[str, list[tuple[int, Binding]]] = {}
            for number, piece in enumerate(self.facts.pieces):
                for binding in piece.bindings:
                    lists.setdefault(binding.name, []).append((number, binding))
            merged = self._bindings = {name: tuple(rows) for name, rows in lists.items()}
        return merged

    def bindings(self, name: str) -> tuple[tuple[int, Binding], ...]:
        """What binds `name` at module level."""
        return self._merged().get(name, ())

    def names(self) -> frozenset[str]:
        """Every name that is bound at module level (star imports not followed)."""
        return frozenset(self._merged()) - {"*"}

    def star_imports(self) -> tuple[tuple[int, Binding], ...]:
        """The star imports at module level."""
        return self._merged().get("*", ())

    def class_(self, qualname: str) -> list[tuple[int, Class]]:
        """The class statements with that qualname; several when it is defined more than once."""
        if self._classes is None:
            self._classes = {}
            for number, piece in enumerate(self.facts.pieces):
                for row in piece.classes:
                    self._classes.setdefault(row.qualname, []).append((number, row))
        return self._classes.get(qualname, [])

    def classes(self) -> list[tuple[int, Class]]:
        """Every class row."""
        return [(number, row) for number, piece in enumerate(self.facts.pieces) for row in piece.classes]

    def functions(self, qualname: str) -> list[tuple[int, Function]]:
        """The definitions with that qualname; several for overloads, properties and redefinitions."""
        if self._functions is None:
            self._functions = {}
            for number, piece in enumerate(self.facts.pieces):
                for row in piece.functions:
                    self._functions.setdefault(row.qualname, []).append((number, row))
        return self._functions.get(qualname, [])

    def attr_stores(self) -> list[tuple[int, AttrStore]]:
        """Every store to an attribute of something that is not a method's own receiver."""
        return [(number, row) for number, piece in enumerate(self.facts.pieces) for row in piece.attr_stores]

    def exports(self) -> Exports:
        """What ``__all__`` lists."""
        if self._exports is None:
            names: dict[str, None] = {}
            sources: dict[str, None] = {}
            is_open = later = seen = False
            for piece in self.facts.pieces:
                for operator, source, listed in piece.exports:
                    seen = True
                    if operator == "open":
                        is_open = True
                        later = later or source == "later"
                        continue
                    if operator == "-=":
                        # A name of another module's list may stay listed: that can only make a call grounded.
                        for name in listed:
                            names.pop(name, None)
                        continue
                    if operator == "=":
                        names.clear()
                        sources.clear()
                        is_open = False
                    if source:
                        sources[source] = None
                    names.update(dict.fromkeys(listed))
            self._exports = Exports(tuple(names) if seen else None, is_open or later, tuple(sources))
        return self._exports

    @property
    def dynamic(self) -> tuple[str, ...]:
        """Why the module may have names that are not shown."""
        if self._dynamic is None:
            marks: dict[str, None] = {}
            for piece in self.facts.pieces:
                marks.update(dict.fromkeys(piece.dynamic))
            self._dynamic = tuple(marks)
        return self._dynamic

    @property
    def has_masked(self) -> bool:
        """Whether any line of the module did not parse."""
        if self._masked is None:
            self._masked = any(piece.masked for piece in self.facts.pieces)
        return self._masked

    def absolute_line(self, piece: int, line: int) -> int:
        """The 1-based line in the file of a line relative to a piece."""
        return self.facts.starts[piece] + line - 1


MOST_LINES = 200_000
"""Lines of the modules whose indexes are kept by `index_of`, which keeps their facts in memory too."""

_lock = threading.Lock()
_indexes: OrderedDict[int, tuple[ModuleFacts, ModuleIndex, int]] = OrderedDict()
_lines = 0


def index_of(facts: ModuleFacts) -> ModuleIndex:
    """The index of these very facts, made once while it stays in a bounded memory.

    Facts are tuples, which cannot be weakly referenced; whoever holds a module for long should
    hold its index.
    """
    global _lines
    with _lock:
        known = _indexes.get(id(facts))
        # The entry holds the facts, so their id is not another's.
        if known is not None:
            _indexes.move_to_end(id(facts))
            return known[1]
        index = ModuleIndex(facts)
        size = facts.starts[-1] + facts.pieces[-1].lines if facts.pieces else 1
        _indexes[id(facts)] = (facts, index, size)
        _lines += size
        while _lines > MOST_LINES and len(_indexes) > 1:
            _, (_, _, dropped) = _indexes.popitem(last=False)
            _lines -= dropped
    return index
