"""Which stretches of a text came from where: an immutable interval set, and pure functions over it.

A set is a tuple of `Span`: sorted, disjoint, never empty, and two that touch differ in their stamp.
Offsets count code points.  Text without a span was there before anybody looked, or was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from callground.text.edits import Edit

AI = "ai"
"""An assistant in the editor put it there."""
AGENT = "agent"
"""A program other than the editor wrote it to the file."""
HUMAN = "human"
"""Said to be a person's work: by hand, or by a record."""
UNKNOWN = "unknown"
"""Came in one piece from outside of the workspace: a paste, most often of an assistant's answer."""

ORIGINS = (AI, AGENT, HUMAN, UNKNOWN)
IN_SCOPE = frozenset({AI, AGENT, UNKNOWN})
"""Origins that scope ``ai`` looks at: what is not known to be a person's."""


class Stamp(NamedTuple):
    """Where a text came from, and how that is known."""

    origin: str
    """One of ORIGINS."""
    source: str
    """The signal: one of `callground.provenance.signals.SIGNALS`."""
    confidence: float = 1.0
    """0 to 1; a record or a hand is certain, a guess from an edit's shape is not."""
    tool: str = ""
    """The program or model, where the signal names it."""


class Span(NamedTuple):
    """``text[start:end]`` has a stamp."""

    start: int
    end: int
    stamp: Stamp


Spans = tuple[Span, ...]


def normal(spans: Iterable[Span]) -> Spans:
    """The set of these spans, which must be disjoint but may come in any order."""
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: span[:2]):
        if span.end <= span.start:
            continue
        if result and result[-1].end == span.start and result[-1].stamp == span.stamp:
            result[-1] = result[-1]._replace(end=span.end)
        else:
            result.append(span)
    return tuple(result)


def edited(spans: Spans, edit: Edit, stamp: Stamp | None = None) -> Spans:
    """The set after an edit.  The new text has `stamp`; None: it has no span, also inside of one."""
    start, end, size = edit.start, edit.end, len(edit.text)
    shift = size - (end - start)
    result: list[Span] = []
    for span in spans:
        if span.start < start:
            result.append(span._replace(end=min(span.end, start)))
        if span.end > end:
            result.append(Span(max(span.start, end) + shift, span.end + shift, span.stamp))
    if stamp is not None:
        result.append(Span(start, start + size, stamp))
    return normal(result)


def all_edited(spans: Spans, edits: Sequence[Edit]) -> Spans:
    """The set after edits that were made one after the other, none of which brings a stamp."""
    for edit in edits:
        spans = edited(spans, edit)
    return spans


def stamped(spans: Spans, start: int, end: int, stamp: Stamp | None) -> Spans:
    """The set in which ``text[start:end]`` has `stamp` instead of what it had; None takes the span away."""
    result: list[Span] = []
    for span in spans:
        if span.start < start:
            result.append(span._replace(end=min(span.end, start)))
        if span.end > end:
            result.append(span._replace(start=max(span.start, end)))
    if stamp is not None:
        result.append(Span(start, end, stamp))
    return normal(result)


def filled(spans: Spans, start: int, end: int, stamp: Stamp) -> Spans:
    """The set in which those parts of ``text[start:end]`` that have no span get `stamp`."""
    position = start
    result = list(spans)
    for span in spans:
        if span.end <= position:
            continue
        if span.start >= end:
            break
        if span.start > position:
            result.append(Span(position, span.start, stamp))
        position = span.end
    if position < end:
        result.append(Span(position, end, stamp))
    return normal(result)


def cut(spans: Spans, start: int, end: int) -> Spans:
    """What stands in ``text[start:end]``, with offsets from `start`."""
    if start >= end:
        return ()
    return tuple(
        Span(max(span.start, start) - start, min(span.end, end) - start, span.stamp)
        for span in spans
        if span.start < end and span.end > start
    )


def placed(spans: Spans, start: int, size: int, part: Spans) -> Spans:
    """The set in which ``text[start:start + size]`` has the spans `part`, whose offsets begin at `start`."""
    outside = stamped(spans, start, start + size, None)
    return normal(
        [
            *outside,
            *(
                Span(start + max(span.start, 0), start + min(span.end, size), span.stamp)
                for span in part
                if span.start < size
            ),
        ]
    )


def stamp_at(spans: Spans, offset: int) -> Stamp | None:
    """The stamp of one character."""
    for span in spans:
        if span.start <= offset < span.end:
            return span.stamp
    return None


def within(spans: Spans, start: int, end: int) -> list[Span]:
    """The spans that have a character in common with ``text[start:end]``."""
    return [span for span in spans if span.start < end and span.end > start]


def in_scope(spans: Spans) -> Spans:
    """Those that scope ``ai`` looks at."""
    return tuple(span for span in spans if span.stamp.origin in IN_SCOPE)


def kept(spans: Spans, keep: Callable[[Span], bool]) -> Spans:
    """Those for which `keep` says yes."""
    return tuple(span for span in spans if keep(span))
