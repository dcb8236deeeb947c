"""Requests made out of a grammar: tools written for this project, and the ways people ask for them.

The form of `span_grammar.txt`, a block a tool::

    @ name | description
    parameter | type | req, opt or opt=default | values | description
    > a request with <parameter> and [an optional piece with <other>]

`type` is ``string``, ``integer``, ``float``, ``number``, ``boolean``, ``object`` or ``array ITEM``. `values` is a
sampler of `span_values`, or ``{member: how one says it, or so; other: ...}`` for an enum (for a boolean the members are
``true`` and ``false``).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callground.caller.training.span_values import fitted, said

GRAMMAR = Path(__file__).with_name("span_grammar.txt")


@dataclass(frozen=True)
class GrammarParameter:
    """A parameter, and how its values are said."""

    name: str
    type: str
    description: str
    required: bool
    kind: str
    """The sampler; empty for an enum or a boolean."""
    default: str | None = None
    items: str | None = None
    phrases: dict[str, list[str]] = field(default_factory=dict)
    """Members of an enum (or true and false), each with the ways to say it."""

    @property
    def enum(self) -> list[str] | None:
        """The members, for an enum."""
        return list(self.phrases) if self.phrases and self.type != "boolean" else None


@dataclass(frozen=True)
class GrammarTool:
    """A tool, and how people ask for it."""

    name: str
    description: str
    parameters: tuple[GrammarParameter, ...]
    templates: tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """What a parameter got in a request."""

    value: Any
    start: int | None
    """Where the words of the value stand; None where the words do not hold it (a phrase for a member)."""
    end: int | None


def read(path: Path = GRAMMAR) -> list[GrammarTool]:
    """The tools of a grammar file. Raises ValueError with the line where the form is broken."""
    blocks: list[tuple[str, list[str]]] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@"):
            blocks.append((line[1:].strip(), []))
        elif blocks:
            blocks[-1][1].append(line.strip())
        else:
            raise ValueError(f"{path.name}:{number}: a tool (@) comes first")
    return [_tool(head, lines) for head, lines in blocks]


def _tool(head: str, lines: list[str]) -> GrammarTool:
    name, _, description = (part.strip() for part in head.partition("|"))
    parameters = tuple(_parameter(line) for line in lines if not line.startswith(">"))
    templates = tuple(line[1:].strip() for line in lines if line.startswith(">"))
    known = {parameter.name for parameter in parameters}
    for template in templates:
        unknown = set(re.findall(r"<(\w+)>", template)) - known
        if unknown:
            raise ValueError(f"{name}: no parameter {', '.join(sorted(unknown))}")
    return GrammarTool(name, description, parameters, templates)


def _parameter(line: str) -> GrammarParameter:
    name, type_, need, values, description = (part.strip() for part in line.split("|"))
    kind, phrases = values, {}
    if values.startswith("{"):
        kind = ""
        for entry in values.strip("{}").split(";"):
            member, _, ways = entry.strip().partition(":")
            phrases[member] = [way.strip() for way in ways.split(",")]
    base, _, items = type_.partition(" ")
    default = need.partition("=")[2] or None
    return GrammarParameter(name, base, description, need == "req", kind, default, items or None, phrases)


_OPENINGS = (
    "", "", "", "", "", "Please ", "Can you ", "Could you please ", "I need you to ", "Hey, ", "I want you to ",
    "Hi! ", "help me: ", "Would you ",
)  # fmt: skip


def requests(tool: GrammarTool, count: int, r: random.Random) -> Iterator[tuple[str, dict[str, Piece]]]:
    """Requests for a tool, each with what its parameters got."""
    for _ in range(count):
        yield request(tool, r)


def request(tool: GrammarTool, r: random.Random) -> tuple[str, dict[str, Piece]]:
    """One request and the values in it."""
    template = _optional(r.choice(tool.templates), r)
    by_name = {parameter.name: parameter for parameter in tool.parameters}
    text, pieces = "", {}
    opening = r.choice(_OPENINGS)
    if opening and not re.match(r"<|I |I'|My|my|we |We", template):
        text = opening
        template = template[0].lower() + template[1:]
    for part in re.split(r"(<\w+>)", template):
        if not re.fullmatch(r"<\w+>", part):
            text += part
            continue
        parameter = by_name[part[1:-1]]
        if parameter.phrases:
            member = r.choice(list(parameter.phrases))
            phrase = r.choice(parameter.phrases[member])
            value: Any = member if parameter.type != "boolean" else member == "true"
            pieces[parameter.name] = Piece(value, len(text), len(text) + len(phrase))
            text += phrase
            continue
        value_said = said(parameter.kind, r)
        words = value_said.words
        quote = r.choice('\'""') if value_said.quotable and r.random() < 0.45 and "'" not in words else ""
        start = len(text) + len(quote)
        text += quote + words + quote
        value = fitted(value_said, parameter.kind, parameter.type, parameter.description)
        pieces[parameter.name] = Piece(value, start, start + len(words))
    if r.random() < 0.12 and "_" not in text:
        # People write in small letters; the values are then as they stand in the request.
        text = text.lower()
        pieces = {
            name: Piece(text[piece.start : piece.end], piece.start, piece.end)
            if isinstance(piece.value, str) and not by_name[name].phrases and by_name[name].kind not in ("date", "time")
            else piece
            for name, piece in pieces.items()
        }
        pieces = {
            name: Piece([item.lower() for item in piece.value], piece.start, piece.end)
            if isinstance(piece.value, list) and all(isinstance(item, str) for item in piece.value)
            else piece
            for name, piece in pieces.items()
        }
    return text, pieces


def _optional(template: str, r: random.Random) -> str:
    return re.sub(r"\[([^\[\]]*)\]", lambda match: match.group(1) if r.random() < 0.5 else "", template)
