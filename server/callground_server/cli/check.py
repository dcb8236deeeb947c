"""``callground check``."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache

from callground.check import CannotRead, Target, restrict
from callground.provenance.changed_lines import GitError, changed_lines, changed_lines_of_text
from callground.session import Selection, Session
from callground.resolve.memo import Memo
from callground.source.decode import decode
from callground.verdict.report import GroundingReport
from callground_server.cli.authorship import ai_targets
from callground_server.cli.progress import ProgressBar
from callground_server.cli.style import is_terminal, style_for
from callground_server.cli.text import Lines, Look, explain, render


class UsageError(Exception):
    """The command cannot be carried out as it was given; the text says why."""


def run(options: argparse.Namespace) -> int:
    """Carry out the command; the exit status."""
    try:
        return _run(options)
    except (UsageError, GitError) as error:
        print(f"callground: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    scope = _scope(options)
    place = _place(options.explain) if options.explain else None
    paths = [place[0]] if place is not None else _paths(options)
    if options.root is not None and not os.path.isdir(options.root):
        raise UsageError(f"--root: no such folder: {options.root}")
    with Session.open(
        options.root, paths=paths, python=options.python, trusted=not options.untrusted
    ) as session:
        scope = scope or session.config.scope or "all"
        _say(session, quiet=options.format == "json")
        if place is not None:
            return _explain(session, place, options)
        # One state of the world is looked at, once: what each answer read is of no use.
        session.workspace.memo = Memo(tracking=False)
        selection = selected(session, paths, scope, options)
        with ProgressBar(sys.stderr, wanted=not options.no_progress) as bar:
            if selection.targets:
                session.index(bar.update)
            report = session.check(
                selection.targets, errors=selection.errors, scope=scope, progress=bar.update
            )
        given = {target.path: target.text for target in selection.targets if target.text is not None}
        _print(report, _Lines(session, given), options)
        return _status(report, options, narrowed=scope != "all")


def _scope(options: argparse.Namespace) -> str | None:
    scope: str | None = options.scope
    if options.since is not None:
        if scope == "all":
            raise UsageError("--since looks at changed lines: leave --scope all out")
        return scope or "changed"
    return scope


def _paths(options: argparse.Namespace) -> list[str]:
    paths: list[str] = options.paths
    if options.stdin_filename is not None:
        if paths and paths != ["-"]:
            raise UsageError("--stdin-filename names the one file to check: leave PATHS out")
        return [options.stdin_filename]
    for path in paths:
        if not os.path.lexists(path):
            raise UsageError(f"no such file or folder: {path}")
    return paths


def _place(text: str) -> tuple[str, int]:
    """``FILE:LINE`` (a column may follow); the file may hold colons itself."""
    match = re.fullmatch(r"(?P<file>.+?):(?P<line>\d+)(?::\d+)?", text, re.DOTALL)
    if match is None:
        raise UsageError(f"--explain wants FILE:LINE, not {text!r}")
    if not os.path.isfile(match["file"]):
        raise UsageError(f"no such file: {match['file']}")
    return match["file"], int(match["line"])


def selected(session: Session, paths: Sequence[str], scope: str, options: argparse.Namespace) -> Selection:
    """The files of a command, narrowed to the lines of a scope."""
    if options.stdin_filename is not None:
        path = os.path.abspath(options.stdin_filename)
        selection = Selection((Target(path, text=decode(sys.stdin.buffer.read()).text),), ())
    else:
        selection = session.select(paths)
        if not selection.targets and not selection.errors:
            where = ", ".join(paths) if paths else session.root
            raise UsageError(f"no Python files in {where}")
    if scope == "all":
        return selection
    if scope == "ai":
        chosen = ai_targets(session, selection.targets, options.since, complain=_complain)
        return selection._replace(targets=tuple(chosen))
    if options.stdin_filename is not None:
        (target,) = selection.targets
        lines = changed_lines_of_text(session.root, target.path, target.text or "", options.since)
        return selection._replace(targets=(target._replace(lines=lines),) if lines != () else ())
    changed = changed_lines(session.root, options.since)
    return selection._replace(targets=tuple(restrict(selection.targets, changed)))


def _complain(trouble: str) -> None:
    print(f"callground: {trouble}", file=sys.stderr)


def _say(session: Session, *, quiet: bool) -> None:
    """Settings and environments that could not be used, once each, where they disturb no program."""
    if not quiet:
        for problem in session.problems:
            print(f"callground: {problem}", file=sys.stderr)
    for notice in session.environment.notices:
        print(f"callground: {notice}", file=sys.stderr)


def _print(report: GroundingReport, lines: Lines, options: argparse.Namespace) -> None:
    if options.format == "json":
        data = report.to_json()
        if options.verdicts:
            data["verdicts"] = report.verdicts_json()
        json.dump(data, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    sys.stdout.write(render(report, lines, _look()))


def _explain(session: Session, place: tuple[str, int], options: argparse.Namespace) -> int:
    path, line = os.path.abspath(place[0]), place[1]
    with ProgressBar(sys.stderr, wanted=not options.no_progress) as bar:
        session.index(bar.update)
        report = session.check([Target(path)])
    for error in report.errors:
        raise UsageError(f"{place[0]}: {error.reason}")
    verdicts = [verdict for file in report.files for verdict in file.verdicts]
    repairs = session.repairs(path, session.text(path), verdicts)
    sys.stdout.write(explain(path, line, verdicts, _Lines(session, {}), _look(), repairs.ranked))
    return 0


def _look() -> Look:
    columns = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 160
    return Look(style_for(sys.stdout), columns, os.getcwd())


class _Lines:
    """Source lines by path, as Python's parser counts them."""

    def __init__(self, session: Session, given: Mapping[str, str]) -> None:
        self._session = session
        self._given = given
        self._read = lru_cache(maxsize=16)(self._split)

    def __call__(self, path: str) -> list[str]:
        return self._read(path)

    def _split(self, path: str) -> list[str]:
        try:
            text = self._given[path] if path in self._given else self._session.text(path)
        except CannotRead:
            return []
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _status(report: GroundingReport, options: argparse.Namespace, *, narrowed: bool) -> int:
    if not report.is_grounded:
        return 1
    if report.errors and (options.strict or not report.files):
        return 2
    # Nothing changed is a good answer; nothing found to look at is none.
    return 0 if report.files or narrowed else 2
