"""``callground hook``: from a payload on standard input to the agent's answer on standard output."""

from __future__ import annotations

import os
import sys
from typing import Any

from callground_server.gate import link

USAGE = """\
usage: callground hook [--agent claude|cursor] [--mode deny|ask|warn] [--limit SECONDS] [--no-repair]
                       [--no-daemon] [--python PATH] [--untrusted]
       callground hook --print-config claude|cursor|plugin

Reads what an agent's hook hands over (Claude Code's PreToolUse and PostToolUse, Cursor's preToolUse,
postToolUse and afterFileEdit), checks the calls that the edit brings in, and answers in the agent's
protocol.  Prints nothing when all is grounded.  What cannot be checked goes on, and the answer says so.
"""


def run_hook(arguments: list[str]) -> int:
    """Answer one hook; the exit status is 0 whatever was found, as the agents' protocols want it."""
    # No argparse here: this command answers before an agent's every edit.
    try:
        options = _options(arguments)
    except ValueError as error:
        print(f"callground hook: {error}\n{USAGE}", file=sys.stderr, end="")
        return 2
    if options.get("help"):
        print(USAGE, end="")
        return 0
    if "print-config" in options:
        from callground_server.gate.hooks.configs import print_config

        return print_config(str(options["print-config"]))
    payload = sys.stdin.buffer.read().decode("utf-8", "replace")
    daemon = not options.pop("no-daemon", False)
    reply = link.ask("hook", payload=payload, options=options) if daemon else None
    if reply is not None and "out" in reply:
        return _print(reply)
    answer = _here(payload, options)
    if daemon and reply is None:
        link.start(os.getcwd())  # for the next edit
    return _print(answer)


def _here(payload: str, options: dict[str, Any]) -> dict[str, Any]:
    """Answer without a daemon."""
    try:
        from callground_server.gate.engine import Engine
        from callground_server.gate.hooks.run import respond

        reply = respond(Engine(), payload, options)
        return {"out": reply.out, "err": reply.err, "status": reply.status}
    except Exception as error:  # noqa: BLE001 - a broken installation must not keep an agent from working
        message = f"callground: not checked: {type(error).__name__}: {error}"
        return {"out": "", "err": message + "\n", "status": 0}


def _print(reply: dict[str, Any]) -> int:
    sys.stderr.write(str(reply.get("err", "")))
    sys.stdout.flush()
    sys.stdout.buffer.write(str(reply.get("out", "")).encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()
    return int(reply.get("status", 0))


def _options(arguments: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        name = rest.pop(0)
        name, equals, value = name.partition("=")
        if name in ("-h", "--help"):
            return {"help": True}
        if name == "--no-repair":
            options["repair"] = False
        elif name == "--untrusted":
            options["trusted"] = False
        elif name == "--no-daemon":
            options["no-daemon"] = True
        elif name in ("--agent", "--mode", "--limit", "--python", "--print-config"):
            if not equals:
                if not rest:
                    raise ValueError(f"{name} wants a value")
                value = rest.pop(0)
            options[name[2:]] = value
        else:
            raise ValueError(f"unknown option {name}")
    _check(options)
    return options


def _check(options: dict[str, Any]) -> None:
    choices = {
        "agent": ("claude", "cursor"),
        "mode": ("deny", "ask", "warn"),
        "print-config": ("claude", "cursor", "plugin"),
    }
    for name, allowed in choices.items():
        if name in options and options[name] not in allowed:
            raise ValueError(f"--{name} is one of {', '.join(allowed)}")
    if "limit" in options:
        options["limit"] = float(options["limit"])
    if "python" in options:
        options["python"] = os.path.abspath(str(options["python"]))
