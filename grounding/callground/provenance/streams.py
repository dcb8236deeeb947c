"""Text that grows in many small pieces at a moving end, as inline chats write it."""

from __future__ import annotations

from dataclasses import dataclass

from callground.provenance import shapes
from callground.provenance.tokens import words
from callground.text.edits import Edit

GAP = 1.0
"""Seconds between two pieces."""
TYPED_TAIL = 6
"""So many key strokes in a row are a person who goes on where the stream has ended."""
SURE = 3
"""So many pieces that no key stroke and no completion brings make a stream,"""
SHARE = 4
"""when they are one of so many pieces."""


@dataclass
class Stream:
    """A run of insertions, each at the end of the one before."""

    start: int
    end: int
    last: float
    mixed: int
    """Pieces that hold more than one word."""
    pieces: int = 1
    tail: int = 0
    """Key strokes since the last piece that was more."""
    tail_start: int = 0
    confirmed: bool = False
    """Nobody types like that."""

    @staticmethod
    def begin(start: int, text: str, now: float) -> Stream:
        """What may be the first piece."""
        return Stream(start, start + len(text), now, int(shapes.is_mixed(text)))

    def appends(self, text: str, edit: Edit, removed: str, now: float) -> bool:
        """Whether an edit of `text` goes on at the end."""
        if now - self.last > GAP or removed.strip() or not edit.text or edit.start < self.start:
            return False
        low, high = sorted((edit.start, self.end))
        return not text[low:high].strip()

    def piece(self, edit: Edit, now: float) -> None:
        """It went on."""
        self._append(edit, now)
        self.tail = 0

    def key_stroke(self, edit: Edit, now: float) -> int | None:
        """It went on with what may be a key stroke; where it had ended, when a person has taken over."""
        mixed = self._append(edit, now)
        if mixed:
            self.tail = 0
            return None
        if self.tail == 0:
            self.tail_start = edit.start
        self.tail += 1
        return self.tail_start if self.tail >= TYPED_TAIL else None

    def _append(self, edit: Edit, now: float) -> bool:
        # Blanks at the end may be replaced: what is cut off there is not counted twice.
        grown = len(edit.text) - (edit.end - edit.start)
        self.end = max(self.end + grown, edit.start + len(edit.text))
        self.last = now
        self.pieces += 1
        mixed = shapes.is_mixed(edit.text)
        self.mixed += mixed
        self.confirmed = self.confirmed or (self.mixed >= SURE and self.mixed * SHARE >= self.pieces)
        return mixed


def statement_start(text: str, end: int) -> int:
    """Offset of the first line of the statement that ends at `end`, as far as brackets tell."""
    start = text.rfind("\n", 0, end) + 1
    while start > 0 and _open(text[start:end]) < 0:
        start = text.rfind("\n", 0, start - 1) + 1
    return start


def _open(text: str) -> int:
    """Brackets that are opened and not closed; negative when more are closed."""
    depth = position = 0
    for word in [*words(text), None]:
        stop = word.start if word is not None else len(text)
        for character in text[position:stop]:
            depth += (character in "([{") - (character in ")]}")
        position = word.end if word is not None else stop
    return depth
