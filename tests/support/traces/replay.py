"""Recordings played to the library, and its answers held against the truth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from callground.provenance.book import BY_DISK, Book
from callground.provenance.history import Source
from callground.provenance.scope import Place, stamps_in
from callground.provenance.tokens import words
from callground.text.edits import Edit
from callground.text.lines import UTF8, LineIndex
from traces.case import unpacked

_CLOSE = {"(": ")", "[": "]", "{": "}"}


class Miss(NamedTuple):
    """A call that the answer is wrong about."""

    seed: int
    when: int
    name: str
    truth: str


class Score(NamedTuple):
    """How the answers about some calls were."""

    ai: int = 0
    found: int = 0
    human: int = 0
    marked: int = 0
    misses: tuple[Miss, ...] = ()

    @property
    def recall(self) -> float:
        return self.found / self.ai if self.ai else 1.0

    @property
    def false_share(self) -> float:
        return self.marked / self.human if self.human else 0.0

    def plus(self, other: Score) -> Score:
        return Score(*(a + b for a, b in zip(self, other, strict=True)))  # type: ignore[arg-type]


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The recordings of a file."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def score(recording: dict[str, Any], *, unit: str = UTF8) -> Score:
    """Play one recording; what is answered at each of its checks."""
    player = Player(recording["files"], unit)
    total = Score()
    for event in recording["events"]:
        if event[0] == "?":
            total = total.plus(_checked(player, recording, event[1]))
        else:
            player.play(event)
    return total


class Player:
    """The part of a server that a recording needs: documents, files, and when git was at work."""

    def __init__(self, files: dict[str, str], unit: str) -> None:
        self.book = Book()
        self.disk = dict(files)
        self.unit = unit
        self._saved: dict[str, str] = dict(files)
        """What was on disk when the editor or git had last to do with it."""
        self._closed: dict[str, Any] = {}
        self._git: set[str] = set()

    def play(self, event: list[Any]) -> None:
        kind, when = event[0], event[1] / 1000
        if kind == "g":
            self._git = {"a.py", "b.py"}
        elif kind == "d":
            self._written(event[2], event[3])
        elif kind == "o":
            self._open(event[2], event[3])
        elif kind == "c":
            self.book.close(event[2])
        elif kind == "s":
            ledger = self.book.ledger(event[2])
            assert ledger is not None
            self.disk[event[2]] = self._saved[event[2]] = ledger.text
        elif kind == "e":
            self._edit(event[2], event[3], when)

    def _written(self, name: str, text: str | None) -> None:
        before = self.disk.get(name, "")
        if text is None:
            self.disk.pop(name, None)
            return
        self.disk[name] = text
        ledger = self.book.ledger(name)
        if name in self._git or (ledger is not None and ledger.text == text):
            self._git.discard(name)
            self._saved[name] = text
            return
        if ledger is None:
            # A file that nobody has open: what is new in it is known when somebody opens it.
            book = Book()
            book.open(name, before, self._closed.get(name, ()))
            closed = book.ledger(name)
            assert closed is not None
            closed.reload(text, BY_DISK)
            self._closed[name] = closed.spans

    def _open(self, name: str, text: str | None) -> None:
        if text is None:
            text = self.disk[name]
        outside = text == self.disk.get(name) != self._saved.get(name, text)
        known = self._closed.pop(name, None) if self.book.closed(name) is None else None
        self.book.open(name, text, known, written=BY_DISK if outside else None)
        self._saved[name] = text

    def _edit(self, name: str, changes: list[list[Any]], when: float) -> None:
        ledger = self.book.ledger(name)
        assert ledger is not None
        text = ledger.text
        edits = []
        for change in unpacked(changes):
            if len(change) == 1:
                edit = Edit(0, len(text), change[0])
            else:
                index = LineIndex(text)
                edit = Edit(
                    index.offset(change[0] + 1, change[1], self.unit),
                    index.offset(change[2] + 1, change[3], self.unit),
                    change[4],
                )
            edits.append(edit)
            text = text[: edit.start] + edit.text + text[edit.end :]
        self.book.change(name, edits, when)
        assert ledger.text == text
        for lookup in self.book.lookups(name):
            keys = [word.key for word in words(lookup.text)]
            closed = [Source(content) for other, content in self.disk.items() if other not in self.book]
            if any(source.find(keys) is not None for source in closed):
                ledger.found_elsewhere(lookup.number)


def _checked(player: Player, recording: dict[str, Any], when: int) -> Score:
    total = Score()
    for name in player.book:
        ledger = player.book.ledger(name)
        assert ledger is not None
        calls = list(calls_of(ledger.text))
        stamps = stamps_in(ledger.text, ledger.spans, [place for _, place in calls])
        for (callee, _), stamp in zip(calls, stamps, strict=True):
            truth = recording["truth"].get(callee)
            marked = stamp is not None
            if truth == "ai":
                misses = () if marked else (Miss(recording["seed"], when, callee, truth),)
                total = total.plus(Score(1, int(marked), 0, 0, misses))
            elif truth == "human":
                misses = (Miss(recording["seed"], when, callee, truth),) if marked else ()
                total = total.plus(Score(0, 0, 1, int(marked), misses))
    return total


def calls_of(text: str) -> Iterator[tuple[str, Place]]:
    """(name, place) of each call, also in text that does not parse."""
    strings = [(word.start, word.end) for word in words(text) if word.key.startswith('"')]
    for match in re.finditer(r"(?:\b\w+\.)*\b(\w+)\(", text):
        before = text[: match.start()].rpartition("\n")[2]
        if before.strip() in ("def", "class", "async def") or "#" in before:
            continue
        depth, position = 0, match.end() - 1
        while position < len(text):
            inside = next((end for start, end in strings if start <= position < end), None)
            if inside is not None:
                position = inside
                continue
            if text[position] in _CLOSE:
                depth += 1
            elif text[position] in _CLOSE.values():
                depth -= 1
                if depth == 0:
                    break
            position += 1
        yield match[1], Place(match.start(), position + 1)
