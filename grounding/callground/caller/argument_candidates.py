"""The values that a parameter could get out of a request, each typed as the parameter wants it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from callground.caller.argument_text import FUNCTION_WORDS, RequestText
from callground.caller.spans import ParameterScores
from callground.caller.tools import ToolParameter
from callground.caller.units import converted, unit_of
from callground.caller.values import LARGEST_NUMBER, Mention, items_of, numbers

INTEGER, NUMBER, STRING, ENUM, BOOLEAN, ARRAY, OBJECT = (
    "integer",
    "number",
    "string",
    "enum",
    "boolean",
    "array",
    "object",
)

MOST_CANDIDATES = 120
_HEAD_SPANS = 5
_PERCENT = re.compile(r"percent|%|\bpct\b", re.IGNORECASE)
_FRACTION = re.compile(r"decimal|fraction|between 0 and 1|0 to 1|0\.0?\d", re.IGNORECASE)


@dataclass(frozen=True)
class Candidate:
    """A value for a parameter, and where it comes from."""

    value: Any
    kind: str
    """A kind of `values.Mention`, or ``member`` (of the enum), ``boolean``, ``head`` (found by the span head only),
    ``items`` (a list of such), ``default``."""
    start: int = -1
    end: int = -1
    """``request[start:end]``; -1 where the value has no place."""
    note: str = ""
    """What was done to what stands there: ``fraction``, ``converted``, ``formatted``."""
    unit: str = ""


_ALIASES = {
    "int": INTEGER,
    "long": INTEGER,
    "float": NUMBER,
    "double": NUMBER,
    "str": STRING,
    "bool": BOOLEAN,
    "list": ARRAY,
    "tuple": ARRAY,
    "dict": OBJECT,
}


def plain_type(word: str) -> str:
    """A type in JSON Schema's words."""
    return _ALIASES.get(word, word)


def group_of(parameter: ToolParameter) -> str:
    """The kind of values that a parameter takes."""
    kind = plain_type(parameter.type)
    if kind in (INTEGER, NUMBER, BOOLEAN, ARRAY, OBJECT):
        return ENUM if parameter.enum and kind in (INTEGER, NUMBER) else kind
    return ENUM if parameter.enum else STRING


def candidates(
    request: RequestText, parameter: ToolParameter, scores: ParameterScores | None = None
) -> list[Candidate]:
    """The candidates of a parameter, no value twice at one place. The head's answers add pieces of their own."""
    group = group_of(parameter)
    found: list[Candidate] = []
    seen: set[tuple[str, int, int]] = set()
    for each in _of_group(group, request, parameter, scores):
        key = (repr(each.value), each.start, each.end)
        if key not in seen:
            seen.add(key)
            found.append(each)
        if len(found) >= MOST_CANDIDATES:
            break
    return found


def _of_group(
    group: str, request: RequestText, parameter: ToolParameter, scores: ParameterScores | None
) -> Iterator[Candidate]:
    if group == BOOLEAN:
        yield Candidate(True, "boolean")
        yield Candidate(False, "boolean")
    elif group == ENUM:
        yield from _members(request, parameter)
    elif group in (INTEGER, NUMBER):
        yield from _coded(request, parameter)
        yield from _numbers(group, request, parameter)
    elif group == ARRAY:
        yield from _arrays(request, parameter, scores)
    elif group == OBJECT:
        for mention in request.mentions:
            if mention.kind == "mapping":
                yield Candidate(mention.value, "mapping", mention.start, mention.end)
    else:
        yield from _coded(request, parameter)
        yield from _strings(request, parameter, scores)
        if parameter.type == "any":
            yield from _numbers(NUMBER, request, parameter)


_CODE = re.compile(
    r"(?<![\w.])['\"]?(?P<code>\d{1,4}|[A-Z][A-Z0-9_]{0,11})['\"]?\s*"
    r"(?:represents|corresponds to|stands for|means|for|is|=|:|-)\s*"
    r"(?:an? |the )?['\"]?(?P<meaning>[A-Za-z][\w '/-]{1,40}?)['\"]?(?=\s*(?:[,.;)]|$| and | or ))"
)


def coded_values(description: str) -> dict[str, str]:
    """Codes that a description explains, with their meaning: ``1 for cleaning, 2 represents ironing``."""
    found = {match.group("code"): match.group("meaning").strip() for match in _CODE.finditer(description)}
    return found if len(found) > 1 else {}


def _meaning_place(request: RequestText, meaning: str) -> tuple[int, int] | None:
    """Where the request says what a code means: all of its words, or the first of several."""
    place = member_place(request.text, meaning)
    if place is None and len(meaning.split()) > 1 and len(meaning.split()[0]) > 3:
        place = member_place(request.text, meaning.split()[0])
    return place


def _coded(request: RequestText, parameter: ToolParameter) -> Iterator[Candidate]:
    group = group_of(parameter)
    for code, meaning in coded_values(parameter.description).items():
        place = _meaning_place(request, meaning)
        if place is not None and (group == STRING or code.isdigit()):
            value: Any = code if group == STRING else _as_number(group, int(code))
            yield Candidate(value, "member", *place, "coded")


def _members(request: RequestText, parameter: ToolParameter) -> Iterator[Candidate]:
    """Every member; its place where its words, or what the description says it means, stand in the request."""
    meanings = coded_values(parameter.description)
    for member in parameter.enum or ():
        coded = meanings.get(str(member))
        place = _meaning_place(request, coded) if coded is not None else None
        if place is not None:
            yield Candidate(member, "member", *place, "coded")
            continue
        if coded is not None and isinstance(member, (int, float)):
            yield Candidate(member, "member")  # the digit alone does not say the code
            continue
        place = member_place(request.text, str(member))
        yield Candidate(member, "member", *(place or (-1, -1)))


def member_place(text: str, member: str) -> tuple[int, int] | None:
    """Where a member's words stand: ``price_asc`` is said by ``price asc``, ``price-asc``, ``Price ASC``."""
    parts = [re.escape(part) for part in re.split(r"[\W_]+", member) if part]
    if not parts:
        return None
    match = re.search(r"(?<![^\W_])" + r"[\W_]{0,2}".join(parts) + r"(?![^\W_])", text, re.IGNORECASE)
    return match.span() if match else None


def _numbers(group: str, request: RequestText, parameter: ToolParameter) -> Iterator[Candidate]:
    told = f"{parameter.name} {parameter.description}"
    wanted = unit_of(told)
    for mention in request.mentions:
        if mention.kind != "number":
            continue
        value = mention.value
        place = (mention.start, mention.end)
        if mention.unit == "%" and group == NUMBER:
            yield Candidate(round(value / 100, 8), "number", *place, "fraction", mention.unit)
        plain = _as_number(group, value)
        if plain is not None:
            yield Candidate(plain, "number", *place, "", mention.unit)
        other = converted(value, mention.unit, wanted)
        if other is not None:
            plain = _as_number(group, other)
            if plain is not None:
                yield Candidate(plain, "number", *place, "converted", mention.unit)


def _as_number(group: str, value: float) -> int | float | None:
    if not abs(value) <= LARGEST_NUMBER:
        return None
    if group == NUMBER:
        return float(value)
    return int(value) if value == int(value) else None


def percent_form(parameter: ToolParameter) -> str:
    """How a parameter takes a share: ``percent``, ``fraction``, or empty where its description does not say."""
    told = f"{parameter.name} {parameter.description}"
    if _FRACTION.search(told):
        return "fraction"
    return "percent" if _PERCENT.search(told) else ""


def _strings(request: RequestText, parameter: ToolParameter, scores: ParameterScores | None) -> Iterator[Candidate]:
    text = request.text
    if scores is not None:
        for start, end, _ in scores.best(_HEAD_SPANS):
            start, end = _whole_words(text, start, end)
            shown = _trimmed(text, start, end)
            if shown is not None:
                yield from _formatted(request, shown, "head", parameter)
    for mention in request.mentions:
        if mention.kind in ("list", "mapping"):
            continue
        yield from _formatted(request, mention, mention.kind, parameter)
    for mention in request.phrases:
        yield Candidate(mention.value, mention.kind, mention.start, mention.end)


def _formatted(request: RequestText, place: Mention, kind: str, parameter: ToolParameter) -> Iterator[Candidate]:
    """A piece as it stands, and in the form that the description asks for where that is certain."""
    shown = request.text[place.start : place.end]
    value: Any = place.value
    if kind == "head":
        same = [
            m for m in request.mentions if (m.start, m.end) == (place.start, place.end) and m.kind in ("date", "time")
        ]
        value = same[0].value if same else None
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        form = date_form(parameter)
        if form is not None:
            yield Candidate(value.strftime(form), "date", place.start, place.end, "formatted")
        moment = moment_form(parameter)
        if moment is not None:
            for other in request.mentions:
                if other.kind == "time" and not place.start <= other.start < place.end:
                    both = datetime.datetime.combine(value, other.value).strftime(moment)
                    first, last = min(place.start, other.start), max(place.end, other.end)
                    yield Candidate(both, "date", first, last, "formatted")
    if isinstance(value, datetime.time):
        form = time_form(parameter)
        if form is not None:
            yield Candidate(value.strftime(form), "time", place.start, place.end, "formatted")
    yield Candidate(shown, kind, place.start, place.end, "", place.unit)


_DATE_FORMS = (
    (r"YYYY-MM-DD|\b\d{4}-\d{2}-\d{2}\b|%Y-%m-%d|ISO.?8601", "%Y-%m-%d"),
    (r"YYYY/MM/DD|\b\d{4}/\d{2}/\d{2}\b", "%Y/%m/%d"),
    (r"MM/DD/YYYY|\b(?:0?\d|1[0-2])/(?:1[3-9]|2\d|3[01])/\d{4}\b", "%m/%d/%Y"),
    (r"DD/MM/YYYY|\b(?:1[3-9]|2\d|3[01])/\d{2}/\d{4}\b", "%d/%m/%Y"),
    (r"MM-DD-YYYY", "%m-%d-%Y"),
    (r"DD-MM-YYYY", "%d-%m-%Y"),
    (r"DD\.MM\.YYYY", "%d.%m.%Y"),
    (r"\bYYYYMMDD\b", "%Y%m%d"),
)


def date_form(parameter: ToolParameter) -> str | None:
    """The form of a date that the parameter asks for, as `strftime` takes it; None where it says none."""
    if parameter.schema.get("format") == "date":
        return "%Y-%m-%d"
    for pattern, form in _DATE_FORMS:
        if re.search(pattern, parameter.description, re.IGNORECASE):
            return form
    return None


_MOMENT = re.compile(r"(?:YYYY|DD)[T ]?\s?['\"]?(?P<time>HH:MM(?P<second>:SS)?)", re.IGNORECASE)


def moment_form(parameter: ToolParameter) -> str | None:
    """The form of a day with a time, where the parameter asks for both: ``dd/mm/yyyy HH:MM``."""
    match = _MOMENT.search(parameter.description)
    day = date_form(parameter)
    if match is None or day is None:
        return None
    joint = "T" if re.search(r"DDT|YYYYT", parameter.description) else " "
    return f"{day}{joint}%H:%M" + (":%S" if match.group("second") else "")


_TIME_FORMS = (
    (r"HH:MM:SS|\b\d{2}:\d{2}:\d{2}\b", "%H:%M:%S"),
    (r"HH:MM (?:AM/PM|AM|PM|A)\b|\b\d{1,2}:\d{2} ?[AP]M\b|12.hour", "%I:%M %p"),
    (r"HH:MM|24.hour|\b\d{2}:\d{2}\b", "%H:%M"),
)


def time_form(parameter: ToolParameter) -> str | None:
    """The form of a time of the day that the parameter asks for; None where it says none."""
    for pattern, form in _TIME_FORMS:
        if re.search(pattern, parameter.description, re.IGNORECASE):
            return form
    return None


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The piece widened to whole words: the head's tokens may be parts of one."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _trimmed(text: str, start: int, end: int) -> Mention | None:
    """The piece without marks and spaces around it."""
    while start < end and text[start] in " \t\n\"'`,;:“”‘’":
        start += 1
    while end > start and text[end - 1] in " \t\n\"'`,;:?!“”‘’":
        end -= 1
    if end > start + 1 and text[end - 1] == "." and "." not in text[start : end - 1]:
        end -= 1
    return Mention(start, end, "head", None) if end > start else None


def _arrays(request: RequestText, parameter: ToolParameter, scores: ParameterScores | None) -> Iterator[Candidate]:
    text = request.text
    items = plain_type(parameter.items or "string")
    if parameter.enum:
        placed = [(place, member) for member in parameter.enum if (place := member_place(text, str(member)))]
        placed.sort(key=lambda each: each[0])
        if placed:
            yield Candidate([member for _, member in placed], "member", placed[0][0][0], placed[-1][0][1])
    for mention in request.mentions:
        if mention.kind == "list":
            value = typed_items(mention.value, items)
            if value is not None:
                yield Candidate(value, "list", mention.start, mention.end)
    pieces: list[tuple[int, int, str]] = []
    if scores is not None:
        pieces += [(*_whole_words(text, start, end), "head") for start, end, _ in scores.best(_HEAD_SPANS)]
    pieces += [(start, end, "items") for start, end in islice(enumerations(text), MOST_CANDIDATES)]
    if items in ("string", "any"):
        quotes = [mention for mention in request.mentions if mention.kind == "quoted"]
        if len(quotes) > 1:
            yield Candidate([q.value for q in quotes], "quoted", quotes[0].start, quotes[-1].end)
        pieces += [
            (m.start, m.end, m.kind) for m in request.mentions if m.kind in ("quoted", "path", "email", "code", "url")
        ]
        pieces += [(m.start, m.end, m.kind) for m in request.phrases]
    if items in ("integer", "number"):
        said = [m for m in request.mentions if m.kind == "number"]
        if len(said) > 1:
            value = typed_items([m.value for m in said], items)
            if value is not None:
                yield Candidate(value, "number", said[0].start, said[-1].end)
        pieces += [(m.start, m.end, "number") for m in said]
    for start, end, kind in pieces:
        piece = _trimmed(text, start, end)
        if piece is None:
            continue
        shown = text[piece.start : piece.end]
        value = (
            typed_items([m.value for m in numbers(shown)], items) if items in ("integer", "number") else items_of(shown)
        )
        if value:
            yield Candidate(value, kind if kind != "items" or len(value) > 1 else "phrase", piece.start, piece.end)


def typed_items(values: Any, items: str) -> list[Any] | None:
    """A list with elements of the wanted type, or None where one has another."""
    typed = [_typed_item(value, items) for value in values]
    return typed if typed and not any(value is None for value in typed) else None


def _typed_item(value: Any, items: str) -> Any:
    if items in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return _as_number(items, value)
    if items == "array":
        return value if isinstance(value, list) else None
    if items == "object":
        return value if isinstance(value, dict) else None
    if items == "string" and not isinstance(value, str):
        return None if isinstance(value, (list, dict)) else str(value)
    return value


_SEPARATOR = re.compile(r"\s*,\s*(?:and\s+|or\s+|&\s*)?|\s+(?:and|or|&)\s+")
_MOST_ELEMENT_WORDS = 4


def enumerations(text: str) -> Iterator[tuple[int, int]]:
    """Pieces that look like ``eggs, milk and bread``.

    How many words the first and the last element have is not to be seen: each reading is given, of one to four words.
    """
    marks = list(_SEPARATOR.finditer(text))
    chain: list[re.Match[str]] = []
    for index, mark in enumerate(marks):
        chain.append(mark)
        following = marks[index + 1] if index + 1 < len(marks) else None
        if following is None or not _is_element(text[mark.end() : following.start()]):
            yield from _readings(text, chain)
            chain = []


def _readings(text: str, chain: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """The lists that separators in a row could part: an ``and`` ends one, and another may begin behind it."""
    closing = [bool(mark.group().strip(" ,\n\t")) for mark in chain]
    for first in range(len(chain)):
        if first and not closing[first - 1]:
            continue
        starts = _edges(text[max(0, chain[first].start() - 200) : chain[first].start()], backwards=True)
        base = max(0, chain[first].start() - 200)
        for last in range(first, len(chain)):
            if last + 1 < len(chain) and not closing[last]:
                continue
            tail = chain[last].end()
            for end in _edges(text[tail : tail + 200], backwards=False):
                for start in starts:
                    yield base + start, tail + end


def _is_element(piece: str) -> bool:
    return 0 < len(piece.split()) <= _MOST_ELEMENT_WORDS + 2 and not re.search(r"[.!?;:]\s", piece)


_EDGE_WORD = re.compile(r"[^\s,;:!?()\[\]]+")


def _edges(piece: str, *, backwards: bool) -> list[int]:
    """Where an element at the edge may begin (`backwards`: counted from the start of the piece) or end."""
    quote = re.search(r"[\"'][^\"']*[\"']$", piece) if backwards else re.match(r"[\"'][^\"']*[\"']", piece)
    if quote is not None:
        return [quote.start() if backwards else quote.end()]
    piece_words = [match.span() for match in _EDGE_WORD.finditer(piece)]
    if backwards:
        piece_words.reverse()
    edges: list[int] = []
    before: tuple[int, int] | None = None
    for place in piece_words[:_MOST_ELEMENT_WORDS]:
        gap = "" if before is None else piece[place[1] : before[0]] if backwards else piece[before[1] : place[0]]
        if gap.strip() or (not edges and before is not None):
            break
        if piece[slice(*place)].lower() not in FUNCTION_WORDS:
            end = place[1] - 1 if not backwards and piece[place[1] - 1] == "." else place[1]
            edges.append(place[0] if backwards else end)
        before = place
    return edges
