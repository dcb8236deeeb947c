"""Edits parse again what they touch, and nothing else; any way there ends in the same pieces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.source.document import Document
from callground.source.repair import read_piece
from callground.text.edits import Edit, apply_edits

Value = tuple[str, bool]


def build(text: str) -> tuple[str, bool]:
    return text, read_piece(text).error is not None


TEXT = "import a\n\n\ndef f():\n    return 1\n\n\n# about g\ndef g():\n    return 2\n\n\nx = f()\ny = g()\n"
PIECES = [
    "import a\n",
    "\n\ndef f():\n    return 1\n",
    "\n\n# about g\ndef g():\n    return 2\n",
    "\n\nx = f()\n",
    "y = g()\n",
]


def test_a_first_version_is_built_whole() -> None:
    document = Document.from_text(TEXT, build)
    assert [piece.text for piece in document.pieces] == PIECES
    assert [piece.lines for piece in document.pieces] == [1, 4, 5, 3, 1]
    assert document.built == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("old", "new", "built"),
    [
        ("return 1", "return 11", ["\n\ndef f():\n    return 11\n"]),
        ("x = f()", "x = f(", ["\n\nx = f(\ny = g()\n"]),  # the bracket takes the next line in
        ("# about g", "# about g()", ["\n\n# about g()\ndef g():\n    return 2\n"]),
        ("import a\n", "import a\nimport b\n", ["import b\n"]),
        ("import a\n", "", []),
        # The blank lines before g go to the statement that now comes first.
        ("# about g\n", "z = 3\n", ["\n\nz = 3\n", "def g():\n    return 2\n"]),
        # Indented, it belongs to the function above.
        ("x = f()\n", "    x = f()\n", ["\n\n# about g\ndef g():\n    return 2\n\n\n    x = f()\n"]),
        ("y = g()\n", "y = g()\n# end\n", ["# end\n"]),
        ("def f():\n", "@dec\ndef f():\n", ["\n\n@dec\ndef f():\n    return 1\n"]),
        ("    return 1\n", "", ["\n\ndef f():\n"]),
        # Two pieces swap: nothing is new.
        ("x = f()\ny = g()\n", "x = f()\nx = f()\n", ["x = f()\n"]),
    ],
)
def test_only_what_an_edit_touches_is_built(old: str, new: str, built: list[str]) -> None:
    document = Document.from_text(TEXT, build)
    start = TEXT.index(old)
    after = document.edit([Edit(start, start + len(old), new)])
    assert [after.pieces[number].text for number in after.built] == built
    assert after.text == TEXT.replace(old, new, 1)
    assert document.text == TEXT


def test_an_edit_far_above_leaves_what_is_below_alone() -> None:
    text = "".join(f"def f{number}():\n    return {number}\n" for number in range(500))
    document = Document.from_text(text, build).edit([Edit(0, 0, "import a\n")])
    assert document.built == (0,)
    assert len(document.pieces) == 501


def test_no_change_builds_nothing() -> None:
    assert Document.from_text(TEXT, build).edit(TEXT).built == ()
    assert Document.from_text(TEXT, build).edit(TEXT.replace("\n", "\r\n")).built == ()


def test_triple_quotes_turn_the_rest_inside_out_and_back() -> None:
    text = 'def f():\n    return 1\n\ndef g():\n    """Of g."""\n    return 2\n\ndef h():\n    """Of h."""\n'
    document = Document.from_text(text, build)
    start = text.index("    return 1")
    opened = document.edit([Edit(start, start, '    """Of f\n')])
    assert [piece.broken for piece in opened.pieces] == [True, False, False]
    assert opened.built == (0,)
    closed = opened.edit([Edit(start + 11, start + 11, '"""')])
    assert [piece.broken for piece in closed.pieces] == [False, False, False]
    assert closed.built == (0,)


def test_an_f_string_closes_far_below() -> None:
    document = Document.from_text("f'{x = 1\nx = 1\nx = 1\n", build)
    assert len(document.pieces) == 3
    closed = document.edit([Edit(15, 15, "}'")])
    assert closed.pieces == Document.from_text(closed.text, build).pieces


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Document.from_text("abcdef", build).edit([Edit(0, 3, ""), Edit(2, 4, "")])


FRAGMENT = st.sampled_from(
    [
        "x = 1\n",
        "def f():\n",
        "    y()\n",
        "(",
        ")",
        '"""',
        "'",
        "\n",
        "# c\n",
        "\\\n",
        "@d\n",
        "else:\n",
        "    ",
        "f'{",
        "}'",
        "class A:\n",
        "import a\n",
        "\x0c",
        "\t",
        "\r\n",
        "\r",
        "é",
        "\ufeff",
        "if a:\n",
        "\x00",
        " word",
    ]
)


@st.composite
def sessions(draw: st.DrawFn) -> tuple[str, list[list[Edit]]]:
    """A text and lists of edits, each list for the text after the ones before."""
    text = first = "".join(draw(st.lists(FRAGMENT, max_size=12)))
    steps: list[list[Edit]] = []
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        edits = [Edit(start, end, "".join(draw(st.lists(FRAGMENT, max_size=3))))]
        steps.append(edits)
        text = apply_edits(text, edits)
    return first, steps


@settings(max_examples=500, deadline=None)
@given(sessions())
def test_any_edits_end_in_the_pieces_of_the_last_text(session: tuple[str, list[list[Edit]]]) -> None:
    text, steps = session
    document = Document.from_text(text, build)
    for edits in steps:
        document = document.edit(edits)
        fresh = Document.from_text(document.text, build)
        assert document.pieces == fresh.pieces
        assert all(piece.value == piece.text for piece in document.pieces)
