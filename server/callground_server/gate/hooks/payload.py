"""What an agent hands to a hook, whichever agent it is."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple


class Broken(ValueError):
    """A payload that cannot be read; the text says why."""


class Event(NamedTuple):
    """One tool use of an agent, before or after it."""

    agent: str
    """``claude`` (also VS Code, Codex and others that took over its protocol) or ``cursor``."""
    name: str
    """The event as the agent calls it; the answer names it again."""
    before: bool
    """The tool has not run yet: the answer can keep it from doing so."""
    tool: str
    input: Mapping[str, Any]
    folders: tuple[str, ...]
    """What the agent works in."""
    approves: bool
    """The agent's user has switched questions about edits off."""
    response: Mapping[str, Any]
    """What the tool said; empty before it ran."""


_BEFORE = {"PreToolUse": "claude", "preToolUse": "cursor"}
_AFTER = {
    "PostToolUse": "claude",
    "postToolUse": "cursor",
    "afterFileEdit": "cursor",
    "afterTabFileEdit": "cursor",
}
_AUTOMATIC = frozenset({"acceptEdits", "bypassPermissions", "auto", "dontAsk"})


def read_event(text: str, agent: str = "") -> Event | None:
    """The event in a payload; None for one that is no use of an editing tool.  Raises Broken."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Broken(f"the payload is not JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise Broken("the payload is not a JSON object")
    name = data.get("hook_event_name") or data.get("hookEventName")
    if not isinstance(name, str):
        raise Broken("the payload names no event (`hook_event_name`)")
    if name not in _BEFORE and name not in _AFTER:
        return None
    given = data.get("tool_input", data.get("toolInput", data.get("toolArgs")))
    if isinstance(given, str):  # some agents hand it over as text
        try:
            given = json.loads(given)
        except ValueError:
            given = {"command": given}
    if given is None and ("edits" in data or "file_path" in data):  # Cursor's afterFileEdit has it at the top
        given = data
    if not isinstance(given, Mapping):
        raise Broken("the payload has no `tool_input`")
    response = data.get("tool_response", data.get("tool_output"))
    return Event(
        agent=agent or _BEFORE.get(name) or _AFTER[name],
        name=name,
        before=name in _BEFORE,
        tool=str(data.get("tool_name") or data.get("toolName") or ""),
        input=given,
        folders=_folders(data),
        approves=data.get("permission_mode") in _AUTOMATIC,
        response=response if isinstance(response, Mapping) else {},
    )


def _folders(data: Mapping[str, Any]) -> tuple[str, ...]:
    found = [data.get("cwd")]
    roots = data.get("workspace_roots")
    found += roots if isinstance(roots, list) else []
    found.append(os.environ.get("CLAUDE_PROJECT_DIR") or os.environ.get("CURSOR_PROJECT_DIR"))
    folders = [os.path.abspath(folder) for folder in found if isinstance(folder, str) and folder]
    return tuple(dict.fromkeys(folders)) or (os.getcwd(),)
