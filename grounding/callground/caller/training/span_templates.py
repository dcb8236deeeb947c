"""Requests made out of a documented signature: for tools of which nobody has written down a request.

The values come from the examples in the parameter's own description ("e.g., low, medium, high") or, by its name and
type, from `span_values`; the sentences say each parameter in one of a few ways, sometimes without its name.
"""

from __future__ import annotations

import random
import re
from typing import Any

from callground.caller.tools import ToolParameter, ToolSpec, words
from callground.caller.training.span_data import Example
from callground.caller.training.span_values import LISTS, Said, said

_EXAMPLES = re.compile(r"\((?:e\.?g\.?|for example|such as)[,:]?\s*([^()]{2,160})\)", re.IGNORECASE)
_BY_NAME = (
    (r"e?mail", "email"), (r"url|endpoint|link|uri", "url"), (r"path|file|folder|directory", "path"),
    (r"date|deadline|birthday", "date"), (r"time$|_time|hour", "time"), (r"city|location|destination", "city"),
    (r"country|nationality", "country"), (r"state|region|province", "state"), (r"phone|mobile", "phone"),
    (r"address|street", "address"), (r"language", "language"), (r"currency", "currency"), (r"title|song|book", "title"),
    (r"company|organi|brand|vendor|employer", "company"),
    (r"person|author|artist|patient|customer|user_?name", "person"),
    (r"message|text|comment|content|description|note|body", "sentence"), (r"topic|subject|keyword|query", "topic"),
    (r"(?:^|_)id$|id$|arn|token|number|code", "code"), (r"ip", "ip"), (r"team", "team"), (r"day", "weekday"),
    (r"food|dish|ingredient|crop", "food"), (r"product|item", "product"), (r"repo", "repo"), (r"branch", "branch"),
    (r"name|table|column|key|bucket|cluster|group|role|resource|alias", "identifier"),
)  # fmt: skip
_ANY = ("identifier", "code", "title", "topic", "company", "product", "sentence", "city", "person")
_NAMED = (
    " with {name} {value}", " with {name} {value}", ", {name} {value}", ", {name}: {value}",
    " where the {name} is {value}",
    ". The {name} is {value}", " using {value} as the {name}", " ({name} {value})", " with a {name} of {value}",
    ", {name}={value}", " and {name} {value}", " for the {name} {value}", ". Use {value} for the {name}",
    " and set the {name} to {value}",
)  # fmt: skip
_BARE = (
    " for {value}",
    " in {value}",
    " {value}",
    " of {value}",
    " on {value}",
    ": {value}",
    " from {value}",
    " by {value}",
)
_ON = (" with {name}", ", {name} enabled", " and turn on {name}", ", {name}", " and enable {name}", " including {name}")
_OFF = (
    " without {name}",
    ", {name} disabled",
    " but no {name}",
    ", not {name}",
    " and switch off {name}",
    " excluding {name}",
)
_OPENINGS = ("", "", "", "Please ", "Can you ", "I want to ", "Could you ", "I need to ", "I'd like to ", "Help me ")


def made_request(tool: ToolSpec, source: str, fold: str, r: random.Random) -> Example | None:
    """One request for the tool, or None where no value can be made up for what it needs."""
    chosen = [arg for arg in tool.args if arg.required or r.random() < 0.35]
    r.shuffle(chosen)
    chosen = chosen[: r.choice((2, 3, 3, 4))]
    open_ = {arg.name for arg in tool.args if arg.required and arg not in chosen}
    text = r.choice(_OPENINGS) + _verb(tool, r)
    values: dict[str, Any] = {}
    spans: dict[str, tuple[int, int]] = {}
    for index, arg in enumerate(chosen):
        if arg.type == "boolean":
            value = r.random() < 0.6
            form = r.choice(_ON if value else _OFF)
            start = len(text) + 1
            text += form.format(name=_plain_name(arg))
            values[arg.name], spans[arg.name] = value, (start, len(text))
            continue
        piece = _value(arg, r)
        if piece is None:
            return None
        bare = index == 0 and len(chosen) < 3 and arg.type == "string" and r.random() < 0.5
        before, after = r.choice(_BARE if bare else _NAMED).replace("{name}", _plain_name(arg)).split("{value}")
        quote = r.choice("'\"") if piece.quotable and r.random() < 0.4 and "'" not in piece.words else ""
        text += before + quote
        spans[arg.name] = (len(text), len(text) + len(piece.words))
        values[arg.name] = piece.value
        text += piece.words + quote + after
    text += r.choice((".", ".", "", "", "?"))
    if len(text) > 300:
        return None
    return Example(source, fold, text, tool, values, spans, frozenset(open_))


def _plain_name(arg: ToolParameter) -> str:
    return re.sub(r"^(is|has|enable|include|use) ", "", words(arg.name)) if arg.type == "boolean" else words(arg.name)


def _verb(tool: ToolSpec, r: random.Random) -> str:
    about = tool.description.split(".")[0]
    if 10 < len(about) < 90 and r.random() < 0.5:
        first, _, rest = about.partition(" ")
        first = re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", first.lower())
        return f"{first} {rest}"
    return words(tool.name)


def _value(arg: ToolParameter, r: random.Random) -> Said | None:
    if arg.enum:
        member = str(r.choice(arg.enum))
        return Said(r.choice((member, words(member))), member)
    examples = _examples(arg)
    if arg.type == "integer":
        if examples and r.random() < 0.4:
            whole = [each for each in examples if re.fullmatch(r"\d+", each)]
            if whole:
                number = int(r.choice(whole))
                return Said(str(number), number)
        return said(f"int 1 {r.choice((9, 60, 500, 9000))}", r)
    if arg.type == "number":
        share = said(f"float 0.1 {r.choice((1, 30, 900))}", r)
        return Said(share.words, float(share.value))
    if arg.type == "array":
        return said(f"listof {_kind(arg, r)}", r)
    if arg.type != "string":
        return None
    if examples and r.random() < 0.75:
        words_ = r.choice(examples)
        return Said(words_, words_, True)
    value = said(_kind(arg, r), r)
    if r.random() < 0.25:
        # Values are not only what lists hold: two words of different lists make a new name.
        mixed = f"{r.choice(LISTS['product']).split()[0]} {r.choice(LISTS['topic']).split()[-1]}"
        value = Said(mixed if r.random() < 0.5 else mixed.title(), None, True)
    return Said(value.words, value.words, True)


def _kind(arg: ToolParameter, r: random.Random) -> str:
    for pattern, kind in _BY_NAME:
        if re.search(pattern, arg.name.lower()):
            return kind
    return r.choice(_ANY)


def _examples(arg: ToolParameter) -> list[str]:
    match = _EXAMPLES.search(arg.description)
    if match is None:
        return []
    parts = [part.strip(" '\".") for part in match.group(1).split(",")]
    return [part for part in parts if 1 < len(part) < 40 and not re.match(r"etc|and |or ", part)]
