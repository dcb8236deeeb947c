"""Public sets of requests: Seal-Tools (Apache-2.0), MetaTool (MIT) and CLINC150 (CC BY 3.0).

They are read from a folder that holds them as published: ``seal/Seal-Tools_Dataset``, ``clinc/data``, ``metatool``.
"""

from __future__ import annotations

import csv
import json
import random
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
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


def metatool(folder: Path, each: int = 90, decisions: bool = False) -> Iterator[Group]:
    """MetaTool's plugins as tools, at most `each` queries of each: of the encoder's tools, or of the decisions'.

    The group of the decisions holds all tools: there is more to choose from than what is asked for.
    """
    root = folder / "metatool"
    descriptions = json.loads((root / "plugin_des.json").read_text("utf-8"))
    asked: Mapping[str, list[str]] = defaultdict(list)
    with (root / "all_clean_data.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            asked[row["Tool"]].append(clean(row["Query"]))
    group = Group("metatool", "plugins")
    if not decisions:
        asked = {tool: queries for tool, queries in asked.items() if not is_decision_metatool(tool)}
    for at, (tool, queries) in enumerate(sorted(asked.items())):
        group.tools.append(MinedTool(tool, clean(descriptions.get(tool, ""))))
        if decisions and not is_decision_metatool(tool):
            continue
        chance = random.Random(zlib.crc32(tool.encode()))
        chosen = chance.sample(queries, min(each, len(queries)))
        group.pairs += [Pair(query, at) for query in dict.fromkeys(chosen) if 3 <= len(query.split()) <= 50]
    yield group


def toolalpaca(folder: Path) -> Iterator[Group]:
    """ToolAlpaca's evaluation part (Apache-2.0), one group an interface; the queries that want one function only.

    It is never trained on: it is what checkpoints are chosen by.
    """
    for name in ("eval_real", "eval_simulated"):
        for interface in json.loads((folder / "toolalpaca" / f"{name}.json").read_text("utf-8")):
            told = {key: text for key, text in interface["Function_Description"].items() if key != "components"}
            group = Group("toolalpaca", interface["Name"])
            places = {key: at for at, key in enumerate(told)}
            for key, text in told.items():
                description, _, rest = text.partition("\nParameters:")
                group.tools.append(MinedTool(key, clean(description), distinct(re.findall(r'"(\w+)":', rest))))
            for query, calls in zip(interface["Instructions"], interface["Golden_Answers"], strict=True):
                wanted = {call["Action"] for call in calls} & set(places)
                if len(wanted) == 1:
                    group.pairs.append(Pair(clean(query), places[wanted.pop()]))
            yield group


def kept_back(folder: Path) -> Iterator[Group]:
    """What of the sets in `folder` no encoder is trained on: checkpoints are chosen by it."""
    if (folder / "seal").is_dir():
        yield from seal_tools(folder, decisions=True)
    if (folder / "metatool").is_dir():
        yield from metatool(folder, decisions=True)
    if (folder / "toolalpaca").is_dir():
        yield from toolalpaca(folder)


SETS: dict[str, Callable[[Path], Iterator[Group]]] = {"seal": seal_tools, "metatool": metatool, "clinc": clinc}
"""What reads the set of each folder."""
