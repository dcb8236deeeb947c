"""The one thread that verifies.

It owns the graph: every change and every question of a session goes through here, in order, so that
nothing in the library needs to know about threads.  Urgent jobs (something the user waits for) go first;
of several jobs with the same key only the latest is run.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

logger = logging.getLogger(__name__)

Job = Callable[[], None]


class Worker:
    """Runs jobs one after the other in a thread of its own."""

    def __init__(self, name: str = "callground-verify") -> None:
        self._urgent: OrderedDict[Hashable, Job] = OrderedDict()
        self._later: OrderedDict[Hashable, Job] = OrderedDict()
        self._wake = threading.Condition()
        self._closed = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, key: Hashable, job: Job, *, urgent: bool = True) -> None:
        """Queue a job; it takes the place of a waiting one with the same key."""
        with self._wake:
            if self._closed:
                return
            queue, other = (self._urgent, self._later) if urgent else (self._later, self._urgent)
            if not urgent and key in other:
                other[key] = job
            else:
                other.pop(key, None)
                queue[key] = job
            self._wake.notify()

    def resume(self, key: Hashable, job: Job) -> None:
        """Queue the rest of a job for later, unless another job with its key waits: that one is newer."""
        with self._wake:
            if self._closed or key in self._urgent or key in self._later:
                return
            self._later[key] = job
            self._wake.notify()

    def superseded(self, key: Hashable, urgent: bool) -> bool:
        """Whether the job that runs should stop: another version of it waits, or (for a background job)
        something that the user waits for."""
        if self._closed or key in self._urgent or key in self._later:
            return True
        return not urgent and bool(self._urgent)

    def waiting(self) -> bool:
        """Whether something urgent waits: background jobs stop early for it."""
        return bool(self._urgent) or self._closed

    def idle(self) -> bool:
        """Whether there is nothing to do."""
        with self._wake:
            return not (self._busy or self._urgent or self._later)

    def close(self, timeout: float = 2.0) -> None:
        """Drop what waits and end the thread."""
        with self._wake:
            self._closed = True
            self._urgent.clear()
            self._later.clear()
            self._wake.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._wake:
                self._busy = False
                while not (self._urgent or self._later or self._closed):
                    self._wake.wait()
                if self._closed:
                    return
                queue = self._urgent or self._later
                key, job = queue.popitem(last=False)
                self._busy = True
            try:
                job()
            except Exception:  # one failing job must not end the thread
                logger.exception("job %r failed", key)
            # A job may hold a document or a snapshot: let go of it before waiting.
            del job
