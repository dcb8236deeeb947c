"""From a teacher's values to places in the text, and back: how each argument is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from callground.caller.distill.text import Reading

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: number for number, word in enumerate(_ONES.split())} | {
    word: 10 * (number + 2) for number, word in enumerate(_TENS.split())
}
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


def _integer(text: str) -> int:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return int(text.replace(",", ""))


def _float(text: str) -> float:
    return float(_WORDS[text.lower()] if text.lower() in _WORDS else text.replace(",", ""))


def _whole_or_float(text: str) -> int | float:
    value = _float(text)
    return int(value) if value.is_integer() and "." not in text else value


def _truth(text: str) -> bool:
    return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}[text.lower()]


NORMALISERS: Mapping[str, Callable[[str], Any]] = {
    "text": lambda text: text,
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "underscored": lambda text: re.sub(r"[\s-]+", "_", text.lower()),
    "dashed": lambda text: re.sub(r"[\s_]+", "-", text.lower()),
    "integer": _integer,
    "float": _float,
    "number": _whole_or_float,
    "truth": _truth,
}
"""Ways from a piece of the request to the value that the teacher writes; the first that explains a row counts."""

LIST = "list"
"""Suffix of a normaliser's name: the argument is a list, each item a span."""


class Aligned(NamedTuple):
    """A value found in the text: the places where it stands, and how it is read there."""

    places: tuple[tuple[tuple[int, int], ...], ...]
    """For each item of the value (one, unless it is a list) every span that gives it."""
    normaliser: str


def align(reading: Reading, value: Any) -> Aligned | None:
    """Where the text says a value; None when it does not."""
    if isinstance(value, list):
        items = (
            [align(reading, item) for item in value] if value and not any(isinstance(v, list) for v in value) else []
        )
        found = [item for item in items if item is not None]
        if not found or len(found) != len(items) or len({item.normaliser for item in found}) != 1:
            return None
        return Aligned(tuple(item.places[0] for item in found), found[0].normaliser + LIST)
    if isinstance(value, bool):
        return _tokens(reading, value, ("truth",))
    if isinstance(value, int):
        return _tokens(reading, value, ("integer",))
    if isinstance(value, float):
        return _tokens(reading, value, ("float",))
    if not isinstance(value, str) or not value.strip():
        return None
    starts = {token.start for token in reading.tokens}
    ends = {token.end for token in reading.tokens}

    def spans(wanted: str, text: str) -> tuple[tuple[int, int], ...]:
        here = ((m.start(), m.start() + len(wanted)) for m in re.finditer(f"(?={re.escape(wanted)})", text))
        return tuple((a, b) for a, b in here if a in starts and b in ends)

    exact = spans(value, reading.text)
    if exact:
        return Aligned((exact,), "text")
    for name in ("lower", "upper", "title", "underscored", "dashed"):
        loose = re.sub(r"[_\-\s]+", " ", value).casefold()
        plain = re.sub(r"[_\-\s]", " ", reading.text).casefold()
        if len(plain) != len(reading.text):
            return None
        here = tuple((a, b) for a, b in spans(loose, plain) if _apply(name, reading.text[a:b]) == value)
        if here:
            return Aligned((here,), name)
    return None


def _tokens(reading: Reading, value: Any, names: Sequence[str]) -> Aligned | None:
    candidates = [m.span() for m in _NUMBER.finditer(reading.text)] + [(t.start, t.end) for t in reading.tokens]
    for name in names:
        found = tuple(dict.fromkeys((a, b) for a, b in candidates if same(_apply(name, reading.text[a:b]), value)))
        if found:
            return Aligned((found,), name)
    return None


_NOTHING = object()


def _apply(name: str, text: str) -> Any:
    try:
        return NORMALISERS[name](text)
    except (ValueError, KeyError, OverflowError):
        return _NOTHING


def same(one: Any, other: Any) -> bool:
    """Equal, and of one type: 1 is not True, "1" is not 1."""
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


class Writing(NamedTuple):
    """How one argument of one tool is filled, as its rows show it."""

    kind: str
    """``span`` (pointed at in the text), ``choice`` (one of few values), ``open`` (neither: it cannot be learnt)."""
    normaliser: str = "text"
    choices: tuple[Any, ...] = ()
    """For a choice: its values, most frequent first."""
    optional: bool = True
    """Whether some rows go without it."""

    def value(self, texts: Sequence[str]) -> Any:
        """The value that spans give; raises ValueError when they give none."""
        name = self.normaliser
        if name.endswith(LIST):
            made = [_apply(name.removesuffix(LIST), text) for text in texts]
        else:
            made = [_apply(name, texts[0])]
        if any(value is _NOTHING for value in made):
            raise ValueError(f"not a value: {texts!r}")
        if not name.endswith(LIST):
            return made[0]
        return made


def writing_of(values: Sequence[Any], found: Sequence[Aligned | None], rows: int, most: int = 24) -> Writing:
    """How an argument is written, out of its values in `rows` examples and where each stands in its text.

    Nearly all in the text: a span. Few different values: a choice. In the text mostly: a span all the same,
    and the rows without it are left out of the training (not of the evidence).
    """
    optional = len(values) < rows
    if not values:
        return Writing("open", optional=True)
    ways = Counter(item.normaliser for item in found if item is not None)
    share = sum(ways.values()) / len(values)
    distinct: list[Any] = []
    for value in values:
        if not any(same(value, other) for other in distinct):
            distinct.append(value)
        if len(distinct) > most:
            break
    few = len(distinct) <= most and len(distinct) * 3 <= max(len(values), 3)
    way = _way(ways)
    if share >= 0.9 or (share >= 0.5 and not few):
        return Writing("span", way, optional=optional)
    if few:
        order = sorted(distinct, key=lambda value: -sum(same(value, other) for other in values))
        return Writing("choice", choices=tuple(order), optional=optional)
    return Writing("open", optional=optional)


def _way(ways: Counter[str]) -> str:
    """The normaliser that agrees with the most rows; "text" agrees only where nothing else is needed."""
    if {"integer", "float"} <= set(ways):
        return "number"
    return ways.most_common(1)[0][0] if ways else "text"


def covers(spans: Iterable[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a piece of the text shares a character with one of the spans."""
    return any(start < b and a < end for a, b in spans)
