"""Agent Trace 0.1.0: records of who wrote which lines of a work tree.

The specification leaves open where records are kept; its reference code appends them to
``.agent-trace/traces.jsonl``.  It also writes pseudo paths (``.shell-history``, ``.sessions``) and, when an agent
has edited nothing, the range 1-1: both are left out.  Its revision is that of HEAD before the edit, so the lines
are those of the work tree at that time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from callground.provenance.intervals import AI, HUMAN, UNKNOWN, Stamp
from callground.provenance.records.model import Report
from callground.provenance.records.murmur import murmur3
from callground.provenance.signals import AGENT_TRACE

FILES = (".agent-trace/traces.jsonl", ".agent-trace/traces.json", ".agent-trace.jsonl", ".agent-trace.json")
LARGEST = 64 * 1024 * 1024
_PSEUDO = re.compile(r"(?:^|/)\.(?:shell-history|sessions?|agent-trace)(?:/|$)")
_ORIGINS = {"ai": (AI, 1.0), "human": (HUMAN, 1.0), "mixed": (AI, 0.5), "unknown": (UNKNOWN, 0.5)}


class TraceLines(NamedTuple):
    """One range of one record."""

    path: str
    """Relative to the root, with ``/``."""
    first: int
    last: int
    stamp: Stamp
    revision: str
    content_hash: str
    """8 hex digits, or ``""``."""


def read_traces(root: str, report: Report) -> list[TraceLines]:
    """The records of a work tree, oldest first."""
    found: list[TraceLines] = []
    for name in FILES:
        path = os.path.join(root, *name.split("/"))
        try:
            with open(path, "rb") as file:
                data = file.read(LARGEST)
        except FileNotFoundError:
            continue
        except OSError as error:
            report(f"{name} cannot be read: {error}")
            continue
        found += parse_traces(data.decode("utf-8", "replace"), report, name)
    return found


def parse_traces(text: str, report: Report, where: str = "Agent Trace") -> list[TraceLines]:
    """The ranges of a file of records: one JSON object a line, or one JSON document."""
    found: list[TraceLines] = []
    broken = 0
    for value in _values(text):
        if not isinstance(value, Mapping):
            broken += 1
            continue
        rows = list(_record(value))
        if any(row is None for row in rows):
            broken += 1
        found += [row for row in rows if row is not None]
    if broken:
        report(f"{where}: {broken} {'record is' if broken == 1 else 'records are'} broken and ignored")
    return found


def _values(text: str) -> Iterator[Any]:
    lines = [line for line in text.split("\n") if line.strip()]
    try:
        values = json.loads(text) if len(lines) > 1 or text.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        values = None
    if values is not None:
        yield from values if isinstance(values, list) else [values]
        return
    for line in lines:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            yield None


def _record(value: Mapping[str, Any]) -> Iterator[TraceLines | None]:
    files = value.get("files")
    if not isinstance(files, list):
        yield None
        return
    vcs, tool = value.get("vcs"), value.get("tool")
    revision = vcs.get("revision") if isinstance(vcs, Mapping) else ""
    name = tool.get("name") if isinstance(tool, Mapping) else ""
    for file in files:
        path = file.get("path") if isinstance(file, Mapping) else None
        talks = file.get("conversations") if isinstance(file, Mapping) else None
        if not isinstance(path, str) or not isinstance(talks, list):
            yield None
            continue
        place = _path(path)
        if place is None:
            continue
        for talk in talks:
            ranges = talk.get("ranges") if isinstance(talk, Mapping) else None
            if not isinstance(ranges, list):
                yield None
                continue
            for span in ranges:
                yield from _range(span, talk.get("contributor"), place, str(revision or ""), str(name or ""))


def _range(span: Any, contributor: Any, path: str, revision: str, tool: str) -> Iterator[TraceLines | None]:
    if not isinstance(span, Mapping):
        yield None
        return
    first, last = span.get("start_line"), span.get("end_line")
    if type(first) is not int or type(last) is not int or not 1 <= first <= last:
        yield None
        return
    if (first, last) == (1, 1):
        return  # what is written when nothing was edited
    own = span.get("contributor")
    contributor = own if isinstance(own, Mapping) else contributor if isinstance(contributor, Mapping) else {}
    origin, confidence = _ORIGINS.get(str(contributor.get("type")), (UNKNOWN, 0.5))
    model = contributor.get("model_id")
    name = " ".join(part for part in (tool, model) if isinstance(part, str) and part)
    content = str(span.get("content_hash") or "")
    match = re.fullmatch(r"murmur3:([0-9a-fA-F]{1,8})", content)
    digest = match[1].lower().zfill(8) if match else ""
    yield TraceLines(path, first, last, Stamp(origin, AGENT_TRACE, confidence, name), revision, digest)


def _path(path: str) -> str | None:
    """The path as reports write it; None for one that names no file of the work tree."""
    path = path.replace("\\", "/").removeprefix("./")
    parts = path.split("/")
    if not path or path.startswith("/") or ".." in parts or re.match(r"[A-Za-z][\w+.-]*:", path):
        return None
    return None if _PSEUDO.search(path) else path


def placed_by_hash(record: TraceLines, lines: list[str]) -> tuple[int, int] | None:
    """Where the lines of a record with a content hash stand now; None when they are nowhere, or in two places."""
    size = record.last - record.first + 1
    starts = [record.first, *(start for start in range(1, len(lines) - size + 2) if start != record.first)]
    found = []
    for start in starts:
        text = "\n".join(lines[start - 1 : start - 1 + size])
        if len(lines[start - 1 : start - 1 + size]) == size and _is(text, record.content_hash):
            if start == record.first:
                return record.first, record.last
            found.append((start, start + size - 1))
    return found[0] if len(found) == 1 else None


def _is(text: str, digest: str) -> bool:
    # Whether the last line's end belongs to the content is not said.
    return any(f"{murmur3(form.encode('utf-8')):08x}" == digest for form in (text, text + "\n"))
