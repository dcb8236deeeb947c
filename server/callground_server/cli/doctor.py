"""``callground doctor``: which environment would be used and why, and what callground itself runs on."""

from __future__ import annotations

import argparse
import importlib.metadata
import shutil
import subprocess
import sys
from collections.abc import Iterator

from callground import __version__
from callground.session import Session
from callground_server.cli.style import Style, style_for

# Each with what is lost without it.
_PACKAGES = {
    "pygls": "no language server",
    "lsprotocol": "no language server",
    "typeshed-client": "no types of the standard library",
    "jedi": "fewer calls are understood",
    "parso": "less is understood at the cursor of half-typed code",
    "pathspec": ".gitignore and `exclude` are not honoured",
}


def run_doctor(options: argparse.Namespace) -> int:
    """Print the diagnosis; always a success, for it is an answer."""
    style = style_for(sys.stdout)
    with Session.open(options.root, python=options.python, trusted=not options.untrusted) as session:
        for title, lines in _sections(session):
            for number, line in enumerate(lines):
                print(_painted(style, f"{title if number == 0 else '':12}", line))
    return 0


def _painted(style: Style, title: str, line: str) -> str:
    return f"{style('bold', title)} {line}"


def _sections(session: Session) -> Iterator[tuple[str, list[str]]]:
    environment = session.environment
    yield "callground", [f"{__version__}, on Python {sys.version.split()[0]} ({sys.executable})"]
    yield "workspace", [session.root]
    problems = [f"problem: {problem}" for problem in session.problems]
    yield "settings", [*(_settings(session) or ["the defaults"]), *problems]
    python = environment.python or "no interpreter"
    lines = [f"Python {environment.version_text} for {environment.platform}: {python}"]
    if environment.how:
        lines.append(f"chosen: {environment.how}")
    lines.append("trusted: it may be started" if environment.trusted else "untrusted: it is never started")
    if environment.doubtful:
        lines.append(f"doubtful: {environment.doubtful}")
    lines.extend(f"notice: {notice}" for notice in environment.notices)
    lines.extend(f"{entry.kind}: {entry.path}" for entry in environment.search)
    lines.extend(f"open: {each.reason}" for each in environment.open_imports)
    yield "environment", lines
    selection = session.select()
    yield (
        "files",
        [
            f"{len(selection.targets)} Python files would be checked",
            *(f"not readable: {error.path}: {error.reason}" for error in selection.errors),
        ],
    )
    yield "packages", [_package(name, loss) for name, loss in _PACKAGES.items()]
    yield "git", [_git()]


def _settings(session: Session) -> list[str]:
    config = session.config
    shown = {
        "scope": config.scope,
        "python": config.python,
        "exclude": list(config.exclude),
        "roots": list(config.roots),
        "severity": dict(config.severity),
        "ignore-names": list(config.ignore_names),
        "per-file-ignores": {pattern: list(codes) for pattern, codes in config.per_file_ignores},
    }
    return [f"{key} = {value!r}" for key, value in shown.items() if value]


def _package(name: str, loss: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(name)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{name} is not installed: {loss}"


def _git() -> str:
    git = shutil.which("git")
    if git is None:
        return "not installed: --since and --scope changed do not work"
    try:
        done = subprocess.run([git, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{git} does not answer: {error}"
    return done.stdout.strip() or f"{git} does not answer"
