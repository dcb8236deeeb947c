"""Workspace folders that come and go."""

from __future__ import annotations

from lsprotocol import types as lsp

from callground_server.convert import path_of
from callground_server.lsp.server import Server


def register(server: Server) -> None:
    """Open and close folders with the editor."""
    session = server.session

    @server.handles(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def changed(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.added:
            session.add_folder(path_of(folder.uri))
        for folder in params.event.removed:
            session.remove_folder(path_of(folder.uri))
        if params.event.added and session.configuration_changed is not None:
            await session.configuration_changed()
