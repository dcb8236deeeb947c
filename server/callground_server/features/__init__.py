"""One file per feature of the protocol.  Only these files and ``convert.py`` know lsprotocol."""

from __future__ import annotations

from callground_server.features import (
    asked,
    code_action,
    commands,
    configuration,
    documents,
    doubt,
    files,
    folders,
    gate,
    hover,
    lifecycle,
    notebooks,
    progress,
    provenance,
    pull,
    push,
    settled,
    status,
    suggest,
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
    code_action,
    hover,
    progress,
    asked,
    status,
    doubt,
    provenance,
    gate,
    suggest,
    settled,
)
"""Each has `register(server)`, in the order in which their listeners are called."""

__all__ = ["ALL", "notebooks"]
