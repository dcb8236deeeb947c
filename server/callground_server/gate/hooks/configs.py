"""The settings that switch the hooks on, ready to be put into an agent's own files."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from importlib import resources
from typing import Any

FILES = {"claude": ("hooks/hooks.json", ".claude/settings.json"), "cursor": ("cursor.json", ".cursor/hooks.json")}
"""Agent -> (file of the package, where its content goes)."""


def print_config(agent: str) -> int:
    """Print one agent's settings; for ``plugin`` the folder of the plugin for Claude Code."""
    folder = resources.files("callground_server") / "plugin"
    if agent == "plugin":
        print(folder)
        return 0
    name, target = FILES[agent]
    data = json.loads((folder / name).read_text("utf-8"))
    print(json.dumps(_with_command(data), indent=2))
    print(f"callground: this goes into {target}", file=sys.stderr)
    return 0


def _with_command(value: Any) -> Any:
    """The settings with a command that is found from anywhere: the plain name where it is on the path."""
    if isinstance(value, dict):
        return {key: _command(each) if key == "command" else _with_command(each) for key, each in value.items()}
    return [_with_command(each) for each in value] if isinstance(value, list) else value


def _command(text: str) -> str:
    if shutil.which("callground"):
        return text
    return text.replace("callground", f"{shlex.quote(sys.executable)} -I -m callground_server", 1)
