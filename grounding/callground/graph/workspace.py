"""The one mutable thing: which files there are, which documents are open, and the snapshot of now."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from callground.check import CannotRead
from callground.config.model import DEFAULT, Config
from callground.environment.finder import Finder
from callground.environment.model import Environment
from callground.environment.newer_syntax import newer_of, use
from callground.graph import discovery
from callground.graph.changes import NOTHING, Change, Face, Progress, came_or_went, difference, never, renamed
from callground.graph.imported import Doubts
from callground.graph.index_process import Child
from callground.graph.indexes import FileIndex, Postings, next_uid
from callground.graph.indexing import Indexed, index_workspace
from callground.graph.layers import FileEntry, Files, absolute_imports
from callground.graph.reading import ProbeAnswers, Reader, signature_of
from callground.graph.snapshot import Snapshot, importers
from callground.graph.space import Contents, Space
from callground.graph.trees import TreeCache
from callground.resolve.memo import Memo
from callground.verdict.model import Key, Verdict

_COMPACT_BELOW = 0.5
"""When less than this share of the posted file versions is current, the postings are made anew."""


class Workspace:
    """Owner of a workspace: takes changes, gives snapshots.

    Its methods may be called from several threads; each takes the lock for as long as it changes tables.
    Reading and parsing happen outside of it where they can take long.
    """

    def __init__(
        self,
        root: str,
        environment: Environment,
        config: Config = DEFAULT,
        *,
        cache: str | None = None,
        shallow: bool = False,
        contents: Contents | None = None,
    ) -> None:
        self.root = os.path.abspath(root)
        self.shallow = shallow
        """Only the files right in the folder belong to it: nobody has opened it as a workspace."""
        self.environment = environment
        self.config = config
        self.memo = Memo()
        self.trees = TreeCache()
        self.reader = Reader(cache)
        self.lock = threading.RLock()
        self.errors: dict[str, str] = {}
        """Files that could not be read or parsed, with the reason."""
        self._contents = contents or Contents()
        self._discovered, self._trusted = False, environment.trusted
        self._stamp = ""
        self._child: Child | None = None
        self._environment_mark = discovery.mark_of(environment)
        self._postings = Postings()
        self._files = Files({}, {})
        self._complete = False
        self._generation = 0
        self._snapshot: Snapshot | None = None
        self._space = self._make_space()
        self._doubts = Doubts()

    @classmethod
    def open(
        cls,
        root: str,
        environment: Environment | None = None,
        config: Config | None = None,
        *,
        cache: str | None = None,
        shallow: bool = False,
        contents: Contents | None = None,
        trusted: bool = False,
    ) -> Workspace:
        """Open a folder; none of its files is read yet.

        Without `environment` the folder's own is looked for (and again when packages are installed); `trusted`
        says whether its interpreter may be started.  Workspaces of one environment may share `contents`.
        """
        settings = config or DEFAULT
        found = environment or discovery.find_environment(root, settings, trusted=trusted)
        workspace = cls(root, found, settings, cache=cache, shallow=shallow, contents=contents)
        workspace._discovered, workspace._trusted = environment is None, trusted or found.trusted
        return workspace

    def _make_space(self) -> Space:
        use(newer_of(self.environment))
        self._listed = self._list()
        finder = Finder(self.environment, discovery.roots(self.root, self.config, self._listed))
        probe = discovery.prober(self.environment, ProbeAnswers(self.reader.store))
        space = Space(finder, self.reader, self._contents, probe=probe)
        space.expected = self._expected
        space.declared = discovery.declared(self.root)
        return space

    def _expected(self, path: str) -> str | None:
        entry = self._files.disk.get(path)
        return entry.digest if entry is not None else None

    def _list(self) -> list[str]:
        return discovery.workspace_files(self.root, self.config, shallow=self.shallow)

    # -- reading

    @property
    def complete(self) -> bool:
        """Whether every workspace file has been indexed."""
        return self._complete

    @property
    def generation(self) -> int:
        """Grows with every change."""
        return self._generation

    @property
    def files(self) -> Files:
        """The file table of now."""
        return self._files

    @property
    def space(self) -> Space:
        """The modules of now."""
        return self._space

    def snapshot(self) -> Snapshot:
        """The immutable view of now."""
        with self.lock:
            if self._snapshot is None:
                self._snapshot = Snapshot(
                    self._space,
                    self._files,
                    self._postings,
                    self.trees,
                    complete=self._complete,
                    generation=self._generation,
                )
            return self._snapshot

    @property
    def doubtful(self) -> str | None:
        """Why the environment may be the wrong one; with a complete index also what the imports say of it."""
        given = self.environment.doubtful
        return given or (self._doubts.of(self.snapshot(), self.load) if self._complete else None)

    def load(self, module: str) -> None:
        """Read a module, so that snapshots know it."""
        self._space.load(module)

    def pinned(self) -> AbstractContextManager[None]:
        """Keep what is loaded meanwhile in memory."""
        return self._contents.pinned()

    def text(self, path: str) -> str:
        """The text of a file.  Raises CannotRead with the reason."""
        path = self.absolute(path)
        self.load(path)
        file = self.snapshot().file(path)
        if file is None:
            raise CannotRead("there is no such file")
        if file.facts.error is not None and not file.facts.pieces:
            raise CannotRead(file.facts.error)
        return file.text

    def verify(
        self, path: str, text: str | None = None, ranges: Sequence[tuple[int, int]] | None = None
    ) -> list[Verdict]:
        """Judge the calls of one file; `text` stands for the disk's, `ranges` are lines (first, last)."""
        # Here, since the evaluator's modules know the graph's interface.
        from callground.graph.driver import verify_with_loading

        return verify_with_loading(text, self.absolute(path), self, ranges)

    def absolute(self, path: str) -> str:
        """The path as the tables know it."""
        return path if "://" in path or path.startswith("untitled:") else os.path.join(self.root, path)

    # -- the first index

    def paths(self) -> list[str]:
        """Every Python file of the workspace, as it is on disk now."""
        return list(self._listed)

    def index(
        self,
        progress: Progress | None = None,
        *,
        processes: bool | None = None,
        stop: Callable[[], bool] = never,
        finish: bool = True,
    ) -> None:
        """Index every file of the workspace that is not indexed yet.

        `processes` says whether a child does it (None: when there is enough to do).  With `finish` false
        somebody else calls `finish_index`, in the thread that evaluates.
        """
        if index_workspace(self, progress, processes=processes, stop=stop) and finish:
            self.finish_index()

    def enter(self, entries: Iterable[Indexed]) -> None:
        """Take indexed files.

        A version that is already known under the same digest changes nothing.
        """
        with self.lock:
            disk = dict(self._files.disk)
            changed = False
            for path, digest, signature, index in entries:
                known = disk.get(path)
                if known is not None and known.digest == digest:
                    continue
                disk[path] = self._post(path, digest, signature, index)
                changed = True
            if changed:
                self._replace(Files(disk, self._files.open))

    def finish_index(self) -> Change:
        """Every file has been seen: by-name questions have answers from now on."""
        with self.lock:
            if self._complete:
                return NOTHING
            self._complete = True
            self.memo.clear()
            self._replace(self._files)
            return Change(completed=True)

    def _post(self, path: str, digest: str, signature: tuple[int, int, int], index: FileIndex) -> FileEntry:
        module = self._space.finder.module_of(path)
        is_package = os.path.basename(path).startswith("__init__.")
        error = index.error
        entry = FileEntry(next_uid(), path, module, is_package, digest, signature, error)
        self._postings.add(entry.uid, path, index, absolute_imports(index, module, is_package))
        if error is None:
            self.errors.pop(path, None)
        else:
            self.errors[path] = error
        return entry

    def _replace(self, files: Files) -> None:
        self._files = files
        self._generation += 1
        self._snapshot = None
        posted = len(self._postings.paths)
        if posted > 1000 and len(files.disk) < posted * _COMPACT_BELOW:
            self._postings = self._postings.kept({entry.uid for entry in files.disk.values()})

    # -- documents

    def set_overlay(self, path: str, text: str | None) -> Change:
        """Put a document's text over the file of that path; None takes it away again."""
        path = self.absolute(path)
        with self.lock:
            old = self._files.open.get(path)
            if text is not None and old is not None and old.file.text == text:
                return NOTHING
            if text is None and old is None:
                return NOTHING
            before = self._face(path)
            opened = dict(self._files.open)
            if text is None:
                del opened[path]
            else:
                opened[path] = self._space.document(path, text, self._files.disk.get(path), old)
            files = Files(self._files.disk, opened)
            self._replace(files)
            appeared = self._suppose()
            if text is None:
                self._reread(path)
            return self._apply(self._difference(path, before, self._face(path)) | appeared)

    def _suppose(self) -> Change:
        """Open documents count as files, also where nothing is on the disk."""
        virtual = {path for path in self._files.open if not os.path.isfile(path)}
        if virtual == self._space.virtual_paths:
            return NOTHING
        change = came_or_went(self._space.suppose(virtual))
        self._replace(self._files)
        return change

    # -- changes on disk

    def file_changed(self, path: str) -> Change:
        """The content of a file may have changed on disk (or it appeared, or went)."""
        return self.files_changed([path])

    file_created = file_changed
    file_deleted = file_changed

    def file_renamed(self, old: str, new: str) -> Change:
        """A file has another path now."""
        return self.files_changed([old, new])

    def files_changed(self, paths: Iterable[str]) -> Change:
        """Look at these files on disk again; what that changes for earlier verdicts."""
        with self.lock:
            # First of all, so that an open document whose file has gone stays where it is.
            change = self._suppose()
            wanted = list(dict.fromkeys(self.absolute(path) for path in paths))
            if any((path in self._files.disk) != os.path.isfile(path) for path in wanted):
                # First, so that new files are entered under the names that they have now.
                change |= self._relayout(wanted)
            for path in wanted:
                change |= self._reread(path)
            return self._apply(change | self._suppose())

    def refresh(self) -> Change:
        """Look at everything again: a branch was switched, a package installed."""
        with self.lock:
            change = self._suppose() | self._refresh_environment()
            self._listed = on_disk = self._list()
            present = set(on_disk)
            stale = [path for path in self._files.disk if path not in present]
            for path in on_disk:
                entry = self._files.disk.get(path)
                if entry is None or entry.signature != signature_of(path):
                    stale.append(path)
            change |= self._apply(self._relayout(stale))
            self._stamp = self._space.finder.stamp()
            return change | self.files_changed(stale) if stale else change

    def looks_different(self) -> bool:
        """Whether a `refresh` would find anything.  Takes no lock and changes nothing: for a thread of its own."""
        disk = self._files.disk
        if discovery.mark_of(self.environment) != self._environment_mark or self._contents.outdated():
            return True
        listed = self._list()
        if len(listed) != len(disk) or any(
            (entry := disk.get(path)) is None or entry.signature != signature_of(path) for path in listed
        ):
            return True
        return self._space.finder.stamp() != self._stamp

    def catch_up(self) -> Change:
        """Take files that turned out to be newer on disk than in the table."""
        outdated = self._space.outdated
        if not outdated:
            return NOTHING
        paths = list(outdated)
        outdated.clear()
        return self.files_changed(paths)

    def _refresh_environment(self) -> Change:
        """Packages may have been installed, upgraded or removed."""
        mark = discovery.mark_of(self.environment)
        if mark != self._environment_mark:
            self._environment_mark = mark
            if self._discovered:
                found = discovery.find_environment(self.root, self.config, trusted=self._trusted)
                if found.key() != self.environment.key():
                    return self.set_environment(found)
        names = self._space.forget_outdated(self._files.disk)
        if not names:
            return NOTHING
        self._replace(self._files)
        return self._apply(Change(modules=frozenset(names), texts=frozenset(names)))

    def set_environment(self, environment: Environment, config: Config | None = None) -> Change:
        """Another interpreter, other packages or other settings: everything is asked again."""
        with self.lock:
            self.environment = environment
            self.config = config or self.config
            self._contents = Contents()
            self._environment_mark = discovery.mark_of(environment)
            self._space = self._make_space()
            self._suppose()
            self._replace(self._files)
            self._rename_modules()
            return self._apply(Change(everything=True))

    def reconfigure(self, config: Config) -> Change:
        """Other settings: the interpreter, the roots and the files may be others."""
        environment = discovery.find_environment(self.root, config, trusted=self._trusted)
        with self.lock:
            self.set_environment(environment, config)
            present = set(self._listed)
            self.files_changed([path for path in self._files.disk if path not in present])
            self.files_changed([path for path in self._listed if path not in self._files.disk])
            return Change(everything=True)

    def _reread(self, path: str) -> Change:
        """Take one file's content from disk into the table."""
        entry = self._files.disk.get(path)
        signature = signature_of(path)
        if entry is not None and signature == entry.signature:
            return NOTHING
        before = self._disk_face(path)
        disk = dict(self._files.disk)
        if signature is None:
            if entry is None:
                return NOTHING
            del disk[path]
            self._contents.drop(path)
            self.errors.pop(path, None)
        else:
            file = self._space.reread(path)
            if entry is not None and entry.digest == file.digest:
                disk[path] = FileEntry(
                    entry.uid, path, entry.module, entry.is_package, entry.digest, signature, entry.error
                )
                self._files = Files(disk, self._files.open)
                return NOTHING
            disk[path] = self._post(path, file.digest, signature, self.reader.index(file))
        self._replace(Files(disk, self._files.open))
        if path in self._files.open:
            return NOTHING
        return self._difference(path, before, self._disk_face(path))

    def _relayout(self, paths: Iterable[str]) -> Change:
        """Files came or went: modules may be elsewhere."""
        space = self._space
        files = {*self._listed, *self._files.disk}
        for path in paths:
            if os.path.isfile(path):
                files.add(path)
            else:
                files.discard(path)
        self._listed = sorted(files)
        roots = discovery.roots(self.root, self.config, self._listed)
        if roots != space.finder.roots:
            space.finder = Finder(self.environment, roots)
        elif not space.finder.refresh():
            return NOTHING
        changed = space.relocate(list(space.located))
        if changed:
            self._replace(self._files)
        return self._rename_modules() | came_or_went(changed)

    def _rename_modules(self) -> Change:
        """Enter files and documents anew that go by another module name since the layout has changed."""
        change = NOTHING
        disk = dict(self._files.disk)
        opened = dict(self._files.open)
        for path, entry in self._files.disk.items():
            module = self._space.finder.module_of(path)
            if module == entry.module or signature_of(path) is None:
                continue
            file = self._space.reread(path)
            index = self.reader.index(file)
            disk[path] = self._post(path, file.digest, entry.signature, index)
            change |= renamed(entry, module, index)
        for path, document in self._files.open.items():
            known = disk.get(path)
            module = known.module if known is not None else self._space.module_at(path)
            if document is not None and module != document.entry.module:
                opened[path] = self._space.rehomed(document, module)
                change |= renamed(document.entry, module, document.index)
        if change:
            self._replace(Files(disk, opened))
        return change

    # -- what a change means

    def _face(self, path: str) -> Face | None:
        document = self._files.open.get(path)
        if document is not None:
            return document.entry, document.file, document.index
        return self._disk_face(path)

    def _disk_face(self, path: str) -> Face | None:
        """What the table says about a file on disk, facts included: from memory, else from the store."""
        entry = self._files.disk.get(path)
        if entry is None:
            return None
        file = self._contents.get(path)
        if file is None or file.digest != entry.digest:
            file = self.reader.stored(path, entry.digest)
        if file is None:
            return None
        return entry, file, self.reader.index(file)

    def _difference(self, path: str, before: Face | None, after: Face | None) -> Change:
        names = set(self._space.paths.get(path, ()))
        change = difference(path, names, before, after)
        packages = self._packages_changed(path, change.keys)
        return replace(change, keys=change.keys | packages) if packages else change

    def _packages_changed(self, path: str, keys: frozenset[Key]) -> set[Key]:
        """``("imported", "*")`` when the workspace as a whole imports other packages than before."""
        tops = {key[1] for key in keys if key[0] == "imported" and "." not in key[1]} - sys.stdlib_module_names
        if not tops:
            return set()
        opened = self._files.open
        elsewhere = {name for other in self._files.documents() if other.entry.path != path for name in other.imports}
        disk = importers(self._postings, self._files)
        for name in tops - elsewhere:
            if all(each == path or each in opened for each in disk.get(name, ())):
                return {("imported", "*")}
        return set()

    def _apply(self, change: Change) -> Change:
        if change.everything or change.modules:
            self.memo.clear()
        else:
            self.memo.invalidate(change.keys)
            self.memo.forget(change.texts)
        return change

    def parse_large_files_away(self) -> None:
        """From now on large files are parsed by a child process, which is started when there is one."""
        if self.reader.shared:
            self._child = Child(self.reader.folder, newer_of(self.environment))
            self.reader.away = self._child.parse

    def close(self) -> None:
        """End child processes and close the store."""
        if self._child is not None:
            self._child.close()
        self.reader.close()
