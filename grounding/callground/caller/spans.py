"""The span head's questions and answers: where in a request the value of each parameter stands.

All parameters of a tool are asked at once. The network reads the request, the tool's name and one *segment* a
parameter (its name, type and description), and one a member of an enum; each segment's mean vector points at the
start and the end of its value among the request's tokens, or at nothing. (Pointer networks: Vinyals et al. 2015;
types as text beside the request: Zaratiana et al. 2023, "GLiNER".)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from callground.caller.tools import ToolParameter, ToolSpec, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

MAX_TOKENS = 256
"""Tokens of one pack: a request, the tool's name and as many segments as fit."""

MAX_REQUEST_TOKENS = 160
"""Of a longer request the end is not seen by the head."""

MAX_SEGMENT_TOKENS = 32
MAX_OPTIONS = 8
"""An enum with more members gets no segments of its own: its members are found by their words."""

_DESCRIPTION = 110
_SPACE = re.compile(r"\s+")
_TYPE_WORDS = {
    "integer": "whole number",
    "number": "number",
    "float": "number",
    "boolean": "yes or no",
    "array": "list",
    "object": "mapping",
}


class Tokens(Protocol):
    """What a tokenizer gives for a text."""

    ids: list[int]
    offsets: list[tuple[int, int]]


@dataclass(frozen=True)
class Segment:
    """One question: about a parameter, or about one member of its enum."""

    parameter: str
    option: str | None
    text: str


@dataclass(frozen=True)
class Pack:
    """One input of the network."""

    ids: list[int]
    kinds: list[int]
    """0 for the request's part, 1 for the tool's."""
    places: list[tuple[int, int]]
    """Character offsets of the request's tokens, which stand at positions 1 to len(places)."""
    segments: tuple[Segment, ...]
    ranges: tuple[tuple[int, int], ...]
    """Token range of each segment."""


@dataclass
class SegmentScores:
    """What the head says to one segment. Logits, not probabilities."""

    start: Floats
    """(tokens of the request,), less the score of "not said"."""
    end: Floats
    label: tuple[float, float, float]
    """Not said, true (or: this member), false."""


@dataclass
class ParameterScores:
    """What the head says to one parameter."""

    places: list[tuple[int, int]]
    scores: SegmentScores
    options: dict[str, SegmentScores] = field(default_factory=dict)
    """By the member's text."""

    def span(self, start: int, end: int) -> float | None:
        """The score of ``request[start:end]``: above 0 it is more likely than "not said".

        None where the head did not see these characters.
        """
        first = last = None
        for index, (low, high) in enumerate(self.places):
            if first is None and high > start:
                first = index
            if low < end:
                last = index
        if first is None or last is None or last < first or self.places[last][1] < end:
            return None
        return float(self.scores.start[first] + self.scores.end[last])

    def best(self, limit: int = 3, longest: int = 24) -> list[tuple[int, int, float]]:
        """The most likely pieces (start, end, score) of the request, best first, of at most `longest` tokens."""
        found: list[tuple[float, int, int]] = []
        count = len(self.places)
        for first in range(count):
            for last in range(first, min(count, first + longest)):
                found.append((float(self.scores.start[first] + self.scores.end[last]), first, last))
        found.sort(key=lambda each: -each[0])
        return [(self.places[first][0], self.places[last][1], score) for score, first, last in found[:limit]]


def segments_of(tool: ToolSpec) -> Iterator[list[Segment]]:
    """The segments of each parameter; those of one parameter stay together."""
    for parameter in tool.args:
        yield parameter_segments(parameter)


def parameter_segments(parameter: ToolParameter) -> list[Segment]:
    """One segment for the parameter, and one for each member of a small enum."""
    name = words(parameter.name)
    description = _SPACE.sub(" ", parameter.description)[:_DESCRIPTION]
    kind = _TYPE_WORDS.get(parameter.type)
    head = f"{name} ({kind})" if kind else name
    segments = [Segment(parameter.name, None, f"{head}: {description}" if description else head)]
    members = parameter.enum or ()
    if 1 < len(members) <= MAX_OPTIONS and parameter.type != "boolean":
        segments += [Segment(parameter.name, str(member), f"{name} = {words(str(member))}") for member in members]
    return segments


def packs(
    request: str, title: str, groups: Sequence[list[Segment]], encode: Callable[[str], Any], marks: tuple[int, int]
) -> Iterator[Pack]:
    """The inputs that ask all segments, as few as hold them.

    `title` is the tool's name in words, `encode` gives the tokens of a text without marks, `marks` are the ids of
    [CLS] and [SEP].

    A parameter whose segments alone do not fit is asked without its members.
    """
    cls, sep = marks
    said: Tokens = encode(request)
    ids, places = said.ids[:MAX_REQUEST_TOKENS], said.offsets[:MAX_REQUEST_TOKENS]
    named: Tokens = encode(title)
    opening = [cls, *ids, sep, *named.ids[:MAX_SEGMENT_TOKENS], sep]
    kinds = [0] * (len(ids) + 2) + [1] * (len(opening) - len(ids) - 2)
    room = MAX_TOKENS - len(opening)
    current: list[tuple[Segment, list[int]]] = []
    used = 0
    for group in groups:
        coded = [(segment, encode(segment.text).ids[:MAX_SEGMENT_TOKENS]) for segment in group]
        size = sum(len(tokens) + 1 for _, tokens in coded)
        if size > room:
            coded = coded[:1]
            size = len(coded[0][1]) + 1
        if current and used + size > room:
            yield _pack(opening, kinds, places, current, sep)
            current, used = [], 0
        current += coded
        used += size
    if current:
        yield _pack(opening, kinds, places, current, sep)


def _pack(
    opening: list[int],
    kinds: list[int],
    places: list[tuple[int, int]],
    coded: list[tuple[Segment, list[int]]],
    sep: int,
) -> Pack:
    ids, ranges = list(opening), []
    for _, tokens in coded:
        ranges.append((len(ids), len(ids) + len(tokens)))
        ids += [*tokens, sep]
    return Pack(
        ids,
        kinds + [1] * (len(ids) - len(opening)),
        places,
        tuple(segment for segment, _ in coded),
        tuple(ranges),
    )


def pooling(pack: Pack) -> Floats:
    """Weights that take the mean of each segment's tokens: (segments, tokens)."""
    import numpy as np

    weights = np.zeros((len(pack.ranges), len(pack.ids)), np.float32)
    for row, (start, end) in enumerate(pack.ranges):
        weights[row, start:end] = 1.0 / max(1, end - start)
    return weights


def unpack(pack: Pack, start: Floats, end: Floats, label: Floats) -> dict[str, ParameterScores]:
    """The head's answers by parameter.

    `start` and `end` are (segments, tokens) with the score of "not said" at position 0; `label` is (segments, 3).
    """
    stop = 1 + len(pack.places)
    found: dict[str, ParameterScores] = {}
    for row, segment in enumerate(pack.segments):
        one = SegmentScores(
            start[row, 1:stop] - start[row, 0],
            end[row, 1:stop] - end[row, 0],
            (float(label[row, 0]), float(label[row, 1]), float(label[row, 2])),
        )
        if segment.option is None:
            found[segment.parameter] = ParameterScores(pack.places, one)
        else:
            found[segment.parameter].options[segment.option] = one
    return found
