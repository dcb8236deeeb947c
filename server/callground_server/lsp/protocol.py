"""pygls with its own copy of the documents switched off, and hardened against late answers.

pygls splits lines at form feeds and U+2028, which the protocol does not: we keep the documents.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from concurrent.futures import InvalidStateError
from typing import Any

from pygls.protocol import (
    JsonRPCRequestMessage,
    LanguageServerProtocol,
    default_converter,
    lsp_method,
)

logger = logging.getLogger(__name__)


OURS = "callground/"
"""What the names of our own methods begin with."""


def converter() -> Any:
    """pygls' converter, less its way with the parameters of methods that it does not know.

    It makes objects out of them, whose attributes cannot have every name that a JSON object's members can:
    a request that maps files to texts would lose the files.
    """
    made = default_converter()  # type: ignore[no-untyped-call]
    default = made.get_structure_hook(JsonRPCRequestMessage)

    def request(data: Any, kind: Any) -> Any:
        if str(data.get("method", "")).startswith(OURS):
            return JsonRPCRequestMessage(**data)
        return default(data, kind)

    made.register_structure_hook(JsonRPCRequestMessage, request)
    return made


class Protocol(LanguageServerProtocol):
    """The protocol without the built-in document store."""

    def _pass_on(self, method: str, params: Any) -> Generator[Any, Any, None]:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    @lsp_method("textDocument/didOpen")
    def lsp_text_document__did_open(self, params: Any) -> Generator[Any, Any, None]:
        """Our documents are in the session."""
        yield from self._pass_on("textDocument/didOpen", params)

    @lsp_method("textDocument/didChange")
    def lsp_text_document__did_change(self, params: Any) -> Generator[Any, Any, None]:
        """Our documents are in the session."""
        yield from self._pass_on("textDocument/didChange", params)

    @lsp_method("textDocument/didClose")
    def lsp_text_document__did_close(self, params: Any) -> Generator[Any, Any, None]:
        """Our documents are in the session."""
        yield from self._pass_on("textDocument/didClose", params)

    @lsp_method("notebookDocument/didOpen")
    def lsp_notebook_document__did_open(self, params: Any) -> Generator[Any, Any, None]:
        """Our notebooks are in the session."""
        yield from self._pass_on("notebookDocument/didOpen", params)

    @lsp_method("notebookDocument/didChange")
    def lsp_notebook_document__did_change(self, params: Any) -> Generator[Any, Any, None]:
        """Our notebooks are in the session."""
        yield from self._pass_on("notebookDocument/didChange", params)

    @lsp_method("notebookDocument/didClose")
    def lsp_notebook_document__did_close(self, params: Any) -> Generator[Any, Any, None]:
        """Our notebooks are in the session."""
        yield from self._pass_on("notebookDocument/didClose", params)

    def _handle_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        # An answer may come after the task that waited for it was cancelled.
        try:
            super()._handle_response(msg_id, result, error)
        except InvalidStateError:
            logger.debug("answer %r came too late", msg_id)

    def _check_handler_result(self, future: Any) -> None:
        # Asking a cancelled future for its exception raises; at shutdown that is every day.
        if not future.cancelled():
            super()._check_handler_result(future)
