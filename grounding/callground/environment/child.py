"""Starts the user's interpreter as an isolated child: the only place in this package that runs anything.

``-I -S`` alone keeps the environment's ``.pth`` files, ``sitecustomize``, the user's site folder,
``PYTHON*`` variables and the current folder out; on top of that the child gets a fresh folder to stand in,
a short list of variables, private pipes, a time limit and a limit on what it may answer.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import IO, NamedTuple

# What a dynamic loader or a C library needs.  Anything else stays here, secrets among it.
_KEPT = (
    "SYSTEMROOT",
    "WINDIR",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "LANG",
    "LC_ALL",
)


_MOST_STARTS = 3
_LARGEST = 512_000_000
"""Bytes of an answer that are read."""


class Outcome(NamedTuple):
    """What became of a child."""

    output: bytes
    """What it wrote, up to the limit."""
    problem: str | None
    """Why its answer may be incomplete; None when it ended by itself with status 0."""


def run_isolated(
    python: str,
    arguments: Sequence[str],
    stdin: bytes = b"",
    *,
    timeout: float = 10.0,
    limit: int = 64_000_000,
) -> Outcome:
    """Run `python` with `arguments` in isolation.

    `timeout` is in seconds, `limit` in bytes of output.  Never raises for what the child does.
    """
    with tempfile.TemporaryDirectory(prefix="callground-", ignore_cleanup_errors=True) as folder:
        try:
            child = subprocess.Popen(
                [python, "-I", "-S", "-B", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=_environ(folder),
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError) as error:
            return Outcome(b"", f"{python} could not be started: {error}")
        return _communicate(child, stdin, timeout, limit)


class Conversation:
    """A child that stays and answers one question after the other: four bytes of length, then as many bytes.

    Started by the first question, in a folder of its own that goes when it ends.  One that dies or takes too long is
    started again, a few times.  Safe for threads.
    """

    def __init__(self, python: str, arguments: Sequence[str], timeout: float) -> None:
        self._command = [python, "-I", "-S", "-B", *arguments]
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._starts = 0
        self._lock = threading.Lock()

    def ask(self, question: bytes) -> bytes | None:
        """The answer; None when there is none."""
        with self._lock:
            process = self._running()
            if process is None:
                return None
            # A pipe cannot be read with a time limit everywhere: the child is ended instead.
            watch = threading.Timer(self._timeout, _kill, [process])
            watch.daemon = True
            watch.start()
            try:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(struct.pack(">I", len(question)) + question)
                process.stdin.flush()
                head = process.stdout.read(4)
                size = struct.unpack(">I", head)[0] if len(head) == 4 else -1
                answer = process.stdout.read(size) if 0 <= size <= _LARGEST else b""
                if len(answer) == size:
                    return answer
            except (OSError, ValueError):
                pass  # it has died: as good as no answer
            finally:
                watch.cancel()
            self._end()
            return None

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        if self._starts >= _MOST_STARTS:
            return None
        self._starts += 1
        self._folder = tempfile.TemporaryDirectory(prefix="callground-", ignore_cleanup_errors=True)
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._folder.name,
                env=_environ(self._folder.name),
                start_new_session=sys.platform != "win32",
            )
        except (OSError, ValueError):
            self._end()
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            _kill(process)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                try:
                    if pipe is not None:
                        pipe.close()
                except OSError:
                    pass  # what was not sent is of no use any more
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()

    def close(self) -> None:
        """End the child."""
        with self._lock:
            self._end()


def _environ(folder: str) -> dict[str, str]:
    environ = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environ["PATH"] = os.environ.get("PATH", os.defpath) if sys.platform == "win32" else os.defpath
    for name in ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        environ[name] = folder
    # Numeric libraries otherwise reserve memory for a thread on every core while they are imported.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environ[name] = "1"
    return environ


def _communicate(child: subprocess.Popen[bytes], stdin: bytes, timeout: float, limit: int) -> Outcome:
    chunks: list[bytes] = []
    overflow = threading.Event()

    def read(pipe: IO[bytes]) -> None:
        size = 0
        try:
            while chunk := os.read(pipe.fileno(), 65536):
                size += len(chunk)
                if size > limit:
                    overflow.set()
                    _kill(child)
                    return
                chunks.append(chunk)
        except (OSError, ValueError):
            return

    def write(pipe: IO[bytes]) -> None:
        try:
            pipe.write(stdin)
            pipe.close()
        except (OSError, ValueError):
            return  # the child ended without reading

    assert child.stdin is not None
    assert child.stdout is not None
    reader = threading.Thread(target=read, args=(child.stdout,), daemon=True)
    writer = threading.Thread(target=write, args=(child.stdin,), daemon=True)
    reader.start()
    writer.start()
    problem = None
    try:
        status = child.wait(timeout)
        if status:
            problem = f"ended with {_status(status)}"
    except subprocess.TimeoutExpired:
        problem = f"took longer than {timeout:g} s"
    finally:
        _kill(child)  # also what it may have started itself
        child.wait()
    reader.join(1.0)
    writer.join(1.0)
    for pipe in (child.stdin, child.stdout):
        try:
            pipe.close()
        except OSError:
            pass
    if overflow.is_set():
        problem = f"answered more than {limit} bytes"
    return Outcome(b"".join(chunks), problem)


def _status(status: int) -> str:
    if status < 0:
        try:
            return f"signal {signal.Signals(-status).name}"
        except ValueError:
            return f"signal {-status}"
    return f"status {status}"


def _kill(child: subprocess.Popen[bytes]) -> None:
    try:
        if sys.platform != "win32":
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    except (OSError, ProcessLookupError):
        pass
