"""Function and class rows."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from callground.facts.extract import extract_module
from callground.facts.model import Class, Function, Param


def functions(text: str) -> list[Function]:
    return [row for piece in extract_module(dedent(text)).pieces for row in piece.functions]


def classes(text: str) -> list[Class]:
    return [row for piece in extract_module(dedent(text)).pieces for row in piece.classes]


def test_parameters() -> None:
    (row,) = functions("def f(a, b: int = 1, /, c='é', *args: str, d, e: 'X' = {}, **kw: int) -> list[int]: ...")
    assert row.params == (
        Param("a", "positional-only", None, None),
        Param("b", "positional-only", "int", "1"),
        Param("c", "positional", None, "'é'"),
        Param("args", "*args", "str", None),
        Param("d", "keyword-only", None, None),
        Param("e", "keyword-only", "'X'", "{}"),
        Param("kw", "**kwargs", "int", None),
    )
    assert row.returns == "list[int]"


@pytest.mark.parametrize(
    ("parameters", "kinds"),
    [
        ("", []),
        ("a, b=1", ["positional", "positional"]),
        ("a, /", ["positional-only"]),
        ("*, a", ["keyword-only"]),
        ("*a", ["*args"]),
        ("**a", ["**kwargs"]),
    ],
)
def test_kinds_of_parameters(parameters: str, kinds: list[str]) -> None:
    (row,) = functions(f"def f({parameters}): ...")
    assert [param.kind for param in row.params] == kinds


def test_a_long_default_is_left_out() -> None:
    (row,) = functions(f"def f(a={'1 + ' * 600}1): ...")
    assert row.params[0].default == "..."


@pytest.mark.parametrize(
    ("body", "kind", "doc"),
    [
        ("pass", "empty", ""),
        ("...", "empty", ""),
        ("'doc'", "empty", "doc"),
        ("'''  The first.\n\n  And more.\n  '''\n  pass\n  ...", "empty", "The first."),
        ("raise NotImplementedError", "raises", ""),
        ("'doc'\n  raise X('y')", "raises", "doc"),
        ("return 1", "", ""),
        ("pass\n  return", "", ""),
        ("raise X\n  pass", "", ""),
        ("f'not a {doc}'", "", ""),
        ("b'no doc'", "", ""),
        (repr("x" * 300), "empty", "x" * 200),
    ],
)
def test_kinds_of_bodies(body: str, kind: str, doc: str) -> None:
    (row,) = functions(f"def f():\n  {body}\n")
    assert (row.body, row.doc) == (kind, doc)


@pytest.mark.parametrize(
    ("body", "generator"),
    [
        ("yield", True),
        ("x = yield 1", True),
        ("yield from x", True),
        ("if a:\n    for b in c:\n      print((yield))", True),
        ("while (yield): pass", True),
        ("with (yield) as x: pass", True),
        ("def g(): yield", False),
        ("class C:\n    def g(self): yield", False),
        ("return lambda: (yield)", False),
        ("yield_ = 1", False),
        ("'yield'", False),
        ("@d((yield))\n  def g(): pass", True),
        ("if a: pass\n  elif (yield): pass", True),
        ("match (yield):\n    case _: pass", True),
    ],
)
def test_generators(body: str, generator: bool) -> None:
    (row,) = functions(f"def f():\n  {body}\n")
    assert row.is_generator is generator


def test_which_functions_have_rows() -> None:
    rows = functions(
        """
        def f():
            def nested(): ...
            class Local:
                def method(self): ...
        if a:
            async def g(): ...
        class C:
            try:
                @property
                def h(self): ...
            except E: ...
            class D:
                @d.e(1,
                     2)
                def i(self): ...
            h = lambda: 0
        """
    )
    assert [(row.qualname, row.name, row.is_async) for row in rows] == [
        ("f", "f", False),
        ("g", "g", True),
        ("C.h", "h", False),
        ("C.D.i", "i", False),
    ]
    assert rows[2].decorators == ("property",)
    assert rows[3].decorators == ("d.e(1,\n             2)",)


def test_places_are_those_of_the_keyword() -> None:
    facts = extract_module("x = 1\n\n@dec\ndef f():\n    return 1\n")
    piece = facts.pieces[1]
    (row,) = piece.functions
    assert (row.line, row.col, row.end_line) == (3, 0, 4)
    assert piece.lines == 4


def test_body_digests_follow_the_text_and_nothing_else() -> None:
    one = {row.qualname: row.body_digest for row in functions("def f():\n  return 1\ndef g():\n  return 1\n")}
    moved = {
        row.qualname: row.body_digest for row in functions("\n\n# x\ndef f():\n  return 1\ndef g():\n  return 2\n")
    }
    assert one["f"] == moved["f"]
    assert one["g"] != moved["g"]
    assert len(one["f"]) == 16
    (plain,) = functions("def f():\n  return 1\n")
    (decorated,) = functions("@d\ndef f():\n  return 1\n")
    assert plain.body_digest != decorated.body_digest


def test_class_rows() -> None:
    rows = classes(
        """
        @dec
        @other(1)
        class C(Base, m.Other[int], *bases, metaclass=Meta, flag=True, **more):
            '''About C.

            More.'''
            x: int = 1
            y, z = f()
            if a:
                def m(self): ...
            class D: ...
            import q
        """
    )
    outer, inner = rows
    assert outer.qualname == outer.name == "C"
    assert inner.qualname == "C.D"
    assert outer.bases == ("Base", "m.Other[int]", "*bases")
    assert outer.keywords == (("metaclass", "Meta"), ("flag", "True"), ("**", "more"))
    assert outer.decorators == ("dec", "other(1)")
    assert outer.doc == "About C."
    assert [(row.name, row.kind, row.value, row.path, row.guards) for row in outer.members] == [
        ("x", "annassign", "1", "", ()),
        ("y", "assign", "f()", "0", ()),
        ("z", "assign", "f()", "1", ()),
        ("m", "def", "C.m", "", ("if:a",)),
        ("D", "class", "C.D", "", ()),
        ("q", "import", "q", "", ()),
    ]
    assert outer.line == 4
    assert outer.end_line == 13


def test_the_guards_of_a_class_are_not_those_of_its_members() -> None:
    (row,) = classes("if a:\n  class C:\n    x = 1\n    if b:\n      y = 2\n")
    assert [member.guards for member in row.members] == [(), ("if:b",)]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 does not parse before 3.12")
def test_type_parameters() -> None:
    (row,) = classes("class C[T: int, *Ts, **P]: ...")
    assert row.type_params == ("T: int", "*Ts", "**P")
    (function,) = functions("def f[T](x: T) -> T: ...")
    assert function.type_params == ("T",)


def test_stub_text_is_read_alike() -> None:
    rows = functions(
        """
        import sys
        @overload
        def f(x: int) -> int: ...
        @overload
        def f(x: str, *, y: bool = ...) -> str: ...
        if sys.version_info >= (3, 12):
            def g() -> None: ...
        """
    )
    assert [(row.qualname, row.body, row.decorators) for row in rows] == [
        ("f", "empty", ("overload",)),
        ("f", "empty", ("overload",)),
        ("g", "empty", ()),
    ]
    assert rows[1].params[1] == Param("y", "keyword-only", "bool", "...")
