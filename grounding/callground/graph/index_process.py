"""The child process that indexes: the parser holds the interpreter's lock, and an editor's loop needs it.

Spawned, never forked, with ``-I -S``: nothing of the workspace and no ``.pth`` file is on its path.  The pipe
carries paths and digests as JSON lines; facts go through the store.  The child ends when its input does.
"""

from __future__ import annotations

import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

logger = logging.getLogger(__name__)

CHUNK = 16
"""Paths that are sent ahead: enough to keep the child busy, few enough to stop soon."""
BACK_OFF = (0.0, 0.2, 1.0, 5.0)
"""Seconds before each start after the first; there is none after the last."""

Newer = tuple[str, tuple[int, int]]
"""(executable, version) of a newer Python that may be asked for trees."""

Row = tuple[str, str]
"""(path, digest; empty when the file cannot be read)."""


class ChildDied(Exception):
    """The child ended before it had answered."""


class NoChild(ChildDied):
    """There is no child, nor will there be one."""


class Child:
    """The parent's end."""

    def __init__(self, store: str | None, newer: Newer | None = None) -> None:
        self._store = store
        self._newer = newer
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self._lock = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The running child, if there is one."""
        return self._process.pid if self._process is not None else None

    def may_restart(self) -> bool:
        """Whether another start is worth trying."""
        return self._starts < len(BACK_OFF)

    def index(self, paths: Sequence[str], stop: Callable[[], bool]) -> Iterator[Row]:
        """Rows for these paths, in their order.  Raises ChildDied."""
        with self._lock:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            sent = received = 0
            try:
                for number, path in enumerate(paths):
                    if sent <= number:
                        chunk = list(paths[sent : sent + CHUNK])
                        sent += len(chunk)
                        process.stdin.write(json.dumps(chunk).encode() + b"\n")
                        process.stdin.flush()
                    line = process.stdout.readline()
                    if not line.endswith(b"\n"):
                        raise ChildDied(f"exit status {self._end()}")
                    answered, digest = json.loads(line)
                    received += 1
                    if answered != path:
                        raise ChildDied("its answers are out of step")
                    self._starts = 1
                    yield path, digest
                    if stop():
                        return
            except (OSError, ValueError) as error:
                raise ChildDied(str(error)) from error
            finally:
                # Whoever leaves early leaves answers in the pipe: the next question needs another child.
                if received < sent:
                    self._end()

    def parse(self, path: str) -> None:
        """Have one file's facts put into the store; whoever needs them looks there, and does without."""
        try:
            for _ in self.index([path], lambda: False):
                pass
        except ChildDied as death:
            logger.warning("%s could not be parsed in a process of its own: %s", os.path.basename(path), death)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        if not self.may_restart():
            raise NoChild("it was started too often")
        pause = BACK_OFF[self._starts]
        if pause:
            # Spread, so that several servers on a machine in trouble do not start their children together.
            time.sleep(pause * random.uniform(0.8, 1.2))
        self._starts += 1
        try:
            self._process = subprocess.Popen(
                command(self._store, self._newer),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                close_fds=True,
            )
        except OSError as error:
            raise NoChild(str(error)) from error
        return self._process

    def _end(self) -> int | None:
        process, self._process = self._process, None
        if process is None:
            return None
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    # A dead child's pipe: nothing is left to flush.
                    pass
        try:
            return process.wait(0.5)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def close(self) -> None:
        """End the child."""
        self._end()


def command(store: str | None, newer: Newer | None = None) -> list[str]:
    """How the child is started."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    start = (
        f"import sys; sys.path.insert(0, {package!r}); "
        f"from callground.graph.index_process import main; main({store!r}, {newer!r})"
    )
    return [sys.executable, "-I", "-S", "-c", start]


def main(store: str | None, newer: Newer | None = None) -> None:
    """The child: a line of paths in, a line for each path out."""
    from callground.environment import newer_syntax
    from callground.graph.reading import Reader

    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    _stand_back()
    newer_syntax.use(newer)
    reader = Reader(store)
    for line in sys.stdin.buffer:
        rows: list[Row] = [(path, reader.prepare(path)) for path in json.loads(line)]
        # The parent may look for what it hears of.
        reader.store.flush()
        answers.write(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    reader.close()


def _stand_back() -> None:
    """Let whoever waits for the editor go first."""
    if hasattr(os, "nice"):
        try:
            os.nice(5)
        except OSError:
            # Not allowed here; then as fast as the others.
            pass
