"""Requests to the gate as JSON, the same through every door."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from callground.config.policy import Policy, read_policy
from callground.gate.request import Place, Request
from callground.toolcalls.specs import Specs, read_specs

KEYS = (
    "code",
    "name",
    "at",
    "path",
    "files",
    "edits",
    "only_new",
    "calls",
    "calls_name",
    "tools",
    "tools_name",
    "policy",
    "repair",
    "verdicts",
)
"""The members of a request; ``callground/gate/request.md`` says what each means."""

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::\d+)?", re.DOTALL)


class RequestError(ValueError):
    """A request that cannot be carried out; the text says why."""


def read_request(data: Any, root: str, *, confined: bool = False) -> Request:
    """A request out of parsed JSON.  Paths are relative to `root`; with `confined` they must lie in it.

    Raises RequestError.
    """
    if not isinstance(data, Mapping):
        raise RequestError("a request is a JSON object")
    unknown = sorted(set(map(str, data)) - set(KEYS))
    if unknown:
        raise RequestError(f"unknown member{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)}")
    reader = _Reader(data, root, confined)
    code = reader.text("code")
    files = reader.files()
    path = reader.text("path")
    name = reader.text("name")
    if path:
        files[reader.path(path, "path")] = code
        code = ""
    request = Request(
        code=code,
        name=name or "<stdin>",
        at=reader.place(),
        files=files,
        only_new=reader.flag("only_new"),
        calls=reader.calls(),
        calls_name=reader.text("calls_name") or "<calls>",
        tools=reader.tools(),
        policy=reader.policy(),
        repair=reader.flag("repair"),
    )
    if not (request.code.strip() or request.files or request.calls is not None):
        raise RequestError("nothing to verify: give `code`, `files`, `edits` or `calls`")
    return request


class _Reader:
    def __init__(self, data: Mapping[str, Any], root: str, confined: bool) -> None:
        self.data = data
        self.root = root
        self.confined = confined

    def text(self, key: str) -> str:
        value = self.data.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise RequestError(f"`{key}` must be a string")
        return value

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise RequestError(f"`{key}` must be true or false")
        return value

    def path(self, given: str, key: str) -> str:
        if "\0" in given:
            raise RequestError(f"`{key}` is no path")
        path = os.path.normpath(os.path.join(self.root, given))
        inside = path == self.root or path.startswith(self.root.rstrip(os.sep) + os.sep)
        if self.confined and not (inside and _really_inside(path, self.root)):
            raise RequestError(f"`{key}` lies outside of the workspace")
        return path

    def place(self) -> Place | None:
        at = self.data.get("at")
        if at is None:
            return None
        if isinstance(at, str):
            match = _PLACE.fullmatch(at)
            if match is None:
                raise RequestError(f"`at` is FILE:LINE, not {at!r}")
            return Place(self.path(match["file"], "at"), int(match["line"][:9]))
        if isinstance(at, Mapping) and isinstance(at.get("file"), str):
            line = at.get("line", 1)
            if isinstance(line, int) and not isinstance(line, bool):
                return Place(self.path(at["file"], "at"), min(line, 999_999_999))
        raise RequestError('`at` is "FILE:LINE" or {"file": ..., "line": ...}')

    def files(self) -> dict[str, str | None]:
        given = self.data.get("files", {})
        if not isinstance(given, Mapping):
            raise RequestError("`files` must be an object of path -> text")
        files: dict[str, str | None] = {}
        for name, text in given.items():
            if text is not None and not isinstance(text, str):
                raise RequestError(f"`files`: the text of {name!r} must be a string, or null to delete it")
            if not str(name).endswith(".ipynb"):  # its cells are no module before they are put together
                files[self.path(str(name), "files")] = text
        self._edit(files)
        return files

    def _edit(self, files: dict[str, str | None]) -> None:
        """Apply ``edits`` on top of ``files`` and the disk."""
        edits = self.data.get("edits", [])
        if not isinstance(edits, list):
            raise RequestError("`edits` must be a list")
        for edit in edits:
            if not isinstance(edit, Mapping) or not all(isinstance(edit.get(k), str) for k in ("file", "old", "new")):
                raise RequestError("an edit is an object with `file`, `old` and `new`")
            path = self.path(edit["file"], "edits")
            text = files[path] if path in files else _read(path)
            files[path] = replaced(text or "", edit["old"], edit["new"], every=edit.get("all") is True)

    def calls(self) -> Any:
        value = self.data.get("calls")
        if isinstance(value, str) and not value.strip():
            return None
        return value

    def tools(self) -> Specs | None:
        value = self.data.get("tools")
        if value is None:
            return None
        specs = read_specs(value, self.text("tools_name") or "<tools>")
        if not specs.tools:
            raise RequestError(f"`tools` holds no tool: {'; '.join(specs.problems)[:300] or 'it is empty'}")
        return specs

    def policy(self) -> Policy | None:
        value = self.data.get("policy")
        if value is None:
            return None
        problems: list[str] = []
        policy = read_policy(value, problems.append)
        if problems:
            raise RequestError("; ".join(problem.replace("`gate", "`policy") for problem in problems))
        return policy


def replaced(text: str, old: str, new: str, *, every: bool = False) -> str:
    """The text with `old` replaced, as agents' edit tools do it.  Raises RequestError where they would."""
    if not old:
        if text:
            raise RequestError("an edit without `old` makes a new file, and the file is there")
        return new
    count = text.count(old)
    if not count:
        raise RequestError("the text that an edit replaces is not in the file")
    if count > 1 and not every:
        raise RequestError(f"the text that an edit replaces is in the file {count} times")
    return text.replace(old, new) if every else text.replace(old, new, 1)


def _read(path: str) -> str | None:
    from callground.repairs.service import read_text

    return read_text(path)


def _really_inside(path: str, root: str) -> bool:
    """Links must not lead out of the workspace either."""
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
