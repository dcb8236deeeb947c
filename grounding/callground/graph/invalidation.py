"""Verdicts of open files, kept with what they read, so that a change re-judges exactly what it touched."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from callground.facts.model import ModuleFacts
from callground.graph.changes import Change, never
from callground.graph.driver import judge_sites, planned
from callground.verdict.model import Range, Reason, Verdict

if TYPE_CHECKING:
    from callground.graph.workspace import Workspace
    from callground.verdict.verify import Site


class SiteKey(NamedTuple):
    """A site's identity across edits elsewhere in its file: which text it stands in, and where in that."""

    piece: str
    """Digest of the top-level statement."""
    occurrence: int
    """Which of the pieces with that very text."""
    place: Range
    """Relative to the piece."""
    kind: str


class Counts(NamedTuple):
    """What a judgement cost: for tests that assert what was recomputed."""

    judged: int = 0
    kept: int = 0


@dataclass
class _FileVerdicts:
    order: tuple[str, ...]
    verdicts: dict[SiteKey, tuple[int, Verdict]] = field(default_factory=dict)
    """Each with the first line of its piece when it was judged."""


class Tracker:
    """The current verdicts of the files that someone looks at."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files: dict[str, _FileVerdicts] = {}
        self.counts: dict[str, Counts] = {}
        """Per file: what the last judgement cost."""
        self.judged_sites: list[tuple[str, str]] = []
        """(path, callee) of every site judged since someone emptied the list."""

    def judge(self, path: str, *, stop: Callable[[], bool] = never) -> list[Verdict]:
        """The verdicts of a file as it is now; those that nothing has touched are not judged again.

        When `stop` ends it early (Stopped), nothing is lost but time.
        """
        workspace = self._workspace
        snapshot = workspace.snapshot()
        with workspace.pinned():
            sites = planned(path, snapshot)
            if not sites:
                self._files.pop(path, None)
                self.counts[path] = Counts()
                return []
            module = snapshot.file(path)
            assert module is not None
            keys = _site_keys(sites, module.facts)
            known = self._known(path, module.facts)
            stale = [(key, site) for key, site in zip(keys, sites, strict=True) if key not in known.verdicts]
            fresh = judge_sites([site for _, site in stale], snapshot, workspace.memo, stop=stop)
        starts = _piece_starts(module.facts)
        kept: dict[SiteKey, tuple[int, Verdict]] = {}
        judged = dict(zip((key for key, _ in stale), fresh, strict=True))
        verdicts: list[Verdict] = []
        for key in keys:
            start = starts.get((key.piece, key.occurrence), 1)
            if key in judged:
                verdict = judged[key]
            else:
                before, verdict = known.verdicts[key]
                verdict = shifted(verdict, start - before)
            kept[key] = (start, verdict)
            verdicts.append(verdict)
        self._files[path] = _FileVerdicts(tuple(piece.digest for piece in module.facts.pieces), kept)
        self.counts[path] = Counts(len(fresh), len(sites) - len(fresh))
        self.judged_sites += [(path, verdict.callee) for verdict in fresh]
        return verdicts

    def apply(self, change: Change) -> set[str]:
        """Drop what a change has touched; the files whose verdicts have to be asked for again."""
        stale: set[str] = set()
        for path, known in self._files.items():
            touched = [key for key, (_, verdict) in known.verdicts.items() if _touched(verdict, change)]
            for key in touched:
                del known.verdicts[key]
            if touched or path in change.paths:
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
        known = self._files.get(path)
        order = tuple(piece.digest for piece in facts.pieces)
        if known is None or not _same_order(known.order, order):
            # Which binding a use at module level sees depends on the order of the statements.
            return _FileVerdicts(order)
        return known


def _touched(verdict: Verdict, change: Change) -> bool:
    if change.touches(verdict.reads):
        return True
    if change.completed and verdict.reason is Reason.NOT_LOADED:
        return True
    # The evidence names lines, which no key stands for.
    finding = verdict.finding
    return (
        finding is not None
        and finding.evidence_location is not None
        and finding.evidence_location[0] in change.paths
    )


def _only_definitions(piece: Piece) -> bool:
    """Whether a statement does nothing at module level but define: it then changes no other's flow."""
    return all(binding.kind in ("def", "class") for binding in piece.bindings) and bool(piece.bindings)


def _same_order(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Whether the statements that both texts have stand in the same order in both."""
    common = set(old) & set(new)
    return [digest for digest in old if digest in common] == [digest for digest in new if digest in common]


def _piece_starts(facts: ModuleFacts) -> dict[tuple[str, int], int]:
    starts: dict[tuple[str, int], int] = {}
    seen: dict[str, int] = {}
    for piece, start in zip(facts.pieces, facts.starts, strict=True):
        occurrence = seen.get(piece.digest, 0)
        seen[piece.digest] = occurrence + 1
        starts[piece.digest, occurrence] = start
    return starts


def _site_keys(sites: Iterable[Site], facts: ModuleFacts) -> list[SiteKey]:
    seen: dict[str, int] = {}
    occurrences: list[int] = []
    for piece in facts.pieces:
        occurrences.append(seen.get(piece.digest, 0))
        seen[piece.digest] = occurrences[-1] + 1
    keys: list[SiteKey] = []
    for site in sites:
        index = max(bisect_right(facts.starts, site.range.line) - 1, 0)
        if index >= len(facts.pieces):
            keys.append(SiteKey("", 0, site.range, f"{site.kind}:{site.role}"))
            continue
        place = _moved(site.range, 1 - facts.starts[index])
        keys.append(
            SiteKey(facts.pieces[index].digest, occurrences[index], place, f"{site.kind}:{site.role}")
        )
    return keys


def _moved(span: Range, lines: int) -> Range:
    return Range(span.line + lines, span.column, span.end_line + lines, span.end_column)


def shifted(verdict: Verdict, lines: int) -> Verdict:
    """The verdict after its text has moved down by some lines."""
    if not lines:
        return verdict
    finding = verdict.finding
    return replace(
        verdict,
        range=_moved(verdict.range, lines),
        callee_range=_moved(verdict.callee_range, lines),
        finding=replace(finding, range=_moved(finding.range, lines)) if finding is not None else None,
        steps=tuple(step._replace(range=_moved(step.range, lines)) for step in verdict.steps),
    )
