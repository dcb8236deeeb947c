"""Ranges whose origin the client or a person has told us, kept up with every edit."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from callground.text.edits import Edit
from callground_server.features.extras import DID_INSERT, MARK, PROVENANCE, Extras, plain, range_of
from callground_server.lsp.documents import Document
from callground_server.lsp.server import Server
from callground_server.lsp.session import Listener

logger = logging.getLogger(__name__)
ORIGINS = ("ai", "agent", "unknown", "human")


class Mark(NamedTuple):
    """``text[start:end]`` came from somewhere."""

    start: int
    end: int
    origin: str
    source: str
    tool: str = ""


class Marks(Listener):
    """The marks of the open documents."""

    def __init__(self, server: Server, extras: Extras) -> None:
        self._session = server.session
        self._extras = extras
        self._marks: dict[str, tuple[Mark, ...]] = {}

    def edited(self, document: Document, _: str, edits: Sequence[Edit]) -> None:
        """Move the marks; what is typed inside of one belongs to it."""
        before = self._marks.get(document.uri)
        if not before:
            return
        marks = before
        for edit in edits:
            marks = moved(marks, edit)
        self._keep(document, marks)

    def closed(self, uri: str) -> None:
        """A closed document has no marks."""
        self._marks.pop(uri, None)

    def told(self, params: Any, source: str) -> None:
        """Somebody knows where ranges of a document came from."""
        given = plain(params)
        document = self._session.document(str(given.get("uri", "")))
        origin = given.get("origin")
        if document is None or origin not in ORIGINS:
            return
        if given.get("version") not in (None, document.version):
            logger.info("a mark for another version of %s", document.uri)
            return
        marks = self._marks.get(document.uri, ())
        encoding = self._session.client.encoding
        ranges = given.get("ranges") or [given.get("range")]
        for span in filter(None, map(range_of, ranges)):
            start = document.offset(span.start.line, span.start.character, encoding)
            end = document.offset(span.end.line, span.end.character, encoding)
            if start < end:
                new = Mark(start, end, origin, source, str(given.get("tool") or ""))
                marks = put(marks, new)
        self._keep(document, marks)

    def _keep(self, document: Document, marks: tuple[Mark, ...]) -> None:
        self._marks[document.uri] = marks
        if self._extras.wants("provenance"):
            shown = [self._shown(document, mark) for mark in marks]
            self._extras.send(
                "provenance", PROVENANCE, {"uri": document.uri, "version": document.version, "ranges": shown}
            )

    def _shown(self, document: Document, mark: Mark) -> dict[str, Any]:
        encoding = self._session.client.encoding
        start, end = (document.position(offset, encoding) for offset in (mark.start, mark.end))
        return {
            "range": {
                "start": {"line": start[0], "character": start[1]},
                "end": {"line": end[0], "character": end[1]},
            },
            "origin": mark.origin,
            "source": mark.source,
            "tool": mark.tool,
        }


def moved(marks: Iterable[Mark], edit: Edit) -> tuple[Mark, ...]:
    """The marks after an edit.  What is put in at a mark's end is not part of it."""
    shift = len(edit.text) - (edit.end - edit.start)
    kept: list[Mark] = []
    for mark in marks:
        if edit.start >= mark.end:
            kept.append(mark)
        elif edit.end <= mark.start:
            kept.append(mark._replace(start=mark.start + shift, end=mark.end + shift))
        else:
            start = min(mark.start, edit.start) if edit.start >= mark.start else edit.start + len(edit.text)
            end = mark.end + shift if edit.end <= mark.end else edit.start
            if edit.start >= mark.start and edit.end > mark.end:
                end = edit.start
            if start < end:
                kept.append(mark._replace(start=start, end=end))
    return tuple(kept)


def put(marks: Iterable[Mark], new: Mark) -> tuple[Mark, ...]:
    """The marks with a new one over them; a person's own text is what is left unmarked."""
    kept: list[Mark] = []
    for mark in marks:
        if mark.start < new.start:
            kept.append(mark._replace(end=min(mark.end, new.start)))
        if mark.end > new.end:
            kept.append(mark._replace(start=max(mark.start, new.end)))
    if new.origin != "human":
        kept.append(new)
    return tuple(sorted(kept))


def register(server: Server) -> None:
    """Take what clients tell."""
    marks = Marks(server, Extras(server))
    server.session.listeners.append(marks)

    @server.handles(DID_INSERT)
    def inserted(params: Any) -> None:
        marks.told(params, "client")

    @server.handles(MARK)
    def marked(params: Any) -> None:
        marks.told(params, "by-hand")
