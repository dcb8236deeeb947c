"""Public sets of requests: Seal-Tools (Apache-2.0), MetaTool (MIT) and CLINC150 (CC BY 3.0).

They are read from a folder that holds them as published: ``seal/Seal-Tools_Dataset``, ``clinc/data``, ``metatool``.
"""

from __future__ import annotations

import csv
import json
import random
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from callground.caller.training.corpus import Group, MinedTool, Pair, clean, distinct
from callground.caller.training.folds import is_decision_metatool, is_decision_seal
from callground.caller.training.phrasing import first_sentence, request

SEAL_SPLITS = ("dev", "test_in_domain", "test_out_domain")
MOST_CALLS = 3
"""Queries that want more calls than that say too little about each of them."""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


def seal_tools(folder: Path, decisions: bool = False) -> Iterator[Group]:
    """One group a field ("Finance"), with its tools and the queries that are the encoder's (or the decisions')."""
    root = folder / "seal" / "Seal-Tools_Dataset"
    fields: dict[str, Group] = {}
    places: dict[str, tuple[Group, int]] = {}
    for raw in _lines(root / "tool.jsonl"):
        name = raw["field"].split("/")[0]
        group = fields.setdefault(name, Group("seal", name))
        places[raw["api_name"]] = (group, len(group.tools))
        group.tools.append(MinedTool(raw["api_name"], clean(raw["api_description"]), distinct(raw["parameters"])))
    for split in SEAL_SPLITS:
        for row in _lines(root / f"{split}.jsonl"):
            calls = [call["api"] for call in row["calling"] if call["api"] in places]
            if len(set(calls)) > MOST_CALLS or is_decision_seal(split, row["query"]) != decisions:
                continue
            for name in dict.fromkeys(calls):
                group, at = places[name]
                group.pairs.append(Pair(clean(row["query"]), at))
    for group in fields.values():
        if not decisions:
            _asked_by_rule(group)
        yield group


def _asked_by_rule(group: Group, times: int = 2) -> None:
    chance = random.Random(zlib.crc32(group.name.encode()))
    for at, tool in enumerate(group.tools):
        made = [request(first_sentence(tool.description), tool.args, chance) for _ in range(times)]
        group.pairs += [Pair(text, at, told=True) for text in dict.fromkeys(made) if text]


def clinc(folder: Path, each: int = 45) -> Iterator[Group]:
    """CLINC150's intents as tools without description, `each` queries of each; the set's own training part only."""
    data = json.loads((folder / "clinc" / "data" / "data_full.json").read_text("utf-8"))
    by_intent: dict[str, list[str]] = defaultdict(list)
    for query, intent in data["train"]:
        by_intent[intent].append(query)
    group = Group("clinc", "intents")
    for at, intent in enumerate(sorted(by_intent)):
        group.tools.append(MinedTool(intent))
        group.pairs += [Pair(clean(query), at) for query in by_intent[intent][:each]]
    yield group


def metatool(folder: Path, each: int = 90) -> Iterator[Group]:
    """MetaTool's plugins as tools, at most `each` queries of each; without the tools that are the decisions'."""
    root = folder / "metatool"
    descriptions = json.loads((root / "plugin_des.json").read_text("utf-8"))
    asked: dict[str, list[str]] = defaultdict(list)
    with (root / "all_clean_data.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not is_decision_metatool(row["Tool"]):
                asked[row["Tool"]].append(clean(row["Query"]))
    group = Group("metatool", "plugins")
    for at, (tool, queries) in enumerate(sorted(asked.items())):
        group.tools.append(MinedTool(tool, clean(descriptions.get(tool, ""))))
        chance = random.Random(zlib.crc32(tool.encode()))
        chosen = chance.sample(queries, min(each, len(queries)))
        group.pairs += [Pair(query, at) for query in dict.fromkeys(chosen) if 3 <= len(query.split()) <= 50]
    yield group


SETS: dict[str, Callable[[Path], Iterator[Group]]] = {"seal": seal_tools, "metatool": metatool, "clinc": clinc}
"""What reads the set of each folder."""
