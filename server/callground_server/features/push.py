"""Diagnostics pushed to clients that cannot be asked to pull again."""

from __future__ import annotations

from lsprotocol import types as lsp

from callground_server.features.shown import diagnostics_of
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Outcome
from callground_server.lsp.server import Server
from callground_server.lsp.session import Listener


class Push(Listener):
    """Publishes each result as it comes."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._shown: dict[str, tuple[int, list[lsp.Diagnostic]]] = {}

    def judged(self, document: Document, outcome: Outcome) -> None:
        """Show a result, unless it is what is shown already for this version."""
        session = self._server.session
        if session.client.pull or session.notebooks.owns(document.uri):
            return
        diagnostics = diagnostics_of(session, document, outcome)
        shown = (document.version, diagnostics)
        if self._shown.get(document.uri) != shown:
            self._shown[document.uri] = shown
            self._publish(document.uri, diagnostics, document.version)

    def failed(self, document: Document) -> None:
        """Rather nothing than something wrong."""
        if self._shown.pop(document.uri, None) is not None:
            self._publish(document.uri, [], document.version)

    def closed(self, uri: str) -> None:
        """A closed document shows nothing."""
        if self._shown.pop(uri, None) is not None:
            self._publish(uri, [], None)

    def _publish(self, uri: str, diagnostics: list[lsp.Diagnostic], version: int | None) -> None:
        self._server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        )


def register(server: Server) -> None:
    """Push results to a client that does not pull."""
    server.session.listeners.append(Push(server))
