"""Offsets, lines and columns."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.text.lines import UTF8, UTF16, UTF32, LineIndex, line_starts

TEXTS = st.text(alphabet=st.sampled_from("ab é\U0001f600\n\r\f\u2028\x0b\x1c\x85\ud800"), max_size=30)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\r\nb\rc\nd", ["a", "b", "c", "d"]),
        ("\r\r\n\n", ["", "", "", ""]),
        # None of these ends a line in Python's tokenizer, whatever str.splitlines says.
        ("a\fb\x0bc\x1cd\x85e\u2028f\u2029g", ["a\fb\x0bc\x1cd\x85e\u2028f\u2029g"]),
    ],
)
def test_lines_end_where_the_tokenizer_ends_them(text: str, lines: list[str]) -> None:
    index = LineIndex(text)
    assert [index.line(number) for number in range(1, index.count + 1)] == lines


@pytest.mark.parametrize(
    ("unit", "columns"),
    [
        (UTF32, [0, 1, 2, 3, 4]),
        (UTF16, [0, 1, 2, 4, 5]),
        (UTF8, [0, 1, 3, 7, 8]),
    ],
)
def test_columns_in_every_unit(unit: str, columns: list[int]) -> None:
    index = LineIndex("x\naé\U0001f600b\ny")
    for points, column in enumerate(columns):
        assert index.offset(2, column, unit) == 2 + points
        assert index.position(2 + points, unit) == (2, column)
        assert index.column(2, column, unit, UTF32) == points
        assert index.column(2, points, UTF32, unit) == column


@pytest.mark.parametrize(
    ("line", "column", "offset"),
    [
        (0, 5, 0),
        (-3, 0, 0),
        (1, -1, 0),
        (1, 99, 2),  # before the line end, not behind it
        (2, 99, 6),
        (3, 0, 7),
        (9, 9, 7),
    ],
)
@pytest.mark.parametrize("unit", [UTF8, UTF16, UTF32])
def test_positions_outside_are_moved_inside(line: int, column: int, offset: int, unit: str) -> None:
    assert LineIndex("ab\r\ncd\r").offset(line, column, unit) == offset


def test_offsets_outside_are_moved_inside() -> None:
    index = LineIndex("ab\ncd")
    assert index.position(-4) == (1, 0)
    assert index.position(400) == (2, 2)
    assert index.line(0) == index.line(3) == ""


def test_a_column_inside_a_character_is_its_start() -> None:
    index = LineIndex("\U0001f600é")
    assert index.offset(1, 1, UTF16) == 0
    assert [index.offset(1, column, UTF8) for column in range(7)] == [0, 0, 0, 0, 1, 1, 2]


@settings(deadline=None)
@given(TEXTS, st.sampled_from([UTF8, UTF16, UTF32]), st.data())
def test_an_offset_comes_back(text: str, unit: str, data: st.DataObject) -> None:
    index = LineIndex(text)
    offset = data.draw(st.integers(0, len(text)))
    line, column = index.position(offset, unit)
    back = index.offset(line, column, unit)
    between_cr_and_lf = text[offset - 1 : offset + 1] == "\r\n"
    assert back == (offset - 1 if between_cr_and_lf else offset)


@settings(deadline=None)
@given(TEXTS, st.integers(-3, 12), st.integers(-3, 40), st.sampled_from([UTF8, UTF16, UTF32]))
def test_any_position_gives_an_offset_inside(text: str, line: int, column: int, unit: str) -> None:
    assert 0 <= LineIndex(text).offset(line, column, unit) <= len(text)


@settings(deadline=None)
@given(TEXTS)
def test_lines_and_line_ends_make_the_text(text: str) -> None:
    index = LineIndex(text)
    bounds = [*index.starts, len(text)]
    parts = [text[start:end] for start, end in itertools.pairwise(bounds)]
    assert "".join(parts) == text
    for number, part in enumerate(parts, 1):
        assert part.rstrip("\r\n") == index.line(number)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0, 1]),
        ("\n", [0, 1]),
        ("a\n", [0, 2]),
        ("a\nb", [0, 2, 3]),
        ("\n\n", [0, 1, 2]),
        ("a\f\u2028\n\n", [0, 4, 5]),
    ],
)
def test_starts_of_lines_with_an_end_for_each(text: str, starts: list[int]) -> None:
    assert line_starts(text) == starts
