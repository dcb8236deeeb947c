"""What edits of open documents break elsewhere: found in the worker, shown at the edit and at the callers.

An edit of more than a key stroke is remembered by the text before it.  As long as it breaks calls in other
files, these are findings of the edit; which of them is shown is the scope's to say, as for every finding.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from callground.graph.driver import Stopped
from callground.graph.impact import Broken, broken_calls
from callground.source.pieces import normalized
from callground.verdict.model import Finding
from callground_server.convert import Caller
from callground_server.lsp.documents import Document, Edit
from callground_server.lsp.folder import Folder, Outcome
from callground_server.lsp.listener import Listener

if TYPE_CHECKING:
    from callground_server.lsp.session import Session

logger = logging.getLogger(__name__)

MOST_LISTED = 5
"""Callers that a message names."""


@dataclass
class _Edited:
    before: str
    """The text before the first edit that is not settled."""
    version: int = -1
    """The version that was looked at last."""
    generation: int = -1
    broken: list[Broken] = field(default_factory=list)


class Impact(Listener):
    """The edits of open documents, and what they break."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._edited: dict[str, _Edited] = {}

    # -- events

    def edited(self, document: Document, before: str, edits: Sequence[Edit]) -> None:
        """Remember the text before an edit that may change more than a word."""
        if document.uri not in self._edited and any(_counts(edit, before) for edit in edits):
            self._edited[document.uri] = _Edited(before)

    def judged(self, _: Document, outcome: Outcome) -> None:
        """The edited document has a result: now there is time to look at its callers."""
        for uri, mine in self._edited.items():
            edited = self._session.document(uri)
            if edited is None or not outcome.complete:
                continue
            if mine.version != edited.version or (mine.broken and mine.generation < outcome.generation):
                self._look(uri, edited)

    def looked(self, folder: Folder) -> None:
        """Something has changed on disk: callers may have been mended, or there are new ones."""
        for uri, mine in self._edited.items():
            document = self._session.document(uri)
            if document is not None and mine.broken and self._session.folder(uri) is folder:
                self._look(uri, document)

    def closed(self, uri: str) -> None:
        """What is on disk counts again."""
        mine = self._edited.pop(uri, None)
        if mine is not None and mine.broken:
            self._show_callers(mine.broken)

    # -- what is shown

    def findings(self, document: Document, outcome: Outcome) -> list[Finding]:
        """Findings of a document's edits that the scope shows, each with its callers as evidence."""
        mine = self._edited.get(document.uri)
        if mine is None or mine.version != document.version:
            return []
        # Whose edit it was is asked of the whole definition: its name may have stood there before.
        findings = [_finding(broken) for broken in mine.broken]
        wide = [replace(each, range=broken.extent) for each, broken in zip(findings, mine.broken, strict=True)]
        shown = {id(each) for each in self._session.findings_in_scope(document, outcome, wide)}
        return [finding for finding, each in zip(findings, wide, strict=True) if id(each) in shown]

    def related(self, document: Document, finding: Finding) -> list[Caller]:
        """The callers that a finding of an edit is about."""
        mine = self._edited.get(document.uri)
        return [
            Caller(call.path, call.verdict.callee_range, _message(call.verdict.finding))
            for broken in (mine.broken if mine is not None else ())
            if broken.name == finding.name and broken.place == finding.range
            for call in broken.calls
        ]

    def callers(self, document: Document) -> set[tuple[object, ...]]:
        """The findings of a document that an edit elsewhere has caused: (range, code)."""
        found: set[tuple[object, ...]] = set()
        for uri, mine in self._edited.items():
            edited = self._session.document(uri)
            outcome = self._session.outcome(uri)
            if edited is None or outcome is None or not mine.broken:
                continue
            names = {finding.name for finding in self.findings(edited, outcome)}
            for broken in mine.broken:
                if broken.name in names:
                    found.update(
                        (call.verdict.finding.range, call.verdict.finding.code)
                        for call in broken.calls
                        if call.path == document.path and call.verdict.finding is not None
                    )
        return found

    # -- looking

    def _look(self, uri: str, document: Document) -> None:
        mine = self._edited[uri]
        folder = self._session.folder(uri)
        if folder is None:
            return
        path, version, before, text = document.path, document.version, mine.before, document.text
        worker, key = self._session.worker, ("impact", uri)

        def look() -> None:
            workspace = folder.workspace
            generation = workspace.generation
            known = workspace.files.open.get(path)
            if known is None or known.file.text != normalized(text):
                # The document is ahead of the graph: its next result asks again.
                return
            try:
                found = broken_calls(workspace, path, before, stop=lambda: worker.superseded(key, urgent=False))
            except Stopped:
                worker.resume(key, look)
                return
            self._session.call(lambda: self._found(uri, version, generation, found))

        worker.submit(key, look, urgent=False)

    def _found(self, uri: str, version: int, generation: int, found: list[Broken]) -> None:
        mine, document = self._edited.get(uri), self._session.document(uri)
        if mine is None or document is None or document.version != version:
            return
        old, mine.broken = mine.broken, found
        mine.version, mine.generation = version, generation
        if not found:
            # Settled: the next edit starts from the text that there is now.
            del self._edited[uri]
        if old != found:
            self._session.show_again(uri)
            self._show_callers([*old, *found])

    def _show_callers(self, broken: Sequence[Broken]) -> None:
        for path in {call.path for each in broken for call in each.calls}:
            uri = self._session.uri_of_path(path)
            if uri is not None:
                self._session.show_again(uri)


def _counts(edit: Edit, before: str) -> bool:
    """Whether an edit may be an assistant's: more than a key stroke, or text taken away over lines."""
    return len(edit.text) > 1 or "\n" in before[edit.start : edit.end]


def _finding(broken: Broken) -> Finding:
    calls = broken.calls
    first = calls[0].verdict.finding
    assert first is not None
    count = len(calls)
    places = ", ".join(f"{_short(call.path)}:{call.verdict.range.line}" for call in calls[:MOST_LISTED])
    more = f" and {count - MOST_LISTED} more" if count > MOST_LISTED else ""
    what = "1 call elsewhere no longer fits" if count == 1 else f"{count} calls elsewhere no longer fit"
    return replace(
        first,
        range=broken.place,
        callee=broken.name,
        name=broken.name,
        message=f"this edit breaks `{broken.name}`: {what} ({places}{more})",
        evidence=tuple(
            f"{_short(call.path)}:{call.verdict.range.line}: {_message(call.verdict.finding)}" for call in calls
        ),
        evidence_location=None,
        suggestions=(),
        candidates=(),
    )


def _short(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _message(finding: Finding | None) -> str:
    return finding.message if finding is not None else ""
