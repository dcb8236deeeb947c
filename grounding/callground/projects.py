"""Repositories of several projects: files of a project with an environment of its own are judged in that one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from callground.check import Progress, Target
from callground.session import Session
from callground.verdict.report import FileError, GroundingReport, merge

_MARKS = ("pyproject.toml", "setup.cfg", "setup.py")
_ENVIRONMENTS = (".venv", "venv")


def project_of(path: str, root: str) -> str | None:
    """The nearest folder around a file, below `root`, that is a project and holds a virtual environment.

    None where there is none: then what holds for the root holds for the file.
    """
    folder = os.path.dirname(path)
    border = root.rstrip(os.sep) + os.sep
    while folder.startswith(border):
        if _is_project(folder):
            return folder
        folder = os.path.dirname(folder)
    return None


def _is_project(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name, "pyvenv.cfg")) for name in _ENVIRONMENTS) and any(
        os.path.isfile(os.path.join(folder, mark)) for mark in _MARKS
    )


def by_project(targets: Iterable[Target], root: str) -> dict[str, list[Target]]:
    """The targets by the project that they belong to; those of the workspace as a whole stand under its root."""
    found: dict[str, list[Target]] = {}
    folders: dict[str, str] = {}
    for target in targets:
        folder = os.path.dirname(target.path)
        if folder not in folders:
            folders[folder] = project_of(target.path, root) or root
        found.setdefault(folders[folder], []).append(target)
    return found


def wants_own(session: Session, targets: Sequence[Target]) -> bool:
    """Whether any of the targets is judged in the environment of the workspace itself."""
    return session.chosen or not targets or session.root in by_project(targets, session.root)


def sessions(session: Session, targets: Sequence[Target]) -> Iterator[tuple[Session, list[Target]]]:
    """The session of each project that has targets, the workspace's own first; each is open until the next.

    An interpreter that somebody chose, by the setting or the option, is the one for all.
    """
    groups = {session.root: list(targets)} if session.chosen else by_project(targets, session.root)
    own = groups.pop(session.root, [])
    if own:
        yield session, own
    for root, inside in sorted(groups.items()):
        with session.beside(root) as other:
            yield other, inside


def check_projects(
    session: Session,
    targets: Sequence[Target],
    *,
    errors: Sequence[FileError] = (),
    scope: str = "all",
    progress: Progress | None = None,
) -> GroundingReport:
    """Check each target in its own project's environment; one report about all of them."""
    report = session.check((), errors=errors, scope=scope)
    environments = []
    own = False
    for opened, inside in sessions(session, targets):
        opened.index(progress)
        more = opened.check(inside, scope=scope, progress=progress)
        report = replace(
            report,
            files=merge((*report.files, *more.files)),
            errors=tuple(sorted((*report.errors, *more.errors))),
            remarks=(*report.remarks, *(remark for remark in more.remarks if remark not in report.remarks)),
            environment=more.environment if opened is session else report.environment,
        )
        own = own or opened is session
        if opened is not session and more.environment is not None:
            environments.append((opened.root, more.environment))
    if environments and not own:
        # Nothing was judged in the root's own.
        report = replace(report, environment=environments[0][1])
    return replace(report, projects=tuple(environments))
