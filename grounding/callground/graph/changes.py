"""What a change of the workspace means for verdicts that were given before it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from callground.facts.interface_hash import changed_keys
from callground.graph.indexes import FileIndex
from callground.graph.interface import SourceFile
from callground.graph.layers import FileEntry, absolute_imports
from callground.verdict.model import Key

Progress = Callable[[str, int, int], None]
"""Called with (phase, files done, files in all)."""


def never() -> bool:
    """The `stop` of those who wait for the whole answer."""
    return False


Face = tuple[FileEntry, SourceFile, FileIndex]
"""One version of a file, with its facts."""


@dataclass(frozen=True)
class Change:
    """The keys that may have another answer now."""

    keys: frozenset[Key] = field(default=frozenset())
    modules: frozenset[str] = field(default=frozenset())
    """Modules that came or went, or of which nothing more exact is known: all under them is touched."""
    paths: frozenset[str] = field(default=frozenset())
    """Files with another text."""
    texts: frozenset[str] = field(default=frozenset())
    """The modules that these files are."""
    everything: bool = False
    completed: bool = False
    """By-name questions can be answered now that could not be before."""

    def __bool__(self) -> bool:
        return bool(self.keys or self.modules or self.paths or self.everything or self.completed)

    def __or__(self, other: Change) -> Change:
        return Change(
            self.keys | other.keys,
            self.modules | other.modules,
            self.paths | other.paths,
            self.texts | other.texts,
            self.everything or other.everything,
            self.completed or other.completed,
        )

    def touches(self, reads: frozenset[Key]) -> bool:
        """Whether something that read these keys has to be decided again."""
        if self.everything or not self.keys.isdisjoint(reads):
            return True
        return bool(self.modules) and any(self._under(key) for key in reads)

    def _under(self, key: Key) -> bool:
        if len(key) < 2:
            return False
        name = key[1]
        return name in self.modules or any(name.startswith(module + ".") for module in self.modules)


NOTHING = Change()


def index_keys(
    old: FileIndex | None,
    new: FileIndex | None,
    old_imports: Iterable[str],
    new_imports: Iterable[str],
) -> set[Key]:
    """Keys of the by-name questions whose answers differ between two versions of a file.

    Lines are left out of the comparison: text that only moves changes no answer.
    """
    keys: set[Key] = set()
    old_stores = {row._replace(line=0) for row in old.stores} if old else set()
    new_stores = {row._replace(line=0) for row in new.stores} if new else set()
    keys.update(("stores", row.attr) for row in old_stores ^ new_stores)
    old_bases = set(old.bases) if old else set()
    new_bases = set(new.bases) if new else set()
    keys.update(("bases", base) for base, _ in old_bases ^ new_bases)
    old_modules, new_modules = set(old_imports), set(new_imports)
    keys.update(("imported", module) for module in old_modules ^ new_modules)
    return keys


def difference(path: str, names: set[str], before: Face | None, after: Face | None) -> Change:
    """What the step from one version of a file to another means; `names` are modules that the file was found as."""
    names = names | {face[0].module or path for face in (before, after) if face is not None}
    modules, paths = frozenset(names), frozenset((path,))
    if before is None or after is None:
        # Of one side nothing is known: everything that read the module is decided again.
        face = before or after
        keys: set[Key] = set()
        if face is not None:
            keys = index_keys(face[2], None, absolute_imports(face[2], face[0].module, face[0].is_package), ())
        return Change(frozenset(keys), modules, paths, modules)
    old_entry, old_file, old_index = before
    new_entry, new_file, new_index = after
    if old_file.digest == new_file.digest:
        return Change(paths=paths, texts=modules)
    keys = index_keys(
        old_index,
        new_index,
        absolute_imports(old_index, old_entry.module, old_entry.is_package),
        absolute_imports(new_index, new_entry.module, new_entry.is_package),
    )
    for name in names:
        keys |= changed_keys(name, old_file.facts, new_file.facts)
    return Change(frozenset(keys), paths=paths, texts=modules)


def renamed(entry: FileEntry, module: str | None, index: FileIndex) -> Change:
    """A file goes by another module name: whoever found it by name finds it under the other one."""
    keys = index_keys(index, None, absolute_imports(index, entry.module, entry.is_package), ())
    keys |= index_keys(None, index, (), absolute_imports(index, module, entry.is_package))
    names = frozenset((entry.module or entry.path, module or entry.path))
    return Change(frozenset(keys), names, frozenset((entry.path,)), names)


def came_or_went(modules: Iterable[str]) -> Change:
    """Modules are there that were not, or the other way round, or they are elsewhere."""
    names = frozenset(modules)
    keys: set[Key] = {("module", name) for name in names}
    # Whatever asked a package for its submodules depends on the set of them.
    keys.update(("module", name.rpartition(".")[0]) for name in names if "." in name)
    return Change(frozenset(keys), names)
