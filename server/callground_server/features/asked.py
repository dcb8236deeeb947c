"""Commands that look further than the open documents, or explain one call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from callground.check import CannotRead, review
from callground.provenance.changed_lines import GitError, changed_lines, changed_lines_of_text
from callground.repairs import Repairs
from callground.repairs.service import read_text
from callground.verdict.model import Finding
from callground_server.convert import data_of, message_of, to_range, uri_of
from callground_server.features.extras import plain
from callground_server.lsp import repairing
from callground_server.lsp.folder import Folder
from callground_server.lsp.server import Server, guarded

CHANGES = "callground.checkChanges"
EXPLAIN = "callground.explain"
_ENDINGS = (".py", ".pyw")


def register(server: Server) -> None:
    """Offer the commands."""
    session = server.session

    async def check_changes(*_: Any) -> dict[str, Any]:
        """The findings on lines that differ from HEAD, in every folder; open or not."""
        files: dict[str, list[dict[str, Any]]] = {}
        problems: list[str] = []
        texts = {document.path: document.text for document in session.documents()}
        for folder in [folder for folder in session.folders.values() if not folder.lone]:
            answer = await repairing.ask(session, lambda folder=folder: _changes(folder, texts))  # type: ignore[misc]
            if answer is None:
                continue
            found, problem = answer
            if problem:
                problems.append(f"{os.path.basename(folder.root)}: {problem}")
            for path, (text, findings) in found.items():
                lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
                uri = session.uri_of_path(path) or uri_of(path)
                files[uri] = [_shown(finding, lines, session.client.encoding) for finding in findings]
        return {"files": files, "problems": problems}

    async def explain(*arguments: Any) -> str | None:
        """How the calls on a line (0-based) of an open document were decided, as text."""
        given = [plain(argument) for argument in arguments]
        if len(given) < 2 or not isinstance(given[0], str) or not isinstance(given[1], int):
            return None
        uri, line = given[0], given[1] + 1
        outcome, folder = await session.current(uri), session.folder(uri)
        document = session.document(uri)
        if outcome is None or folder is None or document is None:
            return None
        texts = {each.path: each.text for each in session.documents()}
        return await repairing.ask(session, lambda: _explain(folder, document.path, line, texts))

    server.command(CHANGES)(guarded(CHANGES, check_changes))
    server.command(EXPLAIN)(guarded(EXPLAIN, explain))


def _changes(folder: Folder, texts: Mapping[str, str]) -> tuple[dict[str, tuple[str, list[Finding]]], str]:
    """In the worker: each file with changed lines, its text, and the findings on those lines."""
    try:
        changed = dict(changed_lines(folder.root))
        for path, unsaved in texts.items():
            # What is not saved yet counts, as the editor has it.
            if folder.holds(path) and changed.get(path, ()) is not None:
                changed[path] = changed_lines_of_text(folder.root, path, unsaved)
    except GitError as error:
        return {}, str(error)
    found: dict[str, tuple[str, list[Finding]]] = {}
    for path, lines in changed.items():
        if not folder.holds(path) or not path.endswith(_ENDINGS) or lines == ():
            continue
        text = texts.get(path)
        text = read_text(path) if text is None else text
        if text is None:
            continue
        try:
            verdicts = folder.workspace.verify(path, texts.get(path), lines)
        except CannotRead:
            continue
        shown = review(path, text, verdicts, root=folder.root, config=folder.config, lines=lines)
        found[path] = (text, [verdict.finding for verdict in shown.verdicts if verdict.finding is not None])
    return found, ""


def _shown(finding: Finding, lines: list[str], encoding: str) -> dict[str, Any]:
    span = to_range(finding.range, lambda number: lines[number] if 0 <= number < len(lines) else "", encoding)
    return {
        "range": {
            "start": {"line": span.start.line, "character": span.start.character},
            "end": {"line": span.end.line, "character": span.end.character},
        },
        "severity": finding.severity,
        "code": finding.code,
        "message": message_of(finding),
        "data": data_of(finding),
    }


def _explain(folder: Folder, path: str, line: int, texts: Mapping[str, str]) -> str:
    from callground_server.cli.text import Look, explain

    text = texts.get(path, "")
    raw = folder.tracker.judge(path)
    shown = review(path, text, raw, root=folder.root, config=folder.config).verdicts
    repairs = Repairs.of(folder.workspace, path, text, raw, texts=lambda p: texts.get(p) or read_text(p))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return explain(path, line, shown, lambda _: lines, Look(base=folder.root), repairs.ranked)
