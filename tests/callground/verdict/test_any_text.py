"""Whatever stands in a file, judging it raises nothing and meets no fault of our own."""

from __future__ import annotations

import importlib
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callground.graph.driver import verify_with_loading
from callground.session import Session
from callground.verdict.model import Reason

# What may stand where, in any order: much of it parses, little of it makes sense.
PIECES = (
    "x", "self", "y", "f", "C", "(", ")", "[", "]", "{", "}", ".", ",", ":", "=", ":=", "->", "*", "**", "@", "|",
    "def f(x, *y, **z):", "class C(f, x=y):", "lambda x: ", "for x in ", "while ", "if ", "else:", "try:", "except f as x:",
    "finally:", "with f() as (x, *y):", "match x:", "case C(x=y) | [x, *y]:", "return ", "yield ", "yield from ", "await ",
    "async ", "global x", "nonlocal x", "del x", "import x.y as f", "from .x import *", "from f import x", "raise f from x",
    "assert ", "x: 'C[f]' = ", "super()", "super().f(", "type(x)", "x.f(*y, **z)", "isinstance(x, C)", "hasattr(x, 'f')",
    "[x for x in y if f]", "f'{x!r:>{y}}'", "...", "1", "'s'", "b''", "None", "\\", ";", "#", '"""', "__all__ = x",
    "__slots__ = ('x',)", "@property", "@C.x.setter", "@overload", "Enum('C', 'x y')", "namedtuple('C', 'x y')",
)  # fmt: skip
SPACE = st.sampled_from([" ", "\n", "\n    ", "\n        ", ""])
SOUP = st.lists(st.tuples(st.sampled_from(PIECES), SPACE), max_size=40).map(lambda ps: "".join(a + b for a, b in ps))
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    root = tmp_path_factory.mktemp("any")
    (root / "main.py").write_text("", "utf-8")
    (root / "other.py").write_text("from main import *\nclass Child(C):\n    pass\n", "utf-8")
    with Session.open(str(root), cache=str(tmp_path_factory.mktemp("cache"))) as session:
        session.index()
        yield session.workspace


def check(text, workspace):
    path = str(Path(workspace.paths()[0]).parent / "main.py")
    for verdict in verify_with_loading(text, path, workspace):
        assert verdict.reason is not Reason.INTERNAL, (verdict.detail, verdict.range)


@SETTINGS
@given(text=st.text(max_size=200))
def test_any_characters(text, workspace):
    check(text, workspace)


@SETTINGS
@given(text=SOUP)
def test_any_tokens(text, workspace):
    check(text, workspace)


# Statements that are right by themselves, about few names: together they go round in circles.
EXPRESSIONS = (
    "x", "f", "C", "x.x", "x()", "f()()", "C().f()", "x[0]", "x + f()", "f(x, *x, **x)", "lambda y=x: y(x)", "[x for x in x]",
    "x if f else C", "x or C()", "not x", "super().f()", "type(x)", "type('C', (x,), {})", "(x, C)", "{x: f}", "x == f",
    "(x := f(x))", "C.f(C)", "cast(C, x)", "partial(f, x)", "getattr(x, 'f')", "x.f.f.f()", "await_(x)", "__class__", "-x",
)  # fmt: skip
TEMPLATES = (
    "x = {0}", "x: {0} = {1}", "x, f = {0}", "x.f = {0}", "x += {0}", "def f(x={0}): return {1}", "def f(x: {0}) -> {1}: return x",
    "class C({0}): f = {1}", "class C({0}, metaclass={1}): pass", "class C:\n    def f(self): return {0}\n    x = {1}",
    "@{0}\ndef f(x): return {1}", "@{0}\nclass C: x: {1}", "for x in {0}: {1}", "with {0} as x: {1}", "if {0}: x = {1}",
    "while {0}: x = {1}", "try: {0}\nexcept {1} as x: pass", "{0}", "import x", "from x import f", "def f():\n    global x\n    x = {0}",
    "from functools import partial", "from typing import cast", "def f(x):\n    yield {0}\n    return {1}", "del x", "raise {0}",
    "match {0}:\n    case C(x=f): {1}", "class C({0}):\n    @property\n    def f(self): return self.f.{1}",
    "def f(x):\n    def f():\n        nonlocal x\n        x = {0}\n    return {1}", "assert isinstance({0}, {1})",
)  # fmt: skip
STATEMENT = st.builds(
    lambda template, *parts: template.format(*parts),
    st.sampled_from(TEMPLATES),
    st.sampled_from(EXPRESSIONS),
    st.sampled_from(EXPRESSIONS),
)


@SETTINGS
@given(lines=st.lists(STATEMENT, min_size=1, max_size=14))
def test_any_statements(lines, workspace):
    check("\n".join(lines), workspace)


MODULES = ("shelve", "textwrap", "contextlib", "functools", "dataclasses", "typing")


@st.composite
def mutated(draw) -> str:
    """Some lines of real code, spoilt in a few places."""
    source = Path(importlib.import_module(draw(st.sampled_from(MODULES))).__file__ or "").read_text("utf-8")
    lines = source.splitlines(keepends=True)
    start = draw(st.integers(0, max(0, len(lines) - 1)))
    text = "".join(lines[start : start + draw(st.integers(1, 120))])
    for _ in range(draw(st.integers(0, 6))):
        a = draw(st.integers(0, len(text)))
        b = min(len(text), a + draw(st.integers(0, 30)))
        kind = draw(st.sampled_from(["cut", "double", "put", "swap"]))
        if kind == "cut":
            text = text[:a] + text[b:]
        elif kind == "double":
            text = text[:b] + text[a:]
        elif kind == "put":
            text = text[:a] + draw(st.sampled_from([*PIECES, *string.punctuation])) + text[a:]
        else:
            text = text[b:] + text[:a]
    return text


@SETTINGS
@given(text=mutated())
def test_real_code_that_was_spoilt(text, workspace):
    check(text, workspace)
