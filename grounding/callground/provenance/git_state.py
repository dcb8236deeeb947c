"""Has git been at work?  Told from its files, without starting it.

A branch that is switched, a rebase, a stash: they write files, and what they write is nobody's news.  A
commit writes none.  So what HEAD's log says since the last look decides, with the stash and the index.
"""

from __future__ import annotations

import os
from typing import NamedTuple

_READ = 64 * 1024
WRITES = (
    "checkout",
    "rebase",
    "reset",
    "merge",
    "pull",
    "cherry-pick",
    "revert",
    "am",
    "clone",
    "commit (merge)",
    "commit (cherry-pick)",
    "Branch: renamed",
)
"""Beginnings of the messages of what writes files."""
SLACK = 1.0
"""Seconds by which the time of a file and that of git's own files may differ."""


class GitState(NamedTuple):
    """What git's files said at one moment."""

    folder: str
    """Git's folder of the work tree; ``""`` where there is none."""
    common: str
    head: str
    log_size: int
    stash: tuple[int, int]
    staged: tuple[int, int]

    @property
    def busy(self) -> bool:
        """A git command is at work right now."""
        return bool(self.folder) and any(
            os.path.lexists(os.path.join(self.folder, name)) for name in ("index.lock", "HEAD.lock")
        )


class Moves(NamedTuple):
    """What git did between two looks."""

    wrote: bool
    """HEAD or the stash moved by something that writes files."""
    staged: bool
    """Only the index has changed: files were staged, or brought back from it."""
    head: bool
    """HEAD is another commit, by whatever way."""


NOTHING = Moves(False, False, False)


def look(root: str) -> GitState:
    """The state of the repository that a folder lies in."""
    folder = find_git(root)
    if not folder:
        return GitState("", "", "", 0, (0, 0), (0, 0))
    common = folder
    try:
        with open(os.path.join(folder, "commondir"), encoding="utf-8") as file:
            common = os.path.normpath(os.path.join(folder, file.read().strip()))
    except (OSError, UnicodeDecodeError):
        common = folder
    return GitState(
        folder,
        common,
        _head(folder, common),
        _signature(os.path.join(folder, "logs", "HEAD"))[1],
        # Written anew with each stash, and gone with the last one.
        _signature(os.path.join(common, "logs", "refs", "stash")),
        _signature(os.path.join(folder, "index")),
    )


def moves(before: GitState, now: GitState) -> Moves:
    """What git did between two looks at the same repository."""
    if not now.folder or before.folder != now.folder:
        return NOTHING
    head = before.head != now.head or before.log_size != now.log_size
    wrote = before.stash != now.stash
    if head:
        messages = _log(now, before.log_size)
        # Without a log nothing tells what moved it.
        wrote = wrote or not messages or any(message.startswith(WRITES) for message in messages)
    return Moves(wrote, not wrote and not head and before.staged != now.staged, head)


def find_git(root: str) -> str:
    """Git's folder for a work tree, from a folder inside of it; ``""`` where there is none."""
    folder = os.path.abspath(root)
    while True:
        place = os.path.join(folder, ".git")
        if os.path.isdir(place):
            return place
        if os.path.isfile(place):
            try:
                with open(place, encoding="utf-8") as file:
                    text = file.read(4096).strip()
            except (OSError, UnicodeDecodeError):
                return ""
            target = text.removeprefix("gitdir:").strip()
            return os.path.normpath(os.path.join(folder, target)) if target != text else ""
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def _head(folder: str, common: str) -> str:
    head = _small(os.path.join(folder, "HEAD"))
    if not head.startswith("ref:"):
        return head
    name = head.removeprefix("ref:").strip()
    for place in (folder, common):
        commit = _small(os.path.join(place, *name.split("/")))
        if commit:
            return f"{name} {commit}"
    for line in _small(os.path.join(common, "packed-refs"), 4 * 1024 * 1024).splitlines():
        if line.endswith(f" {name}"):
            return f"{name} {line.partition(' ')[0]}"
    return name


def _log(state: GitState, since: int) -> list[str]:
    """The messages that HEAD's log has got since it had a size; empty where there is no log."""
    try:
        with open(os.path.join(state.folder, "logs", "HEAD"), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if since <= 0 or since > size:
                since = max(0, size - 4096)
            file.seek(since)
            data = file.read(_READ)
    except OSError:
        return []
    lines = data.decode("utf-8", "replace").splitlines()
    return [line.partition("\t")[2] for line in lines if "\t" in line]


def _small(path: str, most: int = _READ) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(most).strip()
    except OSError:
        return ""


def _signature(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
