"""Starting and ending the process."""

from __future__ import annotations

import argparse
import logging
import os
import sys

from callground_server.lsp.streams import take_over


def serve(argv: list[str]) -> int:
    """Serve one client over stdin and stdout; the exit code is 0 after an orderly shutdown."""
    parser = argparse.ArgumentParser(prog="callground lsp", description="Language server over stdin and stdout.")
    parser.add_argument("--stdio", action="store_true", help="accepted for editors that pass it; always on")
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--log-file", help="write a log there (stderr gets warnings only)")
    parser.add_argument("--log-level", default="WARNING", choices=("DEBUG", "INFO", "WARNING", "ERROR"))
    parser.add_argument(
        "--untrusted",
        action="store_true",
        help="never start the workspace's own interpreter: compiled modules are then not looked into",
    )
    parser.add_argument("--cache-dir", help="where facts are kept between sessions")
    options = parser.parse_args(argv)
    reader, writer = take_over()
    _log_to(options.log_file, options.log_level)

    # Imported late: nothing may be printed to descriptor 1 before it has been moved.
    from callground_server.lsp.server import create_server
    from callground_server.lsp.session import Session

    server = create_server(Session(cache=options.cache_dir, trusted=not options.untrusted))
    code = 1
    try:
        server.start_io(reader, writer)
        code = 0 if server.was_shut_down else 1
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        server.session.stop()
    # Threads that wait for a descriptor or a child would keep the process: everything is closed by now.
    logging.shutdown()
    sys.stderr.flush()
    os._exit(code)


def _log_to(path: str | None, level: str) -> None:
    handler: logging.Handler
    if path:
        handler = logging.FileHandler(path, encoding="utf-8")
    else:
        handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # pygls logs the body of every message at INFO.
    logging.getLogger("pygls").setLevel(max(logging.WARNING, logging.getLevelName(level)))
