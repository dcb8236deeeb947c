"""Whose the text of the open documents is: edits go to the library's ledgers, and scope ``ai`` is cut out by them.

Everything here runs in the loop thread, but for the jobs that are handed to the worker.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from callground.provenance.book import Book
from callground.provenance.changed_lines import lines_between
from callground.provenance.copies import stands_in
from callground.provenance.disk import same_lines
from callground.provenance.intervals import Spans, Stamp
from callground.provenance.ledger import Ledger
from callground.provenance.scope import places_of, rewritten, stamps_in
from callground.text.edits import Edit
from callground.text.lines import LineIndex
from callground.verdict.model import Finding, Range
from callground_server.lsp.documents import Document
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.outside import Outside, calls_held, load, read_file, save, written
from callground_server.lsp.session import Listener, Session

logger = logging.getLogger(__name__)

DEFAULT_SCOPE = "ai"
QUIET = 0.3
"""Seconds after which the last statement of an insertion is thought to be complete."""
KEEP_AFTER = 2.0
"""Seconds of quiet after which what is known of a document goes to the store."""
VERSIONS = 16
"""So many versions back may a client speak of a range."""


@dataclass
class _Open:
    document: Document
    folder: Folder | None
    disk_time: float
    edits: deque[tuple[int, str, list[Edit]]] = field(default_factory=lambda: deque(maxlen=VERSIONS))
    """The last versions: number, the text before it, and the edits that led to it."""
    told: list[tuple[int, Callable[[], None]]] = field(default_factory=list)
    """What the client has said about versions that have not arrived."""
    committed: str | None = None
    changed: tuple[int, str, tuple[tuple[int, int], ...]] | None = None
    """Version, the text in HEAD, and the lines that differ."""
    keep_timer: asyncio.TimerHandle | None = None
    show_timer: asyncio.TimerHandle | None = None
    everything: bool = False
    """Somebody wants to see every finding of this document."""

    @property
    def path(self) -> str:
        return self.document.path

    @property
    def text(self) -> str:
        return self.document.text


class Authorship(Listener):
    """The ledgers of a session's documents."""

    def __init__(self, session: Session, changed: Callable[[Document, Ledger], None]) -> None:
        self._session = session
        self._changed = changed
        """Called when what is known of a document is another."""
        self.book = Book()
        self._open: dict[str, _Open] = {}
        self._outside = Outside(session, self)
        session.findings_in_scope = self.in_scope

    # -- events

    def opened(self, document: Document) -> None:
        """Carry over what is known; what the store, git and records know follows."""
        uri, text = document.uri, document.text
        folder = self._session.folder(uri)
        before = self.book.closed(uri)
        self.book.open(uri, text)
        mine = self._open[uri] = _Open(document, folder, written(document.path))
        if folder is None:
            return
        folder.looked_at = self._outside.files_looked_at
        self._outside.watch(folder)

        def answered(spans: Spans | None) -> None:
            ledger = self.book.ledger(uri)
            if ledger is None or self._open.get(uri) is not mine:
                return
            if spans is not None and ledger.text == text:
                ledger.replace(text, spans)
                self._told(uri)
            elif before is not None and before[0] != text:
                self._outside.explain(uri, folder, before, text)
            elif before is None:
                self._outside.since_head(uri, folder)

        def ask() -> None:
            spans = load(folder, text)
            self._session.call(lambda: answered(spans))

        self._session.worker.submit(("provenance", uri), ask)
        if before is not None:
            self._told(uri)

    def edited(self, document: Document, before: str, edits: Sequence[Edit]) -> None:
        """Take the edits, and look for what they brought elsewhere in the workspace."""
        uri = document.uri
        ledger, mine = self.book.ledger(uri), self._open.get(uri)
        if ledger is None or mine is None:
            return
        folder = mine.folder
        mine.edits.append((document.version, before, list(edits)))
        known = ledger.spans
        if folder is not None and self._is_reload(mine, edits):
            was = (ledger.text, ledger.spans)
            ledger.reload(document.text, None)
            self._outside.explain(uri, folder, was, document.text)
        else:
            self.book.watching = folder is None or folder.config.provenance.edits
            self.book.change(uri, edits, time.monotonic())
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
        if ledger.growing(time.monotonic(), QUIET) is not None:
            self._show_later(uri)
        self._keep_later(uri)

    def saved(self, uri: str) -> None:
        """The editor has written the document: it is no news that the file has changed."""
        mine = self._open.get(uri)
        if mine is not None:
            mine.disk_time = written(mine.path)
            self._keep(uri)

    def closed(self, uri: str) -> None:
        """Keep what is known."""
        mine = self._open.get(uri)
        if mine is not None:
            if mine.edits or self.book.spans(uri):
                self._keep(uri)
            for timer in (mine.keep_timer, mine.show_timer):
                if timer is not None:
                    timer.cancel()
            del self._open[uri]
        self.book.close(uri)

    def indexed(self, folder: Folder) -> None:
        """From now on it is known which files are new."""
        folder.looked_at = self._outside.files_looked_at
        self._outside.watch(folder)
        self._session.worker.submit(("files", folder.root), lambda: self._outside.files_looked_at(folder), urgent=False)

    def judged(self, document: Document, outcome: Outcome) -> None:
        """Forget the marks of what a person has written anew, never those of findings."""
        ledger, mine = self.book.ledger(document.uri), self._open.get(document.uri)
        if ledger is None or mine is None or mine.folder is None or not ledger.spans:
            return
        if mine.folder.config.provenance.keep_rewritten:
            return
        if ledger.growing(time.monotonic(), 2 * QUIET) is not None:
            return
        spans = rewritten(ledger.text, ledger.spans, calls_held(ledger.text, outcome))
        if spans != ledger.spans:
            ledger.spans = spans
            self._told(document.uri)

    # -- the scope

    def in_scope(self, document: Document, outcome: Outcome, findings: list[Finding]) -> list[Finding]:
        """Those of the findings that the folder's scope shows."""
        uri = document.uri
        mine, ledger = self._open.get(uri), self.book.ledger(uri)
        if mine is None or mine.folder is None or ledger is None or not findings:
            return findings
        scope = "all" if mine.everything else mine.folder.config.scope or DEFAULT_SCOPE
        index = LineIndex(ledger.text)
        if scope == "changed":
            findings = [finding for finding in findings if self._is_changed(uri, mine, finding.range)]
        elif scope == "ai":
            verdicts = outcome.review.verdicts
            calls = {id(verdict.finding): verdict.range for verdict in verdicts if verdict.finding is not None}
            shown = [calls.get(id(finding), finding.range) for finding in findings]
            others = [verdict.range for verdict in verdicts if verdict.site == "call"]
            stamps = stamps_in(ledger.text, ledger.spans, places_of(index, [*shown, *others]))
            findings = [finding for finding, stamp in zip(findings, stamps, strict=False) if stamp is not None]
        growing = ledger.growing(time.monotonic(), QUIET)
        if growing is None:
            return findings
        low, high = growing
        places = places_of(index, [finding.range for finding in findings])
        return [f for f, place in zip(findings, places, strict=True) if place.end < low or place.start > high]

    def _is_changed(self, uri: str, mine: _Open, span: Range) -> bool:
        if mine.committed is None:
            if mine.folder is not None:
                self._outside.fetch_committed(uri, mine.folder)
            return False
        if mine.changed is None or mine.changed[:2] != (mine.document.version, mine.committed):
            lines = lines_between(mine.committed, mine.text)
            mine.changed = (mine.document.version, mine.committed, lines)
        return any(first <= span.end_line and span.line <= last for first, last in mine.changed[2])

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
        steps = [step for step in mine.edits if version is not None and step[0] > version]
        later = [edit for _, _, edits in steps for edit in edits]
        encoding = self._session.client.encoding
        then = Document(uri, document.path, 0, steps[0][1]) if steps else document
        for line, character, end_line, end_character in ranges:
            start, end = then.offset(line, character, encoding), then.offset(end_line, end_character, encoding)
            for edit in later:
                start, end = _carried(start, edit), _carried(end, edit)
            if start < end:
                ledger.mark(start, end, stamp)
        self.tell_and_show(uri)

    # -- for `Outside`

    def opened_as(self, uri: str) -> _Open | None:
        """An open document."""
        return self._open.get(uri)

    def opened_in(self, folder: Folder) -> list[str]:
        """The open documents of a folder."""
        return [uri for uri, mine in self._open.items() if mine.folder is folder]

    def tell_and_show(self, uri: str) -> None:
        """What is known of a document is another: tell the client, show what is in scope now, keep it."""
        self._told(uri)
        self._session.show_again(uri)
        if uri in self._open:
            self._keep_later(uri)

    # -- help

    def _is_reload(self, mine: _Open, edits: Sequence[Edit]) -> bool:
        """Whether an edit is the editor's reading of a file that somebody has written."""
        if not any("\n" in edit.text or edit.end - edit.start > 1 for edit in edits):
            return False
        now = written(mine.path)
        if now <= mine.disk_time:
            return False
        if same_lines(read_file(mine.path), mine.text):
            return True
        # Some other text lies there; what the editor has is looked at as an edit, also the next time.
        mine.disk_time = now
        return False

    def _look_up(self, uri: str, folder: Folder | None, number: int, text: str) -> None:
        """In the worker, before the document is judged: is it a copy from a file that is not open?"""
        if folder is None:
            return

        def look() -> None:
            found = stands_in(folder.workspace.snapshot(), text, folder.workspace.files.open)
            self._session.call(lambda: answer(found))

        def answer(found: bool) -> None:
            ledger = self.book.ledger(uri)
            if ledger is None:
                return
            if not found:
                ledger.not_found(number)
            elif ledger.found_elsewhere(number):
                self.tell_and_show(uri)

        self._session.worker.submit(("copy", uri, number), look)

    def _told(self, uri: str) -> None:
        mine, ledger = self._open.get(uri), self.book.ledger(uri)
        if mine is not None and ledger is not None:
            self._changed(mine.document, ledger)

    def _show_later(self, uri: str) -> None:
        mine = self._open[uri]
        if mine.show_timer is not None:
            mine.show_timer.cancel()
        mine.show_timer = asyncio.get_running_loop().call_later(QUIET + 0.02, self._session.show_again, uri)

    def _keep_later(self, uri: str) -> None:
        mine = self._open[uri]
        if mine.keep_timer is not None:
            mine.keep_timer.cancel()
        mine.keep_timer = asyncio.get_running_loop().call_later(KEEP_AFTER, self._keep, uri)

    def _keep(self, uri: str) -> None:
        """What is known of the text as it is now goes to the store."""
        ledger, mine = self.book.ledger(uri), self._open.get(uri)
        if ledger is not None and mine is not None and mine.folder is not None:
            text, spans, folder = ledger.text, ledger.spans, mine.folder
            self._session.worker.submit(("keep", uri), lambda: save(folder, text, spans), urgent=False)


def _carried(offset: int, edit: Edit) -> int:
    if offset <= edit.start:
        return offset
    return max(offset + len(edit.text) - (edit.end - edit.start), edit.start)
