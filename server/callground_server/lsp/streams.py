"""The protocol's own descriptors.

Children inherit descriptors 0 and 1, and any library may print: one stray line would end the session.
So before anything is started, the protocol moves to private duplicates (which children do not inherit),
descriptor 0 reads nothing and descriptor 1 writes where errors go.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO, cast


def take_over() -> tuple[BinaryIO, BinaryIO]:
    """Move stdin and stdout to private descriptors; gives (reader, writer)."""
    sys.stdout.flush()
    reader = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
    writer = os.fdopen(os.dup(1), "wb", buffering=0)
    _binary(reader.fileno(), writer.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0, inheritable=True)
    os.close(nothing)
    os.dup2(2, 1, inheritable=True)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  lives as long as the process
    sys.stdout = sys.stderr
    return reader, cast(BinaryIO, _Whole(writer))


def _binary(*descriptors: int) -> None:
    """On Windows duplicates start in text mode, which would rewrite line ends."""
    if sys.platform == "win32":
        import msvcrt

        for descriptor in descriptors:
            msvcrt.setmode(descriptor, os.O_BINARY)


class _Whole:
    """A raw pipe that writes all of a message: a single `write` of a raw file may stop half-way."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw

    def write(self, data: bytes) -> int:
        view = memoryview(data)
        while view:
            view = view[self._raw.write(view) or 0 :]
        return len(data)

    def flush(self) -> None:
        self._raw.flush()

    def close(self) -> None:
        self._raw.close()
