"""Small projects on disk, checked as the command line checks them, by the Python that runs the tests."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from callground.config import Config
from callground.session import Session
from callground.verdict.model import Finding, Verdict
from callground.verdict.report import GroundingReport


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Lay files below `root`; indentation that all lines share is taken away."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def check_project(
    root: Path, files: Mapping[str, str], *, cache: Path | None = None, roots: Sequence[str] = ()
) -> GroundingReport:
    """Write the files and check all of them."""
    write_files(root, files)
    with Session.open(
        str(root), python=sys.executable, cache=str(cache) if cache is not None else None, adjust=_with(roots)
    ) as session:
        session.index()
        selection = session.select()
        return session.check(selection.targets, errors=selection.errors)


def findings_of(report: GroundingReport) -> list[tuple[str, int, Finding]]:
    """(file relative to the root, line, finding) of what was proven."""
    entries = report.to_json()
    assert entries["schema"] == 1
    return [
        (Path(entry.path).relative_to(report.root).as_posix(), entry.finding.range.line, entry.finding)
        for entry in report.findings
    ]


def verdicts_of(report: GroundingReport) -> list[tuple[str, Verdict]]:
    """(file relative to the root, verdict) of every site."""
    return [
        (Path(file.path).relative_to(report.root).as_posix(), verdict)
        for file in report.files
        for verdict in file.verdicts
    ]


def _with(roots: Sequence[str]):
    def adjust(config: Config) -> Config:
        from dataclasses import replace

        return replace(config, roots=(*config.roots, *roots)) if roots else config

    return adjust
