"""One notice where the environment is probably the wrong one, in place of a red mark at every import."""

from __future__ import annotations

from lsprotocol import types as lsp

from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Outcome
from callground_server.lsp.server import Server
from callground_server.lsp.session import Listener


class Doubt(Listener):
    """Tells each reason once for each folder."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._told: set[tuple[str, str]] = set()

    def judged(self, document: Document, outcome: Outcome) -> None:
        """A document has a result; its imports may not have been judged."""
        folder = self._server.session.folder(document.uri)
        if not outcome.notice or folder is None or (folder.root, outcome.notice) in self._told:
            return
        self._told.add((folder.root, outcome.notice))
        self._server.window_show_message(
            lsp.ShowMessageParams(lsp.MessageType.Warning, f"callground: {outcome.notice}")
        )


def register(server: Server) -> None:
    """Listen to results."""
    server.session.listeners.append(Doubt(server))
