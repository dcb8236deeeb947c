"""The examples of the span head and of the argument ranker: requests with a tool and what each parameter got.

Sources: the grammar of this project (`span_grammar.txt`); requests made out of the documented parameters of tools
(`span_templates`: Seal-Tools' tool list and botocore's service models); the queries of Seal-Tools; and the requests
of the Snips custom-intent benchmark. Everything is read from folders that the caller of the command names; nothing
of it is part of this project. No evaluation set is read.

Seal-Tools: Wu et al. 2024, Apache-2.0. botocore: Apache-2.0. Snips: Coucke et al. 2018, CC0.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from callground.caller.tools import ToolParameter, ToolSpec, words
from callground.caller.training.folds import is_decision_seal, is_decision_service
from callground.caller.training.span_grammar import GrammarTool, read, requests
from callground.caller.values import dates, numbers

LONGEST_TEXT = 420
"""Characters of a request; longer ones cost too much for what they teach."""


@dataclass(frozen=True)
class Example:
    """A request, a tool, and what its parameters got."""

    source: str
    fold: str
    """``span`` (the head learns from it), ``rank`` (the ranker does) or ``dev`` (measured on only)."""
    text: str
    tool: ToolSpec
    values: dict[str, Any]
    """Typed values of the parameters that the request names."""
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where they stand, for those whose words are in the request."""
    open: frozenset[str] = frozenset()
    """Parameters of which the example says nothing (neither named nor known to be absent)."""

    def to_json(self) -> dict[str, Any]:
        """The example as one JSON object."""
        tool = {
            "name": self.tool.name,
            "description": self.tool.description,
            "args": [
                [arg.name, arg.type, arg.description, arg.required, list(arg.enum or ()), arg.default, arg.items]
                for arg in self.tool.args
            ],
        }
        return {
            "source": self.source,
            "fold": self.fold,
            "text": self.text,
            "tool": tool,
            "values": self.values,
            "spans": self.spans,
            "open": sorted(self.open),
        }

    @staticmethod
    def from_json(row: dict[str, Any]) -> Example:
        """The example of such an object."""
        args = [
            ToolParameter(name, kind, about, needed, tuple(enum) or None, default, items)
            for name, kind, about, needed, enum, default, items in row["tool"]["args"]
        ]
        tool = ToolSpec(row["tool"]["name"], args, description=row["tool"]["description"])
        spans = {name: (start, end) for name, (start, end) in row["spans"].items()}
        return Example(row["source"], row["fold"], row["text"], tool, row["values"], spans, frozenset(row["open"]))


def write(examples: Iterator[Example], path: Path) -> int:
    """Writes examples, one JSON object a line; their number."""
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for example in examples:
            out.write(json.dumps(example.to_json(), ensure_ascii=False) + "\n")
            count += 1
    return count


def load(path: Path) -> list[Example]:
    """The examples of a file that `write` made."""
    with path.open(encoding="utf-8") as lines:
        return [Example.from_json(json.loads(line)) for line in lines]


def fold_of(key: str) -> str:
    """The fold of a tool or a service: three fifths teach the head, a quarter the ranker, the rest measures."""
    place = zlib.crc32(key.encode()) % 20
    return "span" if place < 12 else "rank" if place < 17 else "dev"


def find(text: str, value: Any) -> tuple[int, int] | None:
    """Where a value first stands: literally (at borders of words, if it does), as a number, or as a day."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)) or (isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value)):
        for mention in numbers(text):
            if abs(float(mention.value) - float(value)) < 1e-9:
                return mention.start, mention.end
        if not isinstance(value, str):
            return None
    shown = str(value)
    if not shown.strip():
        return None
    for pattern in (rf"(?<!\w){re.escape(shown)}(?!\w)", re.escape(shown)):
        match = re.search(pattern, text, re.IGNORECASE)
        if match and len(shown) > 1:
            return match.span()
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", shown):
        for mention in dates(text):
            if mention.value is not None and mention.value.isoformat() == shown:
                return mention.start, mention.end
    return None


# ---------------------------------------------------------------- the grammar


def grammar_tool(tool: GrammarTool) -> ToolSpec:
    """A tool of the grammar as the caller sees it."""
    args = []
    for each in tool.parameters:
        kind = "number" if each.type == "float" else each.type
        default: Any = each.default
        if default is not None and kind in ("integer", "number"):
            default = float(default) if kind == "number" else int(default)
        elif default is not None and kind == "boolean":
            default = default == "true"
        about = each.description
        if each.default is not None and zlib.crc32(each.name.encode()) % 2:
            about += f". Default is {each.default}"
        items = "number" if each.items == "float" else each.items
        args.append(
            ToolParameter(
                each.name, kind, about, each.required, tuple(each.enum) if each.enum else None, default, items
            )
        )
    return ToolSpec(tool.name, args, description=tool.description)


CODED = 0.15
"""Share of the grammar's requests whose enums are codes that the description explains."""


def _with_codes(tool: ToolSpec) -> tuple[ToolSpec, dict[str, dict[str, int]]]:
    """The tool with numbers in place of its enums' members, explained in the descriptions, and the numbers."""
    args: list[ToolParameter] = []
    codes: dict[str, dict[str, int]] = {}
    for arg in tool.args:
        if not arg.enum:
            args.append(arg)
            continue
        numbered = {str(member): at for at, member in enumerate(arg.enum, 1)}
        link = ("for", "represents", "means")[len(tool.name) % 3]
        told = ", ".join(f"{code} {link} {words(member)}" for member, code in numbered.items())
        listed = tuple(numbered.values()) if len(arg.name) % 2 else None
        args.append(ToolParameter(arg.name, "integer", f"{arg.description}. {told}.", arg.required, listed))
        codes[arg.name] = numbered
    return ToolSpec(tool.name, args, description=tool.description), codes


def from_grammar(per_tool: int, seed: int) -> Iterator[Example]:
    """`per_tool` requests for each tool of the grammar."""
    r = random.Random(seed)
    for tool in read():
        plain, coded = grammar_tool(tool), _with_codes(grammar_tool(tool))
        for text, pieces in requests(tool, per_tool, r):
            spec, codes = coded if r.random() < CODED else (plain, {})
            values = {
                name: codes[name][piece.value] if name in codes else piece.value for name, piece in pieces.items()
            }
            spans = {
                name: (piece.start, piece.end)
                for name, piece in pieces.items()
                if piece.start is not None and piece.end is not None
            }
            # Which tool of the grammar is whose is by name, so that a fold has tools of its own.
            yield Example("grammar", fold_of(tool.name), text, spec, values, spans)


# ---------------------------------------------------------------- Seal-Tools

_SEAL_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}


def seal_tools(folder: Path) -> dict[str, ToolSpec]:
    """The tools of Seal-Tools by name."""
    tools = {}
    for row in _json_lines(folder / "tool.jsonl"):
        needed = set(row.get("required") or ())
        args = [
            ToolParameter(
                name, _SEAL_TYPES.get(raw.get("type", "str"), "string"), raw.get("description", ""), name in needed
            )
            for name, raw in row["parameters"].items()
            if name.strip()
        ]
        tools[row["api_name"]] = ToolSpec(row["api_name"], args, description=row["api_description"])
    return tools


def from_seal(folder: Path) -> Iterator[Example]:
    """The calls of Seal-Tools' queries. A query of several calls gives an example for each of its first two."""
    tools = seal_tools(folder)
    for split in ("dev", "test_in_domain", "test_out_domain"):
        for row in _json_lines(folder / f"{split}.jsonl"):
            text = row["query"]
            if len(text) > LONGEST_TEXT:
                continue
            decision = is_decision_seal(split, text)
            fold = "span" if not decision else "dev" if zlib.crc32(text.encode()) % 3 == 1 else "rank"
            for call in row["calling"][:2]:
                tool = tools.get(call["api"])
                if tool is None or not tool.args:
                    continue
                example = _seal_example(text, tool, call.get("parameters") or {}, fold, len(row["calling"]))
                if example is not None:
                    yield example


def _seal_example(text: str, tool: ToolSpec, given: dict[str, Any], fold: str, calls: int) -> Example | None:
    values: dict[str, Any] = {}
    spans: dict[str, tuple[int, int]] = {}
    unknown = set()
    for arg in tool.args:
        if arg.name not in given:
            continue
        value = _typed(given[arg.name], arg.type)
        if value is None or (isinstance(value, str) and value.startswith("API_call")):
            unknown.add(arg.name)
            continue
        place = find(text, value)
        if place is None and arg.type != "boolean":
            unknown.add(arg.name)
            continue
        values[arg.name] = (
            text[place[0] : place[1]] if place and isinstance(value, str) and not _is_day(value) else value
        )
        if place is not None:
            spans[arg.name] = place
    if not values and unknown:
        return None
    source = "seal" if calls == 1 else "seal-several"
    return Example(source, fold, text, tool, values, spans, frozenset(unknown))


def _is_day(value: str) -> bool:
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) is not None


def _typed(value: Any, kind: str) -> Any:
    try:
        if kind == "integer":
            number = float(value)
            return int(number) if number == int(number) else None
        if kind == "number":
            return float(value)
        if kind == "boolean":
            return {"true": True, "false": False}.get(str(value).lower())
    except (TypeError, ValueError):
        return None
    return str(value)


# ---------------------------------------------------------------- Snips

_SNIPS_ABOUT = {
    "AddToPlaylist": "Adds music to a playlist",
    "BookRestaurant": "Books a restaurant",
    "GetWeather": "Gives the weather of a place and time",
    "PlayMusic": "Plays music",
    "RateBook": "Rates a book",
    "SearchCreativeWork": "Searches a creative work such as a book, film, song or game",
    "SearchScreeningEvent": "Searches when and where a film is shown",
}
_SNIPS_NUMBERS = {"party_size_number", "rating_value", "best_rating", "year"}


def from_snips(folder: Path, per_intent: int, seed: int) -> Iterator[Example]:
    """Requests of the Snips benchmark; `folder` holds a folder for each intent."""
    r = random.Random(seed)
    for intent, about in _SNIPS_ABOUT.items():
        file = folder / intent / f"train_{intent}_full.json"
        rows = json.loads(file.read_bytes().decode("utf-8", "replace"))[intent]
        names = sorted({part["entity"] for row in rows for part in row["data"] if "entity" in part})
        args = [ToolParameter(name, "integer" if name in _SNIPS_NUMBERS else "string", "", False) for name in names]
        for row in r.sample(rows, min(per_intent, len(rows))):
            text = "".join(part["text"] for part in row["data"])
            spans: dict[str, tuple[int, int]] = {}
            values: dict[str, Any] = {}
            at = 0
            for part in row["data"]:
                start, at = at, at + len(part["text"])
                name = part.get("entity")
                if name is None or name in spans or not part["text"].strip():
                    continue
                number = (
                    next((m.value for m in numbers(part["text"])), None) if name in _SNIPS_NUMBERS else part["text"]
                )
                if number is not None:
                    spans[name] = (start, at)
                    values[name] = number
            # A few of the parameters that were not said, so that the tool is not always the whole list.
            absent = [arg for arg in args if arg.name not in spans]
            shown = [arg for arg in args if arg.name in spans] + r.sample(absent, min(2, len(absent)))
            r.shuffle(shown)
            if shown:
                yield Example("snips", "span", text, ToolSpec(intent, shown, description=about), values, spans)


# ---------------------------------------------------------------- botocore


def botocore_tools(folder: Path, per_service: int, seed: int) -> Iterator[tuple[str, ToolSpec]]:
    """Operations of botocore's service models (`folder`: ``botocore/data``) as tools, each with its fold."""
    r = random.Random(seed)
    for service in sorted(path for path in folder.iterdir() if path.is_dir()):
        versions = sorted(path for path in service.iterdir() if path.is_dir())
        data = _service_model(versions[-1]) if versions else None
        if data is None:
            continue
        operations = sorted(data["operations"].items())
        fold = "rank" if is_decision_service(service.name) else "span"
        for name, operation in r.sample(operations, min(per_service, len(operations))):
            tool = _operation(name, operation, data["shapes"])
            if tool is not None:
                yield fold, tool


def _service_model(folder: Path) -> dict[str, Any] | None:
    for name, opener in (("service-2.json", open), ("service-2.json.gz", gzip.open)):
        if (folder / name).is_file():
            with opener(folder / name, "rt", encoding="utf-8") as file:
                model: dict[str, Any] = json.load(file)
            return model
    return None


_BOTO_TYPES = {"string": "string", "integer": "integer", "long": "integer", "float": "number", "double": "number"}


def _operation(name: str, operation: dict[str, Any], shapes: dict[str, Any]) -> ToolSpec | None:
    shape = shapes.get(operation.get("input", {}).get("shape", ""), {})
    needed = set(shape.get("required", ()))
    args = []
    for member, reference in shape.get("members", {}).items():
        inner = shapes[reference["shape"]]
        kind = _BOTO_TYPES.get(inner["type"], inner["type"])
        about = _first_sentence(reference.get("documentation") or inner.get("documentation") or "")
        enum = tuple(inner.get("enum", ()))[:6] or None
        if kind in ("string", "integer", "number", "boolean"):
            args.append(ToolParameter(member, kind, about, member in needed, enum))
        elif kind == "list" and shapes[inner["member"]["shape"]]["type"] == "string":
            args.append(ToolParameter(member, "array", about, member in needed, None, None, "string"))
    args.sort(key=lambda arg: not arg.required)
    if not args:
        return None
    about = _first_sentence(operation.get("documentation", ""))
    return ToolSpec(words(name).replace(" ", "_"), args[:6], description=about)


def _first_sentence(text: str) -> str:
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).strip()
    return re.split(r"(?<=[.!?]) ", plain, maxsplit=1)[0][:200]


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
