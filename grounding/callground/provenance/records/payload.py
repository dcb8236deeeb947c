"""What the edit hooks of agents are told: which text an agent has put into which file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from callground.provenance import persist
from callground.provenance.align import transfer
from callground.provenance.intervals import AI, Spans, Stamp, stamped
from callground.provenance.signals import HOOK


class Written(NamedTuple):
    """Text that an agent has put into a file."""

    path: str
    old: str | None
    """What it replaced; None: the file was written whole."""
    new: str


def written_by(payload: object) -> tuple[list[Written], str]:
    """What a hook's payload says was written, and by which tool; nothing for one that is of another kind.

    Claude Code's ``PostToolUse`` (Write, Edit, MultiEdit) and Cursor's ``afterFileEdit`` are understood.
    """
    if not isinstance(payload, Mapping):
        return [], ""
    base = payload.get("cwd")
    given = payload.get("tool_input")
    if isinstance(given, Mapping):
        path, tool = given.get("file_path"), "Claude Code"
        if isinstance(given.get("content"), str):
            edits: list[Any] = [{"old_string": None, "new_string": given["content"]}]
        else:
            edits = given["edits"] if isinstance(given.get("edits"), list) else [given]
    else:
        path, tool = payload.get("file_path"), "Cursor"
        edits = payload["edits"] if isinstance(payload.get("edits"), list) else []
        model = payload.get("model")
        tool = f"{tool} {model}" if isinstance(model, str) and model else tool
    if not isinstance(path, str) or not path:
        return [], ""
    path = os.path.normpath(os.path.join(base if isinstance(base, str) else "", path))
    found = []
    for edit in edits:
        new = edit.get("new_string") if isinstance(edit, Mapping) else None
        old = edit.get("old_string") if isinstance(edit, Mapping) else None
        if isinstance(new, str):
            found.append(Written(path, old if isinstance(old, str) else None, new))
    return found, tool


def spans_of_written(text: str, written: list[Written], tool: str, known: Spans = ()) -> Spans:
    """What is known of a file's text after an agent has written to it: only what is new is the agent's.

    `known` is what was known of this text before.
    """
    spans = known
    stamp = Stamp(AI, HOOK, 1.0, tool)
    for edit in written:
        if not edit.new:
            continue
        start = text.find(edit.new)
        while start >= 0:
            for run in transfer(edit.old or "", (), edit.new).fresh:
                spans = stamped(spans, start + run.start, start + run.end, stamp)
            start = text.find(edit.new, start + len(edit.new))
    return spans


def mark_written(
    store: persist.KeyValue, text: str, written: list[Written], tool: str, before: str | None = None
) -> Spans:
    """Keep in the store what a hook says of a file's new text, so that the editor and the terminal know it.

    `before` is the text that the file had, where somebody knows it: what was known of that is carried over.
    """
    known = persist.load(store, text)
    if known is None and before is not None:
        known = transfer(before, persist.load(store, before) or (), text).spans
    spans = spans_of_written(text, written, tool, known or ())
    persist.save(store, text, spans)
    return spans
