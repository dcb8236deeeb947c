"""Text that grows in many small pieces at a moving end, as inline chats write it."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from callground.provenance import shapes
from callground.provenance.tokens import words
from callground.text.edits import Edit

_TOP = re.compile(r"^(?=[\w@])", re.MULTILINE)
_FAR = 20_000
"""Characters in which the beginning of a top-level statement is looked for."""

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
        if edit.start >= self.end:
            return not text[self.end : edit.start].strip()
        # Editors say where texts differ: what is put in may seem to stand before its own last letters.
        tail = text[edit.start : self.end]
        return not tail.strip() or (not removed and (edit.text + tail).startswith(tail))

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


BURST = 12
"""So many keys in one notification are no typing of somebody who types"""
FEW_KEYS = 4
"""no more than so many in one,"""
SEEN = 8
"""which was seen so often lately."""


class Pace:
    """How many keys somebody presses between two notifications.

    Some editors insert what a plugin or a register brings key by key, all at once.  Only where it is known that a
    person types here, and how, does that tell anything: a script may type as fast.
    """

    def __init__(self) -> None:
        self._counts: deque[int] = deque(maxlen=SEEN)

    def note(self, keys: int) -> bool:
        """So many keys came in one notification; whether that was too many to be pressed."""
        typed = len(self._counts) == SEEN and max(self._counts) <= FEW_KEYS
        if typed and keys >= BURST:
            return True
        self._counts.append(keys)
        return False


def statement_start(text: str, end: int) -> int:
    """Offset of the first line of the statement that ends at `end`, as far as brackets tell."""
    top = max((match.start() for match in _TOP.finditer(text, max(0, end - _FAR), end)), default=0)
    piece = text[top:end]
    begin = depth = position = 0
    fresh = True
    for word in [*words(piece), None]:
        stop = word.start if word is not None else len(piece)
        for offset in range(position, stop):
            character = piece[offset]
            if character == "\n":
                fresh = fresh or depth == 0
            elif not character.isspace():
                if fresh:
                    begin, fresh = piece.rfind("\n", 0, offset) + 1, False
                depth = max(0, depth + (character in "([{") - (character in ")]}"))
        if word is not None:
            if fresh:
                begin, fresh = piece.rfind("\n", 0, word.start) + 1, False
            position = word.end
    return top + begin
