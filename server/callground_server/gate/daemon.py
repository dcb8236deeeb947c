"""The process that keeps graphs warm for commands that come and go: hooks, ``verify``, ``check``."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from callground import __version__
from callground_server.gate import link
from callground_server.gate.engine import Engine, TooSlow
from callground_server.gate.wire import RequestError

logger = logging.getLogger(__name__)

IDLE = 1800.0
"""Seconds without a question after which the daemon ends."""
LONGEST = 16_000_000
"""Bytes of the longest question."""

Operation = Callable[[Engine, Mapping[str, Any]], dict[str, Any]]


class AlreadyRunning(Exception):
    """Another daemon answers at the address."""


class Daemon:
    """Listens, and answers every connection with the one engine."""

    def __init__(self, engine: Engine, *, idle: float = IDLE) -> None:
        self.engine = engine
        self._idle = idle
        self._socket: socket.socket | None = None
        self._token: str | None = None
        self._address: tuple[int, int] | None = None
        """The file that leads here: no other daemon's is taken away."""
        self._stopped = threading.Event()
        self._open = 0
        self._count = threading.Lock()
        self._last = time.monotonic()

    def listen(self) -> None:
        """Take the address.  Raises AlreadyRunning, OSError."""
        folder = link.folder()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not link.is_private(folder):
            raise OSError(f"{folder} is not a folder of the user's own")
        with _locked(os.path.join(folder, "lock")):
            if (running := link.connect(0.5)) is not None:
                running.close()
                raise AlreadyRunning
            with contextlib.suppress(OSError):
                os.unlink(link.address_file())
            self._bind()

    def _bind(self) -> None:
        path = link.address_file()
        if link.has_unix():
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._socket.bind(path)
            os.chmod(path, 0o600)
        else:
            self._socket = socket.create_server(("127.0.0.1", 0))
            self._token = secrets.token_urlsafe(32)
            address = {"port": self._socket.getsockname()[1], "token": self._token}
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(address, file)
        self._socket.listen(64)
        self._address = _identity(path)

    def serve(self) -> None:
        """Answer until somebody says stop, or nobody has asked for long."""
        assert self._socket is not None
        self._socket.settimeout(1.0)
        while not self._stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                if not self._open and time.monotonic() - self._last > self._idle:
                    break
                if not self._owns_address():
                    break  # somebody has put another one in our place, or cleaned up
                continue
            except OSError:
                break
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()
        self.close()

    def close(self) -> None:
        """Leave the address and let go of the workspaces."""
        self._stopped.set()
        if self._socket is not None:
            self._leave()
            self._socket.close()
            self._socket = None
        self.engine.close()

    def _leave(self) -> None:
        """Nobody finds the way here any more; another daemon may take the place at once."""
        if self._owns_address():
            with contextlib.suppress(OSError):
                os.unlink(link.address_file())
        self._address = None

    def _owns_address(self) -> bool:
        return self._address is not None and _identity(link.address_file()) == self._address

    def _answer(self, connection: socket.socket) -> None:
        with self._count:
            self._open += 1
        try:
            with connection:
                connection.settimeout(60.0)
                line = _read_line(connection, with_token=self._token)
                if line is None:
                    return
                reply = self._reply(line)
                connection.sendall(json.dumps(reply).encode("utf-8", "backslashreplace") + b"\n")
        except OSError:
            logger.debug("a client went away")
        finally:
            with self._count:
                self._open -= 1
            self._last = time.monotonic()

    def _reply(self, line: bytes) -> dict[str, Any]:
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                return {"error": "a message is a JSON object"}
            if message.get("op") == "stop":
                self._leave()
                self._stopped.set()
                return {"ok": True}
            operation = OPERATIONS.get(str(message.get("op")))
            if operation is None:
                return {"error": f"no operation {message.get('op')!r}"}
            return operation(self.engine, message)
        except RequestError as error:
            return {"error": str(error), "kind": "request"}
        except TooSlow as error:
            return {"error": str(error), "kind": "time"}
        except Exception as error:  # the daemon outlives what it cannot answer
            logger.exception("a question failed")
            return {"error": f"internal error: {type(error).__name__}: {error}", "kind": "internal"}


# -- what can be asked


def _verify(engine: Engine, message: Mapping[str, Any]) -> dict[str, Any]:
    near, limit = message.get("near"), message.get("limit")
    answer = engine.verify(
        message.get("request"),
        near=near if isinstance(near, str) else None,
        python=message.get("python"),
        trusted=message.get("trusted"),
        limit=float(limit) if isinstance(limit, int | float) else None,
    )
    return {"answer": answer}


def _suggest(engine: Engine, message: Mapping[str, Any]) -> dict[str, Any]:
    near = message.get("near")
    return {"answer": engine.suggest(message.get("request"), near if isinstance(near, str) else None)}


def _hook(engine: Engine, message: Mapping[str, Any]) -> dict[str, Any]:
    from callground_server.gate.hooks.run import respond

    reply = respond(engine, str(message.get("payload", "")), message.get("options") or {})
    return {"out": reply.out, "err": reply.err, "status": reply.status}


def _check(engine: Engine, message: Mapping[str, Any]) -> dict[str, Any]:
    from callground_server.cli.warm import answer_check

    return answer_check(engine, message)


def _health(engine: Engine, _: Mapping[str, Any]) -> dict[str, Any]:
    return {**engine.health(), "pid": os.getpid(), "cpu_seconds": round(time.process_time(), 3)}


def _warm_up(engine: Engine, near: str) -> None:
    try:
        engine.warm_up(near)
    except Exception:  # the first question will meet it again, and say so
        logger.exception("warming up %s failed", near)


OPERATIONS: dict[str, Operation] = {
    "verify": _verify,
    "suggest": _suggest,
    "hook": _hook,
    "check": _check,
    "health": _health,
}


# -- parts


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold a lock file, so that two daemons do not take the address at the same time."""
    with open(path, "a", encoding="utf-8") as file:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _read_line(connection: socket.socket, *, with_token: str | None) -> bytes | None:
    """The question; None for a client that does not know the token, or says nothing."""
    data = b""
    wanted = 2 if with_token is not None else 1
    while data.count(b"\n") < wanted:
        part = connection.recv(1 << 16)
        if not part or len(data) > LONGEST:
            return None
        data += part
    if with_token is not None:
        token, _, data = data.partition(b"\n")
        if not secrets.compare_digest(token, with_token.encode()):
            return None
    return data


def run(*, idle: float = IDLE, near: str | None = None) -> int:
    """Serve until the end; 0 also when another daemon is there already."""
    daemon = Daemon(Engine(), idle=idle)
    try:
        daemon.listen()
    except AlreadyRunning:
        return 0
    except OSError as error:
        print(f"callground: the daemon cannot listen: {error}", file=sys.stderr)
        return 2
    logger.info("callground %s listens", __version__)
    if near is not None:
        threading.Thread(target=_warm_up, args=(daemon.engine, near), daemon=True).start()
    daemon.serve()
    return 0
