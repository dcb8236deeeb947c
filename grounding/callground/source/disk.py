"""Files as bytes.  A name ending in ``.py`` may be a pipe or a device: opening one would wait for ever."""

from __future__ import annotations

import os
import stat


def read_file(path: str, most: int = -1) -> bytes:
    """The bytes of a regular file, at most `most` of them.

    Raises:
        OSError: it cannot be read, or is no regular file.
        ValueError: no file can have that name.
    """
    # A pipe that nobody writes to is opened at once, instead of when somebody does.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(0, "Is a directory" if stat.S_ISDIR(mode) else "Not a regular file", path)
        return file.read(most)
