"""The request ``callground/settle``: answered when nothing is left to do.

For programs that drive the server: by then the folders are indexed, the disk was looked at, and each open document has
the result that stays until something happens.  What a client is pushed was sent before the answer.
"""

from __future__ import annotations

from typing import Any

from callground_server.lsp.server import Server, guarded

METHOD = "callground/settle"


def register(server: Server) -> None:
    """Answer the request."""

    async def settle(_: Any) -> dict[str, bool]:
        return {"settled": await server.session.settle()}

    server.feature(METHOD)(guarded(METHOD, settle))
