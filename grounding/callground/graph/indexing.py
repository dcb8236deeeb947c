"""The first index of a workspace: every file's by-name extract, from the store or from a child process."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from callground.environment.newer_syntax import newer_of
from callground.graph.changes import Progress, never
from callground.graph.index_process import Child, ChildDied, NoChild
from callground.graph.indexes import FileIndex
from callground.graph.reading import Signature, signature_of

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
    signature: Signature
    extract: FileIndex


def index_workspace(
    workspace: Workspace,
    progress: Progress | None = None,
    *,
    processes: bool | None = None,
    stop: Callable[[], bool] = never,
) -> bool:
    """Index the files that are not indexed yet; False when `stop` ended it early.

    What the store knows comes first: after that a file that a question needs is rarely a new one.
    """
    total = len(workspace.paths())
    batch: list[Indexed] = []
    cold: list[str] = []
    done = 0

    def step(seen: Indexed | None) -> None:
        nonlocal done, batch
        done += 1
        if seen is not None:
            batch.append(seen)
        if len(batch) >= BATCH:
            workspace.enter(batch)
            batch = []
        if progress is not None:
            progress("indexing", done, total)

    if progress is not None:
        progress("indexing", 0, total)
    for path in workspace.paths():
        if stop():
            return False
        signature = signature_of(path)
        entry = workspace.files.disk.get(path)
        if signature is None or (entry is not None and entry.signature == signature):
            step(None)
            continue
        known = _stored(workspace, path, signature)
        if known is None:
            cold.append(path)
        else:
            step(known)
    for seen in _cold(workspace, cold, processes, stop):
        step(seen)
        if stop():
            return False
    workspace.enter(batch)
    return True


def _stored(workspace: Workspace, path: str, signature: Signature) -> Indexed | None:
    digest = workspace.reader.digest_of(path)
    extract = workspace.reader.stored_index(digest) if digest else None
    return Indexed(path, digest, signature, extract) if extract is not None else None


def _cold(
    workspace: Workspace, paths: Sequence[str], processes: bool | None, stop: Callable[[], bool]
) -> Iterator[Indexed | None]:
    """Files that the store does not know."""
    if processes is None:
        processes = _size(paths) >= PROCESS_FROM
    if processes and paths and workspace.reader.shared:
        yield from _by_child(workspace, paths, stop)
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
    extract = workspace.reader.index(file)
    workspace.reader.keep_index(file.digest, extract)
    return Indexed(path, file.digest, signature, extract)


def _by_child(workspace: Workspace, paths: Sequence[str], stop: Callable[[], bool]) -> Iterator[Indexed | None]:
    """Let a child read and parse; it leaves the results in the store and says under which digest.

    A file at which the child dies twice is given up; a child that cannot be started is done without.
    """
    child = Child(workspace.reader.folder, newer_of(workspace.environment))
    deaths: dict[str, int] = {}
    pending = deque(paths)
    try:
        while pending and not stop():
            try:
                for path, digest in child.index(tuple(pending), stop):
                    signature = signature_of(path)
                    extract = workspace.reader.stored_index(digest) if digest else None
                    pending.popleft()
                    if extract is not None and signature is not None:
                        yield Indexed(path, digest, signature, extract)
                    else:
                        yield index_here(workspace, path)
            except NoChild as reason:
                logger.warning("indexing goes on without a process of its own: %s", reason)
                for path in pending:
                    # Whatever may have ended the child must not end this process.
                    yield index_here(workspace, path) if path not in deaths else None
                return
            except ChildDied as death:
                culprit = pending[0]
                deaths[culprit] = deaths.get(culprit, 0) + 1
                logger.warning("the index process ended at %s: %s", os.path.basename(culprit), death)
                if deaths[culprit] > 1:
                    workspace.errors[culprit] = "the parser died"
                    pending.popleft()
                    yield None
    finally:
        child.close()
