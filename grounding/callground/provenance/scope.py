"""Which calls are somebody else's, given whose each stretch of the text is."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from callground.provenance.align import stamps_of
from callground.provenance.intervals import IN_SCOPE, Spans, Stamp, cut, in_scope, stamped, within
from callground.provenance.tokens import Word, words
from callground.text.lines import LineIndex

REMAINS = 2
SHARE = 1 / 3
"""So many words may be left of a line that a person has written anew, and they must be no larger a share."""


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
    ordered = sorted({place for place in places if place.end > place.start})
    starts = [place.start for place in ordered]
    for number in near:
        start, end = places[number]
        inner = [
            place
            for place in ordered[bisect_left(starts, start) : bisect_left(starts, end)]
            if place.end <= end and place != (start, end)
        ]
        # No string is open where an expression begins: its words can be read by themselves.
        found = words(text[start:end])
        for word, stamp in zip(found, stamps_of(found, cut(wanted, start, end)), strict=True):
            if stamp is None or any(place.start <= start + word.start < place.end for place in inner):
                continue
            known = result[number]
            if known is None or stamp.confidence > known.confidence:
                result[number] = stamp
    return result


def rewritten(text: str, spans: Spans, keep: Sequence[Place]) -> Spans:
    """The spans without those of statements that a person has written anew.

    A line counts as written anew when nothing that is called is left in it of somebody else's, and of the
    words hardly any; lines of the places `keep` (calls that are findings) are let alone.
    """
    wanted = in_scope(spans)
    if not wanted:
        return spans
    result = spans
    done = 0
    for span in wanted:
        # Only where a span begins or ends can a line be partly somebody else's.
        for offset in (span.start, span.end - 1):
            start = text.rfind("\n", 0, offset) + 1
            end = text.find("\n", offset)
            end = len(text) if end < 0 else end
            if start < done or any(place.start < end and place.end > start for place in keep):
                continue
            done = end
            found = words(text[start:end])
            stamps = stamps_of(found, cut(wanted, start, end))
            left = [word for word, stamp in zip(found, stamps, strict=True) if stamp is not None]
            called = any(text[start + word.end : end].lstrip().startswith("(") for word in left)
            if not called and len(left) <= REMAINS and len(left) < SHARE * len(found):
                for word in left:
                    result = stamped(result, start + word.start, start + word.end, None)
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
