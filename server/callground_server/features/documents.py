"""Open, edit, save and close documents."""

from __future__ import annotations

from lsprotocol import types as lsp

from callground_server.convert import changes_of, path_of
from callground_server.lsp.documents import Document
from callground_server.lsp.server import Server

CELL_SCHEME = "vscode-notebook-cell"


def register(server: Server) -> None:
    """Keep the session's documents in step with the editor."""
    session = server.session

    @server.handles(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if item.language_id not in ("python", "") or item.uri.startswith(CELL_SCHEME):
            return
        session.open(Document(item.uri, path_of(item.uri), item.version, item.text, item.language_id))

    @server.handles(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        session.change(params.text_document.uri, params.text_document.version, changes_of(params.content_changes))

    @server.handles(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        session.close(params.text_document.uri)

    @server.handles(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        session.background(("saved", path), lambda folder: folder.files_changed([path]), [session.folder_of(path)])
        session.look_around.soon()
