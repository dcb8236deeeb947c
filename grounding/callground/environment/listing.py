"""Folder listings, cached until the folder changes.  The only place that looks at folders for the finder."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Iterable
from typing import NamedTuple

# A folder that changed this short a time before it was listed may change again without a new
# modification time (file systems count in ticks): such a listing is read again on `refresh`.
_RACY_NS = 50_000_000


class Listing(NamedTuple):
    """The names in one folder, split by kind (links followed)."""

    files: frozenset[str]
    folders: frozenset[str]
    extensions: tuple[tuple[str, str, str], ...] = ()
    """Compiled modules: (module name, tag such as ``cpython-311-x86_64-linux-gnu`` or empty, file name)."""


_EMPTY = Listing(frozenset(), frozenset())


def listing_of(files: Iterable[str], folders: Iterable[str]) -> Listing:
    """A listing out of names."""
    files = frozenset(files)
    extensions = []
    for name in files:
        if name.endswith((".so", ".pyd")):
            stem, _, rest = name.partition(".")
            extensions.append((stem, rest.rpartition(".")[0], name))
    return Listing(files, frozenset(folders), tuple(sorted(extensions)))


Mark = tuple[int, int, int]
"""(modification time in ns, inode, number of links) of a folder, zeros when it is not there."""


def mark_of(path: str) -> Mark:
    """What `path` looks like from outside: one ``stat``."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_ino, status.st_nlink)


class Listings:
    """A cache of folder listings; folders inside zip files are known too."""

    def __init__(self) -> None:
        self._cached: dict[str, tuple[Listing, Mark, bool]] = {}
        self._zips: dict[str, tuple[frozenset[str], Mark]] = {}

    def entries(self, folder: str) -> Listing:
        """What `folder` holds; empty when it cannot be read."""
        known = self._cached.get(folder)
        if known is None:
            known = self._cached[folder] = self._read(folder)
        return known[0]

    def _read(self, folder: str) -> tuple[Listing, Mark, bool]:
        mark = mark_of(folder)
        racy = time.time_ns() - mark[0] < _RACY_NS
        files: list[str] = []
        folders: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    try:
                        is_folder = entry.is_dir()
                    except OSError:
                        continue
                    (folders if is_folder else files).append(entry.name)
        except (OSError, ValueError):
            return _EMPTY, mark, racy
        return listing_of(files, folders), mark, racy

    def list_zip(self, archive: str, inner: str) -> Listing:
        """What the folder `inner` (with ``/``, empty for the top) of a zip file holds."""
        prefix = inner.strip("/") + "/" if inner.strip("/") else ""
        files: set[str] = set()
        folders: set[str] = set()
        for name in self.zip_names(archive) or ():
            if name.startswith(prefix):
                head, slash, _ = name[len(prefix) :].partition("/")
                if head:
                    (folders if slash else files).add(head)
        return listing_of(files, folders)

    def zip_names(self, path: str) -> frozenset[str] | None:
        """Names of all members of the zip file `path`; None when it is none."""
        mark = mark_of(path)
        known = self._zips.get(path)
        if known is not None and known[1] == mark:
            return known[0]
        try:
            with zipfile.ZipFile(path) as archive:
                names = frozenset(archive.namelist())
        except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
            return None
        self._zips[path] = (names, mark)
        return names

    def refresh(self) -> bool:
        """Forget each listing whose folder changed; whether there was one."""
        changed = False
        for folder, (listing, mark, racy) in list(self._cached.items()):
            if mark_of(folder) != mark:
                del self._cached[folder]
                changed = True
            elif racy:
                fresh = self._read(folder)
                self._cached[folder] = fresh
                changed = changed or fresh[0] != listing
        for path, (_, mark) in list(self._zips.items()):
            if mark_of(path) != mark:
                del self._zips[path]
                changed = True
        return changed

    def listed(self) -> list[str]:
        """The folders that have been listed."""
        return list(self._cached)
