"""Edits: applied, composed, found, and carried over to ranges."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.text.edits import (
    Edit,
    Replacement,
    apply_changes,
    apply_edits,
    common_prefix,
    common_suffix,
    compose,
    difference,
    rebase,
    resolve,
)
from callground.text.lines import UTF8, UTF16, LineIndex

SHORT = st.text(alphabet="abc\n", max_size=12)


@st.composite
def edits_of(draw: st.DrawFn, length: int) -> list[Edit]:
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return [Edit(start, end, draw(st.text(alphabet="XYZ", max_size=4))) for start, end in pairs]


@pytest.mark.parametrize(
    ("text", "edits", "result"),
    [
        ("abc", [], "abc"),
        ("abc", [Edit(1, 2, "X")], "aXc"),
        ("abc", [Edit(3, 3, "Z"), Edit(0, 0, "A")], "AabcZ"),
        ("abc", [Edit(1, 1, "1"), Edit(1, 1, "2"), Edit(1, 2, "")], "a12c"),
    ],
)
def test_edits_of_one_text(text: str, edits: list[Edit], result: str) -> None:
    assert apply_edits(text, edits) == result


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits("abcdef", [Edit(0, 3, ""), Edit(2, 4, "")])


@pytest.mark.parametrize(
    ("unit", "column", "end_column"),
    [("utf-32", 1, 2), (UTF16, 2, 3), (UTF8, 4, 5)],
)
def test_a_replacement_in_every_unit(unit: str, column: int, end_column: int) -> None:
    index = LineIndex("x\n\U0001f600b")
    assert resolve(index, Replacement(2, column, 2, end_column, "c"), unit) == Edit(3, 4, "c")


def test_changes_follow_one_another() -> None:
    changes = [Replacement(1, 0, 1, 0, "a\n"), Replacement(2, 0, 2, 3, "b"), Replacement(9, 9, 9, 9, "!")]
    assert apply_changes("old", changes) == "a\nb!"
    assert apply_changes("old", ["new", Replacement(1, 3, 1, 3, "er")]) == "newer"


def test_a_replacement_the_wrong_way_round_is_turned() -> None:
    assert apply_changes("abcd", [Replacement(1, 3, 1, 1, "")]) == "ad"


@settings(deadline=None)
@given(SHORT, st.data())
def test_composed_edits_have_the_effect_of_both(text: str, data: st.DataObject) -> None:
    first = data.draw(edits_of(len(text)))
    middle = apply_edits(text, first)
    second = data.draw(edits_of(len(middle)))
    composed = compose(first, second)
    assert apply_edits(text, composed) == apply_edits(middle, second)


@settings(deadline=None)
@given(SHORT, SHORT)
def test_the_difference_makes_the_new_text(old: str, new: str) -> None:
    edit = difference(old, new)
    assert (edit is None) == (old == new)
    if edit is not None:
        assert apply_edits(old, [edit]) == new
        assert not edit.text or edit.start == edit.end or edit.text[0] != old[edit.start]


@settings(deadline=None)
@given(SHORT, SHORT)
def test_prefix_and_suffix_are_the_longest(one: str, other: str) -> None:
    start = common_prefix(one, other)
    assert one[:start] == other[:start]
    assert one[start : start + 1] != other[start : start + 1] or start == min(len(one), len(other))
    most = min(len(one), len(other)) - start
    behind = common_suffix(one, other, most)
    assert one[len(one) - behind :] == other[len(other) - behind :]
    assert behind == most or one[-behind - 1] != other[-behind - 1]


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (Edit(0, 0, "xx"), [(12, 22)]),  # before
        (Edit(0, 4, ""), [(6, 16)]),
        (Edit(30, 40, "x"), [(10, 20)]),  # behind
        (Edit(10, 10, "xx"), [(12, 22)]),  # at its start: outside
        (Edit(20, 20, "xx"), [(10, 20)]),  # at its end: outside
        (Edit(15, 15, "xx"), [(10, 22)]),  # inside: it grows
        (Edit(12, 18, ""), [(10, 14)]),  # inside: it shrinks
        (Edit(5, 12, "xyz"), [(8, 16)]),  # over its start
        (Edit(18, 25, "xyz"), [(10, 18)]),  # over its end
        (Edit(5, 25, "xyz"), []),  # all of it
        (Edit(10, 20, "xyz"), []),
    ],
)
def test_ranges_move_with_the_text(edit: Edit, expected: list[tuple[int, int]]) -> None:
    assert rebase([(10, 20)], [edit]) == expected


@settings(deadline=None)
@given(SHORT, st.data())
def test_a_range_that_no_edit_touches_keeps_its_text(text: str, data: st.DataObject) -> None:
    edits = data.draw(edits_of(len(text)))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    after = apply_edits(text, edits)
    moved = rebase([(start, end)], edits)
    for low, high in moved:
        assert 0 <= low < high <= len(after)
    if start < end and all(edit.end <= start or edit.start >= end for edit in edits):
        assert [after[low:high] for low, high in moved] == [text[start:end]]
