"""What happens to files outside of the editor: agents write them, git moves them, lines are committed.

Decisions that need git are made in a thread of its own, a moment after the fact: git is given the time to finish.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from callground.provenance import persist
from callground.provenance.attribution import attribution
from callground.provenance.book import BY_DISK, Book
from callground.provenance.changed_lines import GitError, committed_text, lines_between
from callground.provenance.disk import Watch, same_lines
from callground.provenance.intervals import Spans
from callground.provenance.ledger import Ledger
from callground.provenance.records.gather import Records
from callground.provenance.scope import Place, forgotten, places_of
from callground.text.lines import LineIndex
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.session import Session
from callground_server.lsp.worker import Worker

logger = logging.getLogger(__name__)

SETTLE = 0.25
"""Seconds that git is given to finish what it is doing to files."""
PATIENCE = 40
"""So many times is git waited for."""
MOST_FILES = 50
"""More files than that change at once by no agent's edit."""
SOURCES = (".py", ".pyi", ".pyw")


class Opened(Protocol):
    """An open document, as far as its file is concerned."""

    disk_time: float
    """When the file was written that the editor has read or saved last."""
    committed: str | None
    """Its text in HEAD, once that was asked for."""

    @property
    def path(self) -> str:
        """Its file."""
        ...

    @property
    def text(self) -> str:
        """Its text."""
        ...


class Keeper(Protocol):
    """Who keeps the open documents; `Authorship` does."""

    book: Book

    def opened_as(self, uri: str) -> Opened | None:
        """An open document."""
        ...

    def opened_in(self, folder: Folder) -> list[str]:
        """The open documents of a folder."""
        ...

    def tell_and_show(self, uri: str) -> None:
        """What is known of a document is another."""
        ...


class Outside:
    """Watches the folders' files and repositories."""

    def __init__(self, session: Session, keeper: Keeper) -> None:
        self._session = session
        self._keeper = keeper
        self._watches: dict[str, Watch] = {}
        self._files: dict[str, object] = {}
        """The file table of each folder when it was last looked at."""
        self._troubles: set[str] = set()
        self._git: Worker | None = None

    # -- files that nobody has open

    def files_looked_at(self, folder: Folder) -> None:
        """In the worker: the folder's files were looked at; some may have been written by an agent."""
        self._session.call(self.look_at_git)
        disk = folder.workspace.files.disk
        before = self._files.get(folder.root)
        if before is disk or not folder.ready:
            return
        self._files[folder.root] = disk
        if not isinstance(before, dict):
            return
        opened = folder.workspace.files.open
        changed = [
            path
            for path, entry in disk.items()
            if path not in opened and (path not in before or before[path].digest != entry.digest)
        ]
        if 0 < len(changed) <= MOST_FILES:
            self._session.call(lambda: self._closed_files(folder, changed, PATIENCE))

    def _closed_files(self, folder: Folder, paths: list[str], patience: int) -> None:
        if not folder.config.provenance.disk:
            return
        watch = self._watch(folder)

        def decide() -> None:
            if not watch.look() and patience > 0:
                self._closed_files(folder, paths, patience - 1)
                return
            self._in_git(("closed", tuple(paths)), lambda: self._agent_wrote(folder, watch, paths))

        self._later(decide)

    def _agent_wrote(self, folder: Folder, watch: Watch, paths: list[str]) -> None:
        """In git's thread: what is new in these files since HEAD goes to the store."""
        for path in paths:
            text = read_file(path)
            head = committed(folder.root, path)
            if text is None or watch.by_git(path, text, lambda head=head: head):  # type: ignore[misc]
                continue
            ledger = Ledger(head or "")
            ledger.reload(text, BY_DISK)
            spans = ledger.spans
            self._session.worker.submit(
                ("agent", path),
                lambda text=text, spans=spans: save(folder, text, spans, known_counts=True),  # type: ignore[misc]
            )

    # -- open documents whose file was written

    def explain(self, uri: str, folder: Folder, was: tuple[str, Spans], text: str, patience: int = PATIENCE) -> None:
        """A document has another text from the disk: was it git, or another program?"""
        if not folder.config.provenance.disk:
            return
        watch = self._watch(folder)

        def decide() -> None:
            mine = self._keeper.opened_as(uri)
            if mine is None:
                return
            if not watch.look() and patience > 0:
                self.explain(uri, folder, was, text, patience - 1)
                return
            mine.disk_time = written(mine.path)
            path = mine.path
            self._in_git(("explain", uri), lambda: self._by_whom(folder, watch, uri, path, was, text))

        self._later(decide)

    def _by_whom(self, folder: Folder, watch: Watch, uri: str, path: str, was: tuple[str, Spans], text: str) -> None:
        """In git's thread."""
        on_disk = read_file(path)
        if not same_lines(on_disk, text) or watch.by_git(path, text, lambda: committed(folder.root, path)):
            return

        def agent() -> None:
            ledger = self._keeper.book.ledger(uri)
            if ledger is not None and ledger.text == text:
                ledger.replace(*was)
                ledger.reload(text, BY_DISK)
                self._keeper.tell_and_show(uri)

        self._session.call(agent)

    def since_head(self, uri: str, folder: Folder) -> None:
        """Nothing was kept of a text: what records say of it, and lines that differ from HEAD are somebody's news."""
        mine = self._keeper.opened_as(uri)
        if mine is None or not self._watch(folder).state.folder or not mine.path.endswith(SOURCES):
            return  # a notebook's text is not its file's, and some documents have no file
        path, text, settings = mine.path, mine.text, folder.config.provenance

        def ask() -> None:
            head = committed(folder.root, path)
            lines = lines_between(head, text) if head is not None else ((1, text.count("\n") + 1),)
            records = Records(folder.root, settings)
            spans = attribution(records, None, path, text, lines, settings, committed=settings.keep_committed)
            for trouble in records.troubles:
                if trouble not in self._troubles:
                    self._troubles.add(trouble)
                    logger.warning("%s", trouble)
            self._session.call(lambda: apply(head, spans))

        def apply(head: str | None, spans: Spans) -> None:
            ledger = self._keeper.book.ledger(uri)
            if ledger is None or self._keeper.opened_as(uri) is not mine:
                return
            mine.committed = head
            if ledger.text == text and not ledger.spans and spans:
                ledger.spans = spans
                self._keeper.tell_and_show(uri)

        self._in_git(("head", uri), ask)

    def fetch_committed(self, uri: str, folder: Folder) -> None:
        """Ask for the text that a document has in HEAD."""
        mine = self._keeper.opened_as(uri)
        if mine is None:
            return
        path = mine.path

        def ask() -> None:
            text = committed(folder.root, path) or ""
            self._session.call(lambda: arrived(text))

        def arrived(text: str) -> None:
            mine.committed = text
            self._keeper.tell_and_show(uri)

        self._in_git(("text", uri), ask)

    # -- commits

    def look_at_git(self) -> None:
        """Now and then: has something been committed?"""
        for root, watch in self._watches.items():
            folder = self._session.folders.get(root)
            if watch.look() and watch.head_moved and folder is not None:
                watch.head_moved = False
                self._head_moved(folder)

    def _head_moved(self, folder: Folder) -> None:
        for uri in self._keeper.opened_in(folder):
            mine = self._keeper.opened_as(uri)
            if mine is not None and mine.path.endswith(SOURCES):
                path = mine.path
                self._in_git(
                    ("committed", uri),
                    lambda uri=uri, path=path: self._forget(uri, folder, committed(folder.root, path)),  # type: ignore[misc]
                )

    def _forget(self, uri: str, folder: Folder, head: str | None) -> None:
        """In git's thread: lines that are committed are nobody's news any more, unless they are findings."""

        def apply() -> None:
            ledger, mine = self._keeper.book.ledger(uri), self._keeper.opened_as(uri)
            if ledger is None or mine is None:
                return
            mine.committed = head
            if head is None or folder.config.provenance.keep_committed or not ledger.spans:
                return
            outcome = self._session.outcome(uri)
            held = calls_held(ledger.text, outcome) if outcome is not None else [Place(0, len(ledger.text))]
            unchanged = _other_lines(lines_between(head, ledger.text), ledger.text.count("\n") + 1)
            spans = forgotten(ledger.text, ledger.spans, unchanged, held)
            if spans != ledger.spans:
                ledger.spans = spans
                self._keeper.tell_and_show(uri)

        self._session.call(apply)

    # -- help

    def _watch(self, folder: Folder) -> Watch:
        watch = self._watches.get(folder.root)
        if watch is None:
            watch = self._watches[folder.root] = Watch(folder.root, time.time)
        return watch

    def watch(self, folder: Folder) -> None:
        """Begin to watch a folder's repository, so that what git does from now on is known."""
        self._watch(folder)

    def _later(self, action: Callable[[], None]) -> None:
        if not self._session.closed:
            asyncio.get_running_loop().call_later(SETTLE, action)

    def _in_git(self, key: object, job: Callable[[], None]) -> None:
        if self._git is None:
            self._git = Worker("callground-git")
        self._git.submit(key, job)


def calls_held(text: str, outcome: Outcome) -> list[Place]:
    """The calls that are findings: their marks stay."""
    ranges = [verdict.range for verdict in outcome.review.verdicts if verdict.finding is not None]
    return places_of(LineIndex(text), ranges) if ranges else []


def load(folder: Folder, text: str) -> Spans | None:
    """In the worker: what the store knows of a text."""
    return persist.load(folder.workspace.reader.store, text)


def save(folder: Folder, text: str, spans: Spans, *, known_counts: bool = False) -> None:
    """In the worker: keep what is known of a text; with `known_counts` only where nothing better is."""
    store = folder.workspace.reader.store
    if known_counts and persist.load(store, text):
        return  # a hook has said it better
    persist.save(store, text, spans)
    store.flush()


def written(path: str) -> float:
    """When a file was written; 0 where there is none."""
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def read_file(path: str) -> str | None:
    """The text of a file; None where it cannot be read."""
    from callground.source.decode import decode

    try:
        with open(path, "rb") as file:
            return decode(file.read()).text
    except (OSError, ValueError):
        return None


def committed(root: str, path: str) -> str | None:
    """The text that a file has in HEAD; None where it has none."""
    try:
        return committed_text(root, path)
    except GitError:
        return None


def _other_lines(lines: Sequence[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """The lines that are not among `lines`."""
    result = []
    next_line = 1
    for first, last in lines:
        if first > next_line:
            result.append((next_line, first - 1))
        next_line = last + 1
    if next_line <= count:
        result.append((next_line, count))
    return result
