"""Work-done progress of the first index."""

from __future__ import annotations

import asyncio
import logging
import time

from lsprotocol import types as lsp

from callground_server.lsp.folder import Folder
from callground_server.lsp.server import Server
from callground_server.lsp.session import Listener

logger = logging.getLogger(__name__)

AFTER = 0.5
"""Seconds before a bar is shown: a warm start has none."""
EVERY = 0.2


class Progress(Listener):
    """One bar per folder, while it is indexed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._began: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._tokens: dict[str, str] = {}
        self._asked: set[str] = set()

    def indexing(self, folder: Folder, _: str, done: int, total: int) -> None:
        """Show how far it is."""
        if not self._server.session.client.progress:
            return
        now = time.monotonic()
        began = self._began.setdefault(folder.root, now)
        token = self._tokens.get(folder.root)
        if token is None:
            if now - began >= AFTER and done < total and folder.root not in self._asked:
                self._asked.add(folder.root)
                self._server.session.tasks.keep(self._begin(folder, total))
            return
        if now - self._last.get(folder.root, 0.0) >= EVERY:
            self._last[folder.root] = now
            self._server.work_done_progress.report(
                token,
                lsp.WorkDoneProgressReport(
                    message=f"{done:,} of {total:,} files", percentage=int(100 * done / max(total, 1))
                ),
            )

    def indexed(self, folder: Folder) -> None:
        """Take the bar away."""
        self._asked.add(folder.root)
        token = self._tokens.pop(folder.root, None)
        if token is not None:
            self._server.work_done_progress.end(token, lsp.WorkDoneProgressEnd())

    async def _begin(self, folder: Folder, total: int) -> None:
        token = f"callground-index-{len(self._asked)}"
        try:
            await asyncio.shield(self._server.work_done_progress.create_async(token))
        except Exception:  # no bar, then
            logger.debug("the client makes no progress bar", exc_info=True)
            return
        self._server.work_done_progress.begin(
            token,
            lsp.WorkDoneProgressBegin(title="callground", message=f"reading {total:,} files", percentage=0),
        )
        if folder.ready:
            self._server.work_done_progress.end(token, lsp.WorkDoneProgressEnd())
        else:
            self._tokens[folder.root] = token


def register(server: Server) -> None:
    """Show the progress of the first index."""
    server.session.listeners.append(Progress(server))
