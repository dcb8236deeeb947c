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
from callground.projects import check_projects, wants_own
from callground.provenance.changed_lines import GitError, changed_lines, changed_lines_of_text
from callground.resolve.memo import Memo
from callground.session import Selection, Session
from callground.source.decode import decode
from callground.verdict.baseline import BaselineError, read_baseline, without_accepted, write_baseline
from callground.verdict.report import GroundingReport
from callground_server.cli.authorship import ai_targets
from callground_server.cli.formats import github, sarif
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
    scope = wanted_scope(options)
    place = _place(options.explain) if options.explain else None
    paths = [place[0]] if place is not None else _paths(options)
    if options.root is not None and not os.path.isdir(options.root):
        raise UsageError(f"--root: no such folder: {options.root}")
    with Session.open(options.root, paths=paths, python=options.python, trusted=not options.untrusted) as session:
        scope = scope or session.config.scope or "all"
        if place is not None:
            _say(session, quiet=options.format != "text")
            return _explain(session, place, options)
        # One state of the world is looked at, once: what each answer read is of no use.
        session.workspace.memo = Memo(tracking=False)
        selection = selected(session, paths, scope, options)
        _say(session, quiet=options.format != "text", environment=wants_own(session, selection.targets))
        with ProgressBar(sys.stderr, wanted=not options.no_progress) as bar:
            report = check_projects(
                session, selection.targets, errors=selection.errors, scope=scope, progress=bar.update
            )
        given = {target.path: target.text for target in selection.targets if target.text is not None}
        report = settled(report, options)
        sys.stdout.write(printed(report, SourceLines(session, given), options, _look()))
        return status(report, options, narrowed=scope != "all")


def wanted_scope(options: argparse.Namespace) -> str | None:
    """The scope that the options ask for; None leaves it to the settings."""
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


def _say(session: Session, *, quiet: bool, environment: bool = True) -> None:
    """Settings and environments that could not be used, once each, where they disturb no program."""
    if not quiet:
        for problem in session.problems:
            print(f"callground: {problem}", file=sys.stderr)
    for notice in session.environment.notices if environment else ():
        print(f"callground: {notice}", file=sys.stderr)


def settled(report: GroundingReport, options: argparse.Namespace) -> GroundingReport:
    """The report less what a baseline accepts; with ``--write-baseline`` all of it is accepted."""
    if options.write_baseline is not None:
        try:
            with open(options.write_baseline, "w", encoding="utf-8") as file:
                file.write(write_baseline(report))
        except OSError as error:
            raise UsageError(f"{options.write_baseline}: {error.strerror or error}") from None
        return without_accepted(report, report.fingerprints)
    if options.baseline is None:
        return report
    try:
        with open(options.baseline, encoding="utf-8") as file:
            return without_accepted(report, read_baseline(file.read()))
    except (OSError, BaselineError) as error:
        raise UsageError(f"{options.baseline}: {getattr(error, 'strerror', None) or error}") from None


def printed(report: GroundingReport, lines: Lines, options: argparse.Namespace, look: Look) -> str:
    """The report in the format that was asked for."""
    if options.format == "json":
        data = report.to_json()
        if options.verdicts:
            data["verdicts"] = report.verdicts_json()
        return json.dumps(data, indent=2) + "\n"
    if options.format == "sarif":
        return json.dumps(sarif(report), indent=2) + "\n"
    if options.format == "github":
        return github(report)
    return render(report, lines, look)


def _explain(session: Session, place: tuple[str, int], options: argparse.Namespace) -> int:
    path, line = os.path.abspath(place[0]), place[1]
    with ProgressBar(sys.stderr, wanted=not options.no_progress) as bar:
        session.index(bar.update)
        report = session.check([Target(path)])
    for error in (each for each in report.errors if not each.partly):
        raise UsageError(f"{place[0]}: {error.reason}")
    verdicts = [verdict for file in report.files for verdict in file.verdicts]
    repairs = session.repairs(path, session.text(path), verdicts)
    sys.stdout.write(explain(path, line, verdicts, SourceLines(session, {}), _look(), repairs.ranked))
    return 0


def _look() -> Look:
    columns = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 160
    return Look(style_for(sys.stdout), columns, os.getcwd())


class SourceLines:
    """Source lines by path, as Python's parser counts them."""

    def __init__(self, session: Session, given: Mapping[str, str]) -> None:
        self._session = session
        self._given = given
        self._read = lru_cache(maxsize=16)(self._split)

    def __call__(self, path: str) -> list[str]:
        """The lines of one file, [] when it cannot be read."""
        return self._read(path)

    def _split(self, path: str) -> list[str]:
        try:
            text = self._given[path] if path in self._given else self._session.text(path)
        except CannotRead:
            return []
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def status(report: GroundingReport, options: argparse.Namespace, *, narrowed: bool) -> int:
    """The exit status."""
    if not report.is_grounded:
        return 1
    if report.errors and (options.strict or not report.files):
        return 2
    # Nothing changed is a good answer; nothing found to look at is none.
    return 0 if report.files or narrowed else 2
