"""From a path to a read file: bytes, text, facts, the by-name extract; from the store where it has them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

from callground.facts.extract import extract_module
from callground.facts.model import ModuleFacts
from callground.graph.indexes import FileIndex, index_of
from callground.graph.interface import SourceFile
from callground.verdict.model import Key

Signature = tuple[int, int, int]


def signature_of(path: str) -> Signature | None:
    """What tells cheaply that a file has changed; None when there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def content_digest(data: bytes) -> str:
    """The digest of a file's bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class Reader:
    """Reads files."""

    def __init__(self, folder: str | None = None, *, eager: bool = False) -> None:
        self.folder = folder
        self.shared = False
        self._indexes: dict[str, FileIndex] = {}

    def read(self, path: str, *, is_stub: bool = False) -> SourceFile:
        """Read and understand a file.  One that cannot be read has no text, and its facts say why."""
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except (OSError, ValueError):
            return SourceFile(path, "", ModuleFacts((), (), "utf-8", "not-text"), "", is_stub)
        text = data.decode("utf-8", "replace")
        return SourceFile(
            path,
            text.replace("\r\n", "\n").replace("\r", "\n"),
            extract_module(text),
            content_digest(data),
            is_stub,
        )

    def document(self, path: str, text: str, before: SourceFile | None) -> SourceFile:
        """An open document's text."""
        data = text.encode("utf-8", "surrogatepass")
        return SourceFile(
            path,
            text.replace("\r\n", "\n").replace("\r", "\n"),
            extract_module(text),
            content_digest(data),
            path.endswith(".pyi"),
        )

    def text(self, path: str, text: str, *, is_stub: bool) -> SourceFile:
        """A text that is no file."""
        return SourceFile(path, text, extract_module(text), content_digest(text.encode()), is_stub)

    def stored(self, path: str, digest: str) -> SourceFile | None:
        """What the store has of an earlier version of a file, without its text."""
        return None

    def index(self, file: SourceFile) -> FileIndex:
        """The by-name extract of a read file."""
        found = self._indexes.get(file.digest)
        if found is None:
            found = index_of(file.facts)
        return found

    def stored_index(self, digest: str) -> FileIndex | None:
        return None

    def prepare(self, path: str) -> tuple[str, str | None]:
        """Put a file's facts into the store; its digest and what is wrong with it."""
        file = self.read(path)
        return file.digest, file.facts.error

    def close(self) -> None:
        """Close the store."""


def changed_keys(module: str, old: ModuleFacts, new: ModuleFacts) -> set[Key]:
    return {("module", module)}


__all__ = ["Iterable", "Reader"]
