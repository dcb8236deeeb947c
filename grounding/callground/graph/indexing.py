"""The first index of a workspace: every file's by-name extract, from the store or from a child process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from callground.graph.changes import Progress, never
from callground.graph.index_process import Child, ChildDied, NoChild
from callground.graph.indexes import FileIndex
from callground.graph.reading import signature_of

if TYPE_CHECKING:
    from callground.graph.workspace import Workspace

logger = logging.getLogger(__name__)

PROCESS_FROM = 3_000_000
"""Bytes of unknown files from which on a child process is worth its start."""
BATCH = 48
"""Files that are entered together: each batch copies the file table."""


class Indexed(NamedTuple):
    """One file, seen."""

    path: str
    digest: str
    signature: tuple[int, int, int]
    extract: FileIndex
    error: str | None


def index_workspace(
    workspace: Workspace,
    progress: Progress | None = None,
    *,
    processes: bool | None = None,
    stop: Callable[[], bool] = never,
) -> bool:
    """Index the files that are not indexed yet; False when `stop` ended it early."""
    paths = [path for path in workspace.paths() if _is_unknown(workspace, path)]
    total = len(paths)
    if progress is not None:
        progress("indexing", 0, total)
    batch: list[Indexed] = []
    for done, seen in enumerate(_indexed(workspace, paths, processes, stop), 1):
        if seen is not None:
            batch.append(seen)
        if len(batch) >= BATCH:
            workspace.enter(batch)
            batch = []
        if progress is not None:
            progress("indexing", done, total)
        if stop():
            return False
    workspace.enter(batch)
    return not stop()


def _is_unknown(workspace: Workspace, path: str) -> bool:
    entry = workspace.files.disk.get(path)
    return entry is None or entry.signature != signature_of(path)


def _indexed(
    workspace: Workspace, paths: Sequence[str], processes: bool | None, stop: Callable[[], bool]
) -> Iterator[Indexed | None]:
    if processes is None:
        processes = _size(paths) >= PROCESS_FROM
    if processes and workspace.reader.shared:
        yield from _by_child(workspace, list(paths), stop)
        return
    for path in paths:
        yield index_here(workspace, path)


def _size(paths: Sequence[str]) -> int:
    size = 0
    for path in paths:
        signature = signature_of(path)
        size += signature[1] if signature is not None else 0
        if size >= PROCESS_FROM:
            break
    return size


def index_here(workspace: Workspace, path: str) -> Indexed | None:
    """Index one file in this process."""
    signature = signature_of(path)
    if signature is None:
        return None
    file = workspace.reader.read(path, is_stub=path.endswith(".pyi"))
    return Indexed(path, file.digest, signature, workspace.reader.index(file), file.facts.error)


def _by_child(workspace: Workspace, paths: list[str], stop: Callable[[], bool]) -> Iterator[Indexed | None]:
    """Let a child read and parse; it leaves the results in the store and says under which digest.

    A file at which the child dies twice is given up; a child that cannot be started is done without.
    """
    child = Child(workspace.reader.folder)
    deaths: dict[str, int] = {}
    pending = paths
    try:
        while pending and not stop():
            try:
                for path, digest, signature, error in child.index(pending, stop):
                    seen = None
                    if signature is not None:
                        index = workspace.reader.stored_index(digest)
                        seen = (
                            Indexed(path, digest, signature, index, error)
                            if index is not None
                            else index_here(workspace, path)
                        )
                    pending = pending[1:]
                    yield seen
            except NoChild as reason:
                logger.warning("indexing goes on without a process of its own: %s", reason)
                for path in pending:
                    # Whatever may have ended the child must not end this process.
                    yield index_here(workspace, path) if path not in deaths else None
                return
            except ChildDied as death:
                culprit = pending[0]
                deaths[culprit] = deaths.get(culprit, 0) + 1
                logger.warning("the index process ended at %s: %s", culprit, death)
                if deaths[culprit] > 1:
                    workspace.errors[culprit] = "the parser died"
                    pending = pending[1:]
                    yield None
    finally:
        child.close()
