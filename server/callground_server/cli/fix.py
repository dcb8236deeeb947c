"""``callground fix``: the repairs that are certain, shown or written."""

from __future__ import annotations

import argparse
import codecs
import difflib
import os
import sys
import tempfile
from collections.abc import Iterable

from callground.check import CannotRead, Target, review
from callground.projects import sessions
from callground.provenance.changed_lines import GitError
from callground.repairs import Repaired, ground_report_and_repair
from callground.session import Session
from callground.source.decode import decode
from callground.verdict.model import Finding, Verdict
from callground_server.cli.check import UsageError, selected
from callground_server.cli.progress import ProgressBar
from callground_server.cli.style import style_for
from callground_server.cli.text import Look, counted, place


def run(options: argparse.Namespace) -> int:
    """Carry out the command; the exit status."""
    try:
        return _run(options)
    except (UsageError, GitError) as error:
        print(f"callground: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    for path in options.paths:
        if not os.path.lexists(path):
            raise UsageError(f"no such file or folder: {path}")
    if options.root is not None and not os.path.isdir(options.root):
        raise UsageError(f"--root: no such folder: {options.root}")
    with Session.open(
        options.root, paths=options.paths, python=options.python, trusted=not options.untrusted
    ) as session:
        scope = "changed" if options.since is not None else options.scope or "all"
        options.stdin_filename = None
        selection = selected(session, options.paths, scope, options)
        results: list[tuple[str, str, Repaired]] = []
        failed = len(selection.errors)
        with ProgressBar(sys.stderr, wanted=not options.no_progress) as bar:
            number = 0
            for opened, inside in sessions(session, selection.targets):
                opened.index(bar.update)
                for target in inside:
                    bar.update("repairing", number, len(selection.targets))
                    number += 1
                    try:
                        before = opened.text(target.path)
                        results.append((target.path, before, _repaired(opened, target, before)))
                    except CannotRead as error:
                        failed += 1
                        print(f"callground: {target.path}: {error}", file=sys.stderr)
        return _finish(results, failed, options)


def _repaired(session: Session, target: Target, text: str) -> Repaired:
    def reviewed(now: str, verdicts: Iterable[Verdict]) -> list[Verdict]:
        shown = review(target.path, now, verdicts, root=session.reported, config=session.config, suggest=lambda _: ())
        return list(shown.verdicts)

    return ground_report_and_repair(text, target.path, session.workspace, target.lines, review=reviewed)


def _finish(results: list[tuple[str, str, Repaired]], failed: int, options: argparse.Namespace) -> int:
    style = style_for(sys.stdout)
    look = Look(style, 160, os.getcwd())
    changed = [(path, before, result) for path, before, result in results if result.changes]
    for path, before, result in changed:
        if options.diff:
            sys.stdout.write(_diff(path, before, result.text, look))
        else:
            for finding, repair in result.changes:
                where = style("where", f"{place(path, look)}:{finding.range.line}")
                print(f"{where}: {finding.message}\n    {style('good', repair.title)}")
        if options.write:
            write(path, result.text)
    left = [(path, finding) for path, _, result in results for finding in result.left]
    if not options.diff:
        for path, finding in left:
            print(_remaining(path, finding, look))
    repairs = sum(len(result.changes) for _, _, result in changed)
    stream = sys.stderr if options.diff else sys.stdout
    print(_closing(repairs, len(changed), len(left), options.write), file=stream)
    if options.write:
        return 1 if left else 2 if failed and not results else 0
    return 1 if left or changed else 2 if failed and not results else 0


def _remaining(path: str, finding: Finding, look: Look) -> str:
    where = look.style("where", f"{place(path, look)}:{finding.range.line}")
    return f"{where}: {finding.message}\n    {look.style('warning', 'no repair is certain')}"


def _closing(repairs: int, files: int, left: int, written: bool) -> str:
    if not repairs and not left:
        return "grounded: nothing to repair"
    verb = "applied" if written else "to apply"
    text = f"{counted(repairs, 'repair')} {verb} in {counted(files, 'file')}"
    if left:
        text += f", {counted(left, 'finding')} left: `callground check --explain FILE:LINE` shows what may be meant"
    if repairs and not written:
        text += " (`--write` writes, `--diff` shows the lines)"
    return text


def _diff(path: str, before: str, after: str, look: Look) -> str:
    shown = place(path, look).replace(os.sep, "/")
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{shown}", f"b/{shown}", lineterm="\n")
    out = []
    for line in lines:
        out.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(out)


def _lines(text: str) -> list[str]:
    # Split as patch tools do: at line feeds alone.
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def write(path: str, text: str) -> None:
    """Put a text in the place of a file's, in the file's encoding; all of it or nothing."""
    with open(path, "rb") as file:
        data = file.read()
    encoded = text.encode(decode(data).encoding)
    if data.startswith(codecs.BOM_UTF8):
        encoded = codecs.BOM_UTF8 + encoded
    real = os.path.realpath(path)
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(real), prefix=".callground-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(encoded)
        os.chmod(temporary, os.stat(real).st_mode & 0o7777)
        os.replace(temporary, real)
    except BaseException:
        os.unlink(temporary)
        raise
