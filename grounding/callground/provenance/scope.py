"""Which calls are somebody else's, given whose each stretch of the text is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callground.provenance.align import stamps_of
from callground.provenance.intervals import IN_SCOPE, Spans, Stamp, in_scope, stamped, within
from callground.provenance.tokens import Word, words
from callground.text.lines import LineIndex


class Place(NamedTuple):
    """A call, or another place that a finding can stand at: offsets of its ends."""

    start: int
    end: int


def places_of(index: LineIndex, ranges: Iterable[tuple[int, int, int, int]]) -> list[Place]:
    """Ranges (1-based lines, columns in code points) as offsets."""
    return [
        Place(index.offset(line, column), index.offset(end_line, end_column))
        for line, column, end_line, end_column in ranges
    ]


def stamps_in(text: str, spans: Spans, places: Sequence[Place]) -> list[Stamp | None]:
    """For each place the stamp that brings it into scope ``ai``; None for one that is out of it.

    A call is in scope when a word of its own is: of its callee or its arguments, but not of the calls
    within.  So a call that a person puts around an assistant's stays the person's, and the other way round.
    """
    wanted = in_scope(spans)
    result: list[Stamp | None] = [None] * len(places)
    if not wanted:
        return result
    near = [number for number, place in enumerate(places) if within(wanted, place.start, place.end)]
    if not near:
        return result
    found = words(text)
    stamps = stamps_of(found, wanted)
    starts = [word.start for word in found]
    ordered = sorted({place for place in places if place.end > place.start})
    first_starts = [place.start for place in ordered]
    for number in near:
        start, end = places[number]
        inner = [
            place
            for place in ordered[bisect_left(first_starts, start) : bisect_left(first_starts, end)]
            if place.end <= end and place != (start, end)
        ]
        for word_number in range(max(bisect_left(starts, start) - 1, 0), bisect_left(starts, end)):
            word, stamp = found[word_number], stamps[word_number]
            if stamp is None or word.end <= start or any(p.start <= word.start < p.end for p in inner):
                continue
            known = result[number]
            if known is None or stamp.confidence > known.confidence:
                result[number] = stamp
    return result


def rewritten(text: str, spans: Spans, keep: Sequence[Place], share: float = 1 / 3) -> Spans:
    """The spans without those of statements that a person has written anew.

    A line counts as written anew when less than `share` of its words is still somebody else's; lines of
    the places `keep` (calls that are findings) are let alone.
    """
    wanted = in_scope(spans)
    if not wanted:
        return spans
    found = words(text)
    stamps = stamps_of(found, wanted)
    lines: dict[int, list[int]] = {}
    start = 0
    for number, word in enumerate(found):
        if text.find("\n", start, word.start) >= 0:
            start = text.rfind("\n", 0, word.start) + 1
        lines.setdefault(start, []).append(number)
    result = spans
    for start, numbers in lines.items():
        foreign = sum(stamps[number] is not None for number in numbers)
        if not foreign or foreign >= share * len(numbers):
            continue
        end = max(text.find("\n", start), found[numbers[-1]].end)
        if any(place.start < end and place.end > start for place in keep):
            continue
        for number in numbers:
            if stamps[number] is not None:
                result = stamped(result, found[number].start, found[number].end, None)
    return result


def forgotten(text: str, spans: Spans, lines: Iterable[tuple[int, int]], keep: Sequence[Place]) -> Spans:
    """The spans without those on `lines` (1-based, inclusive), but for the places `keep`.

    What somebody marked by hand as theirs goes as well: a line that is committed is nobody's news.
    """
    index = LineIndex(text)
    result = spans
    for first, last in lines:
        start, end = index.offset(first, 0), index.offset(last + 1, 0)
        for span in within(result, start, end):
            low, high = max(span.start, start), min(span.end, end)
            held = sorted(place for place in keep if place.start < high and place.end > low)
            for place in held:
                if place.start > low:
                    result = stamped(result, low, place.start, None)
                low = max(low, place.end)
            if low < high:
                result = stamped(result, low, high, None)
    return result


def covered(text: str, spans: Spans) -> list[tuple[int, int, Stamp]]:
    """What is known line by line: (first line, last line, stamp), 1-based; words decide."""
    found: list[Word] = words(text)
    index = LineIndex(text)
    rows: list[tuple[int, int, Stamp]] = []
    for word, stamp in zip(found, stamps_of(found, spans), strict=True):
        if stamp is None:
            continue
        first, last = index.position(word.start)[0], index.position(max(word.end - 1, word.start))[0]
        between = range(rows[-1][1] + 1, first) if rows else ()
        if rows and rows[-1][2] == stamp and not any(index.line(number).strip() for number in between):
            rows[-1] = (rows[-1][0], max(last, rows[-1][1]), stamp)
        elif rows and first <= rows[-1][1] and stamp.origin not in IN_SCOPE:
            continue
        else:
            rows.append((first, last, stamp))
    return rows


__all__ = ["Place", "covered", "forgotten", "places_of", "rewritten", "stamps_in"]
