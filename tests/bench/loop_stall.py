#!/usr/bin/env python3
"""How long the server's loop is held up while a folder is indexed from nothing, and what memory that takes.

    python tests/bench/loop_stall.py FOLDER [--open FILE]

Runs a session in this process, so that the loop itself can be asked.  The last line is JSON: the delays of a
5 ms timer (ms), seconds to the first result of the open file and to the complete index, and the memory (MB).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / part) for part in ("grounding", "server")]

from callground_server.lsp.client import Client  # noqa: E402  # the path is set first
from callground_server.lsp.documents import Document  # noqa: E402  # the path is set first
from callground_server.lsp.folder import Folder, Outcome  # noqa: E402  # the path is set first
from callground_server.lsp.session import Listener, Session  # noqa: E402  # the path is set first

TICK = 0.005


class Watch(Listener):
    """Notes when results come."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.first: float | None = None
        self.complete: float | None = None

    def judged(self, document: Document, outcome: Outcome) -> None:
        """The first result."""
        if self.first is None:
            self.first = time.perf_counter() - self.began

    def indexed(self, folder: Folder) -> None:
        """The end of the index."""
        self.complete = time.perf_counter() - self.began


def memory() -> float:
    """Resident memory in MB, of this process and of its children."""
    total = 0
    for pid in [os.getpid(), *children(os.getpid())]:
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            continue
    return total / 1e6


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


async def measure(root: Path, opened: Path | None, cache: str) -> dict[str, object]:
    """Open the folder and watch the loop until the index is complete."""
    session = Session(cache=cache)
    watch = Watch()
    session.listeners.append(watch)
    session.start(Client(folders=[str(root)]))
    if opened is not None:
        session.open(Document(opened.as_uri(), str(opened), 1, opened.read_text("utf-8")))
    delays: list[float] = []
    most = 0.0
    while watch.complete is None or (opened is not None and watch.first is None):
        before = time.perf_counter()
        await asyncio.sleep(TICK)
        delays.append((time.perf_counter() - before - TICK) * 1000)
        if len(delays) % 50 == 0:
            most = max(most, memory())
    await asyncio.sleep(1.0)
    kept = memory()
    session.stop()
    delays.sort()

    def at(share: float) -> float:
        return round(delays[min(int(len(delays) * share), len(delays) - 1)], 1)

    return {
        "root": root.name,
        "ticks": len(delays),
        "median_ms": at(0.5),
        "p99_ms": at(0.99),
        "max_ms": at(1.0),
        "first_result_s": watch.first and round(watch.first, 2),
        "index_s": round(watch.complete or 0.0, 2),
        "memory_most_mb": round(most),
        "memory_after_mb": round(kept),
        "load": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    """Measure one folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--open", type=Path, help="a file to open, relative to the folder")
    options = parser.parse_args()
    root = options.folder.resolve()
    with tempfile.TemporaryDirectory() as cache:
        found = asyncio.run(measure(root, root / options.open if options.open else None, cache))
    print(json.dumps(found))
    os._exit(0)


if __name__ == "__main__":
    main()
