"""The by-name extract of a file, and postings that only grow."""

from __future__ import annotations

import textwrap

import pytest

from callground.facts.extract import extract_module
from callground.graph.changes import index_keys
from callground.graph.indexes import (
    Postings,
    absolute_import,
    index_from_bytes,
    index_of,
    index_to_bytes,
    next_uid,
    with_parents,
)

TEXT = textwrap.dedent("""\
    import os.path
    from . import near as n
    from ..far import thing, other as o

    Alias = n.Base


    class A(Alias, n.Other[int], make(Third)):
        x: int = 1

        def __init__(self):
            self.y = 2
            self.x = 3

        def m(self):
            import inner.deep
            o.attr = 1


    def f():
        A.patched = f


    VALUE = 3
    """)


def test_definitions_are_those_of_modules_and_classes() -> None:
    index = index_of(extract_module(TEXT))
    found = {(row.qualname, row.kind) for row in index.definitions}
    assert {("A", "class"), ("f", "function"), ("VALUE", "variable"), ("n", "import")} <= found
    assert {("A.x", "variable"), ("A.m", "function"), ("A.y", "variable")} <= found
    assert [row.line for row in index.definitions if row.qualname == "VALUE"] == [24]


def test_bases_are_asked_for_by_last_name_with_aliases_undone() -> None:
    index = index_of(extract_module(TEXT))
    assert {base for base, _ in index.bases} >= {"Alias", "Base", "Other", "Third"}
    assert {qualname for _, qualname in index.bases} == {"A"}


def test_imports_are_found_also_in_functions() -> None:
    index = index_of(extract_module(TEXT))
    assert {"os.path", ".near", "..far", "..far.thing", "inner.deep"} <= index.imports


def test_stores_have_the_lines_of_the_file() -> None:
    index = index_of(extract_module(TEXT))
    lines = TEXT.split("\n")
    assert {(row.attr, lines[row.line - 1].strip()) for row in index.stores} == {
        ("attr", "o.attr = 1"),
        ("patched", "A.patched = f"),
    }


def test_the_store_gives_it_back() -> None:
    index = index_of(extract_module(TEXT))
    assert index_from_bytes(index_to_bytes(index)) == index
    assert index_from_bytes(b"nonsense") is None
    assert index_from_bytes(index_to_bytes(index)[:-5]) is None


@pytest.mark.parametrize(
    ("written", "module", "is_package", "expected"),
    [
        ("a.b", "x", False, "a.b"),
        (".", "pkg.mod", False, "pkg"),
        (".near", "pkg.mod", False, "pkg.near"),
        (".near", "pkg", True, "pkg.near"),
        ("..far", "pkg.sub.mod", False, "pkg.far"),
        ("..far", "pkg.sub", True, "pkg.far"),
        ("..far", "pkg.mod", False, None),
        (".near", "mod", False, None),
        (".near", None, False, None),
        ("...x", "a.b", False, None),
    ],
)
def test_relative_imports(written: str, module: str | None, is_package: bool, expected: str | None) -> None:
    assert absolute_import(written, module, is_package) == expected


def test_parents_come_with_a_module() -> None:
    assert list(with_parents("a.b.c")) == ["a.b.c", "a.b", "a"]


def test_postings_keep_what_is_current() -> None:
    postings = Postings()
    old, new, other = next_uid(), next_uid(), next_uid()
    postings.add(old, "/a.py", index_of(extract_module("def f(): ...\n")), ["x"])
    postings.add(new, "/a.py", index_of(extract_module("def g(): ...\nC.z = f\n")), ["y"])
    postings.add(other, "/b.py", index_of(extract_module("class D(B): ...\n")), ["x", "y"])
    kept = postings.kept({new, other})
    assert set(kept.definitions) == {"g", "D"}
    assert set(kept.stores) == {"z"}
    assert kept.imports == {"x": [other], "y": [new, other]}
    assert list(kept.mentions["f"]) == [new]
    assert "f" in postings.definitions, "a snapshot may still use the old ones"


def test_what_differs_between_two_versions_by_name() -> None:
    old = index_of(extract_module("import a\n\n\nclass C(A): ...\nC.x = 1\n"))
    moved = index_of(extract_module("\n\n\nimport a\nclass C(A): ...\nC.x = 1\n"))
    new = index_of(extract_module("import b\nclass C(B): ...\nC.x = 2\n"))
    assert index_keys(old, moved, ["a"], ["a"]) == set()
    assert index_keys(old, new, ["a"], ["b"]) == {
        ("bases", "A"),
        ("bases", "B"),
        ("stores", "x"),
        ("imported", "a"),
        ("imported", "b"),
    }
    assert index_keys(None, old, [], ["a"]) == {("bases", "A"), ("stores", "x"), ("imported", "a")}
