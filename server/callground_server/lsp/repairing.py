"""What the worker is asked about findings: names that may be meant, and repairs that hold.

Everything here runs in the worker thread; the loop thread gives plain values and gets plain values.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from callground.check import Suggest, review
from callground.graph.workspace import Workspace
from callground.repairs import Ranked, Repair, Repaired, Repairs, ground_report_and_repair
from callground.repairs.service import read_text
from callground.verdict.model import Finding, Key, Range, Suggestion, Verdict
from callground.verdict.nearest import suggestions as nearest

if TYPE_CHECKING:
    from callground_server.lsp.folder import Folder
    from callground_server.lsp.session import Session

logger = logging.getLogger(__name__)
T = TypeVar("T")
_MOST = 512
_numbers = itertools.count()


class Suggestions:
    """The names that findings may have meant, kept for as long as their verdicts hold.

    A verdict that only moves with its text keeps what it has read, and with it what was suggested.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str, str, int], tuple[frozenset[Key], tuple[Suggestion, ...]]] = (
            OrderedDict()
        )

    def of(self, workspace: Workspace, path: str, text: str, verdicts: Sequence[Verdict]) -> Suggest:
        """For the verdicts of one text; nothing is worked out before it is asked."""
        repairs: list[Repairs] = []

        def suggest(verdict: Verdict) -> tuple[Suggestion, ...]:
            known = self._get(path, verdict)
            if known is not None:
                return known
            if not repairs:
                repairs.append(Repairs.of(workspace, path, text, verdicts))
            made = repairs[0].suggestions(verdict)
            if not workspace.complete:
                # Files that are not indexed yet may hold what was meant: ask again then.
                return made
            self._known[self._key(path, verdict)] = (verdict.reads, made)
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
            return made

        return suggest

    def ready(self, path: str) -> Ready:
        """What is known already; for the rest a name of a near spelling, which costs next to nothing."""
        return Ready(lambda verdict: self._get(path, verdict))

    def _get(self, path: str, verdict: Verdict) -> tuple[Suggestion, ...] | None:
        key = self._key(path, verdict)
        known = self._known.get(key)
        if known is None or known[0] is not verdict.reads:
            return None
        self._known.move_to_end(key)
        return known[1]

    @staticmethod
    def _key(path: str, verdict: Verdict) -> tuple[str, str, str, int]:
        finding = verdict.finding
        return path, verdict.callee, finding.message if finding is not None else "", id(verdict.reads)


class Ready:
    """Suggestions without any search; remembers whether a search would find more."""

    def __init__(self, get: Callable[[Verdict], tuple[Suggestion, ...] | None]) -> None:
        self._get = get
        self.missed = False

    def __call__(self, verdict: Verdict) -> tuple[Suggestion, ...]:
        """What is suggested for a verdict's finding."""
        known = self._get(verdict)
        if known is not None:
            return known
        self.missed = True
        return nearest(verdict.finding) if verdict.finding is not None else ()


class Offer(NamedTuple):
    """One finding with the repairs that hold, best first."""

    finding: Finding
    repairs: tuple[Repair, ...]


def offers(folder: Folder, path: str, text: str, span: Range, texts: Mapping[str, str]) -> list[Offer]:
    """The repairs of the findings that a range of a document touches."""
    repairs, shown = _repairs(folder, path, text, texts)
    found: list[Offer] = []
    for verdict in shown:
        finding = verdict.finding
        if finding is None or not _touch(finding.range, span):
            continue
        raw = next((v for v in repairs.verdicts if _same(v, verdict)), None)
        if raw is None:
            continue
        held = repairs.offered(raw)
        silencing = (repairs.ignored(raw), repairs.name_ignored(raw, folder.settings_root))
        found.append(Offer(finding, (*held, *(each for each in silencing if each is not None))))
    return found


def meant(
    folder: Folder, path: str, text: str, line: int, column: int, texts: Mapping[str, str]
) -> tuple[Finding, list[Ranked]] | None:
    """The finding at a place, with what may be meant by it."""
    repairs, shown = _repairs(folder, path, text, texts)
    for verdict in shown:
        finding = verdict.finding
        if finding is None or not _touch(finding.range, Range(line, column, line, column)):
            continue
        raw = next((v for v in repairs.verdicts if _same(v, verdict)), None)
        return finding, repairs.ranked(raw) if raw is not None else []
    return None


def fixed(folder: Folder, path: str, text: str) -> Repaired:
    """A document after all repairs that are certain."""

    def reviewed(now: str, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
        return review(path, now, verdicts, root=folder.root, config=folder.config, suggest=lambda _: ()).verdicts

    return ground_report_and_repair(text, path, folder.workspace, review=reviewed)


def _repairs(folder: Folder, path: str, text: str, texts: Mapping[str, str]) -> tuple[Repairs, Sequence[Verdict]]:
    raw = folder.tracker.judge(path)
    shown = review(path, text, raw, root=folder.root, config=folder.config, suggest=lambda _: ()).verdicts
    repairs = Repairs.of(folder.workspace, path, text, raw, texts=lambda p: texts.get(p) or read_text(p))
    return repairs, shown


def _same(one: Verdict, other: Verdict) -> bool:
    return one.range == other.range and one.site == other.site and one.callee == other.callee


def _touch(one: Range, other: Range) -> bool:
    return one[:2] <= other[2:] and other[:2] <= one[2:]


async def ask(session: Session, job: Callable[[], T]) -> T | None:
    """Run a question in the worker; None when it failed."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T | None] = loop.create_future()

    def settle(answer: T | None) -> None:
        if not future.done():
            future.set_result(answer)

    def run() -> None:
        answer: T | None = None
        try:
            answer = job()
        except Exception:  # whoever waits for this answer must not wait for ever
            logger.exception("a question about repairs failed")
        session.call(lambda: settle(answer))

    session.worker.submit(("ask", next(_numbers)), run)
    return await future
