"""Suggestions in the worker: one `CodeCaller` a folder, filled in idle slices, asked in between.

Nothing here is urgent: a question stops as soon as something waits that is, and is asked again behind it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from callground.caller.code_suggestions import CodeCaller, CodeSuggestion
from callground.caller.encoder import Encoder
from callground.graph.driver import Stopped

if TYPE_CHECKING:
    from callground_server.lsp.folder import Folder
    from callground_server.lsp.session import Session

logger = logging.getLogger(__name__)

SLICE = 0.03
"""Seconds that a slice of background work may take, give or take one file or text."""
PAUSE = 0.05
"""Seconds between two slices."""
MOST_TRIES = 20


@dataclass
class _Waiting:
    """One question, until it is answered or nobody waits any more."""

    uri: str
    version: int
    cancelled: bool = False
    tries: int = 0


@dataclass
class Suggesting:
    """The callers of a session's folders."""

    session: Session
    encoder: Encoder = field(default_factory=Encoder)
    _callers: dict[str, CodeCaller] = field(default_factory=dict)
    _any: CodeCaller = field(init=False)
    """Of no folder: it says whether there is a network and a ranking."""
    _warm: threading.Thread | None = None
    _done: set[str] = field(default_factory=set)
    accepted: int = 0
    """Suggestions that were accepted in this session."""

    def __post_init__(self) -> None:
        self._any = CodeCaller(self.encoder)

    # -- in the loop

    def unavailable(self) -> str | None:
        """Why nothing can be suggested, or None."""
        return self._any.unavailable()

    def _caller(self, folder: Folder) -> CodeCaller:
        """In the worker: the caller of a folder; its vectors are kept in the folder's store."""
        caller = self._callers.get(folder.root)
        if caller is None:
            caller = self._callers[folder.root] = CodeCaller(self.encoder, store=folder.workspace.reader.store)
        return caller

    def fill(self, folder: Folder) -> None:
        """Read and embed a folder's tools, in slices that give way to anything urgent."""
        if not folder.config.suggests or self.unavailable() is not None:
            return
        self._done.discard(folder.root)
        self.session.worker.submit(("tools", folder.root), lambda: self._slice(folder), urgent=False)

    async def ask(
        self, folder: Folder, uri: str, offset: int, *, limit: int, explicit: bool, request: str = ""
    ) -> list[CodeSuggestion]:
        """Suggestions for an offset of an open document; nothing when the text changes meanwhile."""
        document = self.session.document(uri)
        if document is None:
            return []
        await self._warmed()
        loop = asyncio.get_running_loop()
        waiting = _Waiting(uri, document.version)
        future: asyncio.Future[list[CodeSuggestion]] = loop.create_future()
        path, text = document.path, document.text
        key = ("suggest", uri)

        def settle(found: Sequence[CodeSuggestion]) -> None:
            if not future.done():
                future.set_result(list(found))

        def current() -> bool:
            now = self.session.document(uri)
            return not waiting.cancelled and now is not None and now.version == waiting.version

        def run() -> None:
            found: list[CodeSuggestion] = []
            try:
                if current():
                    workspace = folder.workspace
                    found = self._caller(folder).suggest(
                        workspace.snapshot(),
                        workspace.absolute(path),
                        text,
                        offset,
                        limit=limit,
                        explicit=explicit,
                        request=request,
                        memo=workspace.memo,
                        stop=lambda: not current() or self.session.worker.superseded(key, False),
                    )
            except Stopped:
                waiting.tries += 1
                if current() and waiting.tries < MOST_TRIES:
                    self.session.worker.resume(key, run)
                    return
            except Exception:  # whoever waits for this answer must not wait for ever
                logger.exception("suggestions for %s failed", uri)
            self.session.call(lambda: settle(found))

        self.session.worker.submit(key, run, urgent=False)
        try:
            found = await future
        finally:
            waiting.cancelled = True
        return found if document.version == waiting.version else []

    async def _warmed(self) -> None:
        """The network is loaded in a thread of its own, once: neither the loop nor the worker waits for it."""
        if self._warm is None:
            self._warm = threading.Thread(target=self._load, name="callground-encoder", daemon=True)
            self._warm.start()
        while self._warm.is_alive():
            await asyncio.sleep(0.01)

    def warm_up(self) -> None:
        """Begin to load the network."""
        if self._warm is None and self.unavailable() is None:
            self._warm = threading.Thread(target=self._load, name="callground-encoder", daemon=True)
            self._warm.start()

    def _load(self) -> None:
        try:
            self.encoder.encode(["warm up"])
        except Exception:  # without the network nothing is suggested; that is said elsewhere
            logger.exception("the network could not be loaded")

    # -- in the worker

    def _slice(self, folder: Folder) -> None:
        if self._warm is not None and self._warm.is_alive():
            self._later(folder)
            return
        key = ("tools", folder.root)
        ends = time.monotonic() + SLICE
        stop: Callable[[], bool] = lambda: time.monotonic() > ends or self.session.worker.superseded(key, False)  # noqa: E731
        if self._caller(folder).prepare(folder.workspace.snapshot(), stop):
            self._done.add(folder.root)
        else:
            self._later(folder)

    def _later(self, folder: Folder) -> None:
        def again() -> None:
            asyncio.get_running_loop().call_later(PAUSE, resume)

        def resume() -> None:
            if folder.root in self.session.folders:
                self.session.worker.resume(("tools", folder.root), lambda: self._slice(folder))

        self.session.call(again)

    def ready(self, folder: Folder) -> bool:
        """Whether everything of a folder has been read and embedded."""
        return folder.root in self._done
