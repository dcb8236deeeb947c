"""A fragment as if it stood somewhere: where it goes, how it is indented, the way back."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.gate.changed import changed_ranges
from callground.gate.fragment import alone, code_of, insert, placements, taken_out
from callground.verdict.model import Range

FILE = """\
import os


def first(a):
    x = (
        a
    )

    return x


class Box:
    name = "x"

    def put(self, what):
        if what:
            self.what = what
        else:
            self.what = None


@decorated(
    1
)
def last():
    pass
"""
# line, fragment, the line that it becomes, its indentation
PLACES = [
    (1, "f()", 1, 0),
    (2, "f()", 2, 0),
    (5, "f()", 5, 4),
    (6, "f()", 5, 4),  # in the middle of an expression: before the statement
    (7, "f()", 5, 4),
    (8, "f()", 8, 4),  # an empty line: as the next line of code
    (9, "f()", 9, 4),
    (10, "f()", 10, 0),
    (10, "    f()", 10, 4),  # it came indented, and there is such a block
    (11, "f()", 11, 0),
    (12, "f()", 12, 0),
    (13, "def g(self): ...", 13, 4),
    (14, "def g(self): ...", 14, 4),
    (16, "f()", 16, 8),
    (17, "f()", 17, 12),
    (18, "f()", 18, 8),
    (19, "f()", 19, 12),
    (22, "f()", 22, 0),
    (23, "f()", 22, 0),  # in the middle of a decorator
    (25, "f()", 22, 0),
    (26, "f()", 26, 4),
    (27, "f()", 27, 4),
    (27, "def g(): ...", 27, 0),
    (900, "def g(): ...", 27, 0),
    (-3, "f()", 1, 0),
]


@pytest.mark.parametrize(("line", "code", "at", "indent"), PLACES)
def test_places(line, code, at, indent):
    laid = insert(FILE, line, code_of(code))
    rows = laid.text.split("\n")
    assert rows[at - 1] == " " * indent + code.strip()
    assert laid.lines == ((at, at),)
    assert laid.line(at) == 1
    assert laid.line(at + 1) is None
    assert rows[: at - 1] + rows[at:] == FILE.split("\n")
    if line != 18:  # before an `else` nothing can stand but what its `if` ends with
        ast.parse(laid.text)


@pytest.mark.parametrize(
    ("line", "indents"),
    [
        (1, [0]),
        (5, [4]),
        (10, [0, 4]),  # behind `first`: its last statement, or the next one of the file
        (11, [0, 4]),
        (13, [4]),
        (17, [12]),
        (18, [8, 12]),  # before the `else`: only what its `if` ends with parses
        (20, [0, 4, 8, 12]),
        (27, [4, 0]),
    ],
)
def test_levels_that_are_possible(line, indents):
    made = placements(FILE, line, code_of("f()"))
    assert [
        len(row) - len(row.lstrip()) for laid in made for row in [laid.text.split("\n")[laid.lines[0][0] - 1]]
    ] == indents


def test_before_an_elif_only_what_its_if_ends_with_is_possible():
    text = "if a:\n    f()\nelif b:\n    g()\nelse:\n    h()\n"
    for line, last in ((3, 3), (5, 5)):
        made = placements(text, line, code_of("x()"))
        assert "    x()" in made[-1].text.split("\n")[last - 1]
        ast.parse(made[-1].text)


def test_methods_stand_in_a_class():
    laid = alone(code_of("def dumps(self, value):\n    return dumps(value)\n"), ("import a",))
    assert laid.text.split("\n")[1:3] == ["class callground_class_(callground_base_):", "    def dumps(self, value):"]
    assert laid.where(Range(4, 15, 4, 20)) == (2, 11, 2, 16)
    assert alone(code_of("def f(self): ...\nf(1)\n")).text.startswith("def f(self)")


def test_the_way_back_counts_columns_too():
    laid = insert(FILE, 9, code_of("\n  f(1)\n  g(é,\n    2)\n"))
    assert laid.text.split("\n")[8:12] == ["", "    f(1)", "    g(é,", "      2)"]
    assert laid.where(Range(10, 4, 10, 8)) == (2, 2, 2, 6)
    assert laid.where(Range(11, 4, 12, 8)) == (3, 2, 4, 6)


@pytest.mark.parametrize(
    ("text", "lines", "numbers", "columns"),
    [
        ("f()\n", ["f()", ""], [1, 2], [0, 0]),
        ("  f()\n  g()", ["f()", "g()"], [1, 2], [2, 2]),
        ("x = 1\n    y = 2\n", ["x = 1", "y = 2", ""], [1, 2, 3], [0, 4, 0]),
        ("Do:\n```python\nf()\ng()\n```\nDone.", ["f()", "g()"], [3, 4], [0, 0]),
        ("- a\n\n  ```py\n  f()\n  ```\n", ["f()"], [4], [2]),
        (">>> f()\n1\n>>> g()\n", ["f()", "g()"], [1, 3], [4, 4]),
        ("> ```python\n> f()\n> ```", ["f()"], [2], [2]),
        ("python - <<'EOF'\nf()\nEOF\n", ["f()"], [2], [0]),
        ("```py\na()\n```\nthen\n```py\nb()\n```", ["a()", "", "b()"], [2, 3, 6], [0, 0, 0]),
    ],
)
def test_code_in_prose_keeps_its_places(text, lines, numbers, columns):
    code = code_of(text)
    assert (list(code.lines), list(code.numbers), list(code.columns)) == (lines, numbers, columns)


def test_the_fragment_is_taken_out_of_a_repaired_text():
    laid = insert(FILE, 9, code_of("f(1)\ng(2)"))
    assert taken_out(laid, laid.text) == "f(1)\ng(2)\n"
    assert taken_out(laid, laid.text.replace("f(1)", "ff(\n        1)")) == "ff(\n    1)\ng(2)\n"
    with_import = laid.text.replace("import os\n", "import os\nimport sys\n").replace("f(1)", "sys.f(1)")
    assert taken_out(laid, with_import) == "import sys\nsys.f(1)\ng(2)\n"
    by_itself = alone(code_of("f(1)\n"))
    assert taken_out(by_itself, "import x\nx.f(1)\n") == "import x\nx.f(1)\n"


@settings(max_examples=200, deadline=None)
@given(
    st.integers(-2, 40),
    st.lists(st.sampled_from(["f()", "x = 1", "", "    g()", "if x:", "'''", "é(1)"]), max_size=5),
)
def test_nothing_of_the_file_is_lost_and_every_line_finds_back(line, rows):
    code = code_of("\n".join(rows))
    laid = insert(FILE, line, code)
    made = laid.text.split("\n")
    for number, row in enumerate(made, 1):
        origin = laid.line(number)
        if origin is not None and origin <= len(rows):
            assert row.strip() == rows[origin - 1].strip()
    kept = [row for number, row in enumerate(made, 1) if laid.line(number) is None]
    assert kept == FILE.split("\n")


@pytest.mark.parametrize(
    ("old", "new", "ranges"),
    [
        ("a\nb\nc\n", "a\nb\nc\n", ()),
        ("a\nb\nc\n", "a\nx\nc\n", ((2, 2),)),
        ("a\nc\n", "a\nb\nb\nc\n", ((2, 3),)),
        ("a\nb\nc\n", "a\nc\n", ()),
        ("", "a\nb\n", ((1, 2),)),
        ("a\r\nb\r\n", "a\nb\n", ()),
        ("a\nb\nc\nd\n", "x\nb\nc\ny\n", ((1, 1), (4, 4))),
    ],
)
def test_changed_lines(old, new, ranges):
    assert changed_ranges(old, new) == ranges
