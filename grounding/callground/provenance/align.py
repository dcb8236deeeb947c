"""Which words of a new text were there before, and whose they are.

Lines are compared first (in their order, then in any order: sorted and moved lines), what is left word by
word.  So a formatter that touches every line of a file leaves no word new, and of a rewritten block only
what was rewritten is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from callground.provenance.intervals import IN_SCOPE, Span, Spans, Stamp, normal
from callground.provenance.tokens import Word, by_line, words

_FEW = 2_000_000
"""Products of lengths up to which texts are compared exactly; beyond, frequent words are not anchors."""


class Run(NamedTuple):
    """New words that follow each other."""

    start: int
    end: int
    words: tuple[Word, ...]


class Transfer(NamedTuple):
    """What became of a text that was replaced."""

    spans: Spans
    """Of the new text: what its old words bring with them."""
    fresh: tuple[Run, ...]
    """What is new in it."""
    words: tuple[Word, ...]
    """All words of the new text."""


def transfer(old: str, spans: Spans, new: str) -> Transfer:
    """Carry the spans of `old` to the same words of `new`, which takes its place."""
    before, after = words(old), words(new)
    source = matched(before, old, after, new)
    stamps = stamps_of(before, spans)
    carried = [stamps[index] if index is not None else None for index in source]
    return Transfer(spread(after, carried), tuple(runs(after, source)), tuple(after))


def matched(before: Sequence[Word], old: str, after: Sequence[Word], new: str) -> list[int | None]:
    """For each word of `after`, the number of the word of `before` that it is; None for a new one."""
    source: list[int | None] = [None] * len(after)
    old_lines, new_lines = by_line(before, old), by_line(after, new)
    old_keys = [tuple(before[number].key for number in line) for line in old_lines]
    new_keys = [tuple(after[number].key for number in line) for line in new_lines]
    left_old, left_new = [True] * len(old_lines), [True] * len(new_lines)

    def pair(one: int, other: int) -> None:
        left_old[one] = left_new[other] = False
        for was, now in zip(old_lines[one], new_lines[other], strict=True):
            source[now] = was

    for one, other in _in_order(old_keys, new_keys):
        pair(one, other)
    elsewhere: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for number in reversed(range(len(old_lines))):
        if left_old[number]:
            elsewhere[old_keys[number]].append(number)
    for number, keys in enumerate(new_keys):
        if left_new[number] and elsewhere.get(keys):
            pair(elsewhere[keys].pop(), number)

    if len(old_lines) == len(new_lines):
        # Line for line: what several cursors did is the same on each.
        for number, line in enumerate(new_lines):
            if left_new[number] and left_old[number]:
                _pair_words(before, old_lines[number], after, line, source)
                left_new[number] = left_old[number] = False
    old_words = [word for number, line in enumerate(old_lines) if left_old[number] for word in line]
    new_words = [word for number, line in enumerate(new_lines) if left_new[number] for word in line]
    _pair_words(before, old_words, after, new_words, source)
    return source


def _pair_words(
    before: Sequence[Word],
    old: Sequence[int],
    after: Sequence[Word],
    new: Sequence[int],
    source: list[int | None],
) -> None:
    """Find the words numbered `new` among those numbered `old`."""
    for one, other in _in_order([before[number].key for number in old], [after[number].key for number in new]):
        source[new[other]] = old[one]


def _in_order(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Pairs of equal items, in the order of both."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        yield start, start
        start += 1
    behind = 0
    while behind < most - start and old[-1 - behind] == new[-1 - behind]:
        behind += 1
    one, other = old[start : len(old) - behind], new[start : len(new) - behind]
    if one and other:
        matcher = SequenceMatcher(None, one, other, autojunk=len(one) * len(other) > _FEW)
        for block in matcher.get_matching_blocks():
            for step in range(block.size):
                yield start + block.a + step, start + block.b + step
    for step in range(behind):
        yield len(old) - behind + step, len(new) - behind + step


def runs(found: Sequence[Word], source: Sequence[int | None]) -> Iterator[Run]:
    """The longest stretches of words that have no source."""
    current: list[Word] = []
    for word, was in zip(found, source, strict=True):
        if was is None:
            current.append(word)
        elif current:
            yield Run(current[0].start, current[-1].end, tuple(current))
            current = []
    if current:
        yield Run(current[0].start, current[-1].end, tuple(current))


def stamps_of(found: Sequence[Word], spans: Spans) -> list[Stamp | None]:
    """The stamp of each word.  One that is partly in scope is in scope."""
    result: list[Stamp | None] = [None] * len(found)
    if not spans:
        return result
    first = 0
    for number, word in enumerate(found):
        while first < len(spans) and spans[first].end <= word.start:
            first += 1
        for span in spans[first:]:
            if span.start >= word.end:
                break
            known = result[number]
            if known is None or (known.origin not in IN_SCOPE and span.stamp.origin in IN_SCOPE):
                result[number] = span.stamp
    return result


def spread(found: Sequence[Word], stamps: Iterable[Stamp | None]) -> Spans:
    """The spans of a text whose words have these stamps; what stands between two alike goes with them."""
    spans: list[Span] = []
    last: Stamp | None = None
    for word, stamp in zip(found, stamps, strict=True):
        if stamp is not None:
            if stamp == last:
                spans[-1] = spans[-1]._replace(end=word.end)
            else:
                spans.append(Span(word.start, word.end, stamp))
        last = stamp
    return normal(spans)
