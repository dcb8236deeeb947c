"""Requests with the tools that were there: what the combiner, the gate and the calibration are fitted on.

None of them is the encoder's (`folds`).  Each request comes with the right tool among others of its kind, or with
the others only: then every call would be a mistake.  Sources, as published, in one folder:

- ``seal/Seal-Tools_Dataset`` (Seal-Tools, Apache-2.0),
- ``metatool`` (MetaTool, MIT: ``all_clean_data.csv``, ``plugin_des.json``, ``big_tool_des.json``),
- ``toolalpaca`` (ToolAlpaca, Apache-2.0: ``eval_real.json``, ``eval_simulated.json``),
- botocore (Apache-2.0), the installed package: operations and the titles of their examples; with the wheel of
  awscli (Apache-2.0) in ``packages``, also those of the command line.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from callground.caller.tools import ToolSpec, from_json_schema
from callground.caller.training.archives import Archive
from callground.caller.training.folds import is_decision_metatool, is_decision_seal, is_decision_service

MOST_A_TOOL = 12
"""MetaTool has hundreds of requests for some tools."""

MOST_A_SERVICE = 30
MOST_AN_OPERATION = 2

_TITLE = re.compile(r"^\*\*(?:Example \d+\s*[:.-]\s*)?(.{8,200}?)\*\*\s*$", re.M)
_MARKUP = re.compile(r"<[^>]+>")
_LEADING = re.compile(r"^(?:to|this example|the following example|the following command|this operation)\s+", re.I)
_LEADS = "in|for|from|to|of|at|on|with|named|called|by|about|as|using|is|the|a|an|id|name|number|and|titled|between"
_KINDS = {"structure": "object", "map": "object", "list": "array", "timestamp": "string", "blob": "string"}
_KINDS |= {"long": "integer", "integer": "integer", "boolean": "boolean", "float": "number", "double": "number"}


class Decision(NamedTuple):
    """One request, and what there was to choose from."""

    request: str
    tools: tuple[ToolSpec, ...]
    right: int | None
    """Place of the right tool; None when it is not there."""
    source: str
    group: str
    """Rows of one group may know of each other: they never stand on two sides of a split."""
    meant: str = ""
    """Name of the tool that the request means, there or not."""
    alike: tuple[ToolSpec, ...] = ()
    """More tools of the same kind, none of them right: the larger pool to choose from."""
    complete: bool = True
    """Whether the request still says all that it said where it was published."""


def decisions(folder: Path, packages: Path | None = None, seed: int = 0) -> list[Decision]:
    """Every row of every source that is there, in an order that depends on `seed` alone."""
    lot = random.Random(seed)
    rows = [*seal_rows(folder, lot), *metatool_rows(folder, lot), *toolalpaca_rows(folder, lot)]
    rows += service_rows(packages, lot)
    lot.shuffle(rows)
    return rows


def seal_rows(folder: Path, lot: random.Random) -> Iterator[Decision]:
    """Queries of Seal-Tools that want one call, among tools of the same field."""
    root = folder / "seal" / "Seal-Tools_Dataset"
    if not root.is_dir():
        return
    tools: dict[str, ToolSpec] = {}
    fields: dict[str, list[str]] = defaultdict(list)
    for raw in _lines(root / "tool.jsonl"):
        schema = {"type": "object", "properties": raw["parameters"], "required": raw.get("required") or []}
        tools[raw["api_name"]] = _tool(raw["api_name"], raw["api_description"], schema)
        fields[raw["field"].split("/")[0]].append(raw["api_name"])
    place = {name: field for field, names in fields.items() for name in names}
    for split in ("dev", "test_in_domain", "test_out_domain"):
        for row in _lines(root / f"{split}.jsonl"):
            names = [call["api"] for call in row["calling"]]
            if len(names) != 1 or names[0] not in tools or not is_decision_seal(split, row["query"]):
                continue
            others = [tools[name] for name in fields[place[names[0]]] if name != names[0]]
            values = row["calling"][0].get("parameters") or {}
            yield from _pair(row["query"], tools[names[0]], others, "seal", f"seal/{names[0]}", lot, values)


def metatool_rows(folder: Path, lot: random.Random) -> Iterator[Decision]:
    """Requests of MetaTool for tools that the encoder has not seen, among other plugins."""
    root = folder / "metatool"
    if not root.is_dir():
        return
    told: dict[str, str] = {}
    for name in ("plugin_des.json", "big_tool_des.json"):
        told.update(json.loads((root / name).read_text("utf-8")))
    tools = {name: _tool(name, text, {}) for name, text in told.items()}
    requests: dict[str, list[str]] = defaultdict(list)
    with (root / "all_clean_data.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["Tool"] in tools and is_decision_metatool(row["Tool"]):
                requests[row["Tool"]].append(row["Query"])
    for name, texts in sorted(requests.items()):
        others = [tool for other, tool in sorted(tools.items()) if other != name]
        for text in lot.sample(texts, min(MOST_A_TOOL, len(texts))):
            yield from _pair(text, tools[name], others, "metatool", f"metatool/{name}", lot)


def toolalpaca_rows(folder: Path, lot: random.Random) -> Iterator[Decision]:
    """Instructions of ToolAlpaca's evaluation that want one call, among the functions of the same API."""
    for name in ("eval_real.json", "eval_simulated.json"):
        path = folder / "toolalpaca" / name
        for api in json.loads(path.read_text("utf-8")) if path.is_file() else []:
            tools = {
                function: _alpaca_tool(function, text)
                for function, text in api["Function_Description"].items()
                if function != "components"
            }
            for request, answer in zip(api["Instructions"], api["Golden_Answers"], strict=False):
                called = {call["Action"] for call in answer}
                if len(called) != 1 or not called <= set(tools):
                    continue
                right = called.pop()
                others = [tool for function, tool in tools.items() if function != right]
                values = _object(answer[0].get("Action_Input"))
                yield from _pair(request, tools[right], others, "toolalpaca", f"toolalpaca/{api['Name']}", lot, values)


def service_rows(packages: Path | None, lot: random.Random) -> Iterator[Decision]:
    """Titles and texts of the examples of AWS, among the operations of the same service."""
    found = find_spec("botocore")
    if found is None or found.origin is None:
        return
    wheels = sorted(packages.glob("awscli-*.whl")) if packages is not None else []
    manual = Archive(wheels[-1]) if wheels else None
    for folder in sorted((Path(found.origin).parent / "data").iterdir()):
        if not folder.is_dir() or not is_decision_service(folder.name):
            continue
        newest = max(folder.iterdir())
        model = _zipped(newest / "service-2.json")
        if model is None:
            continue
        shapes = model["shapes"]
        tools = {
            name: _tool(name, _plain(told.get("documentation", "")), _shape(shapes, told))
            for name, told in model["operations"].items()
        }
        told = _titles(newest, manual, folder.name, tools)
        for name in lot.sample(sorted(told), min(MOST_A_SERVICE, len(told))):
            others = [tool for other, tool in tools.items() if other != name]
            for text in lot.sample(told[name], min(MOST_AN_OPERATION, len(told[name]))):
                yield from _pair(text, tools[name], others, "aws", f"aws/{folder.name}", lot)


def _titles(folder: Path, manual: Archive | None, service: str, tools: Mapping[str, ToolSpec]) -> dict[str, list[str]]:
    """What the examples of each operation of a service do, as orders."""
    texts: dict[str, list[str]] = defaultdict(list)
    for name, given in (_zipped(folder / "examples-1.json") or {}).get("examples", {}).items():
        texts[name] += [_order(text) for one in given for text in (one.get("title"), one.get("description"))]
    names = {re.sub(r"\W", "", name).lower(): name for name in tools}
    for file in manual.names(f"awscli/examples/{service}/") if manual is not None else ():
        operation = names.get(file.rpartition("/")[2].removesuffix(".rst").replace("-", "").lower())
        if manual is not None and operation is not None:
            texts[operation] += [_order(title.replace("``", "")) for title in _TITLE.findall(manual.text(file))]
    return {
        name: list(dict.fromkeys(text for text in found if len(text.split()) >= 3))
        for name, found in texts.items()
        if name in tools and any(len(text.split()) >= 3 for text in found)
    }


def _pair(
    request: str,
    right: ToolSpec,
    others: Sequence[ToolSpec],
    source: str,
    group: str,
    lot: random.Random,
    values: Mapping[str, Any] | None = None,
) -> Iterator[Decision]:
    """The request with the right tool among others, without it, and without a value that the tool requires."""
    if not others:
        return
    count = lot.choice((0, 1, 2, 4, 8))
    drawn = lot.sample(others, min(count, len(others)))
    place = lot.randrange(len(drawn) + 1)
    pool = tuple(lot.sample(others, min(60, len(others))))
    there = (*drawn[:place], right, *drawn[place:])
    yield Decision(request, there, place, source, group, right.name, pool)
    yield Decision(
        request, tuple(lot.sample(others, min(max(1, count), len(others)))), None, source, group, right.name, pool
    )
    known = values or {}
    shortened = [_without(request, known[arg.name]) for arg in right.args if arg.required and arg.name in known]
    told_less = [text for text in shortened if text is not None]
    if told_less:
        yield Decision(lot.choice(told_less), there, None, source, group, right.name, pool, complete=False)


def _without(request: str, value: Any) -> str | None:
    """The request without the words that say a value; None where they cannot be told."""
    said = str(value)
    if isinstance(value, bool | dict | list) or len(said) < 2 or request.lower().count(said.lower()) != 1:
        return None
    lead = rf"(?:\b(?:{_LEADS})\s+)*"
    rest = re.sub(rf"{lead}[\"'“]?{re.escape(said)}[\"'”]?", "", request, flags=re.I)
    rest = re.sub(r"\s+([.,?!])", r"\1", re.sub(r"\s{2,}", " ", rest)).strip()
    return rest if len(rest.split()) >= 3 else None


def _tool(name: str, description: str, schema: Mapping[str, Any]) -> ToolSpec:
    return from_json_schema({"name": name, "description": description, "parameters": schema or {"type": "object"}})


def _alpaca_tool(name: str, text: str) -> ToolSpec:
    """``Get it.\\nParameters: {"id": "Required. integer. Which one."}\\nOutput: ...``."""
    head, _, rest = text.partition("Parameters:")
    try:
        told, _ = json.JSONDecoder().raw_decode(rest.strip())
    except ValueError:
        told = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for key, value in told.items() if isinstance(told, dict) else ():
        match = re.match(r"(?P<must>Required\. )?(?:(?P<kind>[A-Za-z]+)\S*\. ?)?(?P<text>.*)", str(value), re.S)
        if match is None:
            continue
        properties[key] = {"type": (match["kind"] or "string").lower(), "description": match["text"]}
        if match["must"]:
            required.append(key)
    return _tool(name, head.strip(), {"type": "object", "properties": properties, "required": required})


def _shape(shapes: Mapping[str, Any], operation: Mapping[str, Any]) -> dict[str, Any]:
    shape = shapes.get((operation.get("input") or {}).get("shape", ""), {})
    properties: dict[str, Any] = {}
    for name, member in shape.get("members", {}).items():
        inner = shapes.get(member["shape"], {})
        told = _plain(member.get("documentation") or inner.get("documentation", ""))
        properties[name] = {"type": _KINDS.get(inner.get("type", ""), "string"), "description": told[:200]}
        if inner.get("enum"):
            properties[name]["enum"] = inner["enum"]
    return {"type": "object", "properties": properties, "required": list(shape.get("required", ()))}


def _order(text: str | None) -> str:
    """``This example deletes the bucket.`` and ``To delete a bucket`` as they would be asked for."""
    plain = _LEADING.sub("", re.sub(r"\s+", " ", text or "").strip())
    return plain.partition(". ")[0].rstrip(".: ")


def _object(text: object) -> dict[str, Any]:
    try:
        read = json.loads(str(text))
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _plain(markup: str) -> str:
    text = re.sub(r"\s+", " ", _MARKUP.sub(" ", markup)).strip()
    return ". ".join(text.split(". ")[:2])[:300]


def _zipped(path: Path) -> Any:
    for place in (path, path.with_name(path.name + ".gz")):
        if place.is_file():
            data = place.read_bytes()
            return json.loads(gzip.decompress(data) if place.suffix == ".gz" else data)
    return None


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def part_of(row: Decision, parts: int = 3) -> int:
    """To which of so many parts a row belongs; its whole group belongs there."""
    return zlib.crc32(row.group.encode()) % parts
