"""Edits in any unit, at any line end, give the text that the editor has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callground.text.lines import UTF8, UTF16, UTF32
from callground_server.lsp.documents import Change, Document, from_units, to_units

TEXT = st.text(alphabet="ab\n\r😀é\x0c\u2028", max_size=30)
UNITS = st.sampled_from([UTF8, UTF16, UTF32])


@given(TEXT, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), TEXT, UNITS, st.booleans()), max_size=5))
def test_edits_keep_text_and_lines_in_step(text: str, edits: list[tuple[int, int, str, str, bool]]) -> None:
    document = Document("file:///a.py", "/a.py", 1, text)
    for version, (one, other, new, unit, counted) in enumerate(edits, 2):
        if counted:
            assert document.starts  # so that the next edit moves lines instead of counting them
        start, end = sorted((min(one, len(document.text)), min(other, len(document.text))))
        low, high = document.position(start, unit), document.position(end, unit)
        start, end = document.offset(*low, unit), document.offset(*high, unit)
        expected = document.text[:start] + new + document.text[end:]
        document.apply([Change((*low, *high), new)], version, unit)
        assert document.text == expected
        assert document.version == version
        assert document.starts == Document("", "", 0, expected).starts


@given(TEXT, UNITS)
def test_positions_and_offsets_agree(text: str, unit: str) -> None:
    document = Document("file:///a.py", "/a.py", 1, text)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            assert document.offset(*document.position(offset, unit), unit) == offset


def test_positions_past_an_end_are_moved_to_it() -> None:
    document = Document("file:///a.py", "/a.py", 1, "ab\r\nc")
    assert document.offset(0, 99, UTF16) == 2
    assert document.offset(7, 0, UTF16) == 5
    assert document.line(0) == "ab"
    assert document.line(9) == ""


def test_the_whole_text_can_be_replaced() -> None:
    document = Document("file:///a.py", "/a.py", 1, "old")
    edits = document.apply([Change(None, "new\ntext")], 2, UTF16)
    assert document.text == "new\ntext"
    assert edits == [(0, 3, "new\ntext")]


def test_columns_convert_between_units() -> None:
    line = "x = '😀é'"
    assert to_units(line, 6, UTF16) == 7
    assert to_units(line, 6, UTF8) == 9
    assert from_units(line, 7, UTF16) == 6
    assert from_units(line, 9, UTF8) == 6
    assert from_units(line, 6, UTF16) == 5, "inside a character is its start"
