"""What the files will hold after a tool has run, and the way back from a repaired text to the tool's input."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from callground.repairs.service import read_text
from callground.text.edits import Edit, apply_edits
from callground_server.gate.hooks.patch import parse_patch
from callground_server.gate.hooks.payload import Event
from callground_server.gate.wire import RequestError, replaced
from callground_server.lsp.notebooks import PREAMBLE, python_of

_PATHS = ("file_path", "filePath", "notebook_path", "path", "target_file", "absolutePath")
_TEXTS = ("content", "contents", "file_text", "fileText")
_OLD = ("old_string", "oldString", "old_str", "old")
_NEW = ("new_string", "newString", "new_str", "new")
_ALL = ("replace_all", "replaceAll")
PYTHON = (".py", ".pyi", ".pyw")


@dataclass
class Segment:
    """A part of a new text that stands in the tool's input as it is."""

    start: int
    end: int
    where: tuple[str | int, ...]
    """The place in the input."""


@dataclass
class FileChange:
    """One file that a tool writes."""

    path: str
    text: str | None
    """None: it is deleted."""
    old: str | None
    """What it held before; None: it is new, or nobody knows."""
    segments: list[Segment] = field(default_factory=list)
    """Empty: a repair cannot be told in the words of the tool."""
    first_line: int = 1
    """Lines of the text before this one stand in front of the file's own (of a notebook)."""


def changes_of(event: Event) -> list[FileChange]:
    """The Python files that a tool use writes.  Raises RequestError where the tool itself will fail."""
    given = event.input
    patch = next((value for value in given.values() if isinstance(value, str) and "*** Begin Patch" in value), None)
    if patch is not None:
        return _patch(patch, event)
    path = next((given[key] for key in _PATHS if isinstance(given.get(key), str)), None)
    if path is None:
        return []
    path = os.path.normpath(os.path.join(event.folders[0], os.path.expanduser(path)))
    if path.endswith(".ipynb"):
        return _notebook(path, event)
    if not path.endswith(PYTHON):
        return []
    return _before(path, event) if event.before else _after(path, event)


# -- before the tool has run


def _before(path: str, event: Event) -> list[FileChange]:
    given = event.input
    old = _normal(read_text(path))
    key = next((key for key in _TEXTS if isinstance(given.get(key), str)), None)
    if key is not None:
        text = _normal(given[key]) or ""
        segments = [Segment(0, len(text), (key,))] if text == given[key] else []
        return [FileChange(path, text, old, segments)]
    listed = given.get("edits")
    edits = listed if isinstance(listed, list) else [given]
    change = FileChange(path, old or "", old)
    for number, edit in enumerate(edits):
        where: tuple[str | int, ...] = ("edits", number) if isinstance(listed, list) else ()
        if isinstance(edit, Mapping) and isinstance(given.get("insert_line"), int):
            _insert(change, edit, given["insert_line"], where)
        elif not isinstance(edit, Mapping) or not _apply(change, edit, where):
            return []
    return [change]


def _apply(change: FileChange, edit: Mapping[str, Any], where: tuple[str | int, ...]) -> bool:
    """Apply one replacement; False when the input is none."""
    new_key = next((key for key in _NEW if isinstance(edit.get(key), str)), None)
    if new_key is None:
        return False
    old, new = _normal(_first(edit, _OLD)) or "", _normal(edit[new_key]) or ""
    every = any(edit.get(key) is True for key in _ALL)
    assert change.text is not None
    before = change.text
    at = before.find(old) if old else 0
    change.text = replaced(before, old, new, every=every)
    if every and before.count(old) != 1:
        _moved(change, [(m.start(), m.end(), len(new)) for m in re.finditer(re.escape(old), before)])
        change.segments = [segment for segment in change.segments if segment.end > segment.start]
        change.segments.append(Segment(-1, -1, (*where, new_key)))
        return True
    _moved(change, [(at, at + len(old), len(new))])
    same = new == edit[new_key]
    change.segments.append(Segment(at, at + len(new), (*where, new_key)) if same else Segment(-1, -1, where))
    return True


def _insert(change: FileChange, edit: Mapping[str, Any], line: int, where: tuple[str | int, ...]) -> None:
    key = next((key for key in (*_NEW, "insert_text", *_TEXTS) if isinstance(edit.get(key), str)), None)
    assert change.text is not None
    if key is None:
        return
    rows = change.text.splitlines(keepends=True)
    new = edit[key] if edit[key].endswith("\n") else edit[key] + "\n"
    at = sum(map(len, rows[:line]))
    change.text = change.text[:at] + new + change.text[at:]
    change.segments.append(Segment(at, at + len(edit[key]), (*where, key)))


def _moved(change: FileChange, parts: list[tuple[int, int, int]]) -> None:
    """Carry the segments over replacements (start, end, new length) of the text."""
    for segment in change.segments:
        if segment.start < 0:
            continue
        shift = 0
        for start, end, length in parts:
            if end <= segment.start:
                shift += length - (end - start)
            elif start < segment.end:
                segment.start = segment.end = -1  # a later edit reaches into it
                break
        if segment.start >= 0:
            segment.start += shift
            segment.end += shift


# -- after the tool has run


def _after(path: str, event: Event) -> list[FileChange]:
    """The file is written: what it held before is worked out from the edit."""
    now = _normal(read_text(path))
    if now is None:
        return []
    original = event.response.get("originalFile", event.response.get("original_file"))
    if isinstance(original, str):
        return [FileChange(path, now, _normal(original))]
    if any(isinstance(event.input.get(key), str) for key in _TEXTS):
        return [FileChange(path, now, None)]
    listed = event.input.get("edits")
    old = now
    for edit in reversed(listed if isinstance(listed, list) else [event.input]):
        if not isinstance(edit, Mapping):
            return []
        before, after = _normal(_first(edit, _OLD)) or "", _normal(_first(edit, _NEW)) or ""
        if after and after in old:
            old = (
                old.replace(after, before) if any(edit.get(k) is True for k in _ALL) else old.replace(after, before, 1)
            )
    return [FileChange(path, now, old)]


# -- notebooks and patches


def _notebook(path: str, event: Event) -> list[FileChange]:
    """The code cells of a notebook as one module, with the edit in its cell."""
    source = event.input.get("new_source", event.input.get("newSource"))
    if not isinstance(source, str):
        return []
    cells = _cells(read_text(path))
    old = _module(cells)[0] if cells else None
    mode = event.input.get("edit_mode", event.input.get("editMode", "replace"))
    index = _cell_index(cells, event.input)
    kind = event.input.get("cell_type", event.input.get("cellType"))
    if not event.before:
        # It is written: before it, the cell held something else, which nobody tells.
        return [FileChange(path, _module(cells)[0], None, [], 2)] if cells else []
    if mode == "insert":
        index = index + 1 if index is not None else 0
        cells.insert(index, (str(kind or "code"), source, ""))
    elif index is None:
        raise RequestError("the notebook has no such cell")
    elif mode == "delete":
        del cells[index]
    else:
        cells[index] = (str(kind or cells[index][0]), source, cells[index][2])
    text, starts = _module(cells)
    change = FileChange(path, text, old, [], 2)
    if mode != "delete" and cells[index][0] == "code" and python_of(source) == source:
        start = starts[index]
        key = "new_source" if "new_source" in event.input else "newSource"
        change.segments.append(Segment(start, start + len(source), (key,)))
    return [change]


def _cells(text: str | None) -> list[tuple[str, str, str]]:
    """(type, source, id) of each cell."""
    try:
        data = json.loads(text or "{}")
        found = []
        for cell in data.get("cells", []):
            source = cell.get("source", "")
            source = "".join(source) if isinstance(source, list) else str(source)
            found.append((str(cell.get("cell_type", "code")), source, str(cell.get("id", ""))))
        return found
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise RequestError("the notebook cannot be read") from None


def _cell_index(cells: list[tuple[str, str, str]], given: Mapping[str, Any]) -> int | None:
    identity = given.get("cell_id", given.get("cellId"))
    if isinstance(identity, str) and identity:
        found = next((n for n, cell in enumerate(cells) if cell[2] == identity), None)
        if found is None:
            match = re.fullmatch(r"(?:cell-)?(\d+)", identity)
            found = int(match[1]) if match is not None and int(match[1]) < len(cells) else None
        return found
    number = given.get("cell_number", given.get("cellNumber"))
    if isinstance(number, int) and 0 <= number < len(cells):
        return number
    return None


def _module(cells: list[tuple[str, str, str]]) -> tuple[str, list[int]]:
    """One module out of the code cells, and the offset at which each cell begins."""
    text, starts = PREAMBLE, []
    for kind, source, _ in cells:
        starts.append(len(text))
        if kind == "code":
            text += python_of(source) + "\n"
    return text, starts


def _patch(text: str, event: Event) -> list[FileChange]:
    """Every file of an ``apply_patch``."""
    if not event.before:
        return []
    folder = event.folders[0]
    changes = []
    for part in parse_patch(text):
        path = os.path.normpath(os.path.join(folder, part.path))
        old = _normal(read_text(path))
        target = os.path.normpath(os.path.join(folder, part.moved_to)) if part.moved_to else path
        new = part.applied(old)
        if target != path and path.endswith(PYTHON):
            changes.append(FileChange(path, None, old))
        if target.endswith(PYTHON):
            changes.append(FileChange(target, new, old))
    return changes


# -- the way back


def updated_input(given: Mapping[str, Any], change: FileChange, rounds: tuple[tuple[Edit, ...], ...]) -> Any:
    """The tool's input with the repairs of one file in it; None when the tool cannot say them."""
    if change.text is None or not change.segments or any(segment.start < 0 for segment in change.segments):
        return None
    text = change.text
    segments = [Segment(each.start, each.end, each.where) for each in change.segments]
    for edits in rounds:
        for edit in edits:
            if not any(each.start <= edit.start and edit.end <= each.end for each in segments):
                return None  # for example an import at the top of a file of which only a line is edited
        for edit in sorted(edits, reverse=True):
            grown = len(edit.text) - (edit.end - edit.start)
            for each in segments:
                if each.start <= edit.start and edit.end <= each.end:
                    each.end += grown
                elif edit.end <= each.start:
                    each.start += grown
                    each.end += grown
        text = apply_edits(text, edits)
    made = copy.deepcopy(dict(given))
    for each in segments:
        target: Any = made
        for part in each.where[:-1]:
            target = target[part]
        target[each.where[-1]] = text[each.start : each.end]
    return made


def _first(data: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((data[key] for key in keys if isinstance(data.get(key), str)), None)


def _normal(text: str | None) -> str | None:
    return text.replace("\r\n", "\n") if text is not None else None


Mapper = Callable[[FileChange], Any]
