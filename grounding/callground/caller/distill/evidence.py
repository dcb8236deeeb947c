"""How often the student is right, measured on rows that it was not trained on, and the thresholds that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from callground.caller.calibration import binomial_at_most, upper_bound
from callground.caller.distill.bounds import lowest_share, lowest_threshold
from callground.caller.distill.examples import NO_TOOL, Prepared
from callground.caller.distill.student import Decision, Options, correct, decide, fit_heads, sureness
from callground.caller.heads import minimise
from callground.caller.tools import ToolSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

NEVER = 1e9
"""A threshold that no score reaches."""

SLACK = 0.05
"""Share of the right calls that is given up for requests unlike any evidence."""


@dataclass(frozen=True)
class Gate:
    """What sureness means: the probability that the whole call is right, by a logistic curve (Platt 1999).

    It is for people and for the reliability diagram; the promise rests on the thresholds alone.
    """

    slope: float
    bias: float

    def probability(self, score: float) -> float:
        """From 0 (wrong) to 1."""
        return float(1.0 / (1.0 + np.exp(-(self.slope * score + self.bias))))


def fit_gate(scores: Floats, right: NDArray[np.bool_]) -> Gate:
    """The curve through scored rows, with Platt's prior: a row counts as right with (n + 1) / (n + 2)."""
    if len(scores) == 0:
        return Gate(1.0, 0.0)
    good, bad = int(right.sum()), int((~right).sum())
    y = np.where(right, (good + 1) / (good + 2), 1 / (bad + 2))

    def objective(flat: Floats) -> tuple[float, Floats]:
        z = flat[0] * scores + flat[1]
        off = 1.0 / (1.0 + np.exp(-z)) - y
        return float((np.logaddexp(0.0, z) - y * z).sum()), np.array([float(off @ scores), float(off.sum())])

    found = minimise(objective, np.array([1.0, 0.0]), steps=200, tolerance=1e-5)
    return Gate(max(float(found[0]), 0.0), float(found[1]))


class Judged(NamedTuple):
    """One row as the student decided it without having seen it or its like."""

    decision: Decision
    tool: str | None
    """The teacher's."""
    right: bool
    """The whole call is the teacher's; for a row without a tool: no tool was said."""
    score: float
    """`sureness`, for a call; the selector's otherwise."""
    group: int

    @property
    def calls(self) -> bool:
        """Whether there is a whole call that might be emitted."""
        return self.decision.args is not None


@dataclass(frozen=True)
class Thresholds:
    """From which score on an answer is given."""

    call: float = NEVER
    no_tool: float = NEVER


@dataclass(frozen=True)
class Evidence:
    """The rows that the thresholds rest on, and what they promise."""

    judged: tuple[Judged, ...]
    gate: Gate
    thresholds: Thresholds
    alpha: float
    delta: float

    def emitted(self) -> list[Judged]:
        """Rows on which a call would be emitted."""
        return [each for each in self.judged if each.calls and each.score >= self.thresholds.call]

    def summary(self) -> dict[str, Any]:
        """Counts, rates and bounds of the evidence, as plain data."""
        emitted = self.emitted()
        wrong = sum(not each.right for each in emitted)
        inside = [each for each in self.judged if each.tool is not None]
        outside = [each for each in self.judged if each.tool is None]
        silent = [
            each
            for each in self.judged
            if each.decision.tool == NO_TOOL and each.decision.score >= self.thresholds.no_tool
        ]
        return {
            "rows": len(self.judged),
            "groups": len({each.group for each in self.judged}),
            "emitted": len(emitted),
            "emitted_wrong": wrong,
            "error_bound": upper_bound(wrong, len(emitted), self.delta) if emitted else 1.0,
            "alpha": self.alpha,
            "delta": self.delta,
            "in_scope": len(inside),
            "in_scope_solved": sum(each.right for each in emitted),
            "out_of_scope": len(outside),
            "out_of_scope_called": sum(each.tool is None for each in emitted),
            "no_tool_said": len(silent),
            "no_tool_wrong": sum(each.tool is not None for each in silent),
            "selector_agreement": _rate(
                sum((each.decision.tool or "") == (each.tool or NO_TOOL) for each in self.judged), len(self.judged)
            ),
        }


def _rate(count: int, total: int) -> float | None:
    return None if total == 0 else count / total


def folds_of(prepared: Prepared, count: int, new_share: float, seed: int = 0) -> list[int]:
    """The fold of each example.

    Whole groups are held out together until they make a share `new_share` of each tool's rows: these stand for
    requests whose phrasing is new.  The other rows are held out one by one, for requests phrased as some before.
    """
    chance = np.random.default_rng(seed)
    members: dict[int, list[int]] = {}
    by_tool: dict[str | None, list[int]] = {}
    for i, example in enumerate(prepared.examples):
        if example.group not in members:
            by_tool.setdefault(example.row.tool, []).append(example.group)
        members.setdefault(example.group, []).append(i)
    folds = [0] * len(prepared.examples)
    totals = [0] * count
    for groups in by_tool.values():
        order = [groups[i] for i in chance.permutation(len(groups))]
        rows = sum(len(members[group]) for group in order)
        whole = 0
        loads = [0] * count
        alone: list[int] = []
        for group in order:
            if whole + len(members[group]) / 2 <= new_share * rows and len(order) > 1:
                whole += len(members[group])
                fold = min(range(count), key=lambda f: (loads[f], totals[f]))
                for i in members[group]:
                    folds[i] = fold
                loads[fold] += len(members[group])
                totals[fold] += len(members[group])
            else:
                alone += members[group]
        for k in chance.permutation(len(alone)):
            fold = min(range(count), key=lambda f: (loads[f], totals[f]))
            folds[alone[k]] = fold
            loads[fold] += 1
            totals[fold] += 1
    return folds


def cross_fit(
    prepared: Prepared,
    trained: Sequence[str],
    tools: Mapping[str, ToolSpec],
    options: Options,
    *,
    alpha: float,
    delta: float,
    new_share: float = 0.25,
    count: int = 4,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Evidence:
    """Train `count` times without a fold, decide the rows of that fold, and set the thresholds by them.

    The evidence is about rows whose phrasing was
    not trained on: it understates how good the student, trained on all rows, is on the phrasings that it knows.
    """
    folds = np.array(folds_of(prepared, count, new_share, seed), dtype=np.int64)
    decisions: list[Decision | None] = [None] * len(folds)
    for fold in range(count):
        if progress is not None:
            progress("cross-fitting", fold, count)
        train = [int(i) for i in np.flatnonzero(folds != fold)]
        test = [int(i) for i in np.flatnonzero(folds == fold)]
        if not test or not train:
            continue
        heads = fit_heads(prepared, train, trained, tools, options, seed)
        for i in test:
            example = prepared.examples[i]
            decisions[i] = decide(heads, example.reading, example.vector.astype(float), tools)
    return judge(prepared, [d for d in decisions if d is not None], alpha=alpha, delta=delta)


def judge(prepared: Prepared, decisions: Sequence[Decision], *, alpha: float, delta: float) -> Evidence:
    """Set the thresholds, given decisions on rows that were not trained on."""
    rows = [example.row for example in prepared.examples]
    right = np.array([correct(d, row.tool, row.args) for d, row in zip(decisions, rows, strict=True)], dtype=bool)
    judged = tuple(
        Judged(
            decision,
            row.tool,
            bool(right[i]) if row.tool is not None else decision.tool == NO_TOOL,
            sureness(decision.features) if decision.args is not None else decision.score,
            prepared.examples[i].group,
        )
        for i, (decision, row) in enumerate(zip(decisions, rows, strict=True))
    )
    calls = [each for each in judged if each.calls]
    gate = fit_gate(np.array([each.score for each in calls]), np.array([each.right for each in calls], dtype=bool))
    return Evidence(judged, gate, thresholds_of(judged, alpha, delta), alpha, delta)


def thresholds_of(judged: Sequence[Judged], alpha: float, delta: float) -> Thresholds:
    """The lowest thresholds whose promises hold with confidence 1 - `delta` each.

    For calls two promises hold together, each with `delta` / 2: at most a share `alpha` of the emitted calls is wrong,
    and at most a share `alpha` / 2 of the requests that no tool fits gets a call (where such rows are enough to say).
    """
    candidates = [(each.score, not each.right) for each in judged if each.calls]
    outside = [(each.score, each.calls) for each in judged if each.tool is None]
    call = lowest_threshold(candidates, alpha, delta / 2)
    if call is not None:
        call = max(_safer(candidates, call, alpha, delta / 2), lowest_share(outside, alpha / 2, delta / 2))
    said = [(each.score, each.tool is not None) for each in judged if each.decision.tool == NO_TOOL]
    none = lowest_threshold(said, alpha, delta)
    return Thresholds(NEVER if call is None else call, NEVER if none is None else none)


def _safer(rows: Sequence[tuple[float, bool]], lowest: float, alpha: float, delta: float) -> float:
    """A threshold that gives up a share `SLACK` of the right calls: the weakest, which strange requests resemble."""
    right = sorted((score for score, wrong in rows if not wrong and score >= lowest), reverse=True)
    if not right:
        return lowest
    higher = right[min(int((1.0 - SLACK) * len(right)), len(right) - 1)]
    emitted = [wrong for score, wrong in rows if score >= higher]
    # Lower thresholds are proven; this one is taken only where it would be by itself, too.
    return higher if binomial_at_most(sum(emitted), len(emitted), alpha) <= delta else lowest
