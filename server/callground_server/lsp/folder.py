"""One workspace folder: its graph and the verdicts of its open documents.

Everything here runs in the worker thread, except for `close` and the plain attributes that are only read.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from callground.check import doubt, review, unjudged
from callground.config import Config, Problem, is_project, load, read_settings
from callground.graph.changes import NOTHING, Change, never
from callground.graph.driver import Stopped
from callground.graph.invalidation import Tracker
from callground.graph.workspace import Workspace
from callground.session import info_of
from callground.verdict.report import FileVerdicts
from callground_server.lsp.marks import Marks
from callground_server.lsp.repairing import Suggestions

logger = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]


FEW_FILES = 20
"""So many are parsed at once where they are: a child takes longer to start."""


class Outcome(NamedTuple):
    """What was found in one document."""

    path: str
    text: str
    """The text that was judged."""
    generation: int
    complete: bool
    review: FileVerdicts
    final: bool = True
    """False when a search may find better suggestions."""
    touched: frozenset[str] = frozenset()
    """Other files whose verdicts turned out to be out of date."""
    notice: str = ""
    """What people have to know of the environment where some imports are not judged because of it."""


class Folder:
    """A workspace folder (or the folder of a lone file)."""

    def __init__(
        self,
        root: str,
        *,
        settings: object = None,
        cache: str | None = None,
        lone: bool = False,
        trusted: bool = True,
        within: str | None = None,
    ) -> None:
        self.root = root
        self.settings_root = within or root
        """Where the settings stand: for a project inside of a folder, that folder."""
        self.lone = lone
        """No folder was opened: only the files that are looked at count."""
        self.problems: tuple[Problem, ...] = ()
        self.config = Config()
        self._settings = settings
        self._cache = cache
        self._trusted = trusted
        self._workspace: Workspace | None = None
        self._tracker: Tracker | None = None
        self._indexing: threading.Thread | None = None
        self._closed = False
        self.looked_at: Callable[[Folder], None] = lambda _: None
        """Called in the worker after the files were looked at."""
        self._marks = Marks()
        self._suggestions = Suggestions()
        self._doubtful: str | None = None

    # -- life

    @property
    def workspace(self) -> Workspace:
        """The graph, made when it is first asked for."""
        if self._workspace is None:
            self._read_settings()
            self._workspace = Workspace.open(
                self.root, config=self.config, cache=self._cache, trusted=self._trusted, shallow=self._shallow()
            )
            self._tracker = Tracker(self._workspace)
            # A large file holds up the editor's loop for as long as it is parsed beside it.
            self._workspace.parse_large_files_away()
        return self._workspace

    def _shallow(self) -> bool:
        """A lone file's folder that nothing marks as a project may be somebody's home: it is not searched."""
        return self.lone and not is_project(self.root)

    @property
    def tracker(self) -> Tracker:
        """The verdicts of the open documents."""
        _ = self.workspace
        assert self._tracker is not None
        return self._tracker

    @property
    def ready(self) -> bool:
        """Whether the graph is there and its index is complete."""
        return self._workspace is not None and self._workspace.complete

    @property
    def settled(self) -> bool:
        """Whether the first index is over."""
        return self.ready or self._closed

    def start_index(self, progress: Progress, done: Callable[[], None]) -> None:
        """Index in a thread of its own; `done` is called from that thread."""
        workspace = self.workspace
        if self._indexing is not None or self._closed:
            return

        def run() -> None:
            try:
                # Beside the editor's loop nothing but a few files is parsed in this process.
                away = len(workspace.paths()) > FEW_FILES
                workspace.index(progress, processes=away, stop=lambda: self._closed, finish=False)
            except Exception:  # an index that fails leaves questions open; it must not end the server
                logger.exception("indexing %s failed", self.root)
            finally:
                done()

        self._indexing = threading.Thread(target=run, name="callground-index", daemon=True)
        self._indexing.start()

    def close(self) -> None:
        """Let go of everything."""
        self._closed = True
        if self._indexing is not None:
            self._indexing.join(2.0)
        if self._workspace is not None:
            self._workspace.close()

    # -- settings

    def reload_settings(self) -> set[str]:
        """The settings file may have changed."""
        return self.configure(self._settings)

    def configure(self, settings: object) -> set[str]:
        """Other settings from the editor; the open files whose verdicts may differ."""
        self._settings = settings
        if self._workspace is None:
            return set()
        old = self.config
        self._read_settings()
        if old == self.config:
            return set()
        if (old.python, old.roots, old.exclude) != (
            self.config.python,
            self.config.roots,
            self.config.exclude,
        ):
            self._applied(self._workspace.reconfigure(self.config))
        else:
            self._workspace.config = self.config
        return set(self.tracker.paths())

    def _read_settings(self) -> None:
        config, problems = load(self.settings_root)
        if self._settings is not None:
            config, more = read_settings(self._settings, base=config)
            problems = (*problems, *more)
        self.config, self.problems = config, problems

    # -- changes

    def update(self, texts: Mapping[str, str | None]) -> set[str]:
        """Documents have these texts now (None: closed); the other open files whose verdicts may differ."""
        change = NOTHING
        for path, text in texts.items():
            change |= self.workspace.set_overlay(path, text)
            if text is None:
                self.tracker.forget(path)
        return self._applied(change) - set(texts)

    def files_changed(self, paths: list[str]) -> set[str]:
        """Files were changed, made, moved or deleted on disk."""
        stale = self._applied(self.workspace.files_changed(paths))
        self.looked_at(self)
        return stale

    def looks_different(self) -> bool:
        """Whether a `refresh` would find anything: for any thread."""
        return self.ready and self.workspace.looks_different()

    def refresh(self) -> set[str]:
        """Look at the whole folder and at the environment again."""
        stale = self._applied(self.workspace.refresh())
        self.looked_at(self)
        return stale

    def start_afresh(self) -> set[str]:
        """Forget every verdict, and look at the disk."""
        stale = self.refresh()
        paths = set(self.tracker.paths())
        for path in paths:
            self.tracker.forget(path)
        return stale | paths

    def index_finished(self) -> set[str]:
        """By-name questions have answers now."""
        self._applied(self.workspace.finish_index())
        self.looked_at(self)
        # Names that nobody knew of before may be what a finding meant: every document is looked at again.
        self._suggestions = Suggestions()
        return set(self.tracker.paths())

    def _applied(self, change: Change) -> set[str]:
        stale = self.tracker.apply(change) if change else set()
        if change and self.workspace.doubtful != self._doubtful:
            # What is said of imports hangs on it.
            self._doubtful = self.workspace.doubtful
            stale |= set(self.tracker.paths())
        if change:
            logger.debug("changed: %s; modules: %s; stale: %s", sorted(change.paths), sorted(change.modules), stale)
        return stale

    # -- questions

    def judge(self, path: str, *, stop: Callable[[], bool] = never, thorough: bool = True) -> Outcome | None:
        """The verdicts of a document, as people see them.  None when `stop` ended it early.

        Unless `thorough`, only those suggestions are looked for that cost nothing: the squiggle comes first.
        """
        workspace = self.workspace
        generation, complete = workspace.generation, workspace.complete
        try:
            verdicts = self.tracker.judge(path, stop=stop)
        except Stopped:
            return None
        document = workspace.files.open.get(path)
        text = document.file.text if document is not None else ""
        ready = self._suggestions.ready(path)
        suggest = self._suggestions.of(workspace, path, text, verdicts) if thorough else ready
        marks = self._marks.of(document.file) if document is not None else None
        shown = review(path, text, verdicts, root=self.settings_root, config=self.config, suggest=suggest, marks=marks)
        # Where nobody knows which environment is meant, a package that is not there is no fault of the code.
        info = info_of(workspace)
        (shown,), doubted = doubt([shown], info)
        notice = unjudged(info) if doubted else ""
        logger.debug("judged %s in generation %d: %s", path, generation, self.tracker.counts.get(path))
        touched, self.tracker.touched = frozenset(self.tracker.touched), set()
        return Outcome(path, text, generation, complete, shown, not ready.missed, touched, notice)

    @property
    def chosen(self) -> bool:
        """Whether somebody named the interpreter: in the editor's settings, or in the folder's."""
        if self._workspace is None:
            self._read_settings()
        return self.config.python is not None

    @property
    def environment(self) -> dict[str, str | None] | None:
        """The environment in words, for a client's status; None as long as it is not known."""
        if self._workspace is None:
            return None
        info = info_of(self._workspace)
        return {"python": info.python, "version": info.version, "doubtful": info.doubtful}

    def holds(self, path: str) -> bool:
        """Whether a file lies in this folder."""
        return path == self.root or path.startswith(self.root.rstrip(os.sep) + os.sep)

    def lines_of(self, path: str) -> Callable[[int], str]:
        """The lines of a file that evidence stands in: as the editor or the graph has it."""
        snapshot = self.workspace.snapshot()
        document = snapshot.files.open.get(path)
        file = document.file if document is not None else snapshot.space.contents.get(path)
        lines = file.text.split("\n") if file is not None else []
        return lambda number: lines[number] if 0 <= number < len(lines) else ""
