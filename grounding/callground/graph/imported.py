"""Which packages the workspace imports, and which of them are there: a wrong environment lacks many at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from callground.graph.interface import SourceFile
from callground.graph.snapshot import Snapshot, importers

MANY = 5
"""So many packages that are missing at once are no slips of the code."""
_PART = 5
"""A wrong environment shows in a good part of the files: one in so many, at least, imports what is missing."""
_LOOKED_AT = 8
"""Files in which a plain import of a missing package is looked for."""


class Imported(NamedTuple):
    """Top-level packages from outside that files of the workspace import."""

    missing: tuple[str, ...]
    """Not in the environment, though a file imports them outside of every condition and function."""
    present: tuple[str, ...]


def imported_packages(snapshot: Snapshot, load: Callable[[str], None]) -> Imported:
    """The packages that the files on disk import; `load` reads a file of the workspace."""
    finder = snapshot.space.finder
    files_of = importers(snapshot.postings, snapshot.files)
    absent: list[str] = []
    present: list[str] = []
    for name in sorted(files_of):
        found = finder.locate(name)
        if found is None:
            if finder.import_open(name) is None:
                absent.append(name)
        elif found.origin == "third-party":
            present.append(name)
    declares = any(snapshot.declared(name) for name in files_of)
    if declares:
        # What a project does not even declare may be invented: that says nothing about its environment.
        absent = [name for name in absent if snapshot.declared(name)]
    if len(absent) < MANY:
        return Imported((), tuple(present))
    missing = []
    for name in absent:
        for path in sorted(files_of[name])[:_LOOKED_AT]:
            load(path)
            file = snapshot.file(path)
            if file is not None and _plainly(file, name):
                missing.append(name)
                break
    affected = {path for name in missing for path in files_of[name]}
    if len(affected) * _PART < len(snapshot.files.disk):
        missing = []
    return Imported(tuple(missing), tuple(present))


def why_doubtful(imported: Imported) -> str | None:
    """Why the environment is probably not the one that the code is written for; None where nothing says so."""
    missing, present = imported
    if len(missing) < MANY or len(missing) < len(present):
        return None
    shown = ", ".join(missing[:3])
    number = len(missing) + len(present)
    return f"{len(missing)} of the {number} packages that the code imports are not in it: {shown}, ..."


class Doubts:
    """`why_doubtful` of a workspace, worked out again when its files or its environment change."""

    def __init__(self) -> None:
        self._key: tuple[object, object] = (None, None)
        self._why: str | None = None

    def of(self, snapshot: Snapshot, load: Callable[[str], None]) -> str | None:
        """The reason for a snapshot whose index is complete."""
        if self._key[0] is not snapshot.files.disk or self._key[1] is not snapshot.space:
            self._key = (snapshot.files.disk, snapshot.space)
            self._why = why_doubtful(imported_packages(snapshot, load))
        return self._why


def _plainly(file: SourceFile, name: str) -> bool:
    return any(
        b.kind in ("import", "from", "star") and not b.guards and (b.value or "").split(".")[0] == name
        for piece in file.facts.pieces
        for b in piece.bindings
    )
