"""Settings: asked for where the client answers, else taken as they are pushed."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from lsprotocol import types as lsp

from callground_server.lsp.folder import Folder
from callground_server.lsp.server import Server

logger = logging.getLogger(__name__)

SECTION = "callground"
PULL_TIMEOUT = 5.0


def register(server: Server) -> None:
    """Read the settings at the start, and again when they change."""
    session = server.session
    reported: set[str] = set()

    @server.handles(lsp.INITIALIZED)
    async def initialized(_: lsp.InitializedParams) -> None:
        if session.client.register_configuration:
            await _register(server)
        await pull()

    @server.handles(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def changed(params: lsp.DidChangeConfigurationParams) -> None:
        settings = _plain(params.settings)
        if isinstance(settings, dict) and SECTION in settings:
            settings = settings[SECTION]
        if isinstance(settings, dict) and settings:
            apply(dict.fromkeys(session.folders, settings))
        await pull()

    async def pull() -> None:
        if not session.client.configuration:
            return
        folders = list(session.folders.values())
        items = [lsp.ConfigurationItem(scope_uri=_scope(folder), section=SECTION) for folder in folders]
        items.append(lsp.ConfigurationItem(section=SECTION))
        request = server.workspace_configuration_async(lsp.ConfigurationParams(items=items))
        try:
            answers = await asyncio.wait_for(asyncio.shield(request), PULL_TIMEOUT)
        except Exception:  # a client that fails here keeps the settings that it had
            logger.warning("the client does not tell its settings", exc_info=True)
            return
        plain = [_plain(answer) for answer in answers]
        if isinstance(plain[-1], dict):
            session.settings = plain[-1]
        apply({folder.root: answer for folder, answer in zip(folders, plain, strict=False)})

    def apply(settings: dict[str, Any]) -> None:
        def configure(folder: Folder) -> set[str]:
            mine = settings.get(folder.root)
            stale = folder.configure(mine) if mine is not None else set()
            session.call(lambda: report(folder))
            return stale

        if len(settings) == len(session.folders) and settings:
            session.settings = next(iter(settings.values()))
        session.background("settings", configure)

    def report(folder: Folder) -> None:
        for problem in folder.problems:
            if str(problem) not in reported:
                reported.add(str(problem))
                server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, f"callground: {problem}"))

    session.configuration_changed = pull


async def _register(server: Server) -> None:
    registration = lsp.Registration(
        id="callground-configuration",
        method=lsp.WORKSPACE_DID_CHANGE_CONFIGURATION,
        register_options={"section": SECTION},
    )
    try:
        await asyncio.shield(server.client_register_capability_async(lsp.RegistrationParams([registration])))
    except Exception:  # the client said it could; pushes still come without
        logger.warning("changes of settings could not be asked for", exc_info=True)


def _scope(folder: Folder) -> str:
    from callground_server.convert import uri_of

    return uri_of(folder.root)


def _plain(value: object) -> object:
    """Settings as plain values: pygls makes objects out of some."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    fields = getattr(value, "_asdict", None)
    if callable(fields):
        return _plain(fields())
    return value
