"""How far the index is, and how the calls of each open document came out: for a client's status line."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from callground_server.convert import uri_of
from callground_server.features.extras import DOCUMENT_STATUS, STATUS, Extras
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.server import Server
from callground_server.lsp.session import Listener

EVERY = 0.2
"""Seconds between two messages about the same index."""


class Status(Listener):
    """Sends what has changed."""

    def __init__(self, server: Server, extras: Extras) -> None:
        self._session = server.session
        self._extras = extras
        self._progress: dict[str, tuple[int, int]] = {}
        self._sent = 0.0
        self._environments: dict[str, dict[str, str | None] | None] = {}
        self._shown: dict[str, dict[str, Any]] = {}

    def indexing(self, folder: Folder, _: str, done: int, total: int) -> None:
        """The first index goes on."""
        self._progress[folder.root] = (done, total)
        now = time.monotonic()
        if now - self._sent >= EVERY:
            self._sent = now
            self._send()

    def indexed(self, folder: Folder) -> None:
        """The first index is complete."""
        self._progress.pop(folder.root, None)
        self._send()

    def looked(self, folder: Folder) -> None:
        """Files or packages may have changed."""
        if self._environments.get(folder.root) != folder.environment:
            self._send()

    def judged(self, document: Document, outcome: Outcome) -> None:
        """A document has a result."""
        message = {"uri": document.uri, "version": document.version, **counts(outcome)}
        found = [verdict.finding for verdict in outcome.review.verdicts if verdict.finding is not None]
        message["hidden"] = len(found) - len(self._session.findings_in_scope(document, outcome, found))
        if self._shown.get(document.uri) != message:
            self._shown[document.uri] = message
            self._extras.send("status", DOCUMENT_STATUS, message)

    def closed(self, uri: str) -> None:
        """Nothing is known of it any more."""
        self._shown.pop(uri, None)

    def _send(self) -> None:
        folders = []
        for folder in self._session.folders.values():
            self._environments[folder.root] = folder.environment
            if not folder.lone:
                done, total = self._progress.get(folder.root, (0, 0))
                folders.append(
                    {
                        "uri": uri_of(folder.root),
                        "indexing": not folder.ready,
                        "done": done,
                        "total": total,
                        "environment": folder.environment,
                    }
                )
        message: dict[str, Any] = {"folders": folders}
        off = self._session.suggestions_off
        if off is not None:
            message["caller"] = {"available": False, "message": off} if off else {"available": True}
        self._extras.send("status", STATUS, message)


def counts(outcome: Outcome) -> dict[str, Any]:
    """How the calls of a document came out; what is imported or decorated counts where it is wrong."""
    numbers = {"grounded": 0, "ungrounded": 0, "abstained": 0}
    reasons: Counter[str] = Counter()
    for verdict in outcome.review.verdicts:
        if verdict.finding is not None:
            numbers["ungrounded"] += 1
        elif verdict.site != "call":
            continue
        elif verdict.status == "grounded":
            numbers["grounded"] += 1
        elif verdict.status == "abstained":
            numbers["abstained"] += 1
            if verdict.reason is not None:
                reasons[verdict.reason.value] += 1
    return {**numbers, "complete": outcome.complete, "reasons": dict(reasons.most_common())}


def register(server: Server) -> None:
    """Tell clients that ask for it."""
    server.session.listeners.append(Status(server, Extras(server)))
