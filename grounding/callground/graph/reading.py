"""From a path to a read file: bytes, text, facts, the by-name extract; from the store where it has them."""

from __future__ import annotations

import hashlib
import os

from callground.facts.extract import extract_module
from callground.facts.live import LiveModule
from callground.facts.model import ModuleFacts
from callground.graph.indexes import FileIndex, index_of
from callground.graph.interface import SourceFile
from callground.source.decode import decode
from callground.source.pieces import normalized
from callground.verdict.model import Key

Signature = tuple[int, int, int]
"""Modification time in nanoseconds, size, inode."""


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
    """Reads files, through the store."""

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder
        self.shared = False

    def read(self, path: str, *, is_stub: bool = False) -> SourceFile:
        """Read and understand a file.  One that cannot be read has no text, and its facts say why."""
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except (OSError, ValueError):
            return SourceFile(path, "", _nothing("not-text"), "", is_stub)
        digest = content_digest(data)
        decoded = decode(data)
        if decoded.error is not None:
            return SourceFile(path, "", _nothing(decoded.error), digest, is_stub)
        text = decoded.text
        return SourceFile(path, normalized(text), extract_module(text, decoded.encoding), digest, is_stub)

    def document(self, path: str, text: str, before: LiveModule | None) -> tuple[SourceFile, LiveModule]:
        """An open document's text; what an edit has not touched is taken from `before`."""
        live = before.edit(text) if before is not None else LiveModule.from_text(text)
        digest = content_digest(text.encode("utf-8", "surrogatepass"))
        return SourceFile(path, normalized(text), live.facts, digest, path.endswith(".pyi")), live

    def text(self, path: str, text: str, *, is_stub: bool) -> SourceFile:
        """A text that is no file."""
        digest = content_digest(text.encode("utf-8", "surrogatepass"))
        return SourceFile(path, normalized(text), extract_module(text), digest, is_stub)

    def stored(self, path: str, digest: str) -> SourceFile | None:
        """What the store has of an earlier version of a file, without its text."""
        return None

    def index(self, file: SourceFile) -> FileIndex:
        """The by-name extract of a read file."""
        return index_of(file.facts)

    def stored_index(self, digest: str) -> FileIndex | None:
        """The by-name extract of a version of a file, if the store has it."""
        return None

    def prepare(self, path: str) -> tuple[str, str | None]:
        """Put a file's facts into the store; its digest and what is wrong with it."""
        file = self.read(path)
        return file.digest, file.facts.error

    def close(self) -> None:
        """Close the store."""


def _nothing(error: str) -> ModuleFacts:
    return ModuleFacts((), (), "utf-8", error)


def changed_keys(module: str, old: ModuleFacts, new: ModuleFacts) -> set[Key]:
    """Placeholder until the facts room has it."""
    return {("module", module)}
