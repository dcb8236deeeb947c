"""The setting that silences a name in the whole workspace: an edit of ``pyproject.toml``."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from callground.repairs.model import FileEdits, Repair
from callground.text.edits import Edit, apply_edits
from callground.verdict.model import Verdict

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HEADER = re.compile(r"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*callground[ \t]*\][ \t]*(?:#.*)?$", re.MULTILINE)
_NEXT = re.compile(r"^[ \t]*\[", re.MULTILINE)
_LIST = re.compile(r"^[ \t]*ignore-names[ \t]*=[ \t]*\[", re.MULTILINE)


def repair(root: str, verdict: Verdict, text_of: Callable[[str], str | None]) -> Repair | None:
    """The finding's name in ``ignore-names`` of the root's ``pyproject.toml``; None where that cannot be edited."""
    finding = verdict.finding
    if finding is None:
        return None
    path = os.path.join(root, "pyproject.toml")
    text = text_of(path)
    if text is None:
        return None
    name = finding.named
    edit = _edit(text, name)
    before, after = _names(text), _names(apply_edits(text, [edit]))
    if before is None or after != [*before, name]:
        return None
    return Repair(
        "ignore-name",
        f"Ignore `{name}` in pyproject.toml",
        (FileEdits(path, (edit,)),),
        ("silences the name in the whole workspace, repairs nothing",),
    )


def _names(text: str) -> list[Any] | None:
    """What ``ignore-names`` holds; None where the text cannot be understood."""
    try:
        table: Any = tomllib.loads(text).get("tool", {}).get("callground", {})
        return list(table.get("ignore-names", []))
    except (tomllib.TOMLDecodeError, AttributeError, TypeError, RecursionError):
        return None


def _edit(text: str, name: str) -> Edit:
    newline = "\r\n" if "\r\n" in text else "\n"
    # JSON strings are TOML strings.
    written = json.dumps(name)
    header = _HEADER.search(text)
    if header is None:
        apart = newline if text.strip() else ""
        ended = "" if not text or text.endswith("\n") else newline
        new = f"{ended}{apart}[tool.callground]{newline}ignore-names = [{written}]{newline}"
        return Edit(len(text), len(text), new)
    following = _NEXT.search(text, header.end())
    opened = _LIST.search(text, header.end(), following.start() if following is not None else len(text))
    if opened is None:
        return Edit(header.end(), header.end(), f"{newline}ignore-names = [{written}]")
    closing = _closing(text, opened.end())
    inside = text[opened.end() : closing]
    last = len(inside.rstrip())
    at = opened.end() + last
    if not inside.strip():
        return Edit(closing, closing, written)
    joint = " " if inside.rstrip().endswith(",") else ", "
    if newline in inside[last:]:
        lines = inside.rstrip().split("\n")[-1]
        indent = lines[: len(lines) - len(lines.lstrip())]
        joint = ("" if inside.rstrip().endswith(",") else ",") + newline + indent
    return Edit(at, at, f"{joint}{written}")


def _closing(text: str, position: int) -> int:
    """Offset of the bracket that closes a list of strings."""
    match = re.compile(r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|\#[^\n]*|[^\]"'\#])*""").match(text, position)
    return match.end() if match is not None else position
