"""The immutable tables that a snapshot is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from callground.facts.live import LiveModule
from callground.graph.indexes import FileIndex, absolute_import, with_parents
from callground.graph.interface import SourceFile


@dataclass(frozen=True, eq=False)
class FileEntry:
    """One version of one workspace file, as the indexes know it.

    The facts themselves live in the loader's cache or in the store: a large workspace does not keep them.
    """

    uid: int
    path: str
    module: str | None
    is_package: bool
    digest: str
    signature: tuple[int, int, int]
    """Modification time in nanoseconds, size, inode: equal means not changed on disk."""
    error: str | None = None
    """Why the file could not be read or parsed, else None."""


@dataclass(frozen=True, eq=False)
class OpenFile:
    """One version of one open (or supposed) document; lies over the file of the same path."""

    entry: FileEntry
    file: SourceFile
    index: FileIndex
    imports: frozenset[str]
    """Absolute names, with their parents."""
    live: LiveModule
    """What the next version of the document starts from."""


def absolute_imports(index: FileIndex, module: str | None, is_package: bool) -> frozenset[str]:
    """What `index.imports` names from inside `module`, each with its parents."""
    found: set[str] = set()
    for written in index.imports:
        dotted = absolute_import(written, module, is_package)
        if dotted is not None:
            found.update(with_parents(dotted))
    return frozenset(found)


class Files:
    """Path -> file version: a table of files on disk and a small overlay of documents.

    Neither mapping is ever changed once it is in here: the owner replaces them.
    """

    __slots__ = ("disk", "open")

    def __init__(self, disk: Mapping[str, FileEntry], open_: Mapping[str, OpenFile | None]) -> None:
        self.disk = disk
        self.open = open_
        """None hides the file on disk: it is supposed not to exist."""

    def entry(self, path: str) -> FileEntry | None:
        """The current version of a path."""
        if path in self.open:
            document = self.open[path]
            return document.entry if document is not None else None
        return self.disk.get(path)

    def on_disk(self, path: str | None, uid: int) -> FileEntry | None:
        """The disk file of that version, if it is the current one and no document lies over it."""
        if path is None or path in self.open:
            return None
        entry = self.disk.get(path)
        return entry if entry is not None and entry.uid == uid else None

    def documents(self) -> Iterator[OpenFile]:
        """Every open or supposed document."""
        for document in self.open.values():
            if document is not None:
                yield document

    def with_open(self, changes: Mapping[str, OpenFile | None]) -> Files:
        """The same files with other documents on top."""
        return Files(self.disk, {**self.open, **changes})
