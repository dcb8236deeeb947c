"""What is known of a workspace, used for a state of it that is only supposed.

Judging a plan from nothing would evaluate the same libraries again for every question.  What the plan does not
touch is read from the workspace's own memo, and what is worked out meanwhile and does not depend on the plan
goes into it.
"""

from __future__ import annotations

from callground.facts.interface_hash import changed_keys
from callground.graph.changes import Change, index_keys
from callground.graph.interface import SourceFile
from callground.graph.layers import FileEntry, absolute_imports
from callground.graph.snapshot import Snapshot
from callground.repairs.verified import Layered
from callground.resolve.memo import Memo
from callground.verdict.model import Key


class Layer(Layered):
    """A memo for a supposed state, over the memo of what it differs from."""

    def settle(self) -> None:
        """Give what does not depend on the change to the memo below."""
        if not self._below.tracking:
            return  # nobody knows what depends on what
        for key, (value, reads) in self.entries.items():
            if not self._change.touches(reads):
                self._below.put(key, value, reads)


def layer(below: Memo, before: Snapshot, after: Snapshot) -> Layer:
    """A memo for `after`, over the one for `before`."""
    return Layer(below, difference(before, after))


def difference(before: Snapshot, after: Snapshot) -> Change:
    """What the texts that only `after` has change for anybody who asks by name."""
    keys: set[Key] = set()
    modules: set[str] = set()
    opened, supposed = before.files.open, after.files.open
    paths = {path for path in {*opened, *supposed} if opened.get(path, ...) is not supposed.get(path, ...)}
    for path in paths:
        old_entry, new_entry = before.files.entry(path), after.files.entry(path)
        old_file, new_file = _file(before, path, old_entry), _file(after, path, new_entry)
        names = {path, *before.space.paths.get(path, ()), *after.space.paths.get(path, ())}
        names |= {entry.module for entry in (old_entry, new_entry) if entry is not None and entry.module}
        old = before.space.reader.index(old_file) if old_file is not None else None
        new = after.space.reader.index(new_file) if new_file is not None else None
        keys |= index_keys(
            old,
            new,
            absolute_imports(old, old_entry.module, old_entry.is_package) if old and old_entry else (),
            absolute_imports(new, new_entry.module, new_entry.is_package) if new and new_entry else (),
        )
        if old_file is not None and new_file is not None:
            for name in names:
                keys |= changed_keys(name, old_file.facts, new_file.facts)
        else:
            # It comes or goes (or nobody knows what it was): everything that asked for it asks again, and
            # whatever asked its package what is in there.
            modules |= names
            keys.update(("module", name) for name in names)
            keys.update(("module", name.rpartition(".")[0]) for name in names if "." in name and "/" not in name)
    return Change(frozenset(keys), frozenset(modules), frozenset(paths))


def _file(snapshot: Snapshot, path: str, entry: FileEntry | None) -> SourceFile | None:
    if path in snapshot.files.open:
        document = snapshot.files.open[path]
        return document.file if document is not None else None
    if entry is None:
        return None
    file = snapshot.space.contents.get(path)
    if file is None or file.digest != entry.digest:
        file = snapshot.space.reader.stored(path, entry.digest)
    return file
