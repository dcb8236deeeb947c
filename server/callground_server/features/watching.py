"""Changes on disk: the client's watchers where it has them, and the server's own look-around everywhere."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types as lsp

from callground_server.convert import path_of
from callground_server.lsp.server import Server

logger = logging.getLogger(__name__)

_GLOBS = ("**/*.py", "**/*.pyi", "**/*.ipynb", "**/pyproject.toml", "**/.gitignore", "**/*.pth")
_SETTINGS = ("pyproject.toml", ".gitignore", ".pth")


def register(server: Server) -> None:
    """Register watchers and take what they report."""
    session = server.session

    @server.handles(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        session.look_around.start()
        if not session.client.watched_files:
            return
        options = lsp.DidChangeWatchedFilesRegistrationOptions(
            watchers=[lsp.FileSystemWatcher(glob_pattern=glob) for glob in _GLOBS]
        )
        registration = lsp.Registration(
            id="callground-files", method=lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, register_options=options
        )
        try:
            await asyncio.shield(server.client_register_capability_async(lsp.RegistrationParams([registration])))
        except Exception:  # without watchers the server looks around by itself
            logger.warning("file watchers could not be registered", exc_info=True)

    @server.handles(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        paths = [path_of(change.uri) for change in params.changes]
        files = [path for path in paths if path.endswith((".py", ".pyi"))]
        if files:
            session.look_around.files(files)
        if any(path.endswith(_SETTINGS) for path in paths):
            session.reload_settings()
