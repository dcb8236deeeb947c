"""What binds a name at module level and in a class body."""

from __future__ import annotations

import ast
import sys
from textwrap import dedent

import pytest

from callground.facts.extract import extract_module
from callground.facts.model import Binding

Row = tuple[object, ...]


def bindings(text: str) -> list[Binding]:
    return [row for piece in extract_module(text).pieces for row in piece.bindings]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        # name, kind, value, path
        ("def f(): ...", [("f", "def", "f", "")]),
        ("async def f(): ...", [("f", "def", "f", "")]),
        ("class C: ...", [("C", "class", "C", "")]),
        ("import a", [("a", "import", "a", "")]),
        ("import a.b.c", [("a", "import", "a.b.c", "")]),
        ("import a.b as c", [("c", "import", "a.b", "as")]),
        ("import a, b.c", [("a", "import", "a", ""), ("b", "import", "b.c", "")]),
        ("from a.b import c, d as e", [("c", "from", "a.b", "c"), ("e", "from", "a.b", "d")]),
        ("from . import a", [("a", "from", ".", "a")]),
        ("from ..p.q import a", [("a", "from", "..p.q", "a")]),
        ("from a import *", [("*", "star", "a", "")]),
        ("x = 1", [("x", "assign", "1", "")]),
        ("x = y = f(1)", [("x", "assign", "f(1)", ""), ("y", "assign", "f(1)", "")]),
        ("x, y = p", [("x", "assign", "p", "0"), ("y", "assign", "p", "1")]),
        (
            "[a, (b, *c), d] = p",
            [
                ("a", "assign", "p", "0"),
                ("b", "assign", "p", "1.0"),
                ("c", "assign", "p", "1.*1"),
                ("d", "assign", "p", "2"),
            ],
        ),
        (
            "a, *b, c, d = p",
            [
                ("a", "assign", "p", "0"),
                ("b", "assign", "p", "*1"),
                ("c", "assign", "p", "-2"),
                ("d", "assign", "p", "-1"),
            ],
        ),
        ("x = [\n  1,\n  2,  # two\n]", [("x", "assign", "[\n  1,\n  2,  # two\n]", "")]),
        ("x = (yield_)", [("x", "assign", "yield_", "")]),
        ("x = 'é', ü", [("x", "assign", "'é', ü", "")]),
        ("x += f()", [("x", "augassign", "f()", "+=")]),
        ("x @= 1; y **= 2; z >>= 3", [("x", "augassign", "1", "@="), ("y", "augassign", "2", "**="), ("z", "augassign", "3", ">>=")]),
        ("for i, (j, k) in f(): pass", [("i", "for", "f()", "0"), ("j", "for", "f()", "1.0"), ("k", "for", "f()", "1.1")]),
        ("with a() as x, b() as (y, z): pass", [("x", "with", "a()", ""), ("y", "with", "b()", "0"), ("z", "with", "b()", "1")]),
        ("del x, y", [("x", "del", "", ""), ("y", "del", "", "")]),
        ("if (x := f()): pass", [("x", "walrus", "f()", "")]),
        ("[y := g(x) for x in z]", [("y", "walrus", "g(x)", "")]),
        ("print(f'{(x := 1)}')", [("x", "walrus", "", "")]),
        ("@d(x := 1)\ndef f(a=(y := 2)): ...", [("x", "walrus", "1", ""), ("y", "walrus", "2", ""), ("f", "def", "f", "")]),
        ("f = lambda: (x := 1)", [("f", "assign", "lambda: (x := 1)", "")]),
        ("[x for x in y]", []),
        ("x[0] = 1\nx.y = 2", []),
        ("x = " + "'a' + " * 400 + "'b'", [("x", "assign", None, "")]),
        ("globals()['x'] = 1", [("x", "global", "1", "assign")]),
    ],
)  # fmt: skip
def test_module_level(text: str, rows: list[Row]) -> None:
    assert [(row.name, row.kind, row.value, row.path) for row in bindings(text)] == rows
    assert all(row.guards == () and row.annotation is None for row in bindings(text))


def test_annotations() -> None:
    rows = bindings("x: int = 1\ny: 'list[int]'\nz: Callable[\n    [], int\n]\n")
    assert [(row.name, row.kind, row.value, row.annotation) for row in rows] == [
        ("x", "annassign", "1", "int"),
        ("y", "annassign", "", "'list[int]'"),
        ("z", "annassign", "", "Callable[\n    [], int\n]"),
    ]


@pytest.mark.parametrize(
    ("text", "guards"),
    [
        ("if A: x = 1", ["if:A"]),
        ("if A: pass\nelse: x = 1", ["else:A"]),
        ("if A: pass\nelif B: x = 1", ["else:A", "if:B"]),
        ("if A: pass\nelif B: pass\nelse: x = 1", ["else:A", "else:B"]),
        ("if A:\n  if B:\n    x = 1", ["if:A", "if:B"]),
        ("if (A and\n    B): x = 1", ["if:A and\n    B"]),
        ("try: x = 1\nexcept E: pass", ["try:E"]),
        ("try: x = 1\nexcept (E, m.F): pass\nexcept G as g: pass", ["try:E,m.F,G"]),
        ("try: x = 1\nexcept: pass", ["try:"]),
        ("try: x = 1\nexcept E: pass\nexcept: pass", ["try:E,"]),
        ("try: x = 1\nfinally: pass", ["try"]),
        ("try: pass\nexcept (E, F): x = 1", ["except:E,F"]),
        ("try: pass\nexcept: x = 1", ["except:"]),
        ("try: pass\nexcept E: pass\nelse: x = 1", ["try-else"]),
        ("try: pass\nexcept E: pass\nfinally: x = 1", ["finally"]),
        ("for _ in y:\n  x = 1", ["loop"]),
        ("while y: x = 1", ["loop"]),
        ("while y: pass\nelse: x = 1", ["loop"]),
        ("with y: x = 1", ["with"]),
        ("match y:\n  case 1: x = 1", ["match"]),
        ("if A:\n  with y:\n    for _ in z:\n      x = 1", ["if:A", "with", "loop"]),
    ],
)
def test_guards(text: str, guards: list[str]) -> None:
    (row,) = [row for row in bindings(text) if row.name == "x"]
    assert list(row.guards) == guards


def test_a_chain_of_many_tests_stays_small() -> None:
    text = "if a: pass\n" + "".join(f"elif b{number}: x = {number}\n" for number in range(800))
    rows = bindings(text)
    assert len(rows) == 800
    assert max(len(row.guards) for row in rows) <= 101
    assert rows[-1].guards[-1] == "if:b799"


def test_a_long_test_is_unknown() -> None:
    (row,) = bindings("if " + "a + " * 600 + "a: x = 1")
    assert row.guards == ("if:?",)


def test_names_of_caught_exceptions_and_captures() -> None:
    text = """
        try:
            pass
        except (A, B) as e:
            pass
        except C as f:
            pass
        match y:
            case [a, *b] | {"k": a, **b}:
                pass
            case P(q=c) as d:
                pass
    """
    rows = [(row.name, row.kind, row.value, row.guards) for row in bindings(dedent(text))]
    assert rows[:2] == [("e", "except", "(A, B)", ("except:A,B",)), ("f", "except", "C", ("except:C",))]
    assert {row[0] for row in rows[2:]} == {"a", "b", "c", "d"}
    assert {row[1:] for row in rows[2:]} == {("match", "", ("match",))}


def test_async_loops_and_contexts_are_marked() -> None:
    text = "async def f():\n  global i, x\n  async for i in a: pass\n  async with b as x: pass\n"
    assert [(row.name, row.kind, row.path) for row in bindings(text)] == [
        ("f", "def", ""),
        ("i", "global", "for"),
        ("x", "global", "with"),
    ]


def test_lines_are_relative_to_the_piece_and_columns_are_bytes() -> None:
    facts = extract_module("import a\n\n# about f\nif ä: x = 1\n")
    piece = facts.pieces[1]
    assert facts.starts == (1, 2)
    assert piece.lines == 3
    (row,) = piece.bindings
    assert (row.line, row.col) == (3, 7)


@pytest.mark.parametrize(
    ("statement", "value", "path"),
    [
        ("X = f()", "f()", "assign"),
        ("X = Y = 1", "1", "assign"),
        ("X: int = 1", "1", "annassign"),
        ("X, y = 1, 2", "", "assign"),
        ("X += 1", "", "augassign"),
        ("for X in y: pass", "", "for"),
        ("with y as X: pass", "", "with"),
        ("import X", "", "import"),
        ("import X.y", "", "import"),
        ("from a import X", "", "from"),
        ("def X(): pass", "", "def"),
        ("class X: pass", "", "class"),
        ("del X", "", "del"),
        ("try: pass\n    except E as X: pass", "", "except"),
        ("print(X := 2)", "2", "walrus"),
        ("match y:\n        case X: pass", "", "match"),
    ],
)
def test_global_names_are_bound_at_module_level(statement: str, value: str, path: str) -> None:
    text = f"def f():\n    global X, Z\n    X_ = 1\n    {statement}\n"
    _, row = bindings(text)
    assert (row.name, row.kind, row.value, row.path) == ("X", "global", value, path)


def test_global_is_seen_in_methods_nested_functions_and_class_bodies() -> None:
    text = """
        class C:
            global A
            A = 1
            B = 2
            def m(self):
                X = 0
                def n():
                    global X
                    if y:
                        X = 1
                X = 2
    """
    rows = bindings(dedent(text))
    assert [(row.name, row.kind, row.value, row.guards) for row in rows] == [
        ("C", "class", "C", ()),
        ("A", "global", "1", ()),
        ("X", "global", "1", ("if:y",)),
    ]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 does not parse before 3.12")
def test_type_aliases() -> None:
    (row,) = bindings("type X[T] = list[T]")
    assert (row.name, row.kind, row.value) == ("X", "type", "list[T]")


def test_every_text_that_is_kept_parses_in_parentheses() -> None:
    text = dedent(
        """
        x = yield_, *rest
        y = a if b else c
        z = (
            1 +  # one
            2
        )
        for i in *a, b: pass
        w = \\
            f(
          )
        v = {**a,
             'b': lambda: 1}
        """
    )
    values = [row.value for row in bindings(text)]
    assert len(values) == 6
    for value in values:
        ast.parse(f"({value})", mode="eval")
