"""Whose the text of the open documents is: edits go to the library's ledgers, and scope ``ai`` is cut out by them.

Everything here runs in the loop thread, but for the jobs that are handed to the worker (the store, files of the
workspace) and to a thread of its own (git).
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from callground.provenance import persist
from callground.provenance.attribution import attribution
from callground.provenance.book import BY_DISK, Book
from callground.provenance.changed_lines import GitError, committed_text, lines_between
from callground.provenance.copies import stands_in
from callground.provenance.disk import Watch, same_lines
from callground.provenance.intervals import Spans, Stamp
from callground.provenance.ledger import Ledger
from callground.provenance.records.gather import Records
from callground.provenance.scope import Place, forgotten, places_of, rewritten, stamps_in
from callground.text.edits import Edit
from callground.text.lines import LineIndex
from callground.verdict.model import Finding, Range
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.session import Listener, Session
from callground_server.lsp.worker import Worker

logger = logging.getLogger(__name__)

DEFAULT_SCOPE = "ai"
QUIET = 0.3
"""Seconds after which the last statement of an insertion is thought to be complete."""
SETTLE = 0.25
"""Seconds that git is given to finish what it is doing to files."""
PATIENCE = 40
"""So many times is git waited for."""
KEEP_AFTER = 2.0
"""Seconds of quiet after which what is known of a document goes to the store."""
VERSIONS = 64
MOST_FILES = 50
"""More files than that change at once by no agent's edit."""

SOURCES = (".py", ".pyi", ".pyw")


@dataclass
class _Open:
    document: Document
    folder: Folder | None
    edits: deque[tuple[int, list[Edit]]] = field(default_factory=lambda: deque(maxlen=VERSIONS))
    """The edits that led to each of the last versions."""
    told: list[tuple[int, Callable[[], None]]] = field(default_factory=list)
    """What the client has said about versions that have not arrived."""
    disk_time: float = 0.0
    """When the file was written that the editor has read or saved last."""
    committed: str | None = None
    keep_timer: asyncio.TimerHandle | None = None
    show_timer: asyncio.TimerHandle | None = None
    everything: bool = False
    """Somebody wants to see every finding of this document."""
    lines: tuple[int, tuple[tuple[int, int], ...]] | None = None


class Authorship(Listener):
    """The ledgers of a session's documents."""

    def __init__(self, session: Session, changed: Callable[[Document, Ledger], None]) -> None:
        self._session = session
        self._changed = changed
        """Called when what is known of a document is another."""
        self.book = Book()
        self._open: dict[str, _Open] = {}
        self._watches: dict[str, Watch] = {}
        self._digests: dict[str, object] = {}
        self._troubles: set[str] = set()
        self._git: Worker | None = None
        session.findings_in_scope = self.in_scope

    # -- events

    def opened(self, document: Document) -> None:
        """Carry over what is known; what the store, git and records know follows."""
        uri = document.uri
        before = self.book.closed(uri)
        self.book.open(uri, document.text)
        folder = self._session.folder(uri)
        mine = self._open[uri] = _Open(document, folder, disk_time=_written(document.path))
        if folder is None:
            return
        folder.looked_at = self.files_looked_at
        watch = self._watch(folder)
        text = document.text

        def known_of(spans: Spans | None) -> None:
            ledger = self.book.ledger(uri)
            if ledger is None or self._open.get(uri) is not mine:
                return
            if spans is not None and ledger.text == text:
                ledger.replace(text, spans)
                self._told(uri)
            elif before is not None and before[0] != text:
                self._explain(uri, watch, before, text)
            elif before is None:
                self._since_head(uri, folder)

        self._session.worker.submit(("provenance", uri), lambda: self._answer(known_of, _load(folder, text)))
        if before is not None:
            self._told(uri)

    def edited(self, document: Document, _: str, edits: Sequence[Edit]) -> None:
        """Take the edits, and look for what they brought elsewhere in the workspace."""
        uri = document.uri
        ledger, mine = self.book.ledger(uri), self._open.get(uri)
        if ledger is None or mine is None:
            return
        folder = self._session.folder(uri)
        mine.edits.append((document.version, list(edits)))
        known = ledger.spans
        if folder is not None and self._is_reload(mine, edits):
            was = (ledger.text, ledger.spans)
            ledger.reload(document.text, None)
            self._explain(uri, self._watch(folder), was, document.text)
        else:
            self.book.watching = folder is None or folder.config.provenance.edits
            self.book.change(uri, edits, self._now())
        if ledger.text != document.text:
            # It cannot happen; what is known must not be about another text.
            logger.error("the ledger of %s has lost its text", uri)
            ledger.reload(document.text, None)
        for lookup in self.book.lookups(uri):
            self._look_up(uri, folder, lookup.number, lookup.text)
        for version, tell in tuple(mine.told):
            if version <= document.version:
                mine.told.remove((version, tell))
                tell()
        if ledger.spans != known:
            self._told(uri)
        if ledger.growing(self._now(), QUIET) is not None:
            self._show_again(uri, QUIET + 0.02)
        self._keep_soon(uri)

    def saved(self, uri: str) -> None:
        """The editor has written the document: it is no news that the file has changed."""
        mine = self._open.get(uri)
        if mine is not None:
            mine.disk_time = _written(mine.document.path)
            self._keep(uri)

    def closed(self, uri: str) -> None:
        """Keep what is known."""
        mine = self._open.get(uri)
        if mine is not None:
            if mine.edits or self.book.spans(uri):
                self._keep(uri)
            del self._open[uri]
            for timer in (mine.keep_timer, mine.show_timer):
                if timer is not None:
                    timer.cancel()
        self.book.close(uri)

    def indexed(self, folder: Folder) -> None:
        """From now on it is known which files are new."""
        folder.looked_at = self.files_looked_at
        self._session.worker.submit(("files", folder.root), lambda: self.files_looked_at(folder), urgent=False)

    def judged(self, document: Document, outcome: Outcome) -> None:
        """Forget the marks of what a person has written anew, never those of findings."""
        ledger, folder = self.book.ledger(document.uri), self._session.folder(document.uri)
        if ledger is None or folder is None or not ledger.spans:
            return
        settings = folder.config.provenance
        if settings.keep_rewritten or ledger.growing(self._now(), 2 * QUIET) is not None:
            return
        spans = rewritten(ledger.text, ledger.spans, _held(ledger.text, outcome))
        if spans != ledger.spans:
            ledger.spans = spans
            self._told(document.uri)

    # -- the scope

    def in_scope(self, document: Document, outcome: Outcome, findings: list[Finding]) -> list[Finding]:
        """Those of the findings that the folder's scope shows."""
        uri = document.uri
        folder, mine, ledger = self._session.folder(uri), self._open.get(uri), self.book.ledger(uri)
        if folder is None or mine is None or ledger is None or not findings:
            return findings
        scope = folder.config.scope or DEFAULT_SCOPE
        index = LineIndex(ledger.text)
        if not mine.everything and scope == "changed":
            findings = [finding for finding in findings if self._is_changed(uri, folder, mine, finding.range)]
        elif not mine.everything and scope == "ai":
            verdicts = outcome.review.verdicts
            calls = {id(v.finding): v.range for v in verdicts if v.finding is not None}
            shown = [calls.get(id(finding), finding.range) for finding in findings]
            others = [verdict.range for verdict in verdicts if verdict.site == "call"]
            stamps = stamps_in(ledger.text, ledger.spans, places_of(index, [*shown, *others]))
            findings = [f for f, stamp in zip(findings, stamps, strict=False) if stamp is not None]
        growing = ledger.growing(self._now(), QUIET)
        if growing is not None:
            places = places_of(index, [finding.range for finding in findings])
            low, high = growing
            findings = [f for f, at in zip(findings, places, strict=True) if at.end < low or at.start > high]
        return findings

    def show_everything(self, uri: str, everything: bool = True) -> None:
        """Show every finding of a document, whatever the scope."""
        mine = self._open.get(uri)
        if mine is not None:
            mine.everything = everything
            self._session.show_again(uri)

    # -- what others know

    def tell(self, uri: str, version: int | None, ranges: Sequence[tuple[int, int, int, int]], stamp: Stamp) -> None:
        """Somebody knows where ranges came from: positions in the client's units, in a version of the document."""
        mine = self._open.get(uri)
        if mine is None:
            return
        if version is not None and version > mine.document.version:
            mine.told.append((version, lambda: self.tell(uri, version, ranges, stamp)))
            return
        document, ledger = mine.document, self.book.ledger(uri)
        assert ledger is not None
        later = [edit for number, edits in mine.edits if version is not None and number > version for edit in edits]
        text = document.text
        for edit in reversed(later):
            # Only where things stood is needed; what was taken out may be anything of that length.
            text = text[: edit.start] + " " * (edit.end - edit.start) + text[edit.start + len(edit.text) :]
        then = Document(uri, document.path, 0, text) if later else document
        encoding = self._session.client.encoding
        for line, character, end_line, end_character in ranges:
            start, end = then.offset(line, character, encoding), then.offset(end_line, end_character, encoding)
            for edit in later:
                start, end = _carried(start, edit), _carried(end, edit)
            if start < end:
                ledger.mark(start, end, stamp)
        self._told(uri)
        self._session.show_again(uri)
        self._keep_soon(uri)

    # -- files and git

    def files_looked_at(self, folder: Folder) -> None:
        """In the worker: the folder's files were looked at; some may have been written by an agent."""
        self._session.call(self.look_at_git)
        disk = folder.workspace.files.disk
        before = self._digests.get(folder.root)
        if before is disk or not folder.ready:
            return
        self._digests[folder.root] = disk
        if not isinstance(before, dict):
            return
        opened = folder.workspace.files.open
        changed = [
            path
            for path, entry in disk.items()
            if path not in opened and (path not in before or before[path].digest != entry.digest)
        ]
        if 0 < len(changed) <= MOST_FILES:
            self._session.call(lambda: self._closed_files(folder, changed, PATIENCE))

    def _closed_files(self, folder: Folder, paths: list[str], patience: int) -> None:
        if not folder.config.provenance.disk:
            return
        watch = self._watch(folder)

        def decide() -> None:
            if not watch.look() and patience > 0:
                self._later(SETTLE, lambda: self._closed_files(folder, paths, patience - 1))
                return
            self._in_git(("closed", tuple(paths)), lambda: self._agent_wrote(folder, watch, paths))

        self._later(SETTLE, decide)

    def _agent_wrote(self, folder: Folder, watch: Watch, paths: list[str]) -> None:
        """In git's thread: what is new in these files since HEAD goes to the store."""
        for path in paths:
            text = _read(path)
            committed = _committed(folder.root, path)
            if text is None or watch.by_git(path, text, lambda committed=committed: committed):  # type: ignore[misc]
                continue
            ledger = Ledger(committed or "")
            ledger.reload(text, BY_DISK)
            self._session.worker.submit(
                ("agent", path),
                lambda text=text, spans=ledger.spans: _save(folder, text, spans, new=True),  # type: ignore[misc]
            )

    def _explain(self, uri: str, watch: Watch, was: tuple[str, Spans], text: str, patience: int = PATIENCE) -> None:
        """A document has another text from the disk: was it git, or somebody else?"""
        folder = self._session.folder(uri)
        if folder is None or not folder.config.provenance.disk:
            return

        def decide() -> None:
            mine, ledger = self._open.get(uri), self.book.ledger(uri)
            if mine is None or ledger is None:
                return
            if not watch.look() and patience > 0:
                self._explain(uri, watch, was, text, patience - 1)
                return
            mine.disk_time = _written(mine.document.path)
            path = mine.document.path
            self._in_git(("explain", uri), lambda: self._by_git(folder, watch, uri, path, was, text))

        self._later(SETTLE, decide)

    def _by_git(self, folder: Folder, watch: Watch, uri: str, path: str, was: tuple[str, Spans], text: str) -> None:
        """In git's thread."""
        on_disk = _read(path)
        if not same_lines(on_disk, text) or watch.by_git(path, text, lambda: _committed(folder.root, path)):
            return

        def agent() -> None:
            ledger = self.book.ledger(uri)
            if ledger is None or ledger.text != text:
                return
            ledger.replace(*was)
            ledger.reload(text, BY_DISK)
            self._told(uri)
            self._session.show_again(uri)
            self._keep(uri)

        self._session.call(agent)

    def _is_reload(self, mine: _Open, edits: Sequence[Edit]) -> bool:
        """Whether an edit is the editor's reading of a file that somebody has written."""
        if not any("\n" in edit.text or edit.end - edit.start > 1 for edit in edits):
            return False
        written = _written(mine.document.path)
        if written <= mine.disk_time:
            return False
        if same_lines(_read(mine.document.path), mine.document.text):
            return True
        mine.disk_time = written
        return False

    def _since_head(self, uri: str, folder: Folder) -> None:
        """Nothing was kept of a text: what records say of it, and lines that differ from HEAD are somebody's news."""
        mine = self._open.get(uri)
        if mine is None or not self._watch(folder).state.folder or not mine.document.path.endswith(SOURCES):
            return  # a notebook's text is not its file's, and some documents have no file
        path, text, settings = mine.document.path, mine.document.text, folder.config.provenance

        def ask() -> None:
            committed = _committed(folder.root, path)
            lines = lines_between(committed, text) if committed is not None else ((1, text.count("\n") + 1),)
            records = Records(folder.root, settings)
            spans = attribution(records, None, path, text, lines, settings, committed=settings.keep_committed)
            for trouble in records.troubles:
                if trouble not in self._troubles:
                    self._troubles.add(trouble)
                    logger.warning("%s", trouble)
            self._session.call(lambda: apply(committed, spans))

        def apply(committed: str | None, spans: Spans) -> None:
            ledger = self.book.ledger(uri)
            if ledger is None or self._open.get(uri) is not mine:
                return
            mine.committed = committed
            if ledger.text == text and not ledger.spans and spans:
                ledger.spans = spans
                self._told(uri)
                self._session.show_again(uri)

        self._in_git(("head", uri), ask)

    def head_moved(self, folder: Folder) -> None:
        """Something was committed: its lines are nobody's news any more."""
        if folder.config.provenance.keep_committed:
            return
        for uri, mine in self._open.items():
            if self._session.folder(uri) is folder:
                mine.committed = mine.lines = None
                self._in_git(("committed", uri), lambda uri=uri, mine=mine: self._commit(folder, uri, mine))  # type: ignore[misc]

    def _commit(self, folder: Folder, uri: str, mine: _Open) -> None:
        committed = _committed(folder.root, mine.document.path)

        def apply() -> None:
            ledger = self.book.ledger(uri)
            if ledger is None or committed is None:
                return
            mine.committed = committed
            changed = lines_between(committed, ledger.text)
            outcome = self._session.outcome(uri)
            held = _held(ledger.text, outcome) if outcome is not None else [Place(0, len(ledger.text))]
            spans = forgotten(ledger.text, ledger.spans, _rest(changed, ledger.text.count("\n") + 1), held)
            if spans != ledger.spans:
                ledger.spans = spans
                self._told(uri)
                self._keep_soon(uri)

        self._session.call(apply)

    def _is_changed(self, uri: str, folder: Folder, mine: _Open, span: Range) -> bool:
        if mine.committed is None:
            self._since_head_text(uri, folder, mine)
            return False
        if mine.lines is None or mine.lines[0] != mine.document.version:
            mine.lines = (mine.document.version, lines_between(mine.committed, mine.document.text))
        return any(first <= span.end_line and span.line <= last for first, last in mine.lines[1])

    def _since_head_text(self, uri: str, folder: Folder, mine: _Open) -> None:
        def ask() -> None:
            committed = _committed(folder.root, mine.document.path) or ""
            self._session.call(lambda: arrived(committed))

        def arrived(committed: str) -> None:
            mine.committed = committed
            self._session.show_again(uri)

        self._in_git(("text", uri), ask)

    def look_at_git(self) -> None:
        """Now and then: has something been committed?"""
        for root, watch in self._watches.items():
            if watch.look() and watch.head_moved and root in self._session.folders:
                watch.head_moved = False
                self.head_moved(self._session.folders[root])

    def _watch(self, folder: Folder) -> Watch:
        watch = self._watches.get(folder.root)
        if watch is None:
            watch = self._watches[folder.root] = Watch(folder.root, time.time)
        return watch

    # -- help

    def _look_up(self, uri: str, folder: Folder | None, number: int, text: str) -> None:
        """In the worker, before the document is judged: is it a copy from a file that is not open?"""
        if folder is None:
            return

        def look() -> None:
            snapshot = folder.workspace.snapshot()
            found = stands_in(snapshot, text, folder.workspace.files.open)
            self._session.call(lambda: answer(found))

        def answer(found: bool) -> None:
            ledger = self.book.ledger(uri)
            if ledger is None:
                return
            if not found:
                ledger.not_found(number)
            elif ledger.found_elsewhere(number):
                self._told(uri)
                self._session.show_again(uri)

        self._session.worker.submit(("copy", uri, number), look)

    def _told(self, uri: str) -> None:
        mine, ledger = self._open.get(uri), self.book.ledger(uri)
        if mine is not None and ledger is not None:
            self._changed(mine.document, ledger)

    def _show_again(self, uri: str, delay: float) -> None:
        mine = self._open[uri]
        if mine.show_timer is not None:
            mine.show_timer.cancel()
        mine.show_timer = asyncio.get_running_loop().call_later(delay, self._session.show_again, uri)

    def _keep_soon(self, uri: str) -> None:
        mine = self._open[uri]
        if mine.keep_timer is not None:
            mine.keep_timer.cancel()
        mine.keep_timer = asyncio.get_running_loop().call_later(KEEP_AFTER, self._keep, uri)

    def _keep(self, uri: str) -> None:
        """What is known of the text as it is now goes to the store."""
        ledger, mine = self.book.ledger(uri), self._open.get(uri)
        if ledger is not None and mine is not None and mine.folder is not None:
            text, spans, folder = ledger.text, ledger.spans, mine.folder
            self._session.worker.submit(("keep", uri), lambda: _save(folder, text, spans), urgent=False)

    def _answer(self, action: Callable[[Spans | None], None], spans: Spans | None) -> None:
        self._session.call(lambda: action(spans))

    def _later(self, delay: float, action: Callable[[], None]) -> None:
        if not self._session.closed:
            asyncio.get_running_loop().call_later(delay, action)

    def _in_git(self, key: object, job: Callable[[], None]) -> None:
        if self._git is None:
            self._git = Worker("callground-git")
        self._git.submit(key, job)

    @staticmethod
    def _now() -> float:
        return time.monotonic()


def _held(text: str, outcome: Outcome) -> list[Place]:
    """The calls that are findings: their marks stay."""
    ranges = [verdict.range for verdict in outcome.review.verdicts if verdict.finding is not None]
    return places_of(LineIndex(text), ranges) if ranges else []


def _rest(lines: Sequence[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """The lines that are not among `lines`."""
    result = []
    next_line = 1
    for first, last in lines:
        if first > next_line:
            result.append((next_line, first - 1))
        next_line = last + 1
    if next_line <= count:
        result.append((next_line, count))
    return result


def _carried(offset: int, edit: Edit) -> int:
    if offset <= edit.start:
        return offset
    return max(offset + len(edit.text) - (edit.end - edit.start), edit.start)


def _load(folder: Folder, text: str) -> Spans | None:
    return persist.load(folder.workspace.reader.store, text)


def _save(folder: Folder, text: str, spans: Spans, new: bool = False) -> None:
    store = folder.workspace.reader.store
    if new and persist.load(store, text):
        return  # a hook has said it better
    persist.save(store, text, spans)
    store.flush()


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def _read(path: str) -> str | None:
    from callground.source.decode import decode

    try:
        with open(path, "rb") as file:
            return decode(file.read()).text
    except (OSError, ValueError):
        return None


def _committed(root: str, path: str) -> str | None:
    try:
        return committed_text(root, path)
    except GitError:
        return None
