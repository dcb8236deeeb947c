"""Who wrote a file: the editor, git, or another program.

The editor's own saves are known.  Git's are told by `git_state`; a file belongs to one of git's moves when it
was written between the look before and the end of the move.  Whatever is left is an agent's.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from callground.provenance.git_state import SLACK, GitState, look, moves


class _Move(NamedTuple):
    began: float
    ended: float
    index_only: bool


MOST_MOVES = 16
HURRY = 0.05
"""Seconds by which the file system's clock may be behind ours."""


class Watch:
    """Looks at one work tree's repository now and then, and remembers when git wrote files."""

    def __init__(self, root: str, clock: Callable[[], float]) -> None:
        self.root = root
        self._clock = clock
        self._state = look(root)
        self._seen = clock()
        self._moves: list[_Move] = []
        self.head_moved = False
        """HEAD has become another commit since somebody set this back."""

    @property
    def state(self) -> GitState:
        """The last look."""
        return self._state

    def look(self) -> bool:
        """Look again.  False while a git command is at work: ask later."""
        now = self._clock()
        state = look(self.root)
        if state.busy:
            return False
        moved = moves(self._state, state)
        if moved.wrote or moved.staged:
            # The index is the last thing that git writes.
            ended = state.staged[0] / 1e9 if state.staged != self._state.staged else now
            self._moves.append(_Move(self._seen, max(ended, self._seen), moved.staged))
            del self._moves[:-MOST_MOVES]
        self.head_moved = self.head_moved or moved.head
        self._state, self._seen = state, now
        return True

    def by_git(self, path: str, text: str, committed: Callable[[], str | None]) -> bool:
        """Whether git has written a file as it is now; `committed` gives the file's text in HEAD.

        Times are those of the file system, so the clock must be the wall's.
        """
        try:
            written = os.stat(path).st_mtime
        except OSError:
            return True
        for move in self._moves:
            if move.began - HURRY <= written <= move.ended + SLACK:
                if not move.index_only:
                    return True
                # Staging moves the index as well, and agents do that; bringing a file back gives HEAD's text.
                return same_lines(committed(), text)
        return False


def same_lines(one: str | None, other: str) -> bool:
    """Whether two texts differ in nothing but their line ends."""
    if one is None:
        return False
    return one.replace("\r\n", "\n").replace("\r", "\n") == other.replace("\r\n", "\n").replace("\r", "\n")
