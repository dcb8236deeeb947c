"""``callground suggest``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from callground_server.cli.gate import fail
from callground_server.gate import link


def run_suggest(options: argparse.Namespace) -> int:
    """Ask the caller; the exit status says whether there is a call."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        if options.at is not None:
            if options.tools is not None or options.batch is not None:
                raise ValueError("--at asks for the workspace's own functions: it goes without --tools and --batch")
            return _at(options)
        if options.tools is None and options.batch is None:
            raise ValueError("give --tools TOOLS.json, or --at FILE:LINE for the workspace's own functions")
        if options.batch is not None:
            return _batch(options)
        if options.text is None:
            raise ValueError("give the request: what is to be done")
        text = sys.stdin.read() if options.text == "-" else options.text
        answer = _Asker(options).ask(_request(options, text))
    except (OSError, ValueError) as error:
        return fail(str(error))
    if "error" in answer:
        return fail(str(answer["error"]))
    if options.json:
        print(json.dumps(answer, indent=2))
    else:
        _print(answer)
    return 0 if answer["suggestion"] is not None else 1


def _at(options: argparse.Namespace) -> int:
    # The command for JSON tools need not load what reads Python files.
    from callground.config import find_root, load
    from callground_server.cli.suggest_code import run_at

    root = options.root or find_root(os.path.abspath(options.at.rpartition(":")[0]))
    if not load(os.path.abspath(root))[0].caller.enabled:
        return fail("the caller is switched off (`caller.enabled` of the settings)")
    return run_at(options)


def _request(options: argparse.Namespace, text: str) -> dict[str, Any]:
    request: dict[str, Any] = {"request": text, "ask": options.ask, "explain": options.explain}
    if options.tools is not None:
        request["tools"] = _json(options.tools)
        request["tools_name"] = os.path.basename(options.tools)
    for key in ("alpha", "delta"):
        if getattr(options, key) is not None:
            request[key] = getattr(options, key)
    return request


def _batch(options: argparse.Namespace) -> int:
    """One request a line (its members laid over the options'), one answer a line; 1 when one has no call."""
    asker, base = _Asker(options), _request(options, "")
    status = 0
    for line in _read(options.batch).splitlines():
        if not line.strip():
            continue
        answer: dict[str, Any]
        try:
            given = json.loads(line)
            if not isinstance(given, dict):
                raise ValueError("a request is a JSON object")
            answer = asker.ask({**base, **given})
        except (ValueError, RecursionError) as error:
            answer = {"error": f"not a request: {error}"}
        if answer.get("suggestion") is None:
            status = 1
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    return status


class _Asker:
    """The daemon when there is one, else an engine of our own."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._root = os.path.abspath(options.root) if options.root is not None else None
        if self._root is not None and not os.path.isdir(self._root):
            raise ValueError(f"--root: no such folder: {options.root}")
        self._daemon = not options.no_daemon
        self._near = self._root or os.getcwd()
        self._engine: Any = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer as JSON; with ``error`` when there is none."""
        if self._daemon:
            reply = link.ask("suggest", request=request, near=self._near)
            if reply is not None:
                return dict(reply.get("answer") or reply)
            self._daemon = False
        from callground_server.gate.engine import Engine, RequestError

        if self._engine is None:
            self._engine = Engine(root=self._root)
        try:
            answer: dict[str, Any] = self._engine.suggest(request, self._near)
            return answer
        except RequestError as error:
            return {"error": str(error)}


def _read(name: str) -> str:
    try:
        with open(name, "rb") as file:
            return file.read().decode("utf-8-sig", "replace")
    except OSError as error:
        raise ValueError(f"{name}: {error.strerror or error}") from None


def _json(name: str) -> Any:
    try:
        return json.loads(_read(name))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: {error}") from None


def _print(answer: dict[str, Any]) -> None:
    for problem in answer["problems"]:
        print(f"callground: {problem}", file=sys.stderr)
    suggestion = answer["suggestion"]
    if suggestion is not None:
        print(json.dumps({"name": suggestion["name"], "arguments": suggestion["arguments"]}, ensure_ascii=False))
        if suggestion["missing"]:
            print(f"  = not said: {', '.join(suggestion['missing'])}")
        if not suggestion["certain"]:
            print("  = not sure: it was asked for")
    else:
        print(f"no call [{answer['abstained']['reason']}]: {answer['abstained']['message']}")
        for each in answer["candidates"][:3]:
            print(f"  = {each['name']} ({each['share']:.2f})")
    explanation = answer.get("explanation")
    if explanation is not None:
        _print_explanation(explanation)


def _print_explanation(explanation: dict[str, Any]) -> None:
    for each in explanation["candidates"]:
        print(f"{each['name']}:")
        for name, told in each["features"].items():
            part = told["value"] * told["weight"]
            print(f"  {name:14} {told['value']:6.3f} x {told['weight']:6.2f} = {part:6.2f}  {told['about']}")
    print("arguments of the first:")
    for name, reason in explanation["arguments"].items():
        print(f"  {name}: {reason}")
    print("the gate:")
    for name, told in explanation["gate"].items():
        print(f"  {name:20} {told['value']:6.3f}  {told['about']}")
    print(f"calibrated on: {explanation['calibration']['about']}")
