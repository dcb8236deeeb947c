"""Each bad input ends in facts that say what is wrong; nothing is raised."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.facts.extract import LARGEST_TEXT, extract_module
from callground.facts.live import LiveModule
from callground.facts.model import ModuleFacts
from callground.source.decode import decode


def names(facts: ModuleFacts) -> list[str]:
    return [row.name for piece in facts.pieces for row in piece.bindings]


def masked(facts: ModuleFacts) -> list[tuple[int, int]]:
    return [
        (first + start - 1, last + start - 1)
        for piece, start in zip(facts.pieces, facts.starts, strict=True)
        for first, last in piece.masked
    ]


@pytest.mark.parametrize(
    ("text", "error", "bound", "lines"),
    [
        ("", None, [], []),
        ("\n\n", None, [], []),
        ("# only a comment", None, [], []),
        ("\ufeffx = 1\n", None, ["x"], []),
        ("x = 1\r\ny = 2\r\n", None, ["x", "y"], []),
        ("x = 1\ry = 2\r", None, ["x", "y"], []),
        ("x = 1\n\fy = 2\n  \fz = 3\n", None, ["x", "y", "z"], []),
        ("x = 1\0", "not-text", [], []),
        ("x = 1\nfoo(\ndef f(): ...\n", None, ["x", "f"], [(2, 2)]),
        ("= 1\n", "syntax-error", [], [(1, 1)]),
        ("= 1\n= 2\n\n# the end", "syntax-error", [], [(1, 1), (2, 2)]),
        ("x = '\ud800'\ny = 1\n", None, ["y"], [(1, 1)]),
        ("x = " + "(" * 5_000 + ")" * 5_000, "too-deep", [], [(1, 1)]),
        ("y = 1\nx = " + "(" * 5_000 + ")" * 5_000, None, ["y"], [(2, 2)]),
        ("y = 1\nx = " + "[" * 5_000, None, ["y"], [(2, 2)]),
        ("".join(" " * depth + "if 1:\n" for depth in range(2_000)) + "y = 1\n", None, ["y"], None),
        ("x = " + "-" * 100_000 + "1\ny = 1\n", None, ["y"], [(1, 1)]),
        ("x = a" + ".b" * 150_000 + "\ny = 1\n", None, ["y"], [(1, 1)]),
        ("if a: pass\n" + "elif b: pass\n" * 20_000 + "\ny = 1\n", None, ["y"], [(1, 20_001)]),
        ("x = " + " + ".join(["1"] * 100_000) + "\ny = 1\n", None, ["y"], [(1, 1)]),
        ("x" * (LARGEST_TEXT + 1), "too-large", [], []),
    ],
    ids=range(21),
)
def test_bad_text(text: str, error: str | None, bound: list[str], lines: list[tuple[int, int]] | None) -> None:
    facts = extract_module(text)
    assert facts.error == error
    assert names(facts) == bound
    if lines is not None:
        assert masked(facts) == lines
    assert LiveModule.from_text(text).facts == facts


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"x = '\xff'", "not-text"),
        (b"# coding: latin-1\nx = '\xff'", None),
        (b"\xef\xbb\xbfx = 1\r\n", None),
        (b"x = 1\n" * 3_500_000, "too-large"),
    ],
)
def test_bad_bytes(data: bytes, error: str | None) -> None:
    decoded = decode(data)
    assert decoded.error == error
    if error is None:
        facts = extract_module(decoded.text, decoded.encoding)
        assert (names(facts), facts.error, facts.encoding) == (["x"], None, decoded.encoding)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python parses it")
def test_newer_syntax_is_told_from_a_mistake() -> None:
    facts = extract_module("import a\nx = t'{a}'\n")
    assert facts.error == "syntax-newer-than-server"
    assert names(facts) == ["a"]
    assert masked(facts) == [(2, 2)]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python parses it")
@pytest.mark.parametrize("text", ["type X = int", "def f[T](x): ...", "class C[T]: ...", 'x = f"{d["a"]}"'])
def test_syntax_of_3_12(text: str) -> None:
    assert extract_module(f"y = 1\n{text}\nz = 2\n").error == "syntax-newer-than-server"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this Python does not parse it")
@pytest.mark.parametrize("text", ["type X = int", "def f[T](x): ...", "class C[T]: ...", 'x = f"{d["a"]}"'])
def test_syntax_of_3_12_parses_there(text: str) -> None:
    facts = extract_module(f"y = 1\n{text}\nz = 2\n")
    assert facts.error is None
    assert len(names(facts)) == 3


def test_crlf_and_lf_have_the_same_facts() -> None:
    text = "x = [\n  1,\n]\ndef f():\n    '''a\n    b'''\n    return (\n 1)\n"
    assert extract_module(text) == extract_module(text.replace("\n", "\r\n"))
    assert extract_module(text) == extract_module(text.replace("\n", "\r"))


FRAGMENT = st.sampled_from(
    [
        "x = 1\n",
        "def f(self):\n",
        "    self.y = 2\n",
        "    yield\n",
        "(",
        ")",
        '"""',
        "'",
        "\n",
        "\\\n",
        "@d\n",
        "else:\n",
        "f'{",
        "}'",
        "class A(B):\n",
        "import a\n",
        "\x0c",
        "\r",
        "é",
        "\x00",
        "\ufeff",
        "global x\n",
        "    ",
        "__all__ += a\n",
        "setattr(self, x, 1)\n",
        "try:\n",
        "for x in y:\n",
        "del x\n",
        "(x := 1)\n",
        "match x:\n",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(FRAGMENT, max_size=14).map("".join))
def test_any_text_has_facts_and_the_same_under_edit(text: str) -> None:
    facts = extract_module(text)
    assert len(facts.pieces) == len(facts.starts)
    lines = 1
    for piece, start in zip(facts.pieces, facts.starts, strict=True):
        assert start == lines
        lines += piece.lines
    half = LiveModule.from_text(text[: len(text) // 2])
    assert half.edit(text).facts == facts
