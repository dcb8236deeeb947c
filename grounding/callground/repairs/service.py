"""The door of this room: what may be meant by a finding, and the repairs that hold.

Nothing is worked out before somebody asks.  One `Repairs` belongs to one text of one file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from callground.graph.changes import never
from callground.graph.snapshot import Snapshot
from callground.graph.workspace import Workspace
from callground.repairs import arguments, creating, habits, ignoring, ignoring_names, naming, second_fault
from callground.repairs.asked import Asked, Source
from callground.repairs.model import Candidate, FileEdits, ImportWanted, Ranked, Repair
from callground.repairs.ranking import rank
from callground.repairs.verified import Outcome, Texts, confirmed, verify
from callground.repairs.words import plain
from callground.resolve.memo import Memo
from callground.source.pieces import normalized
from callground.verdict.model import Range, Suggestion, Verdict

log = logging.getLogger(__name__)

LIMIT = 3
"""Most names that a report suggests."""

_NEAR_ENOUGH = 85.0
"""With a name of that score, the library's other modules are not searched."""

_Key = tuple[Range, str, str]


class Repairs:
    """Candidates and repairs for the findings of one text."""

    def __init__(
        self,
        path: str,
        text: str,
        verdicts: Sequence[Verdict],
        snapshot: Snapshot,
        memo: Memo | None = None,
        *,
        texts: Texts | None = None,
    ) -> None:
        self.path = path
        self.verdicts = tuple(verdicts)
        self.snapshot = snapshot
        self.source = Source(path, text, snapshot, memo)
        self._memo = memo
        self._texts = texts
        self._asked: dict[_Key, Asked | None] = {}
        self._ranked: dict[_Key, list[Ranked]] = {}

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        path: str,
        text: str,
        verdicts: Sequence[Verdict],
        *,
        texts: Texts | None = None,
    ) -> Repairs:
        """For a text of a workspace's file, as the workspace is now."""
        path = workspace.absolute(path)
        snapshot = workspace.snapshot()
        if snapshot.has_text(path, normalized(text)):
            return cls(path, text, verdicts, snapshot, workspace.memo, texts=texts)
        # What is only supposed must not be remembered as if it were so.
        return cls(path, text, verdicts, snapshot.with_overlay({path: text}), texts=texts)

    def text(self, path: str) -> str | None:
        """The text of a file as edits count in it."""
        if path == self.path:
            return self.source.text
        return self._texts(path) if self._texts is not None else read_text(path)

    def asked(self, verdict: Verdict) -> Asked | None:
        """The finding of a verdict, proved again."""
        key = (verdict.range, verdict.site, verdict.callee)
        if key not in self._asked:
            self._asked[key] = self.source.find(verdict) if verdict.finding is not None else None
        return self._asked[key]

    def ranked(self, verdict: Verdict) -> list[Ranked]:
        """What may be meant, best first, with the reasons."""
        key = (verdict.range, verdict.site, verdict.callee)
        if key not in self._ranked:
            asked = self.asked(verdict)
            self._ranked[key] = [] if asked is None else _ranked(asked)
        return self._ranked[key]

    def suggestions(self, verdict: Verdict) -> tuple[Suggestion, ...]:
        """The names that are near enough to be named in a report, best first."""
        try:
            asked = self.asked(verdict)
            if asked is None:
                return ()
            written = habits.written(asked)
            said = [Suggestion(habit) for habit in written]
            said += [
                Suggestion(_shown(r.candidate), r.signature, _import(r.candidate))
                for r in self.ranked(verdict)
                if r.near and not any(f".{r.candidate.name}(" in habit for habit in written)
            ]
            return tuple(said[:LIMIT])
        except Exception:  # a suggestion that fails must not take the finding with it
            log.exception("suggestions for %s at %s:%s", verdict.callee, self.path, verdict.range.line)
            return ()

    def proposals(self, verdict: Verdict) -> Iterator[Repair]:
        """Every repair that comes to mind, best first; none is verified."""
        asked = self.asked(verdict)
        if asked is None:
            return
        producers: tuple[Callable[[], Iterator[Repair]], ...] = (
            lambda: habits.repairs(asked),
            lambda: arguments.repairs(asked),
            lambda: naming.repairs(asked, self.ranked(verdict)),
            lambda: creating.repairs(asked, self.text),
        )
        for produce in producers:
            try:
                yield from produce()
            except Exception:  # one failing producer does not silence the others
                log.exception("repairs for %s at %s:%s", verdict.callee, self.path, verdict.range.line)

    def offered(
        self, verdict: Verdict, *, certain_only: bool = False, stop: Callable[[], bool] = never
    ) -> list[Repair]:
        """The repairs that hold, best first; at most one of them is certain."""
        held: list[Repair] = []
        nearly = 0
        seen: set[tuple[FileEdits, ...]] = set()
        for proposal in self.proposals(verdict):
            if proposal.changes in seen or (
                certain_only and not (proposal.certain or proposal.kind == "remove-import")
            ):
                continue
            seen.add(proposal.changes)
            outcome = self._outcome(proposal, verdict, stop)
            repair = confirmed(proposal, outcome)
            if repair is not None:
                held.append(repair)
            elif not certain_only and nearly < second_fault.MOST_TRIED:
                # The callee may be right, and something in its arguments wrong as well.
                both = list(second_fault.joined(proposal, outcome, verdict, self.snapshot))
                nearly += bool(both)
                held += [each for one in both if (each := self.verified(one, verdict, stop=stop)) and each.verified]
        others = [r for r in held if r.kind not in ("remove-import", "create")]
        if not others and held and not certain_only:
            # An import that fails, that nothing uses and that stands for nothing real can only go.
            held = [replace(r, certain=r.verified) if r.kind == "remove-import" else r for r in held]
        held.sort(key=lambda r: (not r.certain, r.kind == "create", -r.score))
        first = True
        for number, repair in enumerate(held):
            if repair.certain and not first:
                held[number] = replace(repair, certain=False)
            first = first and not repair.certain
        return held

    def verified(self, repair: Repair, verdict: Verdict, *, stop: Callable[[], bool] = never) -> Repair | None:
        """The repair, if the text that it makes holds."""
        return confirmed(repair, self._outcome(repair, verdict, stop))

    def _outcome(self, repair: Repair, verdict: Verdict, stop: Callable[[], bool]) -> Outcome:
        return verify(
            repair,
            self.path,
            verdict,
            self.verdicts,
            self.snapshot,
            self.text,
            self._memo,
            stop=stop,
        )

    def ignored(self, verdict: Verdict) -> Repair | None:
        """The comment that silences a finding."""
        return ignoring.repair(self.source, verdict)

    def name_ignored(self, verdict: Verdict, root: str) -> Repair | None:
        """The setting of the workspace at `root` that silences a finding's name everywhere."""
        return ignoring_names.repair(root, verdict, self.text)


def _ranked(asked: Asked) -> list[Ranked]:
    from callground.repairs import indirect, library

    ranked = rank(asked)
    if asked.code in ("unknown-member", "unknown-import"):
        near = bool(ranked and ranked[0].near and ranked[0].score >= _NEAR_ENOUGH)
        more = library.of(asked, near)
        if not near:
            more += indirect.documented(asked)
        if not (near and plain(ranked[0].candidate.name) == plain(asked.name)):
            more += indirect.behind_accessors(asked, near)
        if more:
            joined = sorted([*ranked, *rank(asked, more)], key=lambda r: (-r.score, r.candidate.text))
            # The same name by two ways counts once, by the better one.
            best: dict[tuple[str, ImportWanted | None], Ranked] = {}
            for each in joined:
                best.setdefault((each.candidate.text, each.candidate.wanted), each)
            ranked = list(best.values())[:10]
    return ranked


def _shown(candidate: Candidate) -> str:
    """How a report writes a candidate: the name alone where its owner is the one that was asked."""
    return candidate.name if candidate.source in ("member", "module", "parameter") else candidate.text


def _import(candidate: Candidate) -> str:
    return candidate.wanted.text if candidate.wanted is not None else ""


def read_text(path: str) -> str | None:
    """A file's text with its own line ends."""
    from callground.source.decode import decode
    from callground.source.disk import read_file

    try:
        decoded = decode(read_file(path))
    except (OSError, ValueError):
        return None
    return decoded.text if decoded.error is None else None


__all__ = ["FileEdits", "Repair", "Repairs", "read_text"]
