"""Verdicts of open files, kept with what they read, so that a change re-judges exactly what it touched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from callground.facts.model import ModuleFacts, Piece
from callground.graph.changes import Change, never
from callground.graph.driver import judge_sites, loaded, planned
from callground.graph.outline import Outlines, SiteKey, moved, occurrences, piece_of, place_of
from callground.graph.snapshot import Snapshot
from callground.verdict.model import Reason, Verdict

if TYPE_CHECKING:
    from callground.graph.workspace import Workspace
    from callground.verdict.verify import Site


MOST_NEWER = 3
"""So often a judgement starts again because files on disk turn out to be newer."""


class Counts(NamedTuple):
    """What a judgement cost: for tests that assert what was recomputed."""

    judged: int = 0
    kept: int = 0


@dataclass
class _FileVerdicts:
    pieces: tuple[Piece, ...]
    verdicts: dict[SiteKey, tuple[int, Verdict]] = field(default_factory=dict)
    """Each with the first line of its piece when it was judged."""


class Tracker:
    """The current verdicts of the files that someone looks at."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files: dict[str, _FileVerdicts] = {}
        self.counts: dict[str, Counts] = {}
        """Per file: what the last judgement cost."""
        self._outlines = Outlines()
        self.touched: set[str] = set()
        """Files whose verdicts a judgement of another has found to be out of date; whoever reads it empties it."""
        self.judged_sites: list[tuple[str, str]] = []
        """(path, callee) of every site judged since someone emptied the list."""

    def judge(self, path: str, *, stop: Callable[[], bool] = never) -> list[Verdict]:
        """The verdicts of a file as it is now; those that nothing has touched are not judged again.

        When `stop` ends it early (Stopped), nothing is lost but time.
        """
        verdicts = self._judge(path, stop)
        for _ in range(MOST_NEWER):
            change = self._workspace.catch_up()
            if not change:
                break
            # A file that was needed is newer on disk than anybody knew.
            self.touched |= self.apply(change) - {path}
            verdicts = self._judge(path, stop)
        return verdicts

    def _judge(self, path: str, stop: Callable[[], bool]) -> list[Verdict]:
        workspace = self._workspace
        snapshot = workspace.snapshot()
        with workspace.pinned():
            file = loaded(path, snapshot)
            if file is None or not file.facts.pieces:
                # Somebody looks at it all the same: there may be a file later.
                self._files[path] = _FileVerdicts(())
                self.counts[path] = Counts()
                return []
            facts = file.facts
            known = self._known(path, facts)
            judged = self._judge_stale(path, facts, snapshot, known, stop)
        self.judged_sites += [(path, verdict.callee) for verdict in judged.values()]
        kept: dict[SiteKey, tuple[int, Verdict]] = {}
        verdicts: list[Verdict] = []
        for key, start in self._keys(facts):
            verdict = judged.get(key)
            if verdict is None:
                before, verdict = known.verdicts[key]
                verdict = shifted(verdict, start - before)
            kept[key] = (start, verdict)
            verdicts.append(verdict)
        self._files[path] = _FileVerdicts(facts.pieces, kept)
        self.counts[path] = Counts(len(judged), len(kept) - len(judged))
        return verdicts

    def _judge_stale(
        self,
        path: str,
        facts: ModuleFacts,
        snapshot: Snapshot,
        known: _FileVerdicts,
        stop: Callable[[], bool],
    ) -> dict[SiteKey, Verdict]:
        """Verdicts of the sites that have none, and the outlines of pieces that nobody has looked at."""
        number_of = occurrences(facts)
        wanted: set[int] = set()
        for number, piece in enumerate(facts.pieces):
            outline = self._outlines.get(piece)
            if outline is None or any(
                SiteKey(piece.digest, number_of[number], *place) not in known.verdicts for place in outline
            ):
                wanted.add(number)
        if not wanted:
            return {}
        sites = planned(path, snapshot, wanted)
        self._outlines.learn(facts, wanted, sites)
        stale: list[tuple[SiteKey, Site]] = []
        for site in sites:
            number = piece_of(facts, site.range.line)
            piece = facts.pieces[number]
            key = SiteKey(piece.digest, number_of[number], *place_of(site, facts.starts[number]))
            if key not in known.verdicts:
                stale.append((key, site))
        fresh = judge_sites([site for _, site in stale], snapshot, self._workspace.memo, stop=stop)
        return dict(zip((key for key, _ in stale), fresh, strict=True))

    def _keys(self, facts: ModuleFacts) -> Iterator[tuple[SiteKey, int]]:
        """The sites of a file in order, each with the first line of its piece."""
        number_of = occurrences(facts)
        for number, piece in enumerate(facts.pieces):
            for place in self._outlines.get(piece) or ():
                yield SiteKey(piece.digest, number_of[number], *place), facts.starts[number]

    def apply(self, change: Change) -> set[str]:
        """Drop what a change has touched; the files whose verdicts have to be asked for again."""
        stale: set[str] = set()
        for path, known in self._files.items():
            touched = [key for key, (_, verdict) in known.verdicts.items() if _touched(path, verdict, change)]
            for key in touched:
                del known.verdicts[key]
            appeared = not known.pieces and (change.modules or change.everything)
            if touched or appeared or path in change.paths:
                stale.add(path)
        return stale

    def forget(self, path: str) -> None:
        """The file is closed."""
        self._files.pop(path, None)
        self.counts.pop(path, None)

    def paths(self) -> Iterable[str]:
        """Files with verdicts."""
        return tuple(self._files)

    def _known(self, path: str, facts: ModuleFacts) -> _FileVerdicts:
        """What still holds of a file's verdicts after its text has changed."""
        known = self._files.get(path)
        if known is None:
            return _FileVerdicts(facts.pieces)
        if known.pieces == facts.pieces:
            return known
        changed = _changed(known.pieces, facts.pieces)
        if (
            _same_order(known.pieces, facts.pieces)
            and _openness(known.pieces) == _openness(facts.pieces)
            and all(_only_binds(piece) for piece in changed)
        ):
            return known
        # Which binding a use at module level sees depends on the order of the statements; whether a name of the
        # module may be absent, on all of them; and whether a statement runs at all, on those above it.
        return _FileVerdicts(facts.pieces)


def _changed(old: tuple[Piece, ...], new: tuple[Piece, ...]) -> list[Piece]:
    """The pieces that only one of two versions has."""
    common = {piece.digest for piece in old} & {piece.digest for piece in new}
    return [piece for piece in (*old, *new) if piece.digest not in common]


def _openness(pieces: tuple[Piece, ...]) -> tuple[object, ...]:
    """Why a module may have names that it does not show."""
    return (
        any(piece.masked for piece in pieces),
        {mark for piece in pieces for mark in piece.dynamic},
        [(row.value, row.guards) for piece in pieces for row in piece.bindings if row.kind == "star"],
    )


def _only_binds(piece: Piece) -> bool:
    """Whether a statement binds names and does nothing else to what stands below it, such as to end the program."""
    if not piece.bindings:
        # Comments, or a statement for its effect.
        return not piece.mentions
    for row in piece.bindings:
        if row.guards:
            return False
        if row.kind in ("assign", "annassign"):
            if row.value is None or "(" in row.value:
                return False
        elif row.kind not in ("def", "class", "import", "from"):
            return False
    return True


def _touched(path: str, verdict: Verdict, change: Change) -> bool:
    if change.touches(verdict.reads):
        return True
    if change.completed and verdict.reason is Reason.NOT_LOADED:
        return True
    if verdict.finding is None:
        return False
    # What a finding says besides the fault (near names, the lines of its evidence) has no keys: a finding is
    # judged again when anything changes in a file that it has to do with.
    evidence = verdict.finding.evidence_location
    return bool(
        change.modules
        or path in change.paths
        or (evidence is not None and evidence[0] in change.paths)
        or any(len(key) > 1 and key[1] in change.texts for key in verdict.reads)
    )


def _same_order(old: tuple[Piece, ...], new: tuple[Piece, ...]) -> bool:
    """Whether the statements that both versions have stand in the same order in both."""
    before, after = [piece.digest for piece in old], [piece.digest for piece in new]
    common = set(before) & set(after)
    return [digest for digest in before if digest in common] == [digest for digest in after if digest in common]


def shifted(verdict: Verdict, lines: int) -> Verdict:
    """The verdict after its text has moved down by some lines."""
    if not lines:
        return verdict
    finding = verdict.finding
    if finding is not None:
        finding = replace(finding, range=moved(finding.range, lines))
    # By position: `replace` takes three times as long, and a whole file moves with each line that is typed.
    return Verdict(
        moved(verdict.range, lines),
        moved(verdict.callee_range, lines),
        verdict.site,
        verdict.callee,
        verdict.status,
        verdict.reason,
        verdict.detail,
        finding,
        tuple([step._replace(range=moved(step.range, lines)) for step in verdict.steps]),
        verdict.reads,
    )
