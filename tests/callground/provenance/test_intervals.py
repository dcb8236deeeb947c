"""The interval set against one stamp for each character."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.provenance.intervals import (
    AI,
    HUMAN,
    UNKNOWN,
    Span,
    Spans,
    Stamp,
    all_edited,
    cut,
    edited,
    filled,
    in_scope,
    normal,
    placed,
    stamp_at,
    stamped,
)
from callground.text.edits import Edit, Replacement, resolve
from callground.text.lines import UTF8, UTF16, UTF32, LineIndex

STAMPS = [Stamp(AI, "insertion", 0.7), Stamp(HUMAN, "by-hand"), Stamp(UNKNOWN, "paste", 0.6), None]
WIDTH = {UTF8: lambda text: len(text.encode()), UTF16: lambda text: len(text.encode("utf-16-le")) // 2, UTF32: len}

texts = st.text(st.sampled_from("ab(é漢😀\n\r "), max_size=12)
edits = st.tuples(st.integers(0, 40), st.integers(0, 40), texts, st.sampled_from(STAMPS))


def spans_of(oracle: list[Stamp | None]) -> Spans:
    """The set that stands for one stamp per character."""
    return normal(Span(n, n + 1, stamp) for n, stamp in enumerate(oracle) if stamp is not None)


def position(text: str, offset: int, unit: str) -> tuple[int, int]:
    """Line and column by counting, without the index that is used elsewhere."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    if text[offset - 1 : offset + 1] == "\r\n":
        before = before[:-1]
    line = before.rpartition("\n")[2]
    return before.count("\n") + 1, WIDTH[unit](line)


@pytest.mark.parametrize("unit", [UTF8, UTF16, UTF32])
@settings(max_examples=150, deadline=None)
@given(start=texts, steps=st.lists(edits, max_size=12))
def test_edits_in_any_encoding_keep_each_characters_stamp(unit: str, start: str, steps: list) -> None:
    text, oracle, spans = start, [None] * len(start), ()
    for one, other, new, stamp in steps:
        low, high = sorted((one % (len(text) + 1), other % (len(text) + 1)))
        edit = resolve(LineIndex(text), Replacement(*position(text, low, unit), *position(text, high, unit), new), unit)
        # A place between a carriage return and a line feed is none that an editor can name.
        low, high = edit.start, edit.end
        spans = edited(spans, edit, stamp)
        text = text[:low] + new + text[high:]
        oracle[low:high] = [stamp] * len(new)
        assert spans == spans_of(oracle)
    assert all(span.end <= len(text) for span in spans)


marks = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from(STAMPS)), max_size=8)


def built(rows: list) -> tuple[Spans, list[Stamp | None]]:
    spans, oracle = (), [None] * 20
    for one, other, stamp in rows:
        low, high = sorted((one, other))
        spans = stamped(spans, low, high, stamp)
        oracle[low:high] = [stamp] * (high - low)
    return spans, oracle


@settings(max_examples=200, deadline=None)
@given(rows=marks, one=st.integers(0, 20), other=st.integers(0, 20))
def test_stamping_cutting_filling_and_placing(rows: list, one: int, other: int) -> None:
    spans, oracle = built(rows)
    assert spans == spans_of(oracle)
    low, high = sorted((one, other))
    assert cut(spans, low, high) == spans_of(oracle[low:high])
    full = [STAMPS[0] if low <= n < high and stamp is None else stamp for n, stamp in enumerate(oracle)]
    assert filled(spans, low, high, STAMPS[0]) == spans_of(full)
    part = cut(spans, 0, high - low)
    assert placed(spans, low, high - low, part) == spans_of([*oracle[:low], *oracle[: high - low], *oracle[high:]])
    assert [stamp_at(spans, n) for n in range(20)] == oracle
    assert in_scope(spans) == spans_of([s if s and s.origin != HUMAN else None for s in oracle])


@settings(max_examples=100, deadline=None)
@given(rows=marks, steps=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), texts), max_size=6))
def test_edits_of_one_notification_are_edits_one_after_the_other(rows: list, steps: list) -> None:
    spans, oracle = built(rows)
    made = []
    for one, other, new in steps:
        low, high = sorted((min(one, len(oracle)), min(other, len(oracle))))
        made.append(Edit(low, high, new))
        oracle[low:high] = [None] * len(new)
    assert all_edited(spans, made) == spans_of(oracle)


def test_what_is_typed_inside_belongs_to_nobody() -> None:
    spans = edited((Span(0, 10, STAMPS[0]),), Edit(4, 4, "xy"))
    assert spans == (Span(0, 4, STAMPS[0]), Span(6, 12, STAMPS[0]))
