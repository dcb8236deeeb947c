"""Spans that outlive the program: in the cache store, under the digest of the text that they belong to.

A text that nobody has changed meanwhile is found again, whatever its file is called by now.  That nothing is
known of a text is kept too: then its lines are not news when it is opened again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from callground.provenance.intervals import ORIGINS, Span, Spans, Stamp, normal
from callground.provenance.signals import SIGNALS

NAMESPACE = "provenance"
_VERSION = 1


class KeyValue(Protocol):
    """What is asked of a store; `callground.facts.store.Store` is one."""

    def get_json(self, namespace: str, key: str) -> Any:
        """A value that was kept, or None."""
        ...

    def put_json(self, namespace: str, key: str, value: Any) -> None:
        """Keep a value."""
        ...


def key_of(text: str) -> str:
    """The key of a text's spans.  Line ends do not count: editors and files may differ in them."""
    from callground.facts.store import content_digest

    return content_digest(text.replace("\r\n", "\n").replace("\r", "\n"))


def save(store: KeyValue, text: str, spans: Spans) -> None:
    """Keep what is known of a text."""
    stamps = list(dict.fromkeys(span.stamp for span in spans))
    shifted = _without_returns(text, spans)
    store.put_json(
        NAMESPACE,
        key_of(text),
        {
            "v": _VERSION,
            "stamps": [list(stamp) for stamp in stamps],
            "spans": [[span.start, span.end, stamps.index(span.stamp)] for span in shifted],
        },
    )


def load(store: KeyValue, text: str) -> Spans | None:
    """What is known of this very text; None where it was never kept."""
    value = store.get_json(NAMESPACE, key_of(text))
    try:
        if value["v"] != _VERSION:
            return None
        stamps = [_stamp(*row) for row in value["stamps"]]
        spans = _disjoint(_span(row, stamps) for row in value["spans"])
    except (TypeError, KeyError, ValueError, IndexError):
        return None
    return _with_returns(text, normal(spans))


def _stamp(origin: object, source: object, confidence: object, tool: object) -> Stamp:
    if origin not in ORIGINS or source not in SIGNALS or not isinstance(confidence, int | float):
        raise ValueError(origin)
    return Stamp(str(origin), str(source), float(confidence), str(tool))


def _span(row: Any, stamps: list[Stamp]) -> Span:
    start, end, number = row
    if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end):
        raise ValueError(row)
    return Span(start, end, stamps[number])


def _disjoint(spans: Iterable[Span]) -> list[Span]:
    result: list[Span] = []
    for span in sorted(spans, key=lambda span: span[:2]):
        if result and span.start < result[-1].end:
            raise ValueError(span)
        result.append(span)
    return result


def _without_returns(text: str, spans: Spans) -> Spans:
    """Offsets in the text whose line ends are line feeds."""
    if "\r" not in text:
        return spans
    return tuple(
        Span(start - text.count("\r\n", 0, start), end - text.count("\r\n", 0, end), stamp)
        for start, end, stamp in spans
    )


def _with_returns(text: str, spans: Spans) -> Spans:
    """Offsets in the text as it is, from those in the text whose line ends are line feeds."""
    if "\r" not in text:
        return spans
    places = []
    offset = 0
    while offset < len(text):
        places.append(offset)
        offset += 2 if text.startswith("\r\n", offset) else 1
    places.append(len(text))
    last = len(places) - 1
    return normal(Span(places[min(s, last)], places[min(e, last)], stamp) for s, e, stamp in spans)
