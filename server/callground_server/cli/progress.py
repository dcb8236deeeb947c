"""A progress bar for a person who waits; silent when nobody looks."""

from __future__ import annotations

import shutil
import time
from types import TracebackType
from typing import TextIO

from callground_server.cli.style import is_terminal


class ProgressBar:
    """Draws ``indexing [####    ] 120/300`` on a terminal; on anything else it writes nothing.

    Nothing is shown for the first moment either, so that a short check stays quiet.
    """

    def __init__(self, stream: TextIO, *, wanted: bool = True, patience: float = 0.4) -> None:
        self._stream = stream
        self._active = wanted and is_terminal(stream)
        self._patience = patience
        self._begun = time.monotonic()
        self._drawn = 0.0
        self._shown = False

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def update(self, phase: str, done: int, total: int) -> None:
        """Show how far a phase has come."""
        now = time.monotonic()
        if not self._active or now - self._begun < self._patience or (now - self._drawn < 0.08 and done < total):
            return
        self._drawn = now
        room = max(10, min(40, shutil.get_terminal_size().columns - len(phase) - 24))
        filled = room * done // total if total else room
        self._stream.write(f"\r\x1b[2K{phase} [{'#' * filled}{' ' * (room - filled)}] {done}/{total}")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Take the bar away."""
        if self._shown:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
            self._shown = False
