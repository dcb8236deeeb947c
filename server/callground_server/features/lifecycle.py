"""initialize, shutdown, and the end of the editor that started us."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from lsprotocol import types as lsp

from callground_server.convert import encoding_of, path_of
from callground_server.features import pull
from callground_server.lsp.client import Client
from callground_server.lsp.server import Server

logger = logging.getLogger(__name__)

PARENT_INTERVAL = 3.0
"""Seconds between two looks at whether the editor is still alive."""


def register(server: Server) -> None:
    """Answer initialize and shutdown."""

    @server.handles(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        client = client_of(params)
        if client.pull:
            # Before the answer is made: the capability is announced with the handler.
            pull.register_requests(server)
        server.session.start(client)

    @server.handles(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        server.session.tasks.keep(_watch_parent(server, server.session.client.process_id))

    @server.handles(lsp.SHUTDOWN)
    def shutdown(_: None) -> None:
        server.session.stop()


def client_of(params: lsp.InitializeParams) -> Client:
    """What the client announces, as plain values."""
    capabilities = params.capabilities
    document = capabilities.text_document
    workspace = capabilities.workspace
    window = capabilities.window
    publish = document.publish_diagnostics if document else None
    diagnostics = document.diagnostic if document else None
    refresh = workspace.diagnostics if workspace else None
    watched = workspace.did_change_watched_files if workspace else None
    changed = workspace.did_change_configuration if workspace else None
    edits = workspace.workspace_edit if workspace else None
    actions = document.code_action if document else None
    resolve = actions.resolve_support if actions else None
    pulls = diagnostics is not None and bool(refresh and refresh.refresh_support)
    return Client(
        encoding=encoding_of(capabilities),
        # Neovim 0.11 pulls too, but cannot be told that another file changed: it is pushed to.
        pull=pulls,
        related_information=bool(
            (publish and publish.related_information)
            or (diagnostics and getattr(diagnostics, "related_information", False))
        ),
        code_description=bool(
            (publish and publish.code_description_support)
            or (diagnostics and getattr(diagnostics, "code_description_support", False))
        ),
        progress=bool(window and window.work_done_progress),
        configuration=bool(workspace and workspace.configuration),
        register_configuration=bool(changed and changed.dynamic_registration),
        watched_files=bool(watched and watched.dynamic_registration),
        workspace_folders=bool(workspace and workspace.workspace_folders),
        document_changes=bool(edits and edits.document_changes),
        snippet_edits=bool(edits and edits.document_changes and edits.snippet_edit_support),
        resolves_edits=bool(resolve and "edit" in resolve.properties and actions and actions.data_support),
        process_id=params.process_id,
        folders=_folders(params),
        settings=params.initialization_options,
    )


def _folders(params: lsp.InitializeParams) -> list[str]:
    if params.workspace_folders:
        return [path_of(folder.uri) for folder in params.workspace_folders]
    if params.root_uri:
        return [path_of(params.root_uri)]
    if params.root_path:
        return [os.path.normpath(params.root_path)]
    return []


async def _watch_parent(server: Server, pid: int | None) -> None:
    """End with the editor: one that crashed sends no exit, and its pipe may be held open by a child."""
    if pid is None or sys.platform == "win32":
        return
    while not server.session.closed:
        await asyncio.sleep(PARENT_INTERVAL)
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            logger.warning("the editor (process %s) is gone", pid)
            server.session.stop()
            os._exit(1)
        except PermissionError:
            # Another user's process: it is there.
            continue
