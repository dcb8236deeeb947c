"""One file per feature of the protocol.  Only these files and ``convert.py`` know lsprotocol."""

from __future__ import annotations

from callground_server.features import (
    commands,
    configuration,
    documents,
    files,
    folders,
    lifecycle,
    notebooks,
    progress,
    pull,
    push,
    watching,
)

ALL = (
    lifecycle,
    documents,
    push,
    pull,
    configuration,
    folders,
    watching,
    files,
    notebooks,
    commands,
    progress,
)
"""Each has `register(server)`, in the order in which their listeners are called."""

__all__ = ["ALL", "notebooks"]
