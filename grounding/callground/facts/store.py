"""Facts (and other small results) on disk, shared by every process of the user.

The contract: a key is the digest of everything that its value depends on; any entry may be gone at
any time; whatever goes wrong with the file, the caller gets a miss and the work goes on in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from callground.facts import codec
from callground.facts.cachedir import cache_directory
from callground.facts.model import EXTRACTOR_VERSION, ModuleFacts
from callground.source.parse import newest

FILE_NAME = "store-1.sqlite3"
"""The number is the version of the table; a new one starts a new file."""

DEFAULT_CAP = 512 * 1024 * 1024
"""Bytes of values that are kept; past it the entries that were not used for longest go."""

_FACTS = "facts"
_MEMORY_CAP = 64 * 1024 * 1024
_BATCH_ENTRIES = 64
_BATCH_BYTES = 1024 * 1024
_BUSY_SECONDS = 2.0
_USED_STEP = 3_600
"""Seconds between two notes that an entry was used: reading must not write all the time."""


def content_digest(content: str | bytes) -> str:
    """32 hex digits that stand for the content of a file."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def facts_key(digest: str) -> str:
    """The store's key of the facts of a text: also depends on the extractor and on this Python's parser."""
    newer = newest()
    also = f"+{newer[0]}.{newer[1]}" if newer != sys.version_info[:2] else ""
    return f"{digest}:{EXTRACTOR_VERSION}:{sys.version_info[0]}.{sys.version_info[1]}{also}"


class StoreInfo(NamedTuple):
    """What ``callground cache info`` shows."""

    path: str
    """The file; ``""`` in memory."""
    state: str
    """``disk``, ``temporary`` (the cache folder cannot be used) or ``memory`` (no folder can)."""
    entries: dict[str, int]
    """Number of entries per namespace."""
    value_bytes: int
    file_bytes: int
    cap: int
    trouble: str
    """The last error of the file, ``""`` when there was none."""


class Store:
    """A bounded map from (namespace, key) to bytes.  Safe for threads, and for processes on one file."""

    def __init__(self, folder: Path | None = None, cap: int = DEFAULT_CAP) -> None:
        """Open the store in `folder` (default: the user's cache directory)."""
        self.cap = cap
        self._lock = threading.RLock()
        self._pending: dict[tuple[str, str], bytes] = {}
        self._pending_bytes = 0
        self._memory: dict[tuple[str, str], bytes] = {}
        self._memory_bytes = 0
        self._used: set[tuple[str, str]] = set()
        self._written = 0
        self._connection: sqlite3.Connection | None = None
        self._temporary: Path | None = None
        self.path: Path | None = None
        self.trouble = ""
        self._open(folder)

    # -- facts -----------------------------------------------------------------------------------

    def facts(self, digest: str) -> ModuleFacts | None:
        """The facts of a text with that content digest, or None."""
        key = facts_key(digest)
        data = self.get(_FACTS, key)
        if data is None:
            return None
        try:
            return codec.decode(data)
        except ValueError as error:
            self.trouble = f"an entry was dropped: {error}"
            self.remove(_FACTS, key)
            return None

    def put_facts(self, digest: str, facts: ModuleFacts) -> None:
        """Keep the facts of the text with that content digest."""
        self.put(_FACTS, facts_key(digest), codec.encode(facts))

    # -- any value -------------------------------------------------------------------------------

    def get_json(self, namespace: str, key: str) -> Any:
        """A value that `put_json` kept, or None."""
        data = self.get(namespace, key)
        if data is None:
            return None
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            self.remove(namespace, key)
            return None

    def put_json(self, namespace: str, key: str, value: Any) -> None:
        """Keep a value that JSON can hold.  Raises TypeError or ValueError for any other."""
        self.put(namespace, key, json.dumps(value, separators=(",", ":")).encode("ascii"))

    def get(self, namespace: str, key: str) -> bytes | None:
        """The bytes of an entry, or None."""
        place = (namespace, key)
        with self._lock:
            data = self._pending.get(place) or self._memory.get(place)
            if data is not None:
                return data
            with self._guarded() as connection:
                if connection is None:
                    return None
                row = connection.execute(
                    "SELECT value, used FROM entries WHERE namespace = ? AND key = ?", place
                ).fetchone()
                if row is None:
                    return None
                if row[1] < time.time() - _USED_STEP:
                    self._used.add(place)
                return bytes(row[0])
        return None

    def put(self, namespace: str, key: str, value: bytes) -> None:
        """Keep bytes; other processes see them after `flush` (or when enough has gathered)."""
        place = (namespace, key)
        with self._lock:
            if self._connection is None:
                self._remember(place, value)
                return
            self._pending_bytes += len(value) - len(self._pending.get(place, b""))
            self._pending[place] = value
            if len(self._pending) >= _BATCH_ENTRIES or self._pending_bytes >= _BATCH_BYTES:
                self.flush()

    def remove(self, namespace: str, key: str) -> None:
        """Forget an entry, if it is there."""
        place = (namespace, key)
        with self._lock:
            self._pending_bytes -= len(self._pending.pop(place, b""))
            self._memory_bytes -= len(self._memory.pop(place, b""))
            with self._guarded() as connection:
                if connection is not None:
                    connection.execute("DELETE FROM entries WHERE namespace = ? AND key = ?", place)
                    connection.commit()

    def flush(self) -> None:
        """Write what has gathered, so that other processes see it."""
        with self._lock:
            pending, self._pending, self._pending_bytes = self._pending, {}, 0
            used, self._used = self._used, set()
            if not pending and not used:
                return
            done = False
            with self._guarded() as connection:
                if connection is not None:
                    self._write(connection, pending, used)
                    done = True
            if not done:
                for place, value in pending.items():
                    self._remember(place, value)

    def _write(
        self,
        connection: sqlite3.Connection,
        pending: dict[tuple[str, str], bytes],
        used: Iterable[tuple[str, str]],
    ) -> None:
        now = int(time.time())
        with connection:
            connection.executemany(
                "INSERT OR REPLACE INTO entries (namespace, key, value, size, used) VALUES (?, ?, ?, ?, ?)",
                [(*place, value, len(value), now) for place, value in pending.items()],
            )
            connection.executemany(
                "UPDATE entries SET used = ? WHERE namespace = ? AND key = ?",
                [(now, *place) for place in used],
            )
        self._written += sum(map(len, pending.values()))
        if self._written > self.cap // 16:
            self._written = 0
            self._evict(connection)

    def _evict(self, connection: sqlite3.Connection) -> None:
        """Drop what was not used for longest, until a fifth of the room is free."""
        total = connection.execute("SELECT COALESCE(SUM(size), 0) FROM entries").fetchone()[0]
        if total <= self.cap:
            return
        excess = total - self.cap * 4 // 5
        victims: list[tuple[int]] = []
        for row, size in connection.execute("SELECT rowid, size FROM entries ORDER BY used, rowid"):
            if excess <= 0:
                break
            victims.append((row,))
            excess -= size
        with connection:
            connection.executemany("DELETE FROM entries WHERE rowid = ?", victims)
        connection.execute("PRAGMA incremental_vacuum").fetchall()

    # -- upkeep ----------------------------------------------------------------------------------

    def info(self) -> StoreInfo:
        """Where the store is and how full."""
        with self._lock:
            self.flush()
            counts: dict[str, int] = {}
            size = 0
            with self._guarded() as connection:
                if connection is not None:
                    query = "SELECT namespace, COUNT(*), SUM(size) FROM entries GROUP BY namespace"
                    for namespace, count, total in connection.execute(query):
                        counts[namespace] = count
                        size += total
            for (namespace, _), value in self._memory.items():
                counts[namespace] = counts.get(namespace, 0) + 1
                size += len(value)
            state = "memory" if self._connection is None else "temporary" if self._temporary else "disk"
            files = sum(_size(path) for path in self._files())
            return StoreInfo(str(self.path or ""), state, counts, size, files, self.cap, self.trouble)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._pending.clear()
            self._pending_bytes = 0
            self._memory.clear()
            self._memory_bytes = 0
            self._used.clear()
            with self._guarded() as connection:
                if connection is not None:
                    connection.execute("DELETE FROM entries")
                    connection.commit()
                    connection.execute("VACUUM")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Write what has gathered and let go of the file.  The store stays usable, in memory."""
        with self._lock:
            self.flush()
            self._disconnect()
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)
                self._temporary = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the file --------------------------------------------------------------------------------

    def _open(self, folder: Path | None) -> None:
        try:
            place = folder if folder is not None else cache_directory()
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._connect(place / FILE_NAME)
            return
        except (OSError, sqlite3.Error, ValueError, RuntimeError) as error:
            self._note(error)
        try:
            self._temporary = Path(tempfile.mkdtemp(prefix="callground-"))
            self._connect(self._temporary / FILE_NAME)
        except (OSError, sqlite3.Error, ValueError) as error:
            self._note(error)
            self._disconnect()

    def _connect(self, path: Path) -> None:
        """Open the file, or start it anew when it is no database.  Raises OSError or sqlite3.Error."""
        self.path = path
        try:
            self._connection = _prepared(path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            self._note(error)
            _unlink(self._files())
            self._connection = _prepared(path)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[sqlite3.Connection | None]:
        """The connection, with every error of it caught: a broken file is started anew, then given up."""
        try:
            yield self._connection
        except sqlite3.OperationalError as error:
            self._note(error)
            self._roll_back()
            if "locked" not in str(error) and "busy" not in str(error):
                self._disconnect()  # Disk full, read-only, vanished: go on in memory.
        except (sqlite3.Error, OSError, OverflowError) as error:
            self._note(error)
            self._disconnect()
            try:
                _unlink(self._files())
                if self.path is not None:
                    self._connection = _prepared(self.path)
            except (OSError, sqlite3.Error) as second:
                self._note(second)
                self._disconnect()

    def _roll_back(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.rollback()

    def _files(self) -> list[Path]:
        if self.path is None:
            return []
        return [self.path.with_name(self.path.name + ending) for ending in ("", "-wal", "-shm")]

    def _remember(self, place: tuple[str, str], value: bytes) -> None:
        self._memory_bytes += len(value) - len(self._memory.pop(place, b""))
        self._memory[place] = value
        while self._memory_bytes > _MEMORY_CAP:
            oldest = next(iter(self._memory))
            self._memory_bytes -= len(self._memory.pop(oldest))

    def _note(self, error: Exception) -> None:
        self.trouble = f"{type(error).__name__}: {error}"


def _prepared(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(str(path), timeout=_BUSY_SECONDS, check_same_thread=False)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS entries (namespace TEXT NOT NULL, key TEXT NOT NULL, "
            "value BLOB NOT NULL, size INTEGER NOT NULL, used INTEGER NOT NULL, "
            "PRIMARY KEY (namespace, key))"
        )
        connection.execute("CREATE INDEX IF NOT EXISTS by_use ON entries (used)")
        connection.commit()
        # A table of another shape fails here and not at the first use.
        connection.execute("SELECT namespace, key, value, size, used FROM entries LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
