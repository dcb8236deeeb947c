"""Every failure of the parser is a value; nothing prints and nothing crashes."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

from callground.source.nesting import longest_chain
from callground.source.newer import uses_newer_syntax
from callground.source.parse import parse


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ("x = = 1", "syntax-error", 1),
        ("x = 1\nif x:\ny = 2", "syntax-error", 3),
        ("x = 'abc", "syntax-error", 1),
        ("x = 1\n  y = 2", "syntax-error", 2),
        ("if x:\n\ty = 1\n        z = 2\n", "syntax-error", 3),
        ("x = 1\0", "not-text", 0),
        ("x = " + "(" * 5_000 + ")" * 5_000, "too-deep", 1),
        ("x = " + "[" * 5_000, "too-deep", 1),
        ("x = " + "{1: " * 5_000, "too-deep", 1),
        ("".join(" " * depth + "if 1:\n" for depth in range(200)), "too-deep", 101),
        ("x = " + "lambda: " * 30_000 + "1", "too-deep", 0),
        ("x = " + "-" * 50_000 + "1", "too-deep", 0),
        ("x = '\ud800'", "syntax-error", 0),
    ],
    ids=range(13),
)
def test_errors_are_values(text: str, error: str, line: int) -> None:
    parsed = parse(text)
    assert parsed.tree is None
    assert parsed.error == error
    assert parsed.message
    assert parsed.line == line


CHAINS = ["x" + ".a" * 200_000, "x" + "()" * 200_000, "x" + "[0]" * 200_000, "+".join(["1"] * 200_000)]


@pytest.mark.parametrize("text", CHAINS, ids=["attributes", "calls", "items", "sum"])
def test_a_chain_that_kills_python_3_10_is_too_deep(text: str) -> None:
    # In another process: if this fails, it fails by a segmentation fault.
    program = (
        "import sys; from callground.source.parse import parse; parsed = parse(sys.stdin.read()); print(parsed.error)"
    )
    paths = [path for path in sys.path if path]
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {program}"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.strip()) == (0, "too-deep")


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("x = 1", 0),
        ("x.a.b()", 3),
        ("f(a.b, c.d)(e)", 2),
        ("x = 'a.b.c.d'  # a.b.c", 0),
        ("a.b\nc.d", 1),
        ("(a\n+ b\n+ c)", 2),
        ("f(" + "a, " * 50 + ")", 1),
    ],
)
def test_chains_are_measured(text: str, links: int) -> None:
    assert longest_chain(text) == links


def test_warnings_of_the_parser_do_not_show(capsys: pytest.CaptureFixture[str]) -> None:
    text = "x = '\\d'\ny = 1 is 1\nz = 1if x else 2\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert parse(text).tree is not None
    assert caught == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse(text).tree is not None
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ((3, 10), "try:\n    pass\nexcept* ValueError:\n    pass\n"),
        ((3, 10), "x: tuple[*Ts]"),
        ((3, 10), "def f(*args: *Ts): ..."),
        ((3, 11), "type X = int"),
        ((3, 11), "type X[T] = list[T]"),
        ((3, 11), "def f[T](x: T) -> T: ..."),
        ((3, 11), "class C[T]: ..."),
        ((3, 11), "async def f[*Ts](x): ..."),
        ((3, 11), 'f"{d["a"]}"'),
        ((3, 11), "x = f'{d['a']}'"),
        ((3, 11), "f\"{'\\n'.join(x)}\""),
        ((3, 12), "class C[T = int]: ..."),
        ((3, 13), "t'{x}'"),
        ((3, 13), "try:\n    pass\nexcept KeyError, ValueError:\n    pass\n"),
    ],
)
def test_newer_syntax_is_known(version: tuple[int, int], text: str) -> None:
    assert uses_newer_syntax(text, version)
    assert not uses_newer_syntax(text, (version[0], version[1] + 1))


@pytest.mark.parametrize(
    "text",
    [
        "foo(",
        "def f(:",
        "print 'hello'",
        "try:\n    pass\nexcept ValueError, error:\n    pass\n",
        "x = type ==",
        "x = d['a'",
        'x = f"{a"',
        "except",
        "exec 'x' in d",
    ],
)
def test_half_typed_and_old_code_is_not_newer(text: str) -> None:
    assert not uses_newer_syntax(text, (3, 10))
