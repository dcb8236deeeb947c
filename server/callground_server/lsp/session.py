"""The loop thread's side: documents, what is scheduled, and which results are current.

Nothing here parses.  Texts go to the worker, results come back, and a result that is no longer about the
current version of its document is dropped.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from callground.projects import project_of
from callground.verdict.model import Finding
from callground_server.lsp.client import Client
from callground_server.lsp.documents import Change, Document
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.impact import Impact
from callground_server.lsp.listener import Listener
from callground_server.lsp.lookaround import LookAround
from callground_server.lsp.tasks import Tasks
from callground_server.lsp.worker import Worker

logger = logging.getLogger(__name__)

DEBOUNCE = 0.15
"""Seconds of quiet before typed text is judged."""
SETTLE_INTERVAL = 0.02
"""Seconds between two looks at whether anything is left to do."""
# The folder of documents that are no files, when none is open: it holds nothing.
_NOWHERE = os.path.join(os.path.sep, "nonexistent", "callground")


@dataclass
class _Entry:
    document: Document
    folder: Folder
    timer: asyncio.TimerHandle | None = None
    outcome: Outcome | None = None
    judged_version: int = -1
    dirty: bool = True
    """Something has changed since the last result was asked for."""
    waiters: list[asyncio.Future[Outcome | None]] = field(default_factory=list)


class Session:
    """One connection."""

    def __init__(self, *, cache: str | None = None, trusted: bool = True) -> None:
        self.client = Client()
        self.worker = Worker()
        self.folders: dict[str, Folder] = {}
        self.listeners: list[Listener] = []
        self.settings: object = None
        self.tasks = Tasks()
        self.look_around = LookAround(self)
        self.notebooks: Any = None
        """The notebooks feature, which splits results among cells."""
        self.findings_in_scope: Callable[[Document, Outcome, list[Finding]], list[Finding]] = _all_findings
        """Which findings of a document are shown."""
        self.suggestions_off: str | None = None
        """Why no calls are suggested; empty where they are, None where nobody has looked."""
        self.impact = Impact(self)
        self.listeners.append(self.impact)
        self.configuration_changed: Callable[[], Awaitable[None]] | None = None
        self._cache = cache
        self._trusted = trusted
        self._entries: dict[str, _Entry] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False

    # -- folders

    def start(self, client: Client) -> None:
        """The client has said who it is."""
        self._loop = asyncio.get_running_loop()
        self.client = client
        self.settings = client.settings
        for path in client.folders:
            self.add_folder(path)

    def add_folder(self, root: str, *, lone: bool = False, within: str | None = None) -> Folder:
        """Open a folder and begin to index it."""
        folder = self.folders.get(root)
        if folder is not None:
            return folder
        folder = self.folders[root] = Folder(
            root, settings=self.settings, cache=self._cache, lone=lone, trusted=self._trusted, within=within
        )
        self._rehome()
        self.worker.submit(("index", root), lambda: self._index(folder), urgent=False)
        return folder

    def remove_folder(self, root: str) -> None:
        """Close a folder; its open documents go to another that holds them."""
        folder = self.folders.pop(root, None)
        if folder is None:
            return
        self._rehome()
        self.worker.submit(("close", root), folder.close, urgent=False)

    def folder_of(self, path: str) -> Folder:
        """The innermost folder that holds a file; a folder of its own for one outside of them all."""
        holding = [folder for folder in self.folders.values() if folder.holds(path)]
        if holding:
            innermost = max(holding, key=lambda folder: len(folder.root))
            # A project with an environment of its own is a folder of its own, unless somebody chose one for all.
            project = None if innermost.lone or innermost.chosen else project_of(path, innermost.root)
            return innermost if project is None else self.add_folder(project, within=innermost.settings_root)
        opened = [folder for folder in self.folders.values() if not folder.lone]
        if opened and not os.path.isabs(path):
            return opened[0]
        return self.add_folder(lone_root(path), lone=True)

    def _rehome(self) -> None:
        for entry in self._entries.values():
            path = entry.document.path
            folder = self.folder_of(path)
            if folder is not entry.folder:
                old, entry.folder = entry.folder, folder
                self.worker.submit(("leave", path), lambda old=old, path=path: old.update({path: None}))  # type: ignore[misc]
                self.schedule(entry.document.uri, 0)

    def _index(self, folder: Folder) -> None:
        """In the worker: begin the first index."""

        def progress(phase: str, done: int, total: int) -> None:
            self.call(lambda: self._each("indexing", folder, phase, done, total))

        def done() -> None:
            self.worker.submit(("indexed", folder.root), finish)

        def finish() -> None:
            stale = folder.index_finished()
            self.call(lambda: self._indexed(folder, stale))

        folder.start_index(progress, done)

    def _indexed(self, folder: Folder, stale: set[str]) -> None:
        self._each("indexed", folder)
        self.recheck(stale)

    # -- documents

    def open(self, document: Document) -> None:
        """The client has a document open."""
        entry = self._entries.get(document.uri)
        if entry is not None:
            entry.document = document
            entry.dirty = True
        else:
            self._entries[document.uri] = _Entry(document, self.folder_of(document.path))
        self._each("opened", document)
        self.schedule(document.uri, 0)

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """The client's edits of an open document."""
        entry = self._entries.get(uri)
        if entry is None:
            logger.warning("a change of a document that is not open: %s", uri)
            return
        before = entry.document.text
        edits = entry.document.apply(changes, version, self.client.encoding)
        entry.dirty = True
        self._each("edited", entry.document, before, edits)
        block = any(edit.text.count("\n") >= 2 for edit in edits)
        self.schedule(uri, 0 if block else DEBOUNCE)

    def replace_text(self, uri: str, version: int, text: str) -> None:
        """Another whole text of an open document (notebooks are put together out of cells)."""
        self.change(uri, version, [Change(None, text)])

    def close(self, uri: str) -> None:
        """The client has closed a document; what is on disk counts again."""
        entry = self._entries.pop(uri, None)
        if entry is None:
            return
        self._settle(entry, None)
        if entry.timer is not None:
            entry.timer.cancel()
        folder, path = entry.folder, entry.document.path
        self.worker.submit(("check", uri), lambda: self._update_only(folder, path, None))
        self._each("closed", uri)

    def document(self, uri: str) -> Document | None:
        """An open document."""
        entry = self._entries.get(uri)
        return entry.document if entry is not None else None

    def documents(self) -> list[Document]:
        """Every open document."""
        return [entry.document for entry in self._entries.values()]

    def folder(self, uri: str) -> Folder | None:
        """The folder that an open document belongs to."""
        entry = self._entries.get(uri)
        return entry.folder if entry is not None else None

    def uri_of_path(self, path: str) -> str | None:
        """The open document that lies at a path."""
        for uri, entry in self._entries.items():
            if entry.document.path == path:
                return uri
        return None

    def outcome(self, uri: str) -> Outcome | None:
        """The last result for an open document, if it is about its present text."""
        entry = self._entries.get(uri)
        current = entry is not None and entry.judged_version == entry.document.version
        return entry.outcome if entry is not None and current else None

    def show_again(self, uri: str) -> None:
        """What is shown of a document's result may be another, though the result is the same."""
        entry = self._entries.get(uri)
        outcome = self.outcome(uri)
        if entry is None or outcome is None or self.closed:
            return
        self._each("judged", entry.document, outcome)
        self._each("stale", [uri])

    # -- scheduling

    def schedule(self, uri: str, delay: float) -> None:
        """Judge a document after `delay` seconds without another change."""
        entry = self._entries.get(uri)
        if entry is None or self.closed:
            return
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        if delay <= 0:
            self._submit(uri)
        else:
            assert self._loop is not None
            entry.timer = self._loop.call_later(delay, self._submit, uri)

    def recheck(self, paths: Iterable[str]) -> None:
        """Judge open documents again whose verdicts something elsewhere has touched."""
        wanted = set(paths)
        uris = [uri for uri, entry in self._entries.items() if entry.document.path in wanted]
        for uri in uris:
            self._entries[uri].dirty = True
            self._submit(uri, urgent=False)
        if uris:
            self._each("stale", uris)

    def recheck_all(self) -> None:
        """Judge every open document again."""
        self.recheck([entry.document.path for entry in self._entries.values()])

    async def current(self, uri: str) -> Outcome | None:
        """The result for a document as it is now; None when it was closed meanwhile."""
        entry = self._entries.get(uri)
        if entry is None:
            return None
        if not entry.dirty and entry.outcome is not None and entry.judged_version == entry.document.version:
            return entry.outcome
        assert self._loop is not None
        future: asyncio.Future[Outcome | None] = self._loop.create_future()
        entry.waiters.append(future)
        self.schedule(uri, 0)
        return await future

    async def verify_again(self, uri: str) -> Outcome | None:
        """Judge a document from scratch, with a look at the disk first."""
        entry = self._entries.get(uri)
        if entry is None:
            return None
        self.background(("again", uri), Folder.start_afresh, [entry.folder])
        entry.dirty = True
        return await self.current(uri)

    async def settle(self) -> bool:
        """Wait until nothing is left to do, after a look at the disk; False when the session ends before."""
        looked = False
        while not self.closed:
            busy = not self.worker.idle() or any(
                entry.dirty or entry.timer is not None or entry.waiters for entry in self._entries.values()
            )
            # Results and news that the worker has handed over come in before this goes on.
            await asyncio.sleep(0)
            if busy or not self.worker.idle() or not all(folder.settled for folder in self.folders.values()):
                looked = False
                await asyncio.sleep(SETTLE_INTERVAL)
            elif looked:
                return True
            else:
                looked = not await self.look_around.look()
        return False

    def reload_settings(self) -> None:
        """A file with settings was changed."""
        self.background("settings-file", Folder.reload_settings)

    def _submit(self, uri: str, urgent: bool = True) -> None:
        entry = self._entries.get(uri)
        if entry is None:
            return
        entry.timer = None
        entry.dirty = False
        document, folder = entry.document, entry.folder
        text, version, path = document.text, document.version, document.path
        self.worker.submit(("check", uri), lambda: self._check(folder, uri, path, text, version, urgent), urgent=urgent)

    # In the worker:

    def _check(self, folder: Folder, uri: str, path: str, text: str, version: int, urgent: bool) -> None:
        key = ("check", uri)
        try:
            stale = folder.update({path: text})
            if stale:
                self.call(lambda: self.recheck(stale))
            outcome = folder.judge(path, stop=lambda: self.worker.superseded(key, urgent), thorough=not urgent)
        except Exception:  # whoever waits for this result must not wait for ever
            logger.exception("%s could not be judged", uri)
            self.call(lambda: self._failed(uri))
            return
        if outcome is not None:
            self.call(lambda: self._arrived(uri, version, outcome))
            if outcome.touched:
                self.call(lambda: self.recheck(outcome.touched))
        if outcome is None or not outcome.final:
            # Something urgent came between, or the near names are still to be found: the rest comes after it.
            self.worker.resume(key, lambda: self._check(folder, uri, path, text, version, False))

    def _update_only(self, folder: Folder, path: str, text: str | None) -> None:
        stale = folder.update({path: text})
        if stale:
            self.call(lambda: self.recheck(stale))

    # In the loop:

    def _arrived(self, uri: str, version: int, outcome: Outcome) -> None:
        entry = self._entries.get(uri)
        if entry is None or entry.document.version != version or entry.document.path != outcome.path:
            return
        entry.outcome, entry.judged_version = outcome, version
        if entry.document.text == outcome.text or _same_lines(entry.document.text, outcome.text):
            self._each("judged", entry.document, outcome)
        if not entry.dirty:
            self._settle(entry, outcome)

    def _failed(self, uri: str) -> None:
        entry = self._entries.get(uri)
        if entry is not None and not entry.dirty:
            entry.outcome = None
            self._each("failed", entry.document)
            self._settle(entry, None)

    def _settle(self, entry: _Entry, outcome: Outcome | None) -> None:
        waiters, entry.waiters = entry.waiters, []
        for future in waiters:
            if not future.done():
                future.set_result(outcome)

    def background(
        self, key: object, job: Callable[[Folder], set[str]], folders: Iterable[Folder] | None = None
    ) -> None:
        """Run a change of some folders in the worker; the documents that it touches are judged again."""
        chosen = list(self.folders.values() if folders is None else folders)

        def run() -> None:
            for folder in chosen:
                stale = job(folder)
                if stale:
                    self.call(partial(self.recheck, stale))
                self.call(partial(self._each, "looked", folder))

        self.worker.submit(("background", key), run)

    def call(self, action: Callable[[], None]) -> None:
        """Run something in the loop thread."""
        loop = self._loop
        if loop is None or self.closed:
            return
        try:
            loop.call_soon_threadsafe(_guarded(action))
        except RuntimeError:
            # The loop is closed: the session is over.
            logger.debug("a result came after the end")

    def _each(self, event: str, *arguments: object) -> None:
        for listener in self.listeners:
            try:
                getattr(listener, event)(*arguments)
            except Exception:  # one failing feature does not silence the others
                logger.exception("%s failed in %r", event, type(listener).__name__)

    def stop(self) -> None:
        """End the session: no result comes any more."""
        self.closed = True
        self.tasks.cancel()
        for entry in self._entries.values():
            if entry.timer is not None:
                entry.timer.cancel()
            self._settle(entry, None)
        self.worker.close()
        for folder in self.folders.values():
            folder.close()


def _all_findings(_: Document, __: Outcome, findings: list[Finding]) -> list[Finding]:
    return findings


def lone_root(path: str) -> str:
    """The folder to open for a file that no open folder holds."""
    from callground.config import find_root

    return find_root(path) if os.path.isabs(path) else _NOWHERE


def _same_lines(text: str, judged: str) -> bool:
    """Whether two texts differ in nothing but their line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n") == judged.replace("\r\n", "\n").replace("\r", "\n")


def _guarded(action: Callable[[], None]) -> Callable[[], None]:
    def run() -> None:
        try:
            action()
        except Exception:  # a result that cannot be shown must not stop the loop
            logger.exception("a result could not be taken")

    return run


__all__ = ["Listener", "Session"]
