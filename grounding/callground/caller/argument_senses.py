"""What a parameter's name and description say of the values that it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from callground.caller.argument_candidates import (
    BOOLEAN,
    ENUM,
    INTEGER,
    NUMBER,
    date_form,
    group_of,
    percent_form,
    time_form,
)
from callground.caller.argument_text import FUNCTION_WORDS, stem, stems
from callground.caller.tools import ToolParameter, words
from callground.caller.units import unit_of


def stemmed(words_: str) -> frozenset[str]:
    """The stems of a list of words."""
    return frozenset(stem(word) for word in words_.split())


SENSES: dict[str, tuple[str, tuple[str, ...]]] = {
    "date": (r"\bdate|\bday\b|deadline|birthday|yyyy", ("date",)),
    "time": (r"\btime\b|\bhour\b|clock|hh:mm", ("time",)),
    "url": (r"\burl|\buri\b|endpoint|\blink\b|website|web address", ("url",)),
    "email": (r"e-?mail|recipient", ("email",)),
    "path": (r"\bpath|\bfile(?:name)?\b|folder|directory", ("path",)),
    "ip": (r"\bip\b", ("ip",)),
    "code": (
        r"\bid\b|identifier|\bcode\b|symbol|ticker|\btoken\b|\bkey\b|username|\bvariable|column|table|branch",
        ("code", "number"),
    ),
    "text": (r"message|\btext\b|content|\bbody\b|comment|\bnote\b|sentence|prompt|description of", ("quoted", "head")),
    "name": (
        r"\bname|title|city|country|state\b|location|place|author|artist|company|team|person|brand|address",
        ("name", "quoted"),
    ),
}
"""For each sense the words that tell of it, and the kinds of candidates that fit."""

_PATTERNS = {sense: re.compile(pattern, re.IGNORECASE) for sense, (pattern, _) in SENSES.items()}
STARTS = stemmed("from start origin source begin first initial min minimum lower since departure old current sender")
ENDS = stemmed("to end destination target stop final last max maximum upper until arrival new recipient receiver")
PLACES = stemmed("location city country place region state area address venue room where")
NEGATION = frozenset(
    "no not without don't dont never exclude excluding disable disabled disabling off skip skipping except isn't "
    "avoid non".split()
)
LIMITS = stemmed("limit count max maximum number top many amount size quantity")
_MONEY = re.compile(
    r"price|cost|amount|salary|budget|rent|income|money|dollar|\bsum\b|principal|loan|fee|\bpay|invest", re.IGNORECASE
)
_SAYS_NOTHING = stemmed(
    "value default optional string number integer the name type given specify used type list true false boolean e.g "
    "example format should which whether if parameter"
)
_QUOTED_EXAMPLE = re.compile(r"['\"“‘]([^'\"”’]{1,60})['\"”’]")
_PLAIN_EXAMPLES = re.compile(r"(?:e\.?g\.?,?|for example,?|such as|like|example:)\s+([^().;]{2,120})", re.IGNORECASE)
_DEFAULT = re.compile(r"\bdefaults?(?: value)?(?: is| to|:|=)+\s*['\"]?([\w.%-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class ParameterSense:
    """A parameter's name and description, read once."""

    parameter: ToolParameter
    group: str
    name: frozenset[str]
    """Stems of the name's words."""
    about: frozenset[str]
    """Stems of the description's words that say something."""
    senses: frozenset[str]
    """Those of `SENSES` that it tells of."""
    examples: tuple[str, ...]
    percent: str
    unit: str
    has_date_form: bool
    has_time_form: bool
    default: Any
    """The default that the schema or the description names."""
    money: bool


def sense_of(parameter: ToolParameter) -> ParameterSense:
    """Reads a parameter."""
    name = words(parameter.name)
    told = f"{name} {parameter.description}"
    return ParameterSense(
        parameter,
        group_of(parameter),
        frozenset(stems(name)) - frozenset(("the", "of", "in", "is", "a")),
        frozenset(
            each
            for each in stems(parameter.description)
            if len(each) > 2 and each not in _SAYS_NOTHING and each not in FUNCTION_WORDS
        ),
        frozenset(sense for sense, pattern in _PATTERNS.items() if pattern.search(told)),
        examples_of(parameter.description),
        percent_form(parameter),
        unit_of(told),
        date_form(parameter) is not None,
        time_form(parameter) is not None,
        default_of(parameter),
        _MONEY.search(told) is not None,
    )


def examples_of(description: str) -> tuple[str, ...]:
    """Values that a description gives as examples: what it quotes, and what follows ``e.g.``."""
    found = _QUOTED_EXAMPLE.findall(description)
    for listed in _PLAIN_EXAMPLES.findall(description):
        found += [part.strip(" '\"") for part in listed.split(",")]
        if "," in listed and any(part[:1] == " " and part[1:2].isupper() for part in listed.split(",")[1:]):
            found.append(listed.strip(" '\""))
    return tuple(dict.fromkeys(each for each in found if 0 < len(each) < 60))[:12]


def default_of(parameter: ToolParameter) -> Any:
    """The default of a parameter: of its schema, or said by its description; None where neither says one."""
    if parameter.default is not None:
        return parameter.default
    match = _DEFAULT.search(parameter.description)
    if match is None:
        return None
    said = match.group(1).rstrip(".")
    group = group_of(parameter)
    if group == BOOLEAN:
        return {"true": True, "false": False}.get(said.lower())
    if group in (INTEGER, NUMBER):
        return float(said) if re.fullmatch(r"-?\d+(\.\d+)?", said) else None
    if group == ENUM:
        return next((member for member in parameter.enum or () if str(member).lower() == said.lower()), None)
    return said if said.lower() not in ("none", "null", "empty") else None
