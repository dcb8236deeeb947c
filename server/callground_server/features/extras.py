"""What our own clients hear beyond the protocol; nobody else is sent any of it.

A client asks for it by the capability ``experimental.callground``: ``{"status": true, "provenance": true}``.

| message | direction | what |
|---|---|---|
| ``callground/status`` | to the client | ``folders``: root, index, environment of each; ``caller`` where known |
| ``callground/documentStatus`` | to the client | how the calls of one document came out |
| ``callground/provenance`` | to the client | the ranges of a document with their origin |
| ``callground/didInsert`` | to the server | the client knows where a range came from |
| ``callground/settle`` | to the server | a request, answered when nothing is left to do |
| ``callground/mark`` | to the server | a person says where ranges came from |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprotocol import types as lsp

from callground_server.lsp.server import Server

STATUS = "callground/status"
DOCUMENT_STATUS = "callground/documentStatus"
PROVENANCE = "callground/provenance"
DID_INSERT = "callground/didInsert"
MARK = "callground/mark"


class Extras:
    """Which of our own messages the client wants."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._wanted: frozenset[str] = frozenset()

        @server.handles(lsp.INITIALIZE)
        def initialize(params: lsp.InitializeParams) -> None:
            self._wanted = wanted(params.capabilities.experimental)

    def wants(self, kind: str) -> bool:
        """Whether the client has asked for a kind of message."""
        return kind in self._wanted and not self._server.session.closed

    def send(self, kind: str, method: str, params: dict[str, Any]) -> None:
        """Send a message to a client that has asked for its kind."""
        if self.wants(kind):
            self._server.protocol.notify(method, params)


def wanted(experimental: object) -> frozenset[str]:
    """The kinds that a client's ``experimental`` capabilities name."""
    ours = plain(experimental)
    ours = ours.get("callground") if isinstance(ours, Mapping) else None
    return frozenset(k for k, on in ours.items() if on is True) if isinstance(ours, Mapping) else frozenset()


def plain(value: object) -> Any:
    """Parameters as plain values: pygls makes objects out of those that it does not know."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    fields = getattr(value, "_asdict", None)
    if callable(fields):
        return plain(fields())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def range_of(value: Any) -> lsp.Range | None:
    """A range out of plain values; None where it is none."""
    try:
        start, end = value["start"], value["end"]
        numbers = (start["line"], start["character"], end["line"], end["character"])
    except (KeyError, TypeError):
        return None
    if not all(isinstance(number, int) and number >= 0 for number in numbers):
        return None
    return lsp.Range(lsp.Position(*numbers[:2]), lsp.Position(*numbers[2:]))
