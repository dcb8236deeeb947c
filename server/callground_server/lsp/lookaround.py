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
        self._looking = False
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
        """Look at everything: in a thread that nobody waits for, and in the worker only if something differs."""
        if not self._looking:
            self._looking = True
            self._session.tasks.keep(self._look())

    def soon(self) -> None:
        """Look in a moment: what a save may have set off (a formatter, a generator) needs one."""
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON, self._now)

    def _now(self) -> None:
        self._soon = None
        self.now()

    async def look(self) -> bool:
        """Look at everything, and at once; whether something differs, which is then on its way."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        while self._looking:
            await asyncio.sleep(0.02)
        self._looking = True
        return await self._look()

    async def _look(self) -> bool:
        try:
            different, self._cost = await asyncio.get_running_loop().run_in_executor(
                None, _different, list(self._session.folders.values())
            )
        finally:
            self._looking = False
        if different and not self._session.closed:
            self._session.background("look", Folder.refresh, different)
        return bool(different)

    async def _run(self) -> None:
        while not self._session.closed:
            await asyncio.sleep(min(max(SHORTEST, self._cost / SHARE), LONGEST))
            self.now()


def _different(folders: list[Folder]) -> tuple[list[Folder], float]:
    """The folders in which something has changed, and the time that it took to see."""
    began = time.thread_time()
    found = []
    for folder in folders:
        try:
            if folder.looks_different():
                found.append(folder)
        except Exception:
            # The worker changes tables under our eyes: then a proper look is worth its while.
            logger.debug("a look at %s failed", folder.root, exc_info=True)
            found.append(folder)
    return found, time.thread_time() - began
