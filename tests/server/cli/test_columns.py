"""Marks stand under what they mean, whatever the line holds."""

from __future__ import annotations

import pytest

from callground_server.cli.columns import cells, excerpt, width


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("abc", 3),
        ("äöü", 3),
        ("a\u0308", 1),  # an accent of its own
        ("日本", 4),
        ("ﾊ", 1),  # half-width
        ("😀", 2),
        ("❤️", 2),  # a text sign made an emoji
        ("👨‍👩‍👧", 2),  # a family
        ("👍🏽", 2),  # a skin tone
        ("🇩🇪", 2),  # a flag
        ("🇩🇪🇫🇷", 4),
        ("\t", 4),
        ("ab\tc", 5),
        ("日\tc", 5),
        ("\x1b[31m", 12),
        ("\u202e", 8),
        ("\u200b", 0),
    ],
)
def test_width(text, columns):
    assert width(text) == columns


def marked(line, part, limit=160):
    """The shown line and what stands above the marks."""
    start = line.index(part)
    shown = excerpt(line, start, start + len(part), limit)
    row = cells(shown.line)
    column, above = 0, ""
    for cell in row:
        if (len(shown.indent) <= column < len(shown.indent) + len(shown.marks) and cell.width) or (
            not cell.width and above
        ):
            above += cell.text
        column += cell.width
    return shown, above


@pytest.mark.parametrize(
    "line",
    [
        "x = client.fetch(1)",
        "\tx = client.fetch(1)",
        "  \t x = client.fetch(1)",
        'x = "日本語", client.fetch(1)',
        'x = "😀 👨‍👩‍👧 🇩🇪", client.fetch(1)',
        'x = "e\u0301", client.fetch(1)',
    ],
)
def test_marks_stand_under_the_name(line):
    shown, above = marked(line, "fetch")
    assert above == "fetch"
    assert shown.marks == "^^^^^"
    assert "\t" not in shown.line


def test_wide_part_has_wide_marks():
    shown, above = marked('f("日本")', "日本")
    assert (shown.marks, above) == ("^^^^", "日本")


def test_escapes_do_not_reach_the_terminal():
    shown, above = marked("x = '\x1b[2J'; client.fetch(1)", "fetch")
    assert "\x1b" not in shown.line
    assert above == "fetch"


@pytest.mark.parametrize(
    "line", ["a" * 300 + ".fetch(" + "b" * 300 + ")", ".fetch(" + "b" * 300, "a" * 300 + ".fetch("]
)
def test_long_lines_are_cut_around_the_marks(line):
    shown, above = marked(line, "fetch", 60)
    assert above == "fetch"
    assert width(shown.line) <= 60
    assert "…" in shown.line


def test_a_part_longer_than_the_line_allows():
    shown, _ = marked("a" * 300, "a" * 300, 60)
    assert width(shown.line) <= 60
    assert len(shown.marks) <= 60


def test_positions_beyond_the_line_are_taken_back():
    assert excerpt("ab", 5, 9) == ("ab", "  ", "^")
    assert excerpt("", 0, 0) == ("", "", "^")
