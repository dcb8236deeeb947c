"""``callground check`` with the warm graph of a running daemon: both ends of it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from callground_server.cli.style import is_terminal, style_for
from callground_server.gate import link

if TYPE_CHECKING:
    from callground_server.gate.engine import Engine

_PASSED = ("scope", "since", "python", "untrusted", "format", "strict", "verdicts", "baseline", "write_baseline")


def ask_daemon(options: argparse.Namespace) -> int | None:
    """The exit status when a daemon has answered; None when there is none (or it cannot answer this)."""
    here = options.stdin_filename is not None or options.explain or options.root is not None
    if here or options.no_daemon or any(not os.path.lexists(path) for path in options.paths):
        return None
    given = {name: getattr(options, name) for name in _PASSED}
    for name in ("python", "baseline", "write_baseline"):
        if given[name] is not None and (name != "python" or os.path.lexists(given[name])):
            given[name] = os.path.abspath(given[name])
    look = {
        "colour": style_for(sys.stdout).colours,
        "columns": shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 160,
        "base": os.getcwd(),
    }
    paths = [os.path.abspath(path) for path in options.paths]
    reply = link.ask("check", timeout=3600.0, options=given, paths=paths, look=look)
    if reply is None or "out" not in reply:
        return None
    if options.format == "text":
        print("callground: the running daemon answers", file=sys.stderr)
    sys.stderr.write(str(reply["err"]))
    sys.stdout.write(str(reply["out"]))
    return int(reply["status"])


def answer_check(engine: Engine, message: Mapping[str, Any]) -> dict[str, Any]:
    """The daemon's end."""
    from callground.provenance.changed_lines import GitError
    from callground_server.cli.check import (
        SourceLines,
        UsageError,
        printed,
        selected,
        settled,
        status,
        wanted_scope,
    )
    from callground_server.cli.style import Style
    from callground_server.cli.text import Look

    options = argparse.Namespace(**message["options"], stdin_filename=None)
    look = message["look"]
    paths = list(message["paths"])
    try:
        with engine.opened(
            _common(paths, look["base"]), python=options.python, trusted=not options.untrusted
        ) as session:
            scope = wanted_scope(options) or session.config.scope or "all"
            selection = selected(session, paths, scope, options)
            report = session.check(selection.targets, errors=selection.errors, scope=scope)
            report = settled(report, options)
            shown = Look(Style(bool(look["colour"])), int(look["columns"]), str(look["base"]))
            out = printed(report, SourceLines(session, {}), options, shown)
            problems = session.problems if options.format == "text" else ()
            said = [*problems, *session.environment.notices]
            err = "".join(f"callground: {each}\n" for each in said)
            return {"out": out, "err": err, "status": status(report, options, narrowed=scope != "all")}
    except (UsageError, GitError) as error:
        return {"out": "", "err": f"callground: {error}\n", "status": 2}


def _common(paths: list[str], base: str) -> str:
    try:
        return os.path.commonpath(paths) if paths else base
    except ValueError:
        return paths[0]
