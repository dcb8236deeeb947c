"""The facts of a text under edit."""

from __future__ import annotations

from collections.abc import Sequence

from callground.facts.extract import LARGEST_TEXT, ReadPiece, extract_module, extract_piece, module_of_pieces
from callground.facts.model import ModuleFacts
from callground.source.document import Document
from callground.text.edits import Edit, apply_edits


class LiveModule:
    """One version of an edited module; immutable.  `edit` gives the next one."""

    __slots__ = ("_document", "_facts", "text")

    def __init__(self, text: str, document: Document[ReadPiece] | None) -> None:
        self.text = text
        self._document = document
        self._facts: ModuleFacts | None = None

    @staticmethod
    def from_text(text: str) -> LiveModule:
        """A module with nothing to start from."""
        if _unreadable(text):
            return LiveModule(text, None)
        return LiveModule(text, Document.from_text(text, _build))

    def edit(self, change: str | Sequence[Edit]) -> LiveModule:
        """The module after a change: its new text, or edits with offsets in its text.

        Raises ValueError when edits overlap.
        """
        text = change if isinstance(change, str) else apply_edits(self.text, change)
        if self._document is None or _unreadable(text):
            return LiveModule.from_text(text)
        return LiveModule(text, self._document.edit(text))

    @property
    def facts(self) -> ModuleFacts:
        """The same facts that `extract_module` makes of the text."""
        if self._facts is None:
            if self._document is None:
                self._facts = extract_module(self.text)
            else:
                self._facts = module_of_pieces([piece.value for piece in self._document.pieces])
        return self._facts

    @property
    def built(self) -> tuple[int, ...]:
        """Numbers of the pieces that were parsed for this version."""
        return self._document.built if self._document is not None else ()


def _unreadable(text: str) -> bool:
    return len(text) > LARGEST_TEXT or "\0" in text


def _build(text: str) -> tuple[ReadPiece, bool]:
    read = extract_piece(text)
    return read, read.source.error is not None
