"""One payload in, one answer out."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from callground.config import find_root, load
from callground.environment.workspace_files import is_excluded
from callground.gate import Answer, Request
from callground.provenance.records.hook import mark_change
from callground.text_blocks import extract_code_blocks
from callground.verdict.report import Entry
from callground_server.gate.engine import Engine, TooSlow
from callground_server.gate.hooks import answers
from callground_server.gate.hooks.answers import SILENT, Reply
from callground_server.gate.hooks.edits import PYTHON, FileChange, changes_of, updated_input
from callground_server.gate.hooks.payload import Broken, Event, read_event
from callground_server.gate.wire import RequestError

logger = logging.getLogger(__name__)

LIMIT = 8.0
"""Seconds after which an edit goes on unchecked."""

UNSEEN = frozenset(
    "replace-callee rename-import add-import use-existing habit module-function rename-keyword make-positional "
    "make-keyword".split()
)
"""Kinds of repairs that an edit may get without anybody having seen them: the same call, rightly spelt.
One that leaves an argument out, or invents one, is for the agent to make."""

_TOOLS = {"claude": "Claude Code", "cursor": "Cursor"}
_SHELL = frozenset({"Bash", "Shell", "run_in_terminal", "shell", "local_shell", "runTerminalCommand"})


def respond(engine: Engine, payload: str, options: Mapping[str, Any]) -> Reply:
    """Answer one hook.  Never raises: what cannot be checked goes on, and the answer says so.

    Options: ``agent`` (else found out), ``mode`` (``deny``, ``ask``, ``warn``; else the settings'), ``limit``
    (seconds), ``repair`` (false: never propose a repaired edit), ``python``, ``trusted``.
    """
    event: Event | None = None
    try:
        event = read_event(payload, str(options.get("agent") or ""))
        return SILENT if event is None else _respond(engine, event, options)
    except Broken as error:
        return answers.failed(event, str(error))
    except RequestError:
        return SILENT  # an edit that does not fit its file: the agent's own tool will say so
    except TooSlow as error:
        return answers.failed(event, f"{error}; the next edit may find it done")
    except Exception as error:  # a hook of ours must never keep an agent from working
        logger.exception("a hook failed")
        return answers.failed(event, f"internal error: {type(error).__name__}: {error}")


def _respond(engine: Engine, event: Event, options: Mapping[str, Any]) -> Reply:
    if event.tool in _SHELL:
        return _shell(engine, event, options)
    changes = [change for change in changes_of(event) if _is_ours(change.path, event.folders)]
    if not changes:
        return SILENT
    request = Request(
        files={change.path: change.text for change in changes},
        before={change.path: change.old or "" for change in changes},
        only_new=True,
        repair=event.before and options.get("repair") is not False,
        repair_kinds=UNSEEN,
    )
    answer = _asked(engine, request, changes[0].path, options)
    _mark(engine, event, changes, options)
    return _reply(event, answer, changes, options, engine)


def _mark(engine: Engine, event: Event, changes: list[FileChange], options: Mapping[str, Any]) -> None:
    """The editor and the terminal are to know who writes this."""
    session = engine.desk(changes[0].path, python=options.get("python")).session
    if not session.config.provenance.hook:
        return
    store = session.workspace.reader.store
    for change in changes:
        if change.text is not None and change.path.endswith(PYTHON):
            mark_change(store, change.old, change.text, _TOOLS.get(event.agent, event.agent))
    store.flush()


def _asked(engine: Engine, request: Request, near: str, options: Mapping[str, Any]) -> Answer:
    limit = options.get("limit")
    answer, _ = engine.ask(
        request,
        near=near,
        python=options.get("python"),
        trusted=options.get("trusted"),
        limit=float(limit) if isinstance(limit, int | float) else LIMIT,
    )
    return answer


def _reply(
    event: Event, answer: Answer, changes: list[FileChange], options: Mapping[str, Any], engine: Engine
) -> Reply:
    blockers = [_moved(entry, changes) for entry in answer.gate.blockers]
    warnings = [_moved(entry, changes) for entry in answer.gate.warnings]
    if not blockers:
        newly = [error for error in answer.report.errors if _parsed_before(error.path, changes)]
        if warnings:
            opening = "callground: this edit brings in calls that may be wrong:"
            return answers.told(event, answers.reason_of(answer, warnings, opening))
        return answers.failed(event, f"{os.path.basename(newly[0].path)}: {newly[0].reason}") if newly else SILENT
    made = _repair(event, answer, changes)
    if made is not None:
        opening = "callground: repaired this edit; the calls did not exist or did not fit:"
        done = "".join(f"\n  repaired: {change}" for change in answer.changes)
        return answers.repaired(event, answers.reason_of(answer, blockers, opening) + done, made)
    verb = "brings in" if event.before else "has brought in"
    opening = f"callground: this edit {verb} calls that do not exist or do not fit:"
    reason = answers.reason_of(answer, [*blockers, *warnings], opening)
    mode = options.get("mode") or _mode(engine, changes[0].path, options)
    if mode == "warn":
        return answers.told(event, reason)
    return answers.asked(event, reason) if mode == "ask" else answers.denied(event, reason)


def _mode(engine: Engine, path: str, options: Mapping[str, Any]) -> str:
    desk = engine.desk(path, python=options.get("python"), trusted=options.get("trusted"))
    return desk.session.config.gate.hook


def _repair(event: Event, answer: Answer, changes: list[FileChange]) -> Any:
    """The repaired input of the tool, where every finding has a certain repair that the tool can say."""
    if not event.before or answer.left or len(changes) != 1 or answer.report.errors:
        return None
    change = changes[0]
    fixed = answer.fixed.get(change.path)
    return updated_input(event.input, change, fixed.rounds) if fixed is not None else None


def _shell(engine: Engine, event: Event, options: Mapping[str, Any]) -> Reply:
    """Python that a shell command holds in a here-document."""
    command = event.input.get("command")
    if not isinstance(command, str) or "<<" not in command or not event.before:
        return SILENT
    blocks = [block for block in extract_code_blocks(command) if block.language == "python"]
    if not blocks:
        return SILENT
    request = Request(code="\n".join(block.code for block in blocks), name="<command>")
    answer = _asked(engine, request, event.folders[0], options)
    if not answer.gate.blockers:
        return SILENT
    opening = "callground: this command runs or writes calls that do not exist or do not fit:"
    reason = answers.reason_of(answer, list(answer.gate.blockers), opening)
    mode = options.get("mode") or _mode(engine, event.folders[0], options)
    if mode == "warn":
        return answers.told(event, reason)
    return answers.asked(event, reason) if mode == "ask" else answers.denied(event, reason)


def _is_ours(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a file lies in what the agent works in, and is none that nobody checks (an environment's)."""
    # A folder may be reached by several names (links).
    real = os.path.realpath(path)
    roots = {os.path.realpath(root) for folder in folders for root in (folder, find_root(folder))}
    if not any(real.startswith(root.rstrip(os.sep) + os.sep) for root in roots):
        return False
    root = find_root(path)
    return not is_excluded(path, root, exclude=load(root)[0].exclude)


def _moved(entry: Entry, changes: list[FileChange]) -> Entry:
    """A finding of a notebook in the lines of its code cells."""
    from dataclasses import replace

    first = next((change.first_line for change in changes if change.path == entry.path), 1)
    if first == 1:
        return entry
    span = entry.finding.range
    lines = span._replace(line=span.line - first + 1, end_line=span.end_line - first + 1)
    return Entry(entry.path, replace(entry.finding, range=lines))


def _parsed_before(path: str, changes: list[FileChange]) -> bool:
    """Whether an edit has broken a file; one that was broken already is not this edit's doing."""
    from callground.source.parse import parse

    old = next((change.old for change in changes if change.path == path), None)
    return old is None or parse(old).tree is not None
