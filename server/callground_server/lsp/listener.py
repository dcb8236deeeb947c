"""What the features want to hear of a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from callground_server.lsp.documents import Document, Edit
from callground_server.lsp.folder import Folder, Outcome


class Listener:
    """What the features want to hear.  Each is called in the loop thread."""

    def opened(self, document: Document, /) -> None:
        """A document was opened."""

    def judged(self, document: Document, outcome: Outcome, /) -> None:
        """A result for the current version of a document."""

    def failed(self, document: Document, /) -> None:
        """A document could not be judged: what was shown of it may be wrong now."""

    def closed(self, uri: str, /) -> None:
        """A document was closed."""

    def stale(self, uris: Iterable[str], /) -> None:
        """Results of open documents may differ from what was last shown."""

    def looked(self, folder: Folder, /) -> None:
        """Somebody has looked at a folder's files on disk; what has changed is known."""

    def indexing(self, folder: Folder, phase: str, done: int, total: int, /) -> None:
        """The first index goes on."""

    def indexed(self, folder: Folder, /) -> None:
        """The first index is complete."""

    def edited(self, document: Document, before: str, edits: Sequence[Edit], /) -> None:
        """A document was edited."""
