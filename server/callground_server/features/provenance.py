"""Whose the text is: what clients and people say, what they are shown, and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lsprotocol import types as lsp

from callground.provenance import signals
from callground.provenance.intervals import ORIGINS, Stamp
from callground.provenance.ledger import Ledger
from callground_server.convert import is_uri, path_of, uri_of
from callground_server.features.extras import DID_INSERT, MARK, PROVENANCE, Extras, plain, range_of
from callground_server.lsp.authorship import Authorship
from callground_server.lsp.documents import Document
from callground_server.lsp.server import Server, guarded

MARK_AS_AI = "callground.markAsAi"
MARK_AS_MINE = "callground.markAsMine"
CHECK_FILE = "callground.checkFile"
WHO_WROTE = "callground.provenance"

HUMAN_ACTIONS = frozenset(("human", "undo", "redo", "format", "rename", "snippet", "completion", "move"))
"""What a client may give as an origin for text that it knows to be a person's doing."""


def register(server: Server) -> None:
    """Take what clients tell, show what is known."""
    session = server.session
    extras = Extras(server)

    def shown(document: Document, ledger: Ledger) -> list[dict[str, Any]]:
        encoding = session.client.encoding
        ranges = []
        for span in ledger.spans:
            start, end = document.position(span.start, encoding), document.position(span.end, encoding)
            ranges.append(
                {
                    "range": {
                        "start": {"line": start[0], "character": start[1]},
                        "end": {"line": end[0], "character": end[1]},
                    },
                    "origin": span.stamp.origin,
                    "source": span.stamp.source,
                    "confidence": span.stamp.confidence,
                    "tool": span.stamp.tool,
                    "why": signals.SIGNALS[span.stamp.source].says,
                }
            )
        return ranges

    def changed(document: Document, ledger: Ledger) -> None:
        if extras.wants("provenance"):
            message = {"uri": document.uri, "version": document.version, "ranges": shown(document, ledger)}
            extras.send("provenance", PROVENANCE, message)

    authorship = Authorship(session, changed)
    session.listeners.insert(0, authorship)

    def told(params: Any, source: str, origin: str | None = None) -> bool:
        given = plain(params)
        uri = _uri(given.get("uri"))
        document, folder = session.document(uri), session.folder(uri)
        claimed = origin or given.get("origin")
        if claimed in HUMAN_ACTIONS:
            claimed = "human"
        if document is None or folder is None or claimed not in ORIGINS:
            return False
        if source == signals.CLIENT and not folder.config.provenance.client:
            return False
        ranges = [*(given.get("ranges") or ()), *([given["range"]] if given.get("range") else ())]
        places = [_numbers(span) for span in map(range_of, ranges) if span is not None]
        version = given.get("version")
        stamp = Stamp(claimed, source, 1.0, str(given.get("tool") or ""))
        authorship.tell(uri, version if isinstance(version, int) else None, places, stamp)
        return bool(places)

    @server.handles(DID_INSERT)
    def inserted(params: Any) -> None:
        told(params, signals.CLIENT)

    @server.handles(MARK)
    def marked(params: Any) -> None:
        told(params, signals.BY_HAND)

    @server.handles(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        authorship.saved(params.text_document.uri)

    # pygls counts the parameters of a command: with these, too few are no error.

    async def mark_as_ai(*arguments: Any) -> bool:
        """Mark a range (or a list of them) of an open document as an assistant's: URI, range."""
        return told(_given(arguments), signals.BY_HAND, "ai")

    async def mark_as_mine(*arguments: Any) -> bool:
        """Mark a range (or a list of them) of an open document as the person's own: URI, range."""
        return told(_given(arguments), signals.BY_HAND, "human")

    async def check_file(*arguments: Any) -> int | None:
        """Show every finding of an open document, whatever the scope: URI (and false to end it); their number."""
        name = _uri(arguments[0] if arguments else None)
        everything = arguments[1] if len(arguments) > 1 else True
        outcome = await session.current(name)
        if outcome is None:
            return None
        authorship.show_everything(name, everything is not False)
        return sum(verdict.finding is not None for verdict in outcome.review.verdicts)

    async def who_wrote(*arguments: Any) -> list[dict[str, Any]] | None:
        """The ranges of an open document (its URI) with their origin and how it is known."""
        uri = _uri(arguments[0] if arguments else None)
        document, ledger = session.document(uri), authorship.book.ledger(uri)
        return shown(document, ledger) if document is not None and ledger is not None else None

    for name, command in (
        (MARK_AS_AI, mark_as_ai),
        (MARK_AS_MINE, mark_as_mine),
        (CHECK_FILE, check_file),
        (WHO_WROTE, who_wrote),
    ):
        server.command(name)(guarded(name, command))


def _given(arguments: Sequence[Any]) -> dict[str, Any]:
    spans = plain(arguments[1]) if len(arguments) > 1 else None
    return {"uri": arguments[0] if arguments else None, "ranges": spans if isinstance(spans, list) else [spans]}


def _uri(value: Any) -> str:
    text = str(value or "")
    return text if is_uri(text) or "://" in text else uri_of(path_of(text))


def _numbers(span: lsp.Range) -> tuple[int, int, int, int]:
    return span.start.line, span.start.character, span.end.line, span.end.character


__all__: Sequence[str] = ["register"]
