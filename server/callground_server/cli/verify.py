"""``callground verify``."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import Any

from callground_server.cli.gate import fail
from callground_server.gate import link


def run_verify(options: argparse.Namespace) -> int:
    """Ask the gate; the exit status says whether it lets through."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        asker = _Asker(options)
        if options.batch is not None:
            return asker.batch(options.batch)
        answer = asker.ask(_request(options))
    except (OSError, ValueError) as error:
        return fail(str(error))
    if "error" in answer:
        return fail(str(answer["error"]))
    _print(answer, options.format)
    return 0 if answer["gate"]["passed"] else 1


def _request(options: argparse.Namespace) -> dict[str, Any]:
    """The request that the options make."""
    is_file = options.file != "-"
    text = _read(options.file)
    request: dict[str, Any] = {"repair": options.repair, "verdicts": options.verdicts}
    if options.tools is not None:
        request["tools"] = _json(options.tools)
        request["tools_name"] = os.path.basename(options.tools)
    name = os.path.basename(options.file) if is_file else "<stdin>"
    if options.calls or (options.tools is not None and not options.at and not options.path):
        return {**request, "calls": text, "calls_name": name}
    if options.path is not None:
        return {**request, "code": text, "path": os.path.abspath(options.path)}
    if options.at is not None:
        match = re.fullmatch(r"(?P<file>.+?):(?P<line>\d+)(?::\d+)?", options.at, re.DOTALL)
        if match is None:
            raise ValueError(f"--at wants FILE:LINE, not {options.at!r}")
        place = {"file": os.path.abspath(match["file"]), "line": int(match["line"])}
        return {**request, "code": text, "name": name, "at": place}
    if is_file and options.file.endswith((".py", ".pyi", ".pyw")):
        return {**request, "code": text, "path": os.path.abspath(options.file)}
    return {**request, "code": text, "name": name}


def _read(name: str) -> str:
    if name == "-":
        data = sys.stdin.buffer.read()
    else:
        try:
            with open(name, "rb") as file:
                data = file.read()
        except OSError as error:
            raise ValueError(f"{name}: {error.strerror or error}") from None
    if name.endswith((".py", ".pyi", ".pyw")):
        from callground.source.decode import decode

        return decode(data).text
    return data.decode("utf-8-sig", "replace")


def _json(name: str) -> Any:
    try:
        return json.loads(_read(name))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


class _Asker:
    """The daemon when there is one, else an engine of our own."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._root = os.path.abspath(options.root) if options.root is not None else None
        if self._root is not None and not os.path.isdir(self._root):
            raise ValueError(f"--root: no such folder: {options.root}")
        self._python = os.path.abspath(options.python) if options.python else None
        self._trusted = False if options.untrusted else None
        self._daemon = not options.no_daemon and self._root is None
        self._engine: Any = None
        self._near = _near(options)

    def ask(self, request: Any) -> dict[str, Any]:
        """The answer as JSON; with ``error`` when there is none."""
        if self._daemon:
            reply = link.ask("verify", request=request, near=self._near, python=self._python, trusted=self._trusted)
            if reply is not None:
                return dict(reply.get("answer") or reply)
            self._daemon = False
        from callground_server.gate.engine import Engine, RequestError, TooSlow

        if self._engine is None:
            self._engine = Engine(python=self._python, trusted=self._trusted is not False, root=self._root)
        try:
            answer: dict[str, Any] = self._engine.verify(request, near=self._near)
            return answer
        except (RequestError, TooSlow) as error:
            return {"error": str(error)}

    def batch(self, name: str) -> int:
        """One request a line, one answer a line; 1 when a request did not pass."""
        status = 0
        for line in _read(name).splitlines():
            if not line.strip():
                continue
            answer: dict[str, Any]
            try:
                answer = self.ask(json.loads(line))
            except ValueError as error:
                answer = {"error": f"not JSON: {error}"}
            if "gate" not in answer or not answer["gate"]["passed"]:
                status = 1
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
        return status


def _near(options: argparse.Namespace) -> str:
    """A path in the workspace that is meant."""
    at: str = options.at or ""
    path: str = options.path or ""
    file: str = options.file
    if at:
        return os.path.abspath(at.rpartition(":")[0])
    if path:
        return os.path.abspath(path)
    return os.path.abspath(file) if file != "-" else os.getcwd()


def _print(answer: dict[str, Any], form: str) -> None:
    if form == "json":
        json.dump(answer, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    gate = answer["gate"]
    for entry in (*answer["ungrounded"], *answer["arity_errors"], *answer["third_party"], *answer["notes"]):
        place = f"{entry['file']}:{entry['line']}:{entry['column']}"
        print(f"{place}: {entry['severity']}[{entry['code']}]: {entry['message']}")
        for line in entry["evidence"]:
            print(f"  = {line}")
        if entry["suggestions"]:
            best = entry["suggestions"][0]
            print(f"  = did you mean `{best['signature'] or best['text']}`?")
    for error in answer["errors"]:
        print(f"{error['file']}: not checked: {error['reason']}")
    for name, text in answer.get("repaired", {}).items():
        print(f"--- {name}, repaired\n{text}", end="")
    calls = answer["sites"]["calls"]
    decided = calls["grounded"] + calls["findings"]
    print(f"gate: {gate['decision']} ({decided} of {decided + calls['abstained']} calls decided)")
