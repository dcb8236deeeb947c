"""What is left of a piece that does not parse."""

from __future__ import annotations

import ast
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.source.repair import MOST_TRIES, read_piece

# name: (text, masked line ranges, what the tree still calls or defines)
CASES: dict[str, tuple[str, list[tuple[int, int]], str]] = {
    "attribute being typed": (
        "def f(self):\n    a()\n    self.foo.\n    b()\n",
        [(3, 3)],
        "f a b",
    ),
    "call being typed": (
        "def f():\n    a()\n    foo(bar, \n    b()\n    c = d()\n",
        [(3, 3)],
        "f a b d",
    ),
    "call being typed over lines": (
        "def f():\n    a()\n    foo(\n        bar,\n        baz=\n    b()\n",
        [(3, 5)],
        "f a b",
    ),
    "string left open": ("def f():\n    a()\n    x = foo('abc\n    b()\n", [(3, 3)], "f a b"),
    "header without its colon": (
        "def f():\n    a()\n    if x\n        b()\n    c()\n",
        [(3, 4)],
        "f a c",
    ),
    "header without its block": ("def f():\n    a()\n    if x:\n    c()\n", [(3, 3)], "f a c"),
    "method being typed": (
        "class C:\n    def a(self):\n        b()\n\n    def c(self, x\n\n    def d(self):\n        e()\n",
        [(5, 5)],
        "C a b d e",
    ),
    "decorated method without its block": (
        "class C:\n    @dec\n    def a(self):\n\n    def d(self):\n        e()\n",
        [(2, 3)],
        "C d e",
    ),
    "try without except": (
        "def f():\n    a()\n    try:\n        b()\n    c()\n",
        [(3, 4)],
        "f a c",
    ),
    "else without if": ("def f():\n    a()\n    else:\n        b()\n    c()\n", [(3, 4)], "f a c"),
    "bad indentation": ("def f():\n    a()\n      b()\n    c()\n", [(3, 3)], "f a c"),
    "dedent to nowhere": ("def f():\n    if x:\n        a()\n   b()\n", [(4, 4)], "f a"),
    "docstring left open": (
        'def f():\n    """About f\n    that\n    x = a()\n    return b()\n',
        [(2, 3)],
        "f a b",
    ),
    "docstring left open before another": (
        'class C:\n    def f(self):\n        """About\n        x = a()\n\n'
        '    def g(self):\n        """Of g."""\n        b()\n',
        [(3, 3)],
        "C f a g b",
    ),
    "tabs": ("def f():\n\ta()\n\tfoo(\n\tb()\n", [(3, 3)], "f a b"),
    "two faults": ("def f():\n    a(\n    b()\n    c.\n    d()\n", [(2, 2), (4, 4)], "f b d"),
    "statement in brackets": (
        "x = foo(\n    a=b(),\n    c==,\n    d=e(),\n)\n",
        [(1, 5)],
        "",
    ),
    "nothing to save": ("x = = 1\n", [(1, 1)], ""),
    "python 2": ("def f():\n    print 'x'\n    a()\n    print b()\n", [(2, 2), (4, 4)], "f a"),
    "brackets closed too often": ("def f():\n    a()\n    b())\n    c()\n", [(3, 3)], "f a c"),
}


def _names(tree: ast.Module) -> str:
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.append((node.lineno, node.name))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.append((node.lineno, node.func.id))
    return " ".join(name for _, name in sorted(found, key=lambda item: item[0]))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_only_the_broken_statement_is_masked(case: tuple[str, list[tuple[int, int]], str]) -> None:
    text, masked, names = case
    source = read_piece(text)
    assert list(source.masked) == masked
    assert _names(source.tree) == names
    assert source.error == "syntax-error"
    assert source.message
    assert source.line


def test_text_that_parses_is_left_alone() -> None:
    source = read_piece("x = a()\n")
    assert (source.masked, source.error, source.lost) == ((), None, False)


def test_what_is_left_stands_where_it_stood() -> None:
    text = "def f():\n    ä = foo('é', \n    return bar('ü', baz())\n"
    tree = read_piece(text).tree
    call = next(node for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert (call.lineno, call.col_offset) == (3, 11)
    assert ast.get_source_segment(text, call) == "bar('ü', baz())"


def test_the_number_of_tries_is_bounded() -> None:
    text = "def f():\n" + "    a b\n    c()\n" * (MOST_TRIES + 1)
    source = read_piece(text)
    assert source.lost
    assert source.masked == ((1, 2 * MOST_TRIES + 3),)
    assert source.tree.body == []


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x = " + "(" * 5_000 + ")" * 5_000 + "\n", "too-deep"),
        ("x = '\0'\n", "not-text"),
        ("x = = 1\n", "syntax-error"),
    ],
    ids=["deep", "null", "syntax"],
)
def test_a_lost_piece_says_why(text: str, error: str) -> None:
    source = read_piece(text)
    assert (source.error, source.lost, source.masked) == (error, True, ((1, 1),))


LINES = st.lists(
    st.sampled_from(
        [
            "x = 1",
            "def f():",
            "    y()",
            "    if a:",
            "        z()",
            "foo(",
            ")",
            '"""',
            "'",
            "# c",
            "",
            "\\",
            "@d",
            "else:",
            "try:",
            "    try:",
            "    except A:",
            "class A:",
            "\tq",
            "  r",
            "f'{",
            "}",
            "import",
        ]
    ),
    max_size=12,
)


@settings(max_examples=300, deadline=None)
@given(LINES)
def test_any_text_gives_a_tree_and_honest_ranges(lines: list[str]) -> None:
    text = "\n".join(lines) + "\n"
    source = read_piece(text)
    ranges = source.masked
    assert all(1 <= first <= last <= max(len(lines), 1) for first, last in ranges)
    assert all(before[1] + 1 < after[0] for before, after in itertools.pairwise(ranges))
    assert bool(ranges) == (source.error is not None)
    masked = {line for first, last in ranges for line in range(first, last + 1)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.expr):
            assert node.lineno not in masked
