"""Calls elsewhere that an edit breaks: grounded before it, and not after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from callground.facts.index import ModuleIndex
from callground.facts.interface_hash import changed_keys
from callground.facts.live import LiveModule
from callground.facts.model import Class, Function, ModuleFacts
from callground.graph.changes import never
from callground.graph.driver import Stopped, judge_sites, loaded, planned
from callground.graph.snapshot import Snapshot
from callground.resolve.memo import Memo
from callground.source.pieces import normalized
from callground.text.edits import difference
from callground.text.lines import LineIndex
from callground.verdict.model import Key, Range, Verdict

if TYPE_CHECKING:
    from callground.graph.workspace import Workspace
    from callground.verdict.verify import Site

MOST_FILES = 200
"""Files that are looked through for callers, nearest first: a name that stands in more is hardly one's own."""
MOST_NAMES = 40
_CONSTRUCTORS = ("__init__", "__new__")


class BrokenCall(NamedTuple):
    """One call in another file that the edit breaks."""

    path: str
    name: str
    """Of what was changed, as the call's last name."""
    verdict: Verdict


class Broken(NamedTuple):
    """The calls that one changed definition breaks."""

    name: str
    place: Range
    """In the edited text: the definition as it is now, else where it stood."""
    extent: Range
    """The whole definition as it is now, else the same as `place`: whose edit it was is asked of all of it."""
    calls: tuple[BrokenCall, ...]


def broken_calls(workspace: Workspace, path: str, before: str, *, stop: Callable[[], bool] = never) -> list[Broken]:
    """What the edit of a document from the text `before` to its text of now breaks elsewhere in the workspace.

    Raises Stopped when `stop()` says so.
    """
    snapshot = workspace.snapshot()
    file = loaded(path, snapshot)
    if file is None or file.text == normalized(before):
        return []
    old, new = LiveModule.from_text(before).facts, file.facts
    names = changed_names(changed_keys(snapshot.module_of_path(path) or path, old, new))
    if not names or len(names) > MOST_NAMES:
        return []
    candidates = list(_candidates(path, names, snapshot, stop))
    if not candidates:
        return []
    supposed = snapshot.with_overlay({path: before})
    memo = Memo()
    by_name: dict[str, list[BrokenCall]] = {}
    for other, found in candidates:
        # The same sites, judged in the world before the edit: only what held there was broken by it.
        ranges = {verdict.range for verdict in found}
        sites = [site for site in planned(other, supposed) if site.range in ranges]
        held = {
            (verdict.range, verdict.site)
            for verdict in judge_sites(sites, supposed, memo, stop=stop)
            if verdict.status == "grounded"
        }
        for verdict in found:
            if (verdict.range, verdict.site) in held:
                name = verdict.callee.rpartition(".")[2]
                by_name.setdefault(name, []).append(BrokenCall(other, name, verdict))
    return [
        Broken(name, *_place(name, normalized(before), file.text, old, new), tuple(calls))
        for name, calls in sorted(by_name.items())
    ]


def changed_names(keys: Iterable[Key]) -> frozenset[str]:
    """The last names by which calls may use what has changed."""
    names: set[str] = set()
    for key in keys:
        if len(key) < 3 or key[0] not in ("symbol", "signature"):
            continue
        parts = key[2].split(".")
        last = parts[-2] if parts[-1] in _CONSTRUCTORS and len(parts) > 1 else parts[-1]
        if not (last.startswith("__") and last.endswith("__")) and last != "*":
            names.add(last)
    return frozenset(names)


def _candidates(
    path: str, names: frozenset[str], snapshot: Snapshot, stop: Callable[[], bool]
) -> Iterable[tuple[str, list[Verdict]]]:
    """Files with calls of these names that are wrong now, with the verdicts."""
    files: dict[str, None] = {}
    for name in sorted(names):
        files.update((entry.path, None) for entry in snapshot.mentioning(name) if entry.path != path)
    memo = Memo()
    for other in list(files)[:MOST_FILES]:
        if stop():
            raise Stopped
        file = loaded(other, snapshot)
        if file is None:
            continue
        pieces = [number for number, piece in enumerate(file.facts.pieces) if not names.isdisjoint(piece.mentions)]
        sites = [site for site in planned(other, snapshot, pieces) if _uses(site, names)]
        found = [v for v in judge_sites(sites, snapshot, memo, stop=stop) if v.finding is not None]
        if found:
            yield other, found


def _uses(site: Site, names: frozenset[str]) -> bool:
    return site.callee.rpartition(".")[2] in names


def _place(name: str, before: str, now: str, old: ModuleFacts, new: ModuleFacts) -> tuple[Range, Range]:
    """Where a person looks for the change of a name: its definition now, else where that was taken away."""
    lines = LineIndex(now)
    defined = _defined_at(name, new)
    if defined is not None:
        line, last = defined
        text = lines.line(line)
        column = max(text.find(name), 0)
        extent = Range(line, 0, last, len(lines.line(last)))
        return Range(line, column, line, column + len(name)), extent
    edit = difference(before, now)
    offset = edit.start if edit is not None else 0
    gone = _defined_at(name, old)
    if gone is not None and edit is not None:
        stood = LineIndex(before).offset(gone[0], 0)
        if stood < edit.start:
            offset = stood
        elif stood >= edit.end:
            offset = stood + len(edit.text) - (edit.end - edit.start)
    number, _ = lines.position(min(offset, len(now)))
    while number > 1 and not lines.line(number).strip():
        number -= 1
    text = lines.line(number)
    place = Range(number, len(text) - len(text.lstrip()), number, len(text.rstrip()))
    return place, place


def _defined_at(name: str, facts: ModuleFacts) -> tuple[int, int] | None:
    """First and last line of what a name is defined by, functions and classes first."""
    index = ModuleIndex(facts)
    for number, piece in enumerate(facts.pieces):
        rows: list[Function | Class] = [*piece.functions, *piece.classes]
        for row in rows:
            if row.name == name:
                return index.absolute_line(number, row.line), index.absolute_line(number, row.end_line)
    for number, binding in index.bindings(name):
        line = index.absolute_line(number, binding.line)
        return line, line
    return None
