"""Verdicts of open files, kept with what they read, so that a change re-judges exactly what it touched."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from callground.facts.model import ModuleFacts, Piece
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
    """Kind and role."""
    inner: bool
    """In a function: then it runs when the module is complete."""


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
        self._files[path] = _FileVerdicts(module.facts.pieces, kept)
        self.counts[path] = Counts(len(fresh), len(sites) - len(fresh))
        self.judged_sites += [(path, verdict.callee) for verdict in fresh]
        return verdicts

    def apply(self, change: Change) -> set[str]:
        """Drop what a change has touched; the files whose verdicts have to be asked for again."""
        stale: set[str] = set()
        for path, known in self._files.items():
            touched = [key for key, (_, verdict) in known.verdicts.items() if _touched(path, verdict, change)]
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
        """What still holds of a file's verdicts after its text has changed."""
        known = self._files.get(path)
        if known is None:
            return _FileVerdicts(facts.pieces)
        if known.pieces == facts.pieces:
            return known
        if not _same_order(known.pieces, facts.pieces) or _openness(known.pieces) != _openness(facts.pieces):
            # Which binding a use at module level sees depends on the order of the statements, and whether a
            # name of the module may be absent, on all of them.
            return _FileVerdicts(facts.pieces)
        if all(_only_defines(piece) for piece in _changed(known.pieces, facts.pieces)):
            return known
        # What runs at module level may end or skip what stands below it.
        inner = {key: verdict for key, verdict in known.verdicts.items() if key.inner}
        return _FileVerdicts(facts.pieces, inner)


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


def _only_defines(piece: Piece) -> bool:
    """Whether a statement binds names and does nothing else to what stands below it."""
    kinds = {binding.kind for binding in piece.bindings}
    plain = not any(binding.guards for binding in piece.bindings)
    return bool(kinds) and plain and kinds <= {"def", "class", "import", "from"}


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
    return [digest for digest in before if digest in common] == [
        digest for digest in after if digest in common
    ]


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
            keys.append(SiteKey("", 0, site.range, f"{site.kind}:{site.role}", False))
            continue
        place = _moved(site.range, 1 - facts.starts[index])
        kind = f"{site.kind}:{site.role}"
        inner = any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in site.chain)
        keys.append(SiteKey(facts.pieces[index].digest, occurrences[index], place, kind, inner))
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
