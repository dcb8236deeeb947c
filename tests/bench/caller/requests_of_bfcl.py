"""The Berkeley Function Calling Leaderboard as requests, each with the tools that it comes with.

The data lies in the wheel of `bfcl-eval` (Apache-2.0), which is read and not installed.  It is for evaluation only.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callground.caller.tools import ToolSpec, from_json_schema

CATEGORIES = ("simple_python", "multiple", "irrelevance", "live_simple", "live_multiple", "live_irrelevance")


@dataclass(frozen=True)
class Request:
    """One question."""

    id: str
    text: str
    tools: tuple[ToolSpec, ...]
    gold: str | None
    """Name of the right tool; None where none fits."""
    answer: dict[str, list[Any]] | None
    """Every acceptable value of each argument, as the leaderboard has them."""
    functions: tuple[dict[str, Any], ...]
    """The tools as the leaderboard defines them, for its own checker."""


def load(wheel: Path, category: str) -> list[Request]:
    """The questions of a category that come with tools."""
    with zipfile.ZipFile(wheel) as archive:
        rows = _rows(archive, f"bfcl_eval/data/BFCL_v4_{category}.json")
        name = f"bfcl_eval/data/possible_answer/BFCL_v4_{category}.json"
        answers = _rows(archive, name) if name in archive.namelist() else []
    truths = {answer["id"]: answer["ground_truth"] for answer in answers}
    return [_request(row, truths.get(row["id"])) for row in rows if row["function"]]


def _rows(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in archive.read(name).decode("utf-8").splitlines() if line.strip()]


def _request(row: dict[str, Any], truth: list[dict[str, Any]] | None) -> Request:
    messages = [message for turn in row["question"] for message in turn]
    said = [message["content"] for message in messages if message["role"] == "user"]
    gold, answer = next(iter(truth[0].items())) if truth else (None, None)
    tools = tuple(from_json_schema(function) for function in row["function"])
    return Request(
        row["id"], said[-1] if said else messages[-1]["content"], tools, gold, answer, tuple(row["function"])
    )
