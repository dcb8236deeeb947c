"""The loading loop: ask, load what is missing, ask again.

The evaluator does no I/O; terminal, editor and gate all go through here, so that they give the same verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from callground.graph.changes import never
from callground.graph.interface import INDEX, NotLoaded, SourceFile
from callground.graph.snapshot import Snapshot
from callground.resolve.evaluator import Evaluator
from callground.resolve.memo import Memo
from callground.verdict.model import Verdict
from callground.verdict.verify import Site, judge, plan

if TYPE_CHECKING:
    from callground.graph.workspace import Workspace

MAX_LOADS = 400
"""Modules that one call site may ask for before it is abstained on as not loaded."""

Lines = Sequence[tuple[int, int]]
"""(first, last) line, 1-based and inclusive."""


class Stopped(Exception):
    """The caller has lost interest."""


def verify_with_loading(
    text: str | None,
    path: str,
    workspace: Workspace,
    ranges: Lines | None = None,
    *,
    stop: Callable[[], bool] = never,
) -> list[Verdict]:
    """Judge the calls of one file, loading every module that a verdict needs.

    `text` stands for the content of the file when it is not None.  `ranges` are lines (first, last):
    only sites that touch them are judged.  Raises Stopped when `stop()` says so between two sites.
    """
    snapshot = workspace.snapshot()
    memo = workspace.memo
    if text is not None and not snapshot.has_text(path, text):
        snapshot = snapshot.with_overlay({path: text})
        # What is only supposed must not be remembered as if it were so.
        memo = Memo()
    return verify_snapshot(path, snapshot, memo, ranges, stop=stop)


def verify_snapshot(
    path: str,
    snapshot: Snapshot,
    memo: Memo | None = None,
    ranges: Lines | None = None,
    *,
    stop: Callable[[], bool] = never,
) -> list[Verdict]:
    """Judge the calls of one file as a snapshot shows it."""
    with snapshot.space.contents.pinned():
        sites = planned(path, snapshot)
        if ranges is not None:
            sites = [site for site in sites if _touches(site, ranges)]
        return judge_sites(sites, snapshot, memo, stop=stop)


def planned(path: str, snapshot: Snapshot, pieces: Collection[int] | None = None) -> list[Site]:
    """The call sites and references of a file (or of some of its pieces), its text loaded if need be."""
    file = loaded(path, snapshot)
    return plan(file.text, path, snapshot, pieces) if file is not None else []


def loaded(path: str, snapshot: Snapshot) -> SourceFile | None:
    """A file of the workspace, read if need be; None when there is none (or it changes all the time)."""
    asked: set[str] = set()
    while True:
        try:
            # Both names of a file, since `plan` asks for it by the one that imports use.
            snapshot.module(snapshot.module_of_path(path) or path)
            return snapshot.file(path)
        except NotLoaded as missing:
            if missing.module in asked:
                return None
            asked.add(missing.module)
            snapshot.space.load(missing.module)


def judge_sites(
    sites: Iterable[Site],
    snapshot: Snapshot,
    memo: Memo | None = None,
    *,
    stop: Callable[[], bool] = never,
) -> list[Verdict]:
    """Judge these sites, loading what they need."""
    evaluator = Evaluator(snapshot, memo)
    evaluator.raise_not_loaded = True
    verdicts: list[Verdict] = []
    for site in sites:
        if stop():
            raise Stopped
        verdicts.append(_judge(site, evaluator, snapshot))
    return verdicts


def _judge(site: Site, evaluator: Evaluator, snapshot: Snapshot) -> Verdict:
    asked: set[str] = set()
    while len(asked) < MAX_LOADS:
        try:
            return judge(site, evaluator)
        except NotLoaded as missing:
            if missing.module in asked or missing.module == INDEX:
                break
            asked.add(missing.module)
            snapshot.space.load(missing.module)
    # Loading did not help (the file changed under us, or there is no end to it): an abstention.
    evaluator.raise_not_loaded = False
    try:
        return judge(site, evaluator)
    finally:
        evaluator.raise_not_loaded = True


def _touches(site: Site, ranges: Lines) -> bool:
    return any(first <= site.range.end_line and site.range.line <= last for first, last in ranges)
