"""One recording: what was done, what the editor sent, and the truth about every call."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from traces.nvim import Neovim
from traces.programs import Writer, calls_of

HUMAN = "human"
AI = "ai"


class Case:
    """One session in an editor, from fresh files to a check of the truth."""

    def __init__(self, nvim: Neovim, kind: str, seed: int) -> None:
        self.nvim = nvim
        self.kind = kind
        self.seed = seed
        self.writer = Writer(seed)
        self.random = self.writer.random
        self.truth: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.disk: dict[str, str] = {}
        self._events: list[list[Any]] = []

    # -- files

    def path(self, name: str) -> Path:
        """Where a file lies."""
        return self.nvim.folder / name

    def begin(self, *, functions: int = 3, lines: int = 7, **files: str) -> None:
        """Lay ``a.py`` (and others) down and open it."""
        for old in self.nvim.folder.iterdir():
            if old.name == ".git":
                shutil.rmtree(old)
            elif old.is_file():
                old.unlink()
        texts = {"a.py": self.writer.module(functions, lines)}
        texts.update({name.replace("_py", ".py"): text for name, text in files.items()})
        for name, text in texts.items():
            self.path(name).write_text(text, "utf-8")
            self.there(text)
        self.files = dict(texts)
        self.disk = dict(texts)
        self.nvim.begin()
        self.nvim.edit("a.py")
        self.nvim.settle(0.02)

    def there(self, text: str) -> str:
        """A person wrote this text, or it was there before."""
        return self._know(text, HUMAN)

    def ai(self, text: str) -> str:
        """An assistant wrote this text."""
        return self._know(text, AI)

    def _know(self, text: str, origin: str) -> str:
        for name in calls_of(_alone(text)):
            self.truth.setdefault(name, origin)
        return text

    # -- what happens outside of the editor

    def write(self, name: str, text: str | None) -> None:
        """Another program writes a file (None: deletes it)."""
        if text is None:
            self.path(name).unlink()
        else:
            self.path(name).write_text(text, "utf-8")
        self.written(name)

    def written(self, name: str) -> None:
        """A file may have changed on disk."""
        path = self.path(name)
        text = path.read_text("utf-8") if path.exists() else None
        if text != self.disk.get(name):
            self._events.append(["d", self.nvim.now(), name, text])
            if text is None:
                del self.disk[name]
            else:
                self.disk[name] = text

    def note(self, what: str, *more: Any) -> None:
        """Something that the editor does not say: ``g`` a git command, ``?`` a check."""
        self._events.append([what, self.nvim.now(), *more])

    def check(self) -> None:
        """The truth is looked at here."""
        self.nvim.settle(0.2)
        self.note("?")

    # -- things that assistants do

    def insert_block(self, line: int, text: str) -> None:
        """Put whole lines above a line (0-based), as plugins do."""
        rows = text.removesuffix("\n").split("\n")
        if self.random.random() < 0.5:
            self.nvim.lua("vim.api.nvim_buf_set_lines(0, ...)", line, line, False, rows)
        else:
            self.nvim.lua("vim.api.nvim_buf_set_text(0, ...)", line, 0, line, 0, [*rows, ""])

    def some_ai(self, chance: float = 0.6) -> None:
        """Now and then there is an assistant's function in the file already."""
        if self.random.random() < chance:
            self.insert_block(self.between(), "\n\n" + self.ai(self.writer.function(5)))
            self.nvim.settle(0.7)

    def between(self) -> int:
        """A line (0-based) between two functions."""
        lines = self.nvim.nvim.current.buffer[:]
        places = [number for number, line in enumerate(lines) if line.startswith("def ")]
        if not places:
            return len(lines)
        place = self.random.choice(places)
        while place and not lines[place - 1].strip():
            place -= 1
        return place

    def inside(self) -> int:
        """A line (0-based) of a function's body that begins a statement."""
        lines = self.nvim.nvim.current.buffer[:]
        places = [
            number
            for number, line in enumerate(lines)
            if line.startswith("    ")
            and not line.startswith(("     ", "    )"))
            and not lines[number - 1].rstrip().endswith((":", "(", ","))
            and line.count("(") == line.count(")")
        ]
        return self.random.choice(places)

    # -- the result

    def finish(self) -> dict[str, Any]:
        """The recording as plain data."""
        if not self._events or self._events[-1][0] != "?":
            self.check()
        events: list[list[Any]] = []
        for when, method, params in self.nvim.recorded():
            event = self._event(int(when), method, params)
            if event is not None:
                events.append(event)
        events = sorted([*events, *self._events], key=lambda event: event[1])
        return {
            "kind": self.kind,
            "seed": self.seed,
            "files": self.files,
            "truth": self.truth,
            "events": self._opened(events),
        }

    def _event(self, when: int, method: str, params: dict[str, Any]) -> list[Any] | None:
        document = params.get("textDocument", {})
        name = str(document.get("uri", "")).rpartition("/")[2]
        if method == "textDocument/didOpen":
            return ["o", when, name, document["text"]]
        if method == "textDocument/didClose":
            return ["c", when, name]
        if method == "textDocument/didSave":
            return ["s", when, name]
        if method != "textDocument/didChange":
            return None
        changes = []
        for change in params["contentChanges"]:
            place = change.get("range")
            if place is None:
                changes.append([change["text"]])
                continue
            start, end = place["start"], place["end"]
            changes.append([start["line"], start["character"], end["line"], end["character"], change["text"]])
        return ["e", when, name, packed(changes)]

    def _opened(self, events: list[list[Any]]) -> list[list[Any]]:
        """What is opened as it lies on the disk needs no text."""
        disk = dict(self.files)
        for event in events:
            if event[0] == "d":
                disk[event[2]] = event[3]
            elif event[0] == "o" and disk.get(event[2]) == event[3]:
                event[3] = None
        return events


def _alone(text: str) -> str:
    """The text so that it parses by itself."""
    lines = text.strip("\n").split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


def packed(changes: list[list[Any]]) -> list[list[Any]]:
    """Keys that were pressed one after the other as one entry: line, column, text."""
    result: list[list[Any]] = []
    for change in changes:
        key = len(change) == 5 and change[:2] == change[2:4] and len(change[4]) == 1 and change[4].isascii()
        if not key or change[4] == "\n":
            result.append(change)
            continue
        line, column, text = change[0], change[1], change[4]
        last = result[-1] if result else []
        if len(last) == 3 and last[0] == line and last[1] + len(last[2]) == column:
            last[2] += text
        else:
            result.append([line, column, text])
    return result


def unpacked(changes: list[list[Any]]) -> list[list[Any]]:
    """The changes as the editor sent them."""
    result: list[list[Any]] = []
    for change in changes:
        if len(change) != 3:
            result.append(change)
            continue
        line, column, text = change
        result += [[line, column + n, line, column + n, key] for n, key in enumerate(text)]
    return result


def dump(recordings: list[dict[str, Any]], path: Path) -> None:
    """Write recordings, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for recording in recordings:
            file.write(json.dumps(recording, ensure_ascii=False, separators=(",", ":")) + "\n")
