"""Look-ups over the pieces of a module."""

from __future__ import annotations

import pytest

from callground.facts import index as index_module
from callground.facts.extract import extract_module
from callground.facts.index import ModuleIndex, index_of

TEXT = """\
import a
from b import *

if a:
    import c as x

def f(): ...

def f(y): ...

class C:
    def m(self): ...

class C:
    def n(self):
        a.z = 1

x = 1
"""


def test_rows_come_in_source_order_with_their_piece() -> None:
    index = ModuleIndex(extract_module(TEXT))
    assert [(piece, row.kind) for piece, row in index.bindings("x")] == [(2, "import"), (7, "assign")]
    assert index.bindings("nothing") == ()
    assert index.names() == {"a", "x", "f", "C"}
    assert [(piece, row.value) for piece, row in index.star_imports()] == [(1, "b")]
    assert [(piece, len(row.params)) for piece, row in index.functions("f")] == [(3, 0), (4, 1)]
    assert [piece for piece, _ in index.functions("C.n")] == [6]
    assert [piece for piece, _ in index.class_("C")] == [5, 6]
    assert [piece for piece, _ in index.classes()] == [5, 6]
    assert index.class_("D") == []
    assert [(piece, row.receiver, row.attr) for piece, row in index.attr_stores()] == [(6, "a", "z")]
    assert index.dynamic == ()
    assert not index.has_masked


def test_lines_in_the_file() -> None:
    index = ModuleIndex(extract_module(TEXT))
    ((piece, row),) = index.functions("C.n")
    line = index.absolute_line(piece, row.line)
    assert TEXT.split("\n")[line - 1] == "    def n(self):"


def test_masked_lines_are_known() -> None:
    assert ModuleIndex(extract_module("x = 1\nfoo(\n")).has_masked


def test_an_index_is_made_once() -> None:
    facts = extract_module(TEXT)
    assert index_of(facts) is index_of(facts)
    assert index_of(extract_module("x = 1")) is not index_of(facts)


def test_old_indexes_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "MOST_LINES", 100)
    first = extract_module("x = 1\n" * 60)
    index = index_of(first)
    assert index_of(first) is index
    index_of(extract_module("x = 2\n" * 60))
    assert index_of(first) is not index
    large = extract_module("x = 3\n" * 200)
    assert index_of(large) is index_of(large)
