"""Where a text is cut into pieces."""

from __future__ import annotations

import ast
import itertools
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.source.pieces import Cutter, cut_lines, cut_offsets, cut_tree, normalized
from callground.text.lines import line_starts

# Pieces are parted by a line of dashes.
CASES = {
    "statements": "import a\n---\nx = 1\n---\n\n# about f\ndef f():\n    return 1\n",
    "what is left at the end": "x = 1\n---\n\n# the end\n",
    "no statement": "# only a comment\n\n",
    "decorators": "@one\n@two(\n    1\n)\ndef f(): pass\n---\n@three\n\n# still\nclass C: pass\n",
    "else and its kin": (
        "if a:\n    b\nelif c:\n    d\nelse:\n    e\n---\n"
        "try:\n    f\nexcept A:\n    g\n# here too\nexcept (B,\nC):\n    h\nelse:\n    i\nfinally:\n    j\n---\nk\n"
    ),
    "one line": "if a: b\nelse: c\n---\nx = 1; y = 2\n---\nz = 3\n",
    "names that begin like keywords": "elsewhere = 1\n---\nexcept_ = 2\n---\nfinally_()\n",
    "comment inside a block at column 0": "def f():\n    a\n# outside\n    b\n---\n# of c\nc\n",
    "brackets": "x = [\n1,\n# 2\n(3),\n]\n---\ny = {\n'a': (\n1)}\n",
    "strings": 'x = """\ndef f():\n"""\n---\ny = "(" + \'[\'\n---\nz = r"\\""\n---\nw = \'\'\'"""\'\'\'\n',
    "escaped quotes": 'x = "a\\"("\n---\ny = """a\\""" ( """\n---\nz = 1\n',
    "continuation": "x = 1 + \\\n2\n---\ny = '\\\n(' \n---\nz\n",
    "continued with nothing": "x = 1 \\\n# of x\n---\ny = 2\n---\nz = 3; \\\n\n---\n\nw = 4  # \\\n---\n\nv = 5\n",
    "form feed": "def f():\n    a\n---\n\f\ndef g():\n    b\n---\n  \fx = 1\n",
    "comments with quotes": 'x = 1  # don\'t (\n---\ny = 2 # """\n---\nz\n',
    "f-string": "x = f'{a[\"b\"]}' f\"{(1)}\"\n---\ny = f'''{\n(1)\n}'''\n---\nz\n",
    "f-string that holds code": "x = f'''\ndef {a}():\n    return {b['c']}\n'''\n---\ny\n",
    "async": "async def f():\n    pass\n---\n@d\nasync def g(): pass\n---\nx\n",
    "match": "match x:\n    case 1:\n        a\n    case _:\n        b\n---\ny\n",
    "no line end": "x = 1\n---\ny = 2",
}


def _pieces(case: str) -> tuple[str, list[str]]:
    pieces = case.split("---\n")
    return "".join(pieces), pieces


def _cut(text: str) -> list[str]:
    offsets = [*cut_offsets(text), len(text)]
    return [text[begin:end] for begin, end in itertools.pairwise(offsets)]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_cut_by_characters(case: str) -> None:
    text, pieces = _pieces(case)
    assert _cut(text) == pieces


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_cut_by_the_tree(case: str) -> None:
    text, pieces = _pieces(case)
    lines = text.count("\n") + (not text.endswith("\n"))
    starts = cut_tree(text, ast.parse(text).body, line_starts(text))
    assert starts == cut_lines(text)
    rows = text.splitlines(keepends=True) if "\f" not in text else None
    if rows is not None:
        bounds = [*starts, lines + 1]
        assert ["".join(rows[a - 1 : b - 1]) for a, b in itertools.pairwise(bounds)] == pieces


BROKEN = {
    "bracket left open": "x = foo(1,\n---\ndef f():\n    pass\n---\ny = 2\n",
    "bracket left open before a decorator": "x = foo(\n---\n@dec(1)\ndef f():\n    pass\n",
    "bracket left open before an import": "x = [\n---\nfrom a import b\n---\nimport c\n",
    "matmul is no decorator": "x = (a\n@b\n)\n---\ny\n",
    "closed too often": "x = 1)\n---\ny = (2\n)\n---\nz\n",
    "string left open": "x = 'abc\n---\ny = 2\n",
    "header without a block": "def f():\n---\ndef g():\n    pass\n",
    "decorator of nothing": "@dec\n---\nx = 1\n",
    "newer f-string": 'x = f"{d["("]}"\n---\ny = 2\n',
    "newer f-string over lines": "x = f'{\n  d['(']\n}'\n---\ny = 2\n",
    "triple quotes left open": (
        'x = 1\n---\ndef f():\n    """About f\n    return 1\n---\n'
        'def g():\n    """About g.  Don\'t (care."""\n    return 2\n---\ny = 3\n'
    ),
    "triple quotes left open in prose": 'x = 1\n---\ns = """only prose\nuntil the end.\n',
    "else alone": "else:\n    x\n---\ny\n",
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN.keys())
def test_broken_text_is_cut_where_a_statement_is_sure(case: str) -> None:
    text, pieces = _pieces(case)
    assert _cut(text) == pieces


def test_cutting_looks_no_further_than_it_must() -> None:
    text = "a = 1\nb = 2\nc = '''\n" + "x\n" * 1_000
    cutter = Cutter(text)
    cuts = cutter.cuts()
    assert next(cuts) == 6
    assert cutter.triples == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("\ufeffx = 1", "\fx = 1"),
        ("x = '\ufeff'", "x = '\ufeff'"),
    ],
)
def test_text_is_seen_as_the_tokenizer_sees_it(text: str, expected: str) -> None:
    assert normalized(text) == expected
    ast.parse(normalized(text).replace("c\n", "c\n"))


def test_the_standard_library_is_cut_alike_by_tree_and_by_characters() -> None:
    folder = Path(sysconfig.get_paths()["stdlib"])
    seen = 0
    for path in sorted(folder.glob("*.py"))[::3]:
        text = normalized(path.read_text(encoding="utf-8"))
        assert cut_lines(text) == cut_tree(text, ast.parse(text).body, line_starts(text)), path.name
        seen += 1
    assert seen > 20


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            "x = 1\n",
            "def f():\n",
            "    y\n",
            "(",
            ")",
            '"""',
            "'",
            '"',
            "\n",
            "# c\n",
            "\\\n",
            "@d\n",
            "else:\n",
            "f'{",
            "}'",
            "class A:\n",
            "import a\n",
            "\x0c",
            "  ",
            "\t",
        ]
    ),
    max_size=14,
).map("".join)


@settings(deadline=None)
@given(FRAGMENTS)
def test_any_text_is_cut_into_pieces_that_make_it_up(text: str) -> None:
    pieces = _cut(text)
    assert "".join(pieces) == text
    assert all(pieces)
    assert all(piece.endswith("\n") for piece in pieces[:-1])


@settings(deadline=None)
@given(FRAGMENTS)
def test_text_that_parses_is_cut_alike_by_tree_and_by_characters(text: str) -> None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    assert cut_lines(text) == cut_tree(text, tree.body, line_starts(text))
