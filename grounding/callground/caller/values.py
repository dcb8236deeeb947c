"""What a request says that could be a value: numbers, dates, times, quotes, names, paths, lists, with their places.

Nothing here knows of tools. A mention is a piece of the text, what kind of thing it is and what it means; the same
piece may be mentioned as several kinds, and the same value as often as it stands in the text.
"""

from __future__ import annotations

import ast
import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from callground.caller.value_patterns import (
    BRACKETED,
    CLOCK,
    CODE_WORD,
    DATE_FORMS,
    EMAIL,
    IP_ADDRESS,
    MONTHS,
    NUMBER,
    NUMBER_WORD,
    NUMBER_WORDS,
    ORDINAL,
    ORDINAL_WORDS,
    PART_OF_DAY,
    PATH,
    QUOTES,
    SCALES,
    UNITS,
    URL,
    WEEKDAYS,
)

LARGEST_NUMBER = 1e290
"""What is larger is not read as a number: it does not survive arithmetic in floating point."""

LONGEST_REQUEST = 4000
"""Characters of a request that are read; the rest is not looked at."""


@dataclass(frozen=True)
class Mention:
    """``text[start:end]`` said a value."""

    start: int
    end: int
    kind: str
    """``number``, ``date``, ``time``, ``quoted``, ``name``, ``list``, ``mapping``, ``url``, ``email``, ``path``,
    ``ip``, ``code`` (an identifier), ``phrase`` (plain words)."""
    value: Any
    unit: str = ""
    """Of a number: its unit in one spelling (``%``, ``$``, ``km``, ``year``, ``word`` for any other word after it)."""


def mentions(text: str) -> list[Mention]:
    """All mentions of the request except plain phrases, in the order of the text."""
    text = text[:LONGEST_REQUEST]
    written = list(bracketed(text))
    loose = [each for each in number_lists(text) if not any(w.start <= each.start < w.end for w in written)]
    found = [
        *quoted(text),
        *_matches(URL, text, "url"),
        *_matches(EMAIL, text, "email"),
        *_matches(IP_ADDRESS, text, "ip"),
        *_matches(PATH, text, "path"),
        *_matches(CODE_WORD, text, "code"),
        *dates(text),
        *times(text),
        *parts_of_day(text),
        *numbers(text),
        *written,
        *loose,
    ]
    return sorted(set_of(found), key=lambda each: (each.start, each.end, each.kind))


def set_of(found: list[Mention]) -> list[Mention]:
    """The mentions without the same piece of the same kind twice."""
    seen: set[tuple[int, int, str]] = set()
    kept = []
    for each in found:
        key = (each.start, each.end, each.kind)
        if key not in seen:
            seen.add(key)
            kept.append(each)
    return kept


def _matches(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[Mention]:
    for match in pattern.finditer(text):
        start, end = match.span()
        while end > start and text[end - 1] in ".,;:!?)'\"":
            end -= 1
        if end > start:
            yield Mention(start, end, kind, text[start:end])


def quoted(text: str) -> Iterator[Mention]:
    """Pieces in quotation marks of any kind, without the marks. An apostrophe opens and closes nothing."""
    for pattern in QUOTES:
        for match in pattern.finditer(text):
            start, end = match.span(1)
            if text[start:end].strip():
                yield Mention(start, end, "quoted", text[start:end])


def numbers(text: str) -> Iterator[Mention]:
    """Numbers in digits and in words, with their unit.

    ``1,200``, ``-3.5e2``, ``$40k``, ``2.5 million``, ``5%``, ``twenty-five``, ``three hundred``, ``3rd``, ``second``
    (as an ordinal only where a word follows). Digits inside of identifiers, addresses and versions are none.
    """
    for match in NUMBER.finditer(text):
        value: float | int = _digits(match.group("digits"))
        if abs(value) > LARGEST_NUMBER:
            continue
        if match.group("sign") == "-":
            value = -value
        end = match.end("digits")
        shown_scale = (match.group("scale") or "").strip()
        # `298K` are kelvins, `$298K` are thousands.
        scale = None if shown_scale in ("K", "M") and not match.group("money") else SCALES.get(shown_scale.lower())
        if scale is not None:
            scaled = value * scale
            value = int(scaled) if scaled == int(scaled) else round(scaled, 6)
            end = match.end("scale")
        unit = "$" if match.group("money") else _unit_after(text, end)
        yield Mention(match.start(), end, "number", value, unit)
    for match in NUMBER_WORD.finditer(text):
        words_value = _words_number(match.group())
        if words_value is not None and not _part_of_name(text, match.start(), match.end()):
            yield Mention(match.start(), match.end(), "number", words_value, _unit_after(text, match.end()))
    for match in ORDINAL.finditer(text):
        word = match.group("word")
        value = ORDINAL_WORDS[word.lower()] if word else int(match.group("digits"))
        yield Mention(match.start(), match.end(), "number", value, "ordinal")


def _digits(shown: str) -> float | int:
    plain = shown.replace(",", "")
    if re.fullmatch(r"\d+", plain):
        return int(plain)
    return float(plain)


def _words_number(shown: str) -> int | None:
    total, current, seen = 0, 0, False
    for word in re.findall(r"[a-z]+", shown.lower()):
        if word in ("and", "a"):
            continue
        value = NUMBER_WORDS.get(word)
        if value is None:
            return None
        seen = True
        if value >= 1000:
            total, current = total + max(1, current) * value, 0
        elif value == 100 or word == "dozen":
            current = max(1, current) * value
        else:
            current += value
    return total + current if seen else None


def _part_of_name(text: str, start: int, end: int) -> bool:
    """Whether a capitalised number word belongs to a name: ``Formula One``, ``Seven Samurai``."""
    if not text[start].isupper() or start == 0:
        return False
    return bool(re.search(r"[A-Z][\w']*\s$", text[:start]) or re.match(r"\s[A-Z]", text[end:]))


def _unit_after(text: str, end: int) -> str:
    match = re.match(r"\s?(%|°\s?[CF]?|[A-Za-z]+(?:[/^][A-Za-z0-9]+)?)", text[end:])
    if match is None:
        match = re.match(r"-([A-Za-z]+)", text[end:])
        if match is None:
            return ""
    shown = match.group(1)
    return UNITS.get(shown) or UNITS.get(shown.lower(), "word")


def dates(text: str) -> Iterator[Mention]:
    """Days of the calendar; the value is a ``datetime.date``, or None where the year is not said or the day is none.

    A date in figures with both parts below 13 is read month first only where the text has no other reading;
    its value is then None as well: what is not certain is not turned into another form.
    """
    for pattern in DATE_FORMS:
        for match in pattern.finditer(text):
            yield Mention(match.start(), match.end(), "date", _date(match.groupdict()))


def _date(parts: dict[str, str | None]) -> datetime.date | None:
    year, month, day = parts.get("year"), parts.get("month"), parts.get("day")
    first, second = parts.get("first"), parts.get("second")
    if first is not None and second is not None:
        # 3/14/2024 has one reading; 4/5/2024 has two, and the one of most English texts is month first.
        low, high = int(first), int(second)
        month, day = (second, first) if low > 12 >= high else (first, second)
    if year is None or month is None or day is None:
        return None
    number = int(month) if month.isdigit() else MONTHS.get(month[:3].lower(), 0)
    try:
        return datetime.date(int(year) if len(year) == 4 else 2000 + int(year), number, int(day))
    except ValueError:
        return None


def times(text: str) -> Iterator[Mention]:
    """Times of the day; the value is a ``datetime.time``. ``5 pm``, ``17:30``, ``9:05:30 a.m.``, ``noon``."""
    for match in CLOCK.finditer(text):
        word = match.group("word")
        if word:
            yield Mention(match.start(), match.end(), "time", datetime.time(12 if word.lower() == "noon" else 0, 0))
            continue
        hour, minute = int(match.group("hour")), int(match.group("minute") or 0)
        half = (match.group("half") or match.group("half_only") or "").lower().replace(".", "").strip()
        if half:
            if not 1 <= hour <= 12:
                continue
            hour = hour % 12 + (12 if half == "pm" else 0)
        second = int(match.group("second") or 0)
        if hour < 24 and minute < 60 and second < 60:
            yield Mention(match.start(), match.end(), "time", datetime.time(hour, minute, second))


def parts_of_day(text: str) -> Iterator[Mention]:
    """``5 in the afternoon``, ``9:30 at night`` as times of the day."""
    for match in PART_OF_DAY.finditer(text):
        hour, minute = int(match.group("hour")), int(match.group("minute") or 0)
        morning = (match.group("part") or "").lower() == "morning"
        late = not morning and not (match.group("night") and hour in (12, 1, 2, 3, 4))
        if minute < 60:
            yield Mention(match.start(), match.end(), "time", datetime.time(hour % 12 + 12 * late, minute))


def bracketed(text: str) -> Iterator[Mention]:
    """Lists, tuples and mappings written as in Python or JSON; what cannot be read is split at its commas."""
    for match in BRACKETED.finditer(text):
        start = match.start()
        end = _closing(text, start)
        if end is None:
            continue
        inside = text[start:end]
        value = _literal(inside)
        if isinstance(value, dict):
            yield Mention(start, end, "mapping", value)
        elif isinstance(value, (list, tuple)):
            yield Mention(start, end, "list", _plain_lists(value))
        elif inside[0] == "[" and "[" not in inside[1:] and inside[1:-1].strip():
            yield Mention(start, end, "list", [part.strip(" '\"") for part in inside[1:-1].split(",") if part.strip()])


def _closing(text: str, start: int) -> int | None:
    """The place after the bracket that closes the one at `start`."""
    pairs = {"[": "]", "{": "}", "(": ")"}
    stack: list[str] = []
    for index in range(start, min(len(text), start + 2000)):
        char = text[index]
        if char in pairs:
            stack.append(pairs[char])
        elif stack and char == stack[-1]:
            stack.pop()
            if not stack:
                return index + 1
    return None


def _literal(shown: str) -> Any:
    for attempt in (
        shown,
        re.sub(r"\b(true|false|null)\b", lambda m: {"t": "True", "f": "False", "n": "None"}[m[1][0]], shown),
    ):
        try:
            return ast.literal_eval(attempt)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            continue
    return None


def _plain_lists(value: Any) -> Any:
    return [_plain_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


_NUMBER_LIST = re.compile(
    r"(?<![\w.])[-+]?\$?\d[\d.]*%?(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*;\s*)[-+]?\$?\d[\d.]*%?)+(?![\w])"
)


def number_lists(text: str) -> Iterator[Mention]:
    """Numbers one after the other: ``3, 4 and 5``."""
    for match in _NUMBER_LIST.finditer(text):
        shown = re.findall(r"[-+]?\d+(?:\.\d+)?", match.group())
        values = [float(each) if "." in each else int(each) for each in shown]
        if len(values) > 1:
            end = match.end()
            while text[end - 1] in ".,;":
                end -= 1
            yield Mention(match.start(), end, "list", values)


_ITEM_SPLIT = re.compile(r"\s*(?:,\s*(?:and|or|&)\s+|,|;|\s+and\s+|\s+&\s+|\s+or\s+)\s*")


def items_of(shown: str) -> list[str]:
    """The elements of a list as one says it: ``eggs, milk and bread``; marks of quotation are taken off."""
    inner = shown.strip()
    if len(inner) > 1 and inner[0] in "[(" and inner[-1] in "])":
        inner = inner[1:-1]
    parts = [part.strip().strip("'\"“”‘’`").strip() for part in _ITEM_SPLIT.split(inner)]
    return [part for part in parts if part]


def is_weekday(shown: str) -> bool:
    """Whether this is the English name of a day of the week."""
    return shown.strip().lower() in WEEKDAYS
