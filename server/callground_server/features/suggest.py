"""Whole grounded calls: inline (ghost text), in the completion list, and on request.

Unasked, only what the gate is sure of is shown; asked (an explicit trigger, the completion list, the command), the
ranked list is.  Each item has been judged on the patched text before it leaves, comes with the import that it needs,
and carries a command for the client to run when it is accepted, so that accepted ones are counted and marked.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from lsprotocol import types as lsp

from callground.caller.code_suggestions import CodeSuggestion
from callground.provenance import signals
from callground.provenance.intervals import Stamp
from callground.text.edits import Edit
from callground_server.features.extras import plain
from callground_server.lsp.authorship import Authorship
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Folder
from callground_server.lsp.listener import Listener
from callground_server.lsp.server import Server, guarded
from callground_server.lsp.suggesting import Suggesting

logger = logging.getLogger(__name__)

ACCEPTED = "callground.acceptedSuggestion"
SUGGEST = "callground.suggest"
QUIET = 0.04
"""Seconds that an automatic request waits for a newer keystroke before anything is worked out."""
MOST = 5
_KEPT = 64


class _Offered(NamedTuple):
    """What has to be done when a suggestion is accepted."""

    uri: str
    before: str
    """The text above the line of the suggestion: the imports' edits are for this."""
    edits: tuple[Edit, ...]
    """The imports that the server has to add: an inline suggestion brings none by itself."""
    made: tuple[tuple[int, str], ...]
    """Where each piece of the suggestion stands once it is in, and its text."""


class Suggestions(Listener):
    """The suggestions of a session."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = server.session
        self.worker = Suggesting(server.session)
        self._numbers = itertools.count(1)
        self._offered: OrderedDict[int, _Offered] = OrderedDict()

    # -- what the session tells

    def indexed(self, folder: Folder) -> None:
        """The tools are read and embedded from now on, whenever there is nothing else to do."""
        self._session.suggestions_off = self.worker.unavailable() or ""
        self._fill(folder)

    def looked(self, folder: Folder) -> None:
        """Files may have changed."""
        if folder.ready:
            self._fill(folder)

    def _fill(self, folder: Folder) -> None:
        if folder.config.suggests and not folder.lone:
            self.worker.warm_up()
            self.worker.fill(folder)

    # -- questions

    async def inline(self, params: lsp.InlineCompletionParams) -> list[lsp.InlineCompletionItem]:
        """Ghost text at a position."""
        explicit = params.context.trigger_kind == lsp.InlineCompletionTriggerKind.Invoked
        place = self._place(params.text_document.uri, params.position)
        if place is None:
            return []
        document, folder, offset = place
        if not explicit:
            version = document.version
            await asyncio.sleep(QUIET)
            if document.version != version:
                return []
        found = await self.worker.ask(folder, document.uri, offset, limit=MOST if explicit else 1, explicit=explicit)
        return [
            lsp.InlineCompletionItem(
                insert_text=each.text,
                range=self._range(document, each.start, each.end),
                command=self._command(document, each),
            )
            for each in found
            if not each.placeholders
        ]

    async def completions(self, params: lsp.CompletionParams) -> lsp.CompletionList:
        """The ranked list at a position."""
        nothing = lsp.CompletionList(is_incomplete=False, items=[])
        place = self._place(params.text_document.uri, params.position)
        if place is None:
            return nothing
        document, folder, offset = place
        context = params.context
        asked = context is None or context.trigger_kind == lsp.CompletionTriggerKind.Invoked
        found = await self.worker.ask(folder, document.uri, offset, limit=MOST, explicit=asked)
        items = [self._item(document, each, rank) for rank, each in enumerate(found)]
        return lsp.CompletionList(is_incomplete=False, items=items)

    async def asked(self, *arguments: Any) -> list[dict[str, Any]] | None:
        """The ranked list at a position of an open document: URI, position, and perhaps what is wanted in words."""
        given = [plain(argument) for argument in arguments]
        try:
            uri, position = str(given[0]), lsp.Position(int(given[1]["line"]), int(given[1]["character"]))
        except (IndexError, KeyError, TypeError, ValueError):
            return None
        request = str(given[2]) if len(given) > 2 and given[2] else ""
        place = self._place(uri, position)
        if place is None:
            return None
        document, folder, offset = place
        found = await self.worker.ask(folder, uri, offset, limit=MOST, explicit=True, request=request)
        return [self._plain(document, each) for each in found]

    async def accepted(self, *arguments: Any) -> bool:
        """A suggestion was accepted: its number, as it stood in the item's command."""
        number = plain(arguments[0]) if arguments else None
        offered = self._offered.pop(number, None) if isinstance(number, int) else None
        if offered is None:
            return False
        self.worker.accepted += 1
        document = self._session.document(offered.uri)
        if document is None:
            return True
        self._mark(document, offered.made)
        if not offered.edits:
            return True
        if not document.text.startswith(offered.before):
            logger.info("the text above an accepted suggestion has changed: no import is added")
            return False
        edits = [lsp.TextEdit(self._range(document, e.start, e.end), e.text) for e in offered.edits]
        answer = await self._server.workspace_apply_edit_async(
            lsp.ApplyWorkspaceEditParams(lsp.WorkspaceEdit(changes={offered.uri: edits}), label="callground: import")
        )
        if answer.applied:
            self._mark(document, _placed(offered.edits))
        return bool(answer.applied)

    def _mark(self, document: Document, made: Sequence[tuple[int, str]]) -> None:
        """Text that came out of a suggestion is an assistant's, wherever the client says nothing."""
        authorship = next((each for each in self._session.listeners if isinstance(each, Authorship)), None)
        encoding = self._session.client.encoding
        places = [
            (*document.position(start, encoding), *document.position(start + len(text), encoding))
            for start, text in made
            if text and document.text.startswith(text, start)
        ]
        if authorship is not None and places:
            authorship.tell(document.uri, None, places, AI)

    # -- shapes

    def _place(self, uri: str, position: lsp.Position) -> tuple[Document, Folder, int] | None:
        document, folder = self._session.document(uri), self._session.folder(uri)
        if document is None or folder is None or not folder.config.suggests or self.worker.unavailable():
            return None
        offset = document.offset(position.line, position.character, self._session.client.encoding)
        return document, folder, offset

    def _range(self, document: Document, start: int, end: int) -> lsp.Range:
        encoding = self._session.client.encoding
        return lsp.Range(
            lsp.Position(*document.position(start, encoding)), lsp.Position(*document.position(end, encoding))
        )

    def _command(self, document: Document, each: CodeSuggestion, *, imports: bool = True) -> lsp.Command:
        number = next(self._numbers)
        edits = each.edits if imports else ()
        above = max((edit.end for edit in edits), default=0)
        own = Edit(each.start, each.end, each.text)
        made = _placed((own,) if imports else (*each.edits, own))
        self._offered[number] = _Offered(document.uri, document.text[:above], edits, made)
        if len(self._offered) > _KEPT:
            self._offered.popitem(last=False)
        return lsp.Command(title="callground: accepted", command=ACCEPTED, arguments=[number])

    def _item(self, document: Document, each: CodeSuggestion, rank: int) -> lsp.CompletionItem:
        line, _ = document.position(each.start, self._session.client.encoding)
        shown = each.text.strip()
        snippet = bool(each.placeholders)
        edit = lsp.TextEdit(self._range(document, each.start, each.end), _snippet(each) if snippet else each.text)
        said = [f"```python\n{each.signature}\n```", each.doc]
        if each.import_:
            said.append(f"Adds `{each.import_}`.")
        return lsp.CompletionItem(
            label=shown,
            kind=lsp.CompletionItemKind.Function,
            detail=each.callee,
            documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(part for part in said if part)),
            sort_text=f"{rank:04}",
            filter_text=document.line(line)[: max(0, each.end - each.start)] or None,
            text_edit=edit,
            insert_text_format=lsp.InsertTextFormat.Snippet if snippet else None,
            additional_text_edits=[lsp.TextEdit(self._range(document, e.start, e.end), e.text) for e in each.edits]
            or None,
            command=self._command(document, each, imports=False),
        )

    def _plain(self, document: Document, each: CodeSuggestion) -> dict[str, Any]:
        def shown(edit: Edit) -> dict[str, Any]:
            span = self._range(document, edit.start, edit.end)
            return {
                "range": {
                    "start": {"line": span.start.line, "character": span.start.character},
                    "end": {"line": span.end.line, "character": span.end.character},
                },
                "newText": edit.text,
            }

        return {
            "call": each.call,
            "callee": each.callee,
            "import": each.import_,
            "score": each.score,
            "signature": each.signature,
            "documentation": each.doc,
            "placeholders": list(each.placeholders),
            "edits": [*map(shown, each.edits), shown(Edit(each.start, each.end, each.text))],
            "command": {"command": ACCEPTED, "arguments": self._command(document, each, imports=False).arguments},
        }


def _placed(edits: Sequence[Edit]) -> tuple[tuple[int, str], ...]:
    """Where the texts of edits stand once all of them are applied."""
    shift = 0
    found: list[tuple[int, str]] = []
    for edit in sorted(edits):
        found.append((edit.start + shift, edit.text))
        shift += len(edit.text) - (edit.end - edit.start)
    return tuple(found)


def _snippet(each: CodeSuggestion) -> str:
    """The text with a place to fill in for each ``...``."""
    pieces = each.text.split("...")
    text = _escaped(pieces[0])
    for number, piece in enumerate(pieces[1:], start=1):
        name = each.placeholders[number - 1] if number <= len(each.placeholders) else "..."
        text += f"${{{number}:{_escaped(name)}}}{_escaped(piece)}"
    return text


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


AI = Stamp("ai", signals.CLIENT, 1.0, "callground")
"""Whose an accepted suggestion is."""


def register(server: Server) -> None:
    """Offer suggestions; the settings decide whether any are made."""
    suggestions = Suggestions(server)
    # First, so that the status that goes out with the index says how it is.
    server.session.listeners.insert(0, suggestions)

    @server.feature(lsp.TEXT_DOCUMENT_INLINE_COMPLETION)
    async def inline_completion(params: lsp.InlineCompletionParams) -> list[lsp.InlineCompletionItem]:
        try:
            return await suggestions.inline(params)
        except Exception:  # the client is owed an answer
            logger.exception("inline suggestions in %s failed", params.text_document.uri)
            return []

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[]))
    async def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        try:
            return await suggestions.completions(params)
        except Exception:  # the client is owed an answer
            logger.exception("completion in %s failed", params.text_document.uri)
            return lsp.CompletionList(is_incomplete=False, items=[])

    server.command(ACCEPTED)(guarded(ACCEPTED, suggestions.accepted))
    server.command(SUGGEST)(guarded(SUGGEST, suggestions.asked))


__all__: Sequence[str] = ["ACCEPTED", "SUGGEST", "register"]
