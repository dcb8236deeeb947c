"""The server's own look at the disk.

Neovim on Linux watches no files unless its user says so, and no editor watches site-packages.  So the
server looks by itself: soon after a save, and on a timer whose interval grows with what a look costs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from callground_server.lsp.folder import Folder

if TYPE_CHECKING:
    from callground_server.lsp.session import Session

logger = logging.getLogger(__name__)

SHORTEST = 2.0
LONGEST = 60.0
SHARE = 0.02
"""The share of one core that looking around may take."""
SOON = 0.3


class LookAround:
    """Looks at the files of a session's folders."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cost = 0.0
        self._soon: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to look now and then."""
        self._session.tasks.keep(self._run())

    def files(self, paths: Iterable[str]) -> None:
        """Somebody says that these files changed."""
        by_folder: dict[str, list[str]] = {}
        for path in paths:
            for folder in self._session.folders.values():
                if folder.holds(path):
                    by_folder.setdefault(folder.root, []).append(path)
        for root, mine in by_folder.items():
            self._session.background(
                ("files", tuple(sorted(mine))),
                partial(Folder.files_changed, paths=mine),
                [self._session.folders[root]],
            )

    def now(self) -> None:
        """Look at everything, as soon as the worker has time."""
        self._session.background("look", self._look)

    def soon(self) -> None:
        """Look in a moment: what a save may have set off (a formatter, a generator) needs one."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON, self._now)

    def _now(self) -> None:
        self._soon = None
        self.now()

    def _look(self, folder: Folder) -> set[str]:
        if not folder.ready:
            return set()
        began = time.thread_time()
        stale = folder.refresh()
        self._cost = time.thread_time() - began
        return stale

    async def _run(self) -> None:
        while not self._session.closed:
            await asyncio.sleep(min(max(SHORTEST, self._cost / SHARE), LONGEST))
            self.now()
