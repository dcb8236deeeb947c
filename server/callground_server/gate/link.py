"""The way to a running daemon.  Used by commands that must answer at once: imports next to nothing.

There is one daemon for a user and a version; it keeps several workspaces warm.  Its address lies in a folder
that only the user can look into: a Unix socket, or (where there are none) a port with a token.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import sys
import tempfile
from typing import Any

from callground import __version__

OFF = "CALLGROUND_NO_DAEMON"
"""Environment variable: set, no command talks to a daemon or starts one."""

LIMIT = 64_000_000
"""Bytes of the longest answer that is read."""


def folder() -> str:
    """Where the address lies.  It need not exist."""
    chosen = os.environ.get("CALLGROUND_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or ""
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    # Not below the cache folder: the path of a socket must be short.
    mark = f"{_checksum(chosen):08x}" if chosen else "0"
    return os.path.join(tempfile.gettempdir(), f"callground-{user}-{mark}")


def address_file() -> str:
    """The file that says where the daemon of this version listens (or the socket itself)."""
    return os.path.join(folder(), f"{__version__}.sock" if has_unix() else f"{__version__}.json")


def has_unix() -> bool:
    """Whether Unix sockets are used."""
    return hasattr(socket, "AF_UNIX") and os.environ.get("CALLGROUND_DAEMON_TCP") is None


def is_private(path: str) -> bool:
    """Whether a folder is the user's own and nobody else may look or write there."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        return False
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o077


def connect(timeout: float = 2.0) -> socket.socket | None:
    """A connection to the daemon; None when none is running."""
    if os.environ.get(OFF) or not is_private(folder()):
        return None
    path = address_file()
    try:
        if has_unix():
            link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            link.settimeout(timeout)
            link.connect(path)
            return link
        with open(path, encoding="utf-8") as file:
            address = json.load(file)
        link = socket.create_connection(("127.0.0.1", int(address["port"])), timeout)
        link.sendall(f"{address['token']}\n".encode())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return link


def ask(operation: str, timeout: float = 60.0, **members: Any) -> dict[str, Any] | None:
    """Ask the daemon; its answer, or None when there is none (or it went away meanwhile)."""
    link = connect()
    if link is None:
        return None
    try:
        with link:
            link.settimeout(timeout)
            message = {"op": operation, "version": __version__, **members}
            link.sendall(json.dumps(message).encode("utf-8", "backslashreplace") + b"\n")
            answer = json.loads(_line(link))
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def start(near: str | None = None) -> bool:
    """Start a daemon in the background, detached from this process; False where that is not possible.

    It warms up the workspace that `near` lies in before anybody asks.
    """
    if os.environ.get(OFF):
        return False
    import subprocess

    warm = ["--near", near] if near is not None else []
    options: dict[str, Any] = {"start_new_session": True} if os.name == "posix" else {"creationflags": 0x00000208}
    try:
        subprocess.Popen(
            [sys.executable, "-I", "-m", "callground_server", "daemon", "run", *warm],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=True,
            cwd=os.path.expanduser("~") if os.path.isdir(os.path.expanduser("~")) else None,
            **options,
        )
    except OSError:
        return False
    return True


def _line(link: socket.socket) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        part = link.recv(1 << 16)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if part.endswith(b"\n") or size > LIMIT:
            break
    return b"".join(parts)


def _checksum(text: str) -> int:
    # hashlib takes longer to import than all the rest of this module.
    value = 0
    for byte in text.encode("utf-8", "surrogateescape"):
        value = (value * 16777619 ^ byte) & 0xFFFFFFFF
    return value
