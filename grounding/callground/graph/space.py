"""Where modules are and what they say, as far as anyone has asked: everything that a snapshot shares.

The one place where modules are located and read.  A snapshot reads the tables; the driver calls `load`
for what is missing.  Tables only gain entries, except that the owner replaces `located` as a whole when
files came or went, so that a snapshot keeps the table that it was made with.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from callground.environment import patches
from callground.environment.finder import Finder
from callground.environment.finder import Located as Found
from callground.environment.roots import module_name
from callground.graph.indexes import absolute_import, imports_of, next_uid, with_parents
from callground.graph.interface import Module, SourceFile
from callground.graph.layers import FileEntry, OpenFile, absolute_imports
from callground.graph.reading import Reader, Signature, signature_of

DEFAULT_LIMIT = 96_000_000
"""Bytes that the contents of modules may take, estimated; least recently used ones go first."""

PATCHES = "patches by "
"""What stands before a package's name when not the module is asked for but what it stores on classes."""

_COST = 4
"""Facts and text of a module take about this many bytes per byte of text."""


class Located(NamedTuple):
    """Everything about a module except what its files say."""

    name: str
    origin: str
    is_package: bool
    is_namespace: bool = False
    source: str | None = None
    stub: str | None = None
    probe: str | None = None
    compiled: bool = False
    partial_stub: bool = False
    distribution: str | None = None
    version: str | None = None
    submodules: frozenset[str] = frozenset()
    importable: bool = True
    also: tuple[str, ...] = ()

    def as_module(self, source: SourceFile | None, stub: SourceFile | None, probed: SourceFile | None) -> Module:
        """The module with these faces."""
        return Module(
            name=self.name,
            origin=self.origin,
            is_package=self.is_package,
            is_namespace=self.is_namespace,
            source=source,
            stub=stub,
            probed=probed,
            compiled=self.compiled,
            partial_stub=self.partial_stub,
            distribution=self.distribution,
            version=self.version,
            submodules=self.submodules,
            importable=self.importable,
            also=self.also,
        )


class Contents:
    """Path -> what the file says, bounded in bytes.  Nothing leaves while someone holds a pin."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._size = 0
        self._pins = 0
        self._files: OrderedDict[str, SourceFile] = OrderedDict()
        self._signatures: dict[str, Signature | None] = {}
        self._lock = threading.Lock()

    def get(self, path: str) -> SourceFile | None:
        """What was read of the file; None when it is not in memory."""
        with self._lock:
            file = self._files.get(path)
            if file is not None:
                self._files.move_to_end(path)
            return file

    def put(self, path: str, file: SourceFile, signature: Signature | None = None) -> None:
        """Keep a file that was read, with what it looked like from outside before."""
        with self._lock:
            self._signatures[path] = signature
            old = self._files.pop(path, None)
            if old is not None:
                self._size -= _cost(old)
            self._files[path] = file
            self._size += _cost(file)
            self._trim()

    def drop(self, path: str) -> None:
        """Forget a file."""
        with self._lock:
            old = self._files.pop(path, None)
            if old is not None:
                self._size -= _cost(old)

    def outdated(self) -> list[str]:
        """Files that look otherwise on disk than when they were read."""
        with self._lock:
            known = [(path, self._signatures.get(path)) for path in self._files]
        return [path for path, signature in known if signature is not None and signature_of(path) != signature]

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Keep everything that is read meanwhile: an evaluation that loads a tenth module needs the first."""
        with self._lock:
            self._pins += 1
        try:
            yield
        finally:
            with self._lock:
                self._pins -= 1
                self._trim()

    def _trim(self) -> None:
        if self._pins:
            return
        while self._size > self._limit and len(self._files) > 1:
            path, file = self._files.popitem(last=False)
            self._signatures.pop(path, None)
            self._size -= _cost(file)


def _cost(file: SourceFile) -> int:
    return 2_000 + len(file.text) * _COST


class Space:
    """The modules of one environment together with one workspace."""

    def __init__(
        self,
        finder: Finder,
        reader: Reader,
        contents: Contents,
        *,
        probe: Callable[[str], str | None] | None = None,
    ) -> None:
        self.finder = finder
        self.reader = reader
        self.contents = contents
        self.python_version = finder.environment.python_version
        self.platform = finder.environment.platform
        self.located: dict[str, Located | None] = {}
        self.modules: dict[str, Module] = {}
        self.paths: dict[str, set[str]] = {}
        """File -> the names under which it was located."""
        self._open: dict[str, str | None] = {}
        self._probe = probe
        self._imports: dict[tuple[str, str, str], frozenset[str]] = {}
        self._lock = threading.RLock()
        self._virtual: dict[str, str] = {}
        self._supposed: set[str] = set()
        self._hidden: frozenset[str] = frozenset()
        self._hidden_names: frozenset[str] = frozenset()
        self.patched: dict[str, dict[str, frozenset[str]]] = {}
        """Installed package -> what its text stores on classes, once somebody asked for it."""
        self.declared: frozenset[str] = frozenset()
        """Names of the distributions that the workspace's metadata declares, normalised."""
        self.loads = 0
        self.expected: Callable[[str], str | None] = lambda _: None
        """The digest that the workspace's table has for a file."""
        self.outdated: set[str] = set()
        """Files that turned out to be newer on disk than in the table."""

    # -- asked by snapshots, without I/O

    def import_open(self, name: str) -> str | None:
        """Why the absent module `name` may exist all the same."""
        return self._open.get(name)

    def module_of_path(self, path: str) -> str | None:
        """The dotted name of a file that the workspace table does not hold."""
        for name in self.paths.get(path, ()):
            return name if name != path else None
        return None

    def imports_of(self, file: SourceFile, module: str, is_package: bool) -> frozenset[str]:
        """Absolute names of what a read file imports, with their parents."""
        key = (file.path, file.digest, module)
        found = self._imports.get(key)
        if found is None:
            names: set[str] = set()
            for written in imports_of(file.facts):
                dotted = absolute_import(written, module, is_package)
                if dotted:
                    names.update(with_parents(dotted))
            found = self._imports[key] = frozenset(names)
        return found

    def document(self, path: str, text: str, entry: FileEntry | None, before: OpenFile | None = None) -> OpenFile:
        """A text that is supposed to stand at `path`."""
        file, live = self.reader.document(path, text, before.live if before is not None else None)
        index = self.reader.index(file)
        module = entry.module if entry is not None else self.module_at(path)
        is_package = os.path.basename(path).startswith("__init__.")
        made = FileEntry(
            uid=next_uid(),
            path=path,
            module=module,
            is_package=is_package,
            digest=file.digest,
            signature=(0, 0, 0),
            error=file.facts.error,
        )
        return OpenFile(made, file, index, absolute_imports(index, module, is_package), live)

    def rehomed(self, document: OpenFile, module: str | None) -> OpenFile:
        """The same document under another module name."""
        entry = replace(document.entry, module=module)
        imports = absolute_imports(document.index, module, entry.is_package)
        return replace(document, entry=entry, imports=imports)

    def module_at(self, path: str) -> str | None:
        """The dotted name that a file or a document at that path has."""
        return self._module_of(path) or self._virtual_name(path)

    # -- asked by the owner and the driver

    def load(self, name: str) -> None:
        """Locate a module and read its files, so that snapshots know it."""
        with self._lock:
            self.loads += 1
            if name.startswith(PATCHES):
                self._load_patches(name.removeprefix(PATCHES))
                return
            if name in self.located:
                located = self.located[name]
            else:
                located = self.locate(name)
                self._enter(name, located)
            if located is None:
                return
            for path, is_stub in ((located.source, False), (located.stub, True)):
                if path is not None:
                    self._fetch(path, is_stub)
            if located.probe is not None and self.contents.get(located.probe) is None:
                probed = self._probed(name, located.probe)
                if probed is not None:
                    self.contents.put(located.probe, probed)
                else:
                    # What cannot be probed is a compiled module that nobody has looked into.
                    self.located[name] = located._replace(probe=None)

    def _load_patches(self, top: str) -> None:
        """Look through an installed package's text for what it stores on other classes."""
        found = self.finder.locate(top)
        places = [*found.search_locations, found.path or ""] if found is not None else []
        self.patched[top] = patches.stores_in(patches.python_files(place for place in places if place))

    def _fetch(self, path: str, is_stub: bool) -> None:
        """Have a file's content in memory: the version that the workspace knows, if it knows one."""
        file = self.contents.get(path)
        expected = self.expected(path)
        if file is not None and expected in (None, file.digest):
            return
        signature = signature_of(path)
        file = self.reader.read(path, is_stub=is_stub)
        self.contents.put(path, file, signature)
        if expected not in (None, file.digest):
            self.outdated.add(path)

    def reread(self, path: str) -> SourceFile:
        """Read a file again whose content has changed."""
        with self._lock:
            signature = signature_of(path)
            file = self.reader.read(path, is_stub=path.endswith(".pyi"))
            self.contents.put(path, file, signature)
            return file

    def forget_outdated(self, known: Container[str]) -> set[str]:
        """Drop what was read of files that have changed since, those in `known` aside; the modules concerned."""
        with self._lock:
            changed: set[str] = set()
            for path in self.contents.outdated():
                if path not in known:
                    self.contents.drop(path)
                    changed.update(self.paths.get(path, ()))
            if changed:
                self.patched = {}
            return changed

    def relocate(self, names: Iterable[str]) -> set[str]:
        """Ask again where modules are; the names whose answer changed.  Snapshots keep the old table."""
        with self._lock:
            table = dict(self.located)
            changed: set[str] = set()
            for name in names:
                if name not in table:
                    continue
                old = table[name]
                new = self.locate(name)
                if new != old:
                    changed.add(name)
                    table[name] = new
                    self.modules.pop(name, None)
                    if new is not None:
                        self._note_paths(name, new)
                if new is None:
                    self._open[name] = self.finder.import_open(name)
            if changed:
                self.located = table
            return changed

    def locate(self, name: str) -> Located | None:
        """Where a module is, asked afresh."""
        if os.sep in name or "/" in name or ":" in name:
            return self._loose(name)
        found = self.finder.locate(name)
        submodules = frozenset[str]()
        if found is not None and (found.is_package or found.kind in ("namespace", "zip")):
            submodules = self.finder.submodules(name)
            if self._hidden_names:
                submodules -= {last for last in submodules if f"{name}.{last}" in self._hidden_names}
        virtual = self._virtual_module(name)
        if virtual is not None:
            return virtual._replace(submodules=submodules | self._virtual_children(name))
        if found is None:
            return None
        if found.path in self._hidden:
            return None
        return self._placed(found, submodules)

    def varied(self, appearing: Iterable[str], vanishing: Iterable[str]) -> Space:
        """The same modules where some files have come or gone without anything on disk."""
        other = Space(self.finder, self.reader, self.contents, probe=self._probe)
        other._lock = self._lock
        other.patched = self.patched
        vanishing = frozenset(vanishing)
        other._hidden = self._hidden | vanishing
        gone = {self._module_of(path) for path in vanishing} - {None}
        other._hidden_names = self._hidden_names | {name for name in gone if name is not None}
        appearing = set(appearing)
        other._supposed = (self._supposed | appearing) - other._hidden
        other.expected = self.expected
        other.declared = self.declared
        other.outdated = self.outdated
        other._virtual = {name: path for name, path in self._virtual.items() if path not in other._hidden}
        other._virtual.update(self._virtual_names(appearing))
        # What was asked about these before (a file that is not there, a package's submodules) is asked again.
        tops = {name.partition(".")[0] for name in (*other._virtual, *other._hidden_names)}
        for path in other._hidden:
            tops.update(name.partition(".")[0] for name in self.paths.get(path, ()))
        other.located = {
            name: found
            for name, found in self.located.items()
            if name.partition(".")[0] not in tops and name not in appearing and name not in vanishing
        }
        other.paths = self.paths
        other._open = dict(self._open)
        other._imports = self._imports
        return other

    @property
    def virtual_paths(self) -> set[str]:
        """Open documents that are not on disk."""
        return self._supposed

    def suppose(self, paths: set[str]) -> set[str]:
        """Take these documents for files, though nothing is on disk; the modules whose place differs."""
        with self._lock:
            before = {*self._virtual, *self._supposed}
            self._supposed = set(paths)
            self._virtual = self._virtual_names(paths)
            after = {*self._virtual, *self._supposed}
            tops = {name.partition(".")[0] for name in before ^ after} | (before ^ after)
            return self.relocate([name for name in self.located if name in tops or name.partition(".")[0] in tops])

    def _virtual_names(self, paths: Iterable[str]) -> dict[str, str]:
        names: dict[str, str] = {}
        for path in paths:
            name = module_name(path, self.finder.roots) if path.endswith((".py", ".pyi")) else None
            if name is not None:
                names[name] = path
        return names

    # -- parts

    def _enter(self, name: str, located: Located | None) -> None:
        if located is None:
            self._open[name] = None if "/" in name else self.finder.import_open(name)
        else:
            self._note_paths(name, located)
        # Last: a snapshot that sees the entry finds the rest in place.
        self.located[name] = located

    def _note_paths(self, name: str, located: Located) -> None:
        for path in (located.source, located.stub):
            if path is not None:
                self.paths.setdefault(path, set()).add(name)

    def _loose(self, path: str) -> Located | None:
        """A file by its path, for files that cannot be imported."""
        if path in self._hidden or not (path in self._supposed or os.path.isfile(path)):
            return None
        return Located(path, "workspace", False, source=path, importable=False)

    def _placed(self, found: Found, submodules: frozenset[str]) -> Located:
        probe = None
        if found.compiled and self._probe is not None:
            probe = f"<probe:{found.name}>"
        return Located(
            name=found.name,
            origin=found.origin,
            is_package=found.is_package,
            is_namespace=found.kind == "namespace",
            source=found.path if found.kind == "source" else None,
            stub=found.stub_path,
            probe=probe,
            # No source that could be read: bytecode and zip files are as closed to us as extensions.
            compiled=found.compiled or found.kind in ("bytecode", "zip"),
            partial_stub=found.partial_stub,
            distribution=found.distribution,
            version=found.version,
            submodules=submodules,
            importable=found.importable,
            also=found.also,
        )

    def _probed(self, name: str, path: str) -> SourceFile | None:
        text = self._probe(name) if self._probe is not None else None
        return None if text is None else self.reader.text(path, text, is_stub=True)

    def _module_of(self, path: str) -> str | None:
        try:
            return self.finder.module_of(path)
        except (OSError, ValueError):
            return None

    def _virtual_name(self, path: str) -> str | None:
        return next((name for name, other in self._virtual_names([path]).items()), None)

    def _virtual_module(self, name: str) -> Located | None:
        path = self._virtual.get(name)
        if path is not None:
            package = os.path.basename(path).startswith("__init__.")
            return Located(name, "workspace", package, source=path)
        if self._virtual_children(name) and self.finder.locate(name) is None:
            return Located(name, "workspace", True, is_namespace=True)
        return None

    def _virtual_children(self, name: str) -> frozenset[str]:
        prefix = name + "."
        return frozenset(other[len(prefix) :].partition(".")[0] for other in self._virtual if other.startswith(prefix))
