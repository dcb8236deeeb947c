"""``callground daemon``."""

from __future__ import annotations

import argparse
import json
import time

from callground_server.gate import link


def run_daemon(options: argparse.Namespace) -> int:
    """Start, stop or ask the daemon, or be it."""
    if options.action == "run":
        from callground_server.gate.daemon import run

        return run(idle=options.idle, near=options.near)
    if options.action == "start":
        return _start()
    answer = link.ask("stop" if options.action == "stop" else "health", timeout=5.0)
    if answer is None:
        print("no daemon is running")
        return 0 if options.action == "stop" else 1
    print("stopped" if options.action == "stop" else json.dumps(answer, indent=2))
    return 0


def _start() -> int:
    if link.ask("health", timeout=5.0) is not None:
        print("a daemon is running already")
        return 0
    if not link.start():
        print("the daemon cannot be started")
        return 1
    for _ in range(100):
        if link.ask("health", timeout=5.0) is not None:
            print("started")
            return 0
        time.sleep(0.1)
    print("the daemon does not answer")
    return 1
