"""The language server object: a pygls server with a session, and the features put together."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

from pygls.lsp.server import LanguageServer

from callground import __version__
from callground_server.lsp.protocol import Protocol, converter
from callground_server.lsp.session import Session

logger = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])


class Server(LanguageServer):
    """pygls' server, with our session, and quiet where pygls would open message boxes."""

    def __init__(self, session: Session, **options: Any) -> None:
        super().__init__(
            "callground",
            __version__,
            protocol_cls=Protocol,
            converter_factory=converter,
            max_workers=2,
            **options,
        )
        self.session = session
        self._handlers: dict[str, list[Callable[..., Any]]] = {}

    @property
    def was_shut_down(self) -> bool:
        """Whether the client has asked for the end."""
        return bool(self.protocol._shutdown)

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Log it: a message box for each failure would be in the way."""
        logger.error("%s: %s", getattr(source, "__name__", source), error)

    def handles(self, method: str, options: Any = None) -> Callable[[F], F]:
        """Register a handler for a notification.  Several features may handle the same one.

        A handler that fails is logged with the call that it failed on; the others still run.
        """

        def register(handler: F) -> F:
            known = self._handlers.get(method)
            if known is None:
                known = self._handlers[method] = []
                self.feature(method, options)(self._dispatcher(known))
            known.append(guarded(method, handler))
            return handler

        return register

    def _dispatcher(self, handlers: list[Callable[..., Any]]) -> Callable[[Any], None]:
        def dispatch(params: Any) -> None:
            for handler in handlers:
                result = handler(params)
                if inspect.iscoroutine(result):
                    self.session.tasks.keep(result)

        return dispatch


def guarded(method: str, handler: F) -> F:
    """The handler, with failures logged instead of raised."""
    if inspect.iscoroutinefunction(handler):

        @functools.wraps(handler)
        async def run_async(*arguments: Any) -> Any:
            try:
                return await handler(*arguments)
            except Exception:
                logger.exception("%s failed on %s", method, _short(arguments))
                return None

        return cast(F, run_async)

    @functools.wraps(handler)
    def run(*arguments: Any) -> Any:
        try:
            return handler(*arguments)
        except Exception:
            logger.exception("%s failed on %s", method, _short(arguments))
            return None

    return cast(F, run)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 600 else text[:600] + "..."


def create_server(session: Session | None = None) -> Server:
    """A server with every feature."""
    from callground_server import features

    server = Server(session or Session(), notebook_document_sync=features.notebooks.SYNC)
    for feature in features.ALL:
        feature.register(server)
    return server
