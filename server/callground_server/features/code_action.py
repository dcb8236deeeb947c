"""Quick fixes: repairs that were checked on the patched text, and ``source.fixAll``."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from lsprotocol import types as lsp

from callground.repairs import FileEdits, Repair
from callground.repairs.service import read_text
from callground.text.edits import Edit, difference
from callground.text.lines import LineIndex
from callground.verdict.model import Finding, Range
from callground_server.convert import SOURCE, from_range, uri_of
from callground_server.lsp import repairing
from callground_server.lsp.documents import Document
from callground_server.lsp.repairing import Offer
from callground_server.lsp.server import Server
from callground_server.lsp.session import Session

logger = logging.getLogger(__name__)
FIX_ALL = "source.fixAll.callground"
_QUICK = lsp.CodeActionKind.QuickFix.value


class Actions:
    """The actions that were last offered for each document, until one of them is chosen."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._edits: dict[str, tuple[int, dict[int, lsp.WorkspaceEdit]]] = {}

    async def offered(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """The actions for a range."""
        uri = params.text_document.uri
        only = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        actions: list[lsp.CodeAction] = []
        if _wanted(_QUICK, only, always=True):
            actions += await self._quick(uri, params)
        if _wanted(FIX_ALL, only, always=False):
            actions += await self._fix_all(uri)
        return actions

    async def resolved(self, action: lsp.CodeAction) -> lsp.CodeAction:
        """An action with its edit."""
        data: Any = action.data
        if not isinstance(data, Mapping) or action.edit is not None:
            return action
        uri = str(data.get("uri", ""))
        document = self._session.document(uri)
        if document is None or document.version != data.get("version"):
            # The text is another one by now: an edit for the old one would do harm.
            return action
        if data.get("all"):
            action.edit = await self._all_edit(document)
        else:
            version, edits = self._edits.get(uri, (-1, {}))
            if version == document.version:
                action.edit = edits.get(int(data.get("number", -1)))
        return action

    async def _quick(self, uri: str, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        place = self._place(uri, params.range)
        if place is None:
            return []
        document, span = place
        outcome = await self._session.current(document.uri)
        folder = self._session.folder(document.uri)
        if outcome is None or folder is None:
            return []
        text, version, texts = document.text, document.version, self._texts()
        offers = await repairing.ask(self._session, lambda: repairing.offers(folder, document.path, text, span, texts))
        if offers is None or document.version != version:
            return []
        # What is not shown is not offered a fix either.
        found = [offer.finding for offer in offers]
        shown = self._session.findings_in_scope(document, outcome, found)
        offers = [offer for offer in offers if offer.finding in shown]
        return self._actions(document, offers, params.context.diagnostics, texts)

    def _actions(
        self,
        document: Document,
        offers: Sequence[Offer],
        diagnostics: Sequence[lsp.Diagnostic],
        texts: Mapping[str, str],
    ) -> list[lsp.CodeAction]:
        client = self._session.client
        kept: dict[int, lsp.WorkspaceEdit] = {}
        actions: list[lsp.CodeAction] = []
        for offer in offers:
            about = [d for d in diagnostics if _is_about(d, offer.finding)]
            for repair in offer.repairs:
                edit = self._edit(document, repair, texts)
                if edit is None:
                    continue
                action = lsp.CodeAction(
                    title=repair.title,
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=about or None,
                    is_preferred=True if repair.certain and repair.verified else None,
                )
                if client.resolves_edits:
                    number = len(kept)
                    kept[number] = edit
                    action.data = {"uri": document.uri, "version": document.version, "number": number}
                else:
                    action.edit = edit
                actions.append(action)
        if client.resolves_edits:
            self._edits[document.uri] = (document.version, kept)
        return actions

    async def _fix_all(self, uri: str) -> list[lsp.CodeAction]:
        document = self._session.document(uri)
        if document is None or self._session.notebooks.owns(uri):
            return []
        action = lsp.CodeAction(title="Repair every call that can only be meant in one way", kind=FIX_ALL)
        if self._session.client.resolves_edits:
            action.data = {"uri": uri, "version": document.version, "all": True}
            return [action]
        action.edit = await self._all_edit(document)
        return [action] if action.edit is not None else []

    async def _all_edit(self, document: Document) -> lsp.WorkspaceEdit | None:
        if await self._session.current(document.uri) is None:
            return None
        folder = self._session.folder(document.uri)
        if folder is None:
            return None
        text, version = document.text, document.version
        result = await repairing.ask(self._session, lambda: repairing.fixed(folder, document.path, text))
        edit = difference(text, result.text) if result is not None and result.changes else None
        if edit is None or document.version != version:
            return None
        return self._workspace_edit(document, [(document.uri, _converted(text, [edit], self._encoding))], ())

    # -- places

    @property
    def _encoding(self) -> str:
        return self._session.client.encoding

    def _texts(self) -> dict[str, str]:
        return {document.path: document.text for document in self._session.documents()}

    def _place(self, uri: str, span: lsp.Range) -> tuple[Document, Range] | None:
        """The document that a URI names (for a cell its notebook), and the range in it."""
        notebooks = self._session.notebooks
        if notebooks.is_cell(uri):
            placed: tuple[Document, Range] | None = notebooks.place(uri, span)
            return placed
        document = self._session.document(uri)
        if document is None:
            return None
        return document, from_range(span, document.line, self._encoding)

    def _edit(self, document: Document, repair: Repair, texts: Mapping[str, str]) -> lsp.WorkspaceEdit | None:
        parts: list[tuple[str, list[lsp.TextEdit]]] = []
        for change in repair.changes:
            if not change.edits:
                continue
            if change.path == document.path:
                parts += self._own(document, change)
            else:
                text = texts.get(change.path) or read_text(change.path)
                if text is None:
                    return None
                uri = self._session.uri_of_path(change.path) or uri_of(change.path)
                parts.append((uri, _converted(text, change.edits, self._encoding)))
        if not parts or any(not edits for _, edits in parts):
            return None
        return self._workspace_edit(document, parts, repair.placeholders)

    def _own(self, document: Document, change: FileEdits) -> list[tuple[str, list[lsp.TextEdit]]]:
        if self._session.notebooks.owns(document.uri):
            cells: list[tuple[str, list[lsp.TextEdit]]] = self._session.notebooks.edits(document, change.edits)
            return cells
        return [(document.uri, _converted(document.text, change.edits, self._encoding))]

    def _workspace_edit(
        self, document: Document, parts: list[tuple[str, list[lsp.TextEdit]]], placeholders: Sequence[str]
    ) -> lsp.WorkspaceEdit:
        client = self._session.client
        if not client.document_changes:
            return lsp.WorkspaceEdit(changes=dict(parts))
        changes: list[Any] = []
        for uri, edits in parts:
            version = self._version(uri, document)
            snippets = placeholders if client.snippet_edits and uri == document.uri else ()
            changes.append(
                lsp.TextDocumentEdit(
                    lsp.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version),
                    _with_snippets(edits, snippets),
                )
            )
        return lsp.WorkspaceEdit(document_changes=changes)

    def _version(self, uri: str, document: Document) -> int | None:
        other = document if uri == document.uri else self._session.document(uri)
        return other.version if other is not None else None


def _wanted(kind: str, only: Sequence[str], *, always: bool) -> bool:
    """Whether a kind is asked for; `always` says whether it also is when nothing special is asked for."""
    if not only:
        return always
    return any(kind == asked or kind.startswith(asked + ".") for asked in only)


def _is_about(diagnostic: lsp.Diagnostic, finding: Finding) -> bool:
    return (
        diagnostic.source == SOURCE
        and diagnostic.code == finding.code
        and diagnostic.range.start.line == finding.range.line - 1
    )


def _converted(text: str, edits: Sequence[Edit], encoding: str) -> list[lsp.TextEdit]:
    index = LineIndex(text)

    def position(offset: int) -> lsp.Position:
        line, column = index.position(offset, encoding)
        return lsp.Position(line - 1, column)

    return [lsp.TextEdit(lsp.Range(position(e.start), position(e.end)), e.text) for e in sorted(edits)]


def _with_snippets(edits: list[lsp.TextEdit], placeholders: Sequence[str]) -> list[Any]:
    """Edits in which each ``...`` that has to be filled in is a place of a snippet."""
    left = list(placeholders)
    number = 0
    result: list[Any] = []
    for edit in edits:
        if not left or "..." not in edit.new_text:
            result.append(edit)
            continue
        pieces = edit.new_text.split("...")
        value = _escaped(pieces[0])
        for piece in pieces[1:]:
            number += 1
            value += f"${{{number}:{_escaped(left.pop(0)) if left else '...'}}}{_escaped(piece)}"
        result.append(lsp.SnippetTextEdit(range=edit.range, snippet=lsp.StringValue(value)))
    return result


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def register(server: Server) -> None:
    """Offer the fixes of findings."""
    actions = Actions(server.session)
    options = lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, FIX_ALL], resolve_provider=True)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        try:
            return await actions.offered(params)
        except Exception:  # the client is owed an answer
            logger.exception("code actions of %s failed", params.text_document.uri)
            return []

    @server.feature(lsp.CODE_ACTION_RESOLVE)
    async def resolve(action: lsp.CodeAction) -> lsp.CodeAction:
        try:
            return await actions.resolved(action)
        except Exception:  # the client is owed an answer
            logger.exception("the edit of %r failed", action.title)
            return action


__all__ = ["FIX_ALL", "Actions", "register"]
