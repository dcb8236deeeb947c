"""Notes of git-ai (Git AI Standard 3): which lines of a commit an agent wrote.

``refs/notes/ai`` holds one note for a commit: file paths, each with indented rows of a key and line ranges, a line
``---``, and JSON that says who the keys are.  A line that no row covers was not tracked; that says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from callground.provenance.intervals import AI, HUMAN, Stamp
from callground.provenance.records.model import Lines, Report
from callground.provenance.signals import GIT_AI

REF = "refs/notes/ai"
_ROW = re.compile(r"(?P<key>\S+)\s+(?P<ranges>\d[\d,\-\s]*)")
_SESSION = re.compile(r"s_[0-9a-fA-F]+")
_PROMPT = re.compile(r"[0-9a-fA-F]{7,16}")


def parse_note(text: str, report: Report) -> dict[str, list[Lines]]:
    """The lines that a note tells of: path in the commit -> lines."""
    head, divider, tail = text.replace("\r\n", "\n").partition("\n---\n")
    if text.startswith("---\n"):
        head, divider, tail = "", "---", text[4:]
    known = _json(tail) if divider else None
    if known is None:
        report("a git-ai note is broken and ignored")
        return {}
    found: dict[str, list[Lines]] = {}
    path = ""
    broken = False
    for line in head.split("\n"):
        if not line.strip():
            continue
        if not line.startswith((" ", "\t")):
            path = _path(line.strip())
            continue
        match = _ROW.fullmatch(line.strip())
        stamp = _stamp(match["key"], known) if match else None
        ranges = _ranges(match["ranges"]) if match else None
        if not path or stamp is None or ranges is None:
            broken = True
            continue
        found.setdefault(path, []).extend(Lines(first, last, stamp) for first, last in ranges)
    if broken:
        report("a git-ai note has rows that cannot be read; they are ignored")
    return found


def _json(text: str) -> Mapping[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    version = value.get("schema_version") if isinstance(value, Mapping) else None
    return value if isinstance(version, str) and version.startswith("authorship/") else None


def _path(text: str) -> str:
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            return text[1:-1]
    return text


def _ranges(text: str) -> list[tuple[int, int]] | None:
    ranges = []
    for part in re.split(r"[,\s]+", text.strip()):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            return None
        low, high = int(first), int(last or first)
        if not 1 <= low <= high:
            return None
        ranges.append((low, high))
    return ranges


def _stamp(key: str, known: Mapping[str, Any]) -> Stamp | None:
    if key.startswith("h_"):
        return Stamp(HUMAN, GIT_AI)
    if key.startswith("s_"):
        session = key.partition("::")[0]
        if not _SESSION.fullmatch(session):
            return None
        return Stamp(AI, GIT_AI, 1.0, _tool(known.get("sessions"), session))
    if _PROMPT.fullmatch(key):
        return Stamp(AI, GIT_AI, 1.0, _tool(known.get("prompts"), key))
    return None


def _tool(entries: object, key: str) -> str:
    entry = entries.get(key) if isinstance(entries, Mapping) else None
    agent = entry.get("agent_id") if isinstance(entry, Mapping) else None
    if not isinstance(agent, Mapping):
        return ""
    return " ".join(str(agent[name]) for name in ("tool", "model") if agent.get(name))
