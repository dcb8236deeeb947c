"""The immutable view that one evaluation sees.  Nothing here does I/O."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from callground.environment.declared import declared_as
from callground.facts.model import AttrStore
from callground.graph.indexes import Definition, FileIndex, Postings
from callground.graph.interface import INDEX, Module, NotLoaded, SourceFile
from callground.graph.layers import FileEntry, Files, OpenFile
from callground.graph.space import PATCHES, Located, Space
from callground.graph.trees import TreeCache

_T = TypeVar("_T")
_CLOSURE_LIMIT = 200


def importers(postings: Postings, files: Files) -> dict[str, tuple[str, ...]]:
    """Top-level modules that files on disk import, with those files; made once per table of files."""
    table, found = postings.tops
    if table is not files.disk:
        by_name: dict[str, tuple[str, ...]] = {}
        for name, uids in list(postings.imports.items()):
            if "." not in name:
                paths = [path for uid in uids if (path := postings.paths.get(uid)) and _is(files.disk.get(path), uid)]
                if paths:
                    by_name[name] = tuple(paths)
        found = by_name
        postings.tops = (files.disk, found)
    return found


def _is(entry: FileEntry | None, uid: int) -> bool:
    return entry is not None and entry.uid == uid


class Snapshot:
    """Environment, workspace files and open documents at one moment.

    A snapshot only ever gains knowledge (a module that was not loaded can be loaded later); what it has
    once answered stays true for it.
    """

    def __init__(
        self,
        space: Space,
        files: Files,
        postings: Postings,
        trees: TreeCache,
        *,
        complete: bool,
        generation: int,
    ) -> None:
        self.space = space
        self.files = files
        self.complete = complete
        self.generation = generation
        """Grows with every change of the workspace; equal means nothing has changed."""
        self.python_version = space.python_version
        self.platform = space.platform
        self._postings = postings
        self._trees = trees
        # The finder's answers as they are now: when files come or go the space gets another table.
        self._located = space.located
        self._closures: dict[str, frozenset[str] | None] = {}
        self._tops: tuple[str, ...] | None = None

    @property
    def postings(self) -> Postings:
        """The inverted indexes; they hold rows of other versions too: ask `definitions` for the current ones."""
        return self._postings

    # -- modules

    def module(self, name: str) -> Module | None:
        """The module `name`; a path names the workspace file there, importable or not."""
        located = self._locate(name)
        if located is None:
            return None
        source = self._content(name, located.source)
        stub = self._content(name, located.stub)
        probed = self._content(name, located.probe)
        cached = self.space.modules.get(name)
        if (
            cached is not None
            and cached.source is source
            and cached.stub is stub
            and cached.probed is probed
            and cached.submodules == located.submodules
        ):
            return cached
        module = located.as_module(source, stub, probed)
        if source is None or source.path not in self.files.open:
            self.space.modules[name] = module
        return module

    def exists(self, name: str) -> bool:
        """Whether the module can be imported."""
        if name in self._located:
            return self._located[name] is not None
        parent, _, last = name.rpartition(".")
        above = self._located.get(parent) if parent else None
        if above is not None and last in above.submodules:
            return True
        return self._locate(name) is not None

    def import_open(self, name: str) -> str | None:
        """Why an absent module may exist all the same, else None."""
        return self.space.import_open(name)

    def declared(self, name: str) -> str | None:
        """The distribution that the workspace's metadata declares and that may provide a top-level module."""
        return declared_as(name, self.space.declared)

    def extra(self, module: str, name: str) -> str | None:
        """The distribution of `module`, with its version, where its metadata requires what may provide `name`."""
        found = self.space.finder.required_by(module)
        if found is None or declared_as(name, found[1]) is None:
            return None
        return f"{found[0].name} {found[0].version}"

    def module_of_path(self, path: str) -> str | None:
        """Dotted name of a workspace file; None if it cannot be imported."""
        entry = self.files.entry(path)
        return entry.module if entry is not None else self.space.module_of_path(path)

    def file(self, path: str) -> SourceFile | None:
        """The text and facts of a workspace file; None when there is no such file."""
        module = self.module(path)
        return module.source or module.stub if module is not None else None

    def has_text(self, path: str, text: str) -> bool:
        """Whether the snapshot shows that text for the path; False also when it was never read."""
        if path in self.files.open:
            document = self.files.open[path]
            return document is not None and document.file.text == text
        file = self.space.contents.get(path)
        entry = self.files.disk.get(path)
        return file is not None and file.text == text and (entry is None or entry.digest == file.digest)

    def tree(self, file: SourceFile, piece: int) -> ast.Module | None:
        """The parsed text of one piece (lines relative to the piece), from a bounded cache."""
        return self._trees.get(file, piece)

    def _locate(self, name: str) -> Located | None:
        try:
            return self._located[name]
        except KeyError:
            raise NotLoaded(name) from None

    def _content(self, name: str, path: str | None) -> SourceFile | None:
        if path is None:
            return None
        if path in self.files.open:
            document = self.files.open[path]
            return document.file if document is not None else None
        file = self.space.contents.get(path)
        if file is None:
            raise NotLoaded(name)
        entry = self.files.disk.get(path)
        if entry is not None and entry.digest != file.digest:
            raise NotLoaded(name)
        return file

    # -- by-name questions over the workspace

    def _need_index(self) -> None:
        """Nobody knows of a file that has not been read: absence and completeness are not to be had yet."""
        if not self.complete:
            raise NotLoaded(INDEX)

    def stores(self, attr: str) -> tuple[tuple[str, AttrStore], ...]:
        """Stores to an attribute of that name in workspace files: (module or path, row)."""
        self._need_index()
        rows = list(self._rows(self._postings.stores.get(attr, ())))
        for document in self.files.documents():
            rows += [(document.entry, row) for row in document.index.stores if row.attr == attr]
        rows.sort(key=lambda found: (found[0].path, found[1].line, found[1]))
        return tuple((entry.module or entry.path, row) for entry, row in rows)

    def classes_with_base(self, name: str) -> tuple[tuple[str, str], ...]:
        """Workspace classes one of whose bases' last name is `name`: (module or path, qualname)."""
        self._need_index()
        rows = list(self._rows(self._postings.bases.get(name, ())))
        for document in self.files.documents():
            rows += [(document.entry, qualname) for base, qualname in document.index.bases if base == name]
        return tuple(sorted({(entry.module or entry.path, qualname) for entry, qualname in rows}))

    def library_stores(self, attr: str) -> frozenset[str]:
        """Last names of classes on which an installed package that the workspace imports stores that attribute."""
        if self._tops is None:
            self._tops = tuple(sorted(self._imported_tops()))
        found: set[str] = set()
        for top in self._tops:
            located = self._locate(top)
            if located is None or located.origin != "third-party":
                continue
            table = self.space.patched.get(top)
            if table is None:
                raise NotLoaded(PATCHES + top)
            found |= table.get(attr, frozenset()) | table.get("*", frozenset())
        return frozenset(found)

    def _imported_tops(self) -> set[str]:
        names = {m for document in self.files.documents() for m in document.imports if "." not in m}
        opened = self.files.open
        for name, paths in importers(self._postings, self.files).items():
            if name not in names and any(path not in opened for path in paths):
                names.add(name)
        return names

    def importers(self, module: str) -> tuple[str, ...]:
        """Workspace files with an import that binds the submodule on its parent: modules, or paths."""
        found = {
            entry.module or entry.path
            for uid in self._postings.imports.get(module, ())
            if (entry := self.files.on_disk(self._postings.paths.get(uid), uid)) is not None
        }
        found |= {d.entry.module or d.entry.path for d in self.files.documents() if module in d.imports}
        return tuple(sorted(found))

    def imported_anywhere(self, module: str) -> bool:
        """Whether an import binds the submodule on its parent.

        Besides the workspace's own imports, the modules count that importing the top package runs.
        Which other modules happen to be loaded does not count: an answer may not depend on the questions
        that came before it.
        """
        for uid in self._postings.imports.get(module, ()):
            if self.files.on_disk(self._postings.paths.get(uid), uid) is not None:
                return True
        if any(module in document.imports for document in self.files.documents()):
            return True
        self._need_index()
        return self._imported_by_package(module)

    def _imported_by_package(self, module: str) -> bool:
        top = module.partition(".")[0]
        if top not in self._closures:
            self._closures[top] = self._closure(top)
        closure = self._closures[top]
        return closure is None or module in closure

    def _closure(self, top: str) -> frozenset[str] | None:
        """The modules of a package that importing its top module imports; None for too many."""
        found = {top}
        pending = [top]
        while pending:
            if len(found) > _CLOSURE_LIMIT:
                return None
            name = pending.pop()
            module = self.module(name)
            if module is None or module.source is None:
                continue
            for imported in self.space.imports_of(module.source, name, module.is_package):
                if imported not in found and self._is_submodule(imported, top):
                    found.add(imported)
                    pending.append(imported)
        return frozenset(found)

    def _is_submodule(self, name: str, top: str) -> bool:
        """Whether a dotted name of an import statement is a submodule of the package, no name in a module."""
        parts = name.split(".")
        if parts[0] != top:
            return False
        parent = top
        for part in parts[1:]:
            located = self._locate(parent)
            if located is None or part not in located.submodules:
                return False
            parent = f"{parent}.{part}"
        return len(parts) > 1

    # -- the workspace by name, for queries

    def definitions(self, name: str) -> list[tuple[FileEntry, Definition]]:
        """Definitions of that name at module or class level, ordered by place."""
        rows = list(self._rows(self._postings.definitions.get(name, ())))
        for document in self.files.documents():
            rows += [(document.entry, row) for row in document.index.definitions if row.name == name]
        return sorted(rows, key=lambda row: (row[0].path, row[1].line, row[1]))

    def mentioning(self, name: str) -> list[FileEntry]:
        """Files in which the name occurs."""
        entries: list[FileEntry] = []
        for uid in self._postings.mentions.get(name, ()):
            entry = self.files.on_disk(self._postings.paths.get(uid), uid)
            if entry is not None:
                entries.append(entry)
        entries += [document.entry for document in self.files.documents() if name in document.index.mentions]
        return sorted(entries, key=lambda entry: entry.path)

    def defined_names(self) -> Iterator[str]:
        """Every name that some version of a workspace file has defined: candidates, to be looked up."""
        seen = dict.fromkeys(list(self._postings.definitions))
        for document in self.files.documents():
            seen.update(dict.fromkeys(row.name for row in document.index.definitions))
        return iter(seen)

    def _rows(self, postings: Iterable[tuple[int, _T]]) -> Iterator[tuple[FileEntry, _T]]:
        paths, files = self._postings.paths, self.files
        for uid, row in postings:
            entry = files.on_disk(paths.get(uid), uid)
            if entry is not None:
                yield entry, row

    # -- variations

    def with_overlay(self, texts: Mapping[str, str | None]) -> Snapshot:
        """The same world with other texts (None: without the file), for repairs and plans.

        The new snapshot has its own answers about where modules are, as files may come or go.
        """
        documents: dict[str, OpenFile | None] = {}
        for path, text in texts.items():
            if text is None:
                documents[path] = None
            else:
                documents[path] = self.space.document(path, text, self.files.entry(path), self.files.open.get(path))
        files = self.files.with_open(documents)
        appearing = {path for path, document in documents.items() if document and not self.files.entry(path)}
        vanishing = {path for path, document in documents.items() if document is None and self.files.entry(path)}
        space = self.space.varied(appearing, vanishing) if appearing or vanishing else self.space
        return Snapshot(
            space,
            files,
            self._postings,
            self._trees,
            complete=self.complete,
            generation=self.generation,
        )


__all__ = ["FileIndex", "Snapshot"]
