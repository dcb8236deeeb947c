"""``callground/verify``: the gate's question inside a session, with unsaved documents as they are."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from typing import Any

from callground.config import Config
from callground.gate import answer
from callground.graph.workspace import Workspace
from callground.session import info_of
from callground.verdict.report import EnvironmentInfo
from callground_server.convert import path_of
from callground_server.gate.wire import RequestError, read_request
from callground_server.lsp.folder import Folder
from callground_server.lsp.server import Server

logger = logging.getLogger(__name__)

METHOD = "callground/verify"

PATIENCE = 20.0
"""Seconds that a request waits for the first index: before it, most calls cannot be decided."""

_numbers = itertools.count()


class _Opened:
    """A folder of the session, as the gate asks it."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    @property
    def root(self) -> str:
        return self._folder.root

    @property
    def workspace(self) -> Workspace:
        return self._folder.workspace

    @property
    def config(self) -> Config:
        return self._folder.config

    @property
    def info(self) -> EnvironmentInfo:
        return info_of(self._folder.workspace)


async def verify(server: Server, data: Any) -> dict[str, Any]:
    """The answer to one request; ``error`` says why there is none.

    The request is the one of ``callground verify --batch``; places and files may be URIs.
    """
    session = server.session
    request = {key: _paths(key, value) for key, value in data.items()} if isinstance(data, dict) else data
    folder = session.folder_of(_near(request) or next(iter(session.folders), os.getcwd()))
    for _ in range(int(PATIENCE / 0.05)):
        if folder.ready or session.closed:
            break
        await asyncio.sleep(0.05)
    loop = asyncio.get_running_loop()
    future: asyncio.Future[dict[str, Any]] = loop.create_future()

    def arrived(result: dict[str, Any]) -> None:
        if not future.done():
            future.set_result(result)

    def job() -> None:
        try:
            opened = _Opened(folder)
            workspace = opened.workspace
            made = answer(opened, read_request(request, folder.root)).to_json()
            made["complete"] = workspace.complete
        except RequestError as error:
            made = {"error": str(error)}
        except Exception as error:  # whoever waits must not wait for ever
            logger.exception("%s failed", METHOD)
            made = {"error": f"internal error: {type(error).__name__}: {error}"}
        session.call(lambda: arrived(made))

    session.worker.submit((METHOD, next(_numbers)), job)
    return await future


def register(server: Server) -> None:
    """Answer the request."""

    @server.feature(METHOD)
    async def asked(params: Any) -> dict[str, Any]:
        return await verify(server, params)


def is_request(value: Any) -> bool:
    """Whether an argument of a command is a request to the gate, and no URI or list of them."""
    return isinstance(value, dict) or hasattr(value, "_asdict")


def plain(value: Any) -> Any:
    """Parameters as plain values: pygls makes objects out of those that it does not know."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    fields = getattr(value, "_asdict", None)
    if callable(fields):
        return plain(fields())
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def _paths(key: str, value: Any) -> Any:
    """The value with URIs as paths."""
    if key == "at" and isinstance(value, dict) and isinstance(value.get("file"), str):
        return {**value, "file": _path(value["file"])}
    if key == "path" and isinstance(value, str):
        return _path(value)
    if key == "files" and isinstance(value, dict):
        return {_path(name): text for name, text in value.items()}
    if key == "edits" and isinstance(value, list):
        return [{**e, "file": _path(e["file"])} if isinstance(e, dict) and "file" in e else e for e in value]
    return value


def _path(name: Any) -> Any:
    return path_of(name) if isinstance(name, str) and name.startswith("file:") else name


def _near(request: Any) -> str | None:
    """A path that the request is about."""
    if not isinstance(request, dict):
        return None
    at, files = request.get("at"), request.get("files")
    candidates = [
        at.get("file") if isinstance(at, dict) else str(at).rpartition(":")[0] if at else None,
        request.get("path"),
        next(iter(files), None) if isinstance(files, dict) else None,
    ]
    return next((path for path in candidates if isinstance(path, str) and os.path.isabs(path)), None)
