"""Diagnostics on request, for clients that can be told to ask again (VS Code)."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterable

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from callground_server.features.shown import diagnostics_of
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.server import Server
from callground_server.lsp.session import Listener

logger = logging.getLogger(__name__)

BUDGET = 8.0
"""Seconds that a question may wait for its answer."""
REFRESH_DELAY = 0.05
"""Changes that come together make the client ask again once."""


class Pull(Listener):
    """Tells the client to ask again when results changed for another reason than its own edit."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._timer: asyncio.TimerHandle | None = None
        self.answered: dict[str, tuple[int, str]] = {}
        """Per document: the version and the result that the client has."""

    def judged(self, document: Document, outcome: Outcome) -> None:
        """A result that is better than what the client has of this version is worth another question."""
        known = self.answered.get(document.uri)
        if known is None or known[0] != document.version:
            return
        if known[1] != result_id(diagnostics_of(self._server.session, document, outcome)):
            self.refresh_soon()

    def closed(self, uri: str) -> None:
        """A document was closed."""
        self.answered.pop(uri, None)

    def stale(self, _: Iterable[str]) -> None:
        """Something elsewhere has touched open documents."""
        self.refresh_soon()

    def indexed(self, _: Folder) -> None:
        """By-name questions have answers now."""
        self.refresh_soon()

    def refresh_soon(self) -> None:
        """Ask the client to pull again, once for several reasons."""
        if not self._server.session.client.pull or self._timer is not None:
            return
        self._timer = asyncio.get_running_loop().call_later(REFRESH_DELAY, self._refresh)

    def _refresh(self) -> None:
        self._timer = None
        if not self._server.session.closed:
            self._server.session.tasks.keep(self._ask())

    async def _ask(self) -> None:
        await asyncio.shield(self._server.workspace_diagnostic_refresh_async(None))


def register(server: Server) -> None:
    """Listen for reasons to pull again."""
    server.session.listeners.append(Pull(server))


def register_requests(server: Server) -> None:
    """Answer textDocument/diagnostic: called while the client's announcement is read."""
    session = server.session
    asked = next(listener for listener in session.listeners if isinstance(listener, Pull))
    options = lsp.DiagnosticOptions(identifier="callground", inter_file_dependencies=True, workspace_diagnostics=False)

    @server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)
    async def diagnostic(
        params: lsp.DocumentDiagnosticParams,
    ) -> lsp.RelatedFullDocumentDiagnosticReport | lsp.RelatedUnchangedDocumentDiagnosticReport:
        uri = params.text_document.uri
        items: list[lsp.Diagnostic] = []
        try:
            items = await asyncio.wait_for(_items(uri), BUDGET)
        except asyncio.TimeoutError:
            # The worker is behind: the client shows what it has, and asks again.
            data = lsp.DiagnosticServerCancellationData(retrigger_request=True)
            raise JsonRpcException("not judged yet", lsp.LSPErrorCodes.ServerCancelled.value, data) from None
        except Exception:  # the client is owed an answer
            logger.exception("diagnostics of %s failed", uri)
        result = result_id(items)
        document = session.document(uri)
        if document is not None:
            asked.answered[uri] = (document.version, result)
        if params.previous_result_id == result:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(result_id=result)
        return lsp.RelatedFullDocumentDiagnosticReport(items=items, result_id=result)

    async def _items(uri: str) -> list[lsp.Diagnostic]:
        if session.notebooks.is_cell(uri):
            found: list[lsp.Diagnostic] = await session.notebooks.diagnostics(uri)
            return found
        outcome: Outcome | None = await session.current(uri)
        document: Document | None = session.document(uri)
        if outcome is None or document is None:
            return []
        return diagnostics_of(session, document, outcome)


def result_id(items: list[lsp.Diagnostic]) -> str:
    """Equal lists of diagnostics have equal ids."""
    return hashlib.blake2b(repr(items).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
