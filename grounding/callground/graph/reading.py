"""From a path to a read file: bytes, text, facts, the by-name extract; from the store where it has them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from callground.facts.extract import extract_module
from callground.facts.live import LiveModule
from callground.facts.model import ModuleFacts
from callground.facts.store import Store, content_digest, facts_key
from callground.graph.indexes import INDEX_VERSION, FileIndex, index_from_bytes, index_of, index_to_bytes
from callground.graph.interface import SourceFile
from callground.source.decode import decode
from callground.source.disk import read_file
from callground.source.pieces import normalized

_INDEX, _PROBE = "index", "probe"

AWAY_FROM = 200_000
"""Bytes of a file from which on it is parsed in another process, where there is one."""

Signature = tuple[int, int, int]
"""Modification time in nanoseconds, size, inode."""


def signature_of(path: str) -> Signature | None:
    """What tells cheaply that a file has changed; None when there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)


class Reader:
    """Reads files, through the store.

    `folder` is where the store lies; None for the user's cache directory.
    """

    def __init__(self, folder: str | None = None) -> None:
        self.folder = folder
        self.store = Store(Path(folder) if folder is not None else None)
        self.away: Callable[[str], None] | None = None
        """Has a large file's facts put into the store by another process."""
        self.extracted = 0
        """How many files were parsed, not found in the store: for tests that count work."""

    @property
    def shared(self) -> bool:
        """Whether another process can see what this one puts into the store."""
        return self.store.info().state == "disk"

    def read(self, path: str, *, is_stub: bool = False) -> SourceFile:
        """Read and understand a file.  One that cannot be read has no text, and its facts say why."""
        try:
            data = read_file(path)
        except (OSError, ValueError):
            return SourceFile(path, "", _nothing("not-text"), "", is_stub)
        digest = content_digest(data)
        decoded = decode(data)
        if decoded.error is not None:
            return SourceFile(path, "", _nothing(decoded.error), digest, is_stub)
        facts = self.store.facts(digest)
        if facts is None and self.away is not None and len(data) > AWAY_FROM:
            self.away(path)
            facts = self.store.facts(digest)
        if facts is None:
            facts = self._extract(decoded.text, decoded.encoding, digest)
        return SourceFile(path, normalized(decoded.text), facts, digest, is_stub)

    def _extract(self, text: str, encoding: str, digest: str) -> ModuleFacts:
        self.extracted += 1
        facts = extract_module(text, encoding)
        self.store.put_facts(digest, facts)
        return facts

    def document(self, path: str, text: str, before: LiveModule | None) -> tuple[SourceFile, LiveModule]:
        """An open document's text; what an edit has not touched is taken from `before`."""
        live = before.edit(text) if before is not None else LiveModule.from_text(text)
        digest = content_digest(text)
        return SourceFile(path, normalized(text), live.facts, digest, path.endswith(".pyi")), live

    def text(self, path: str, text: str, *, is_stub: bool) -> SourceFile:
        """A text that is no file."""
        digest = content_digest(text)
        facts = self.store.facts(digest) or self._extract(text, "utf-8", digest)
        return SourceFile(path, normalized(text), facts, digest, is_stub)

    def stored(self, path: str, digest: str) -> SourceFile | None:
        """What the store has of an earlier version of a file, without its text."""
        facts = self.store.facts(digest)
        return SourceFile(path, "", facts, digest, path.endswith(".pyi")) if facts is not None else None

    def index(self, file: SourceFile) -> FileIndex:
        """The by-name extract of a read file."""
        return index_of(file.facts)

    def stored_index(self, digest: str) -> FileIndex | None:
        """The by-name extract of a version of a file, if the store has it."""
        data = self.store.get(_INDEX, _index_key(digest))
        return index_from_bytes(data) if data is not None else None

    def keep_index(self, digest: str, index: FileIndex) -> None:
        """Put the by-name extract of a version of a file into the store."""
        if digest:
            self.store.put(_INDEX, _index_key(digest), index_to_bytes(index))

    def digest_of(self, path: str) -> str:
        """The digest of a file's bytes; empty when it cannot be read."""
        try:
            return content_digest(read_file(path))
        except (OSError, ValueError):
            return ""

    def prepare(self, path: str) -> str:
        """Put a file's facts and its by-name extract into the store; its digest."""
        file = self.read(path)
        self.keep_index(file.digest, index_of(file.facts))
        return file.digest

    def close(self) -> None:
        """Close the store."""
        self.store.close()


class ProbeAnswers:
    """The store as the prober knows it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, key: str) -> str | None:
        """The text kept under `key`."""
        data = self._store.get(_PROBE, key)
        return data.decode("utf-8", "replace") if data is not None else None

    def put(self, key: str, value: str) -> None:
        """Keep a text."""
        self._store.put(_PROBE, key, value.encode("utf-8", "replace"))


def _index_key(digest: str) -> str:
    return f"{facts_key(digest)}:{INDEX_VERSION}"


def _nothing(error: str) -> ModuleFacts:
    return ModuleFacts((), (), "utf-8", error)
