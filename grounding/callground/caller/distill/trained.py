"""A trained student with its evidence: what `ToolCaller` serves from, and what is saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from callground.caller.distill.bounds import lowest_threshold
from callground.caller.distill.evidence import NEVER, Evidence, cross_fit
from callground.caller.distill.examples import NO_TOOL, Encode, prepare
from callground.caller.distill.networks import run_by_sessions, select_model, tag_model
from callground.caller.distill.rows import Row
from callground.caller.distill.student import Decision, Heads, Options, decide, fit_heads, sureness
from callground.caller.distill.text import read
from callground.caller.distill.values import same
from callground.caller.tools import ToolSpec

Progress = Callable[[str, int, int], None]

ENOUGH = 8
"""Examples that a tool needs to be learnt; one with fewer is left to the bundled caller."""

FEWEST_ROWS = 20
"""Below so many rows nothing is learnt: there would be no evidence for any threshold."""


class DistillError(ValueError):
    """Nothing can be distilled out of this; the text says why."""


class ZeroShot(Protocol):
    """What stands in for a tool with too few examples: the bundled caller, asked without its own gate."""

    def propose(self, request: str) -> tuple[str, dict[str, Any], float] | None:
        """(tool, arguments, how sure from 0 to 1), or None."""


class Answer(NamedTuple):
    """What is done with one request."""

    outcome: str
    """``call``, ``no-tool`` or ``escalate``."""
    tool: str | None = None
    args: Mapping[str, Any] = MappingProxyType({})
    score: float = 0.0
    source: str = ""
    """``student`` or ``zero-shot``."""


@dataclass(frozen=True)
class Trained:
    """Tools, heads, thresholds and the record of how they were found."""

    tools: Mapping[str, ToolSpec]
    learnt: tuple[str, ...]
    """Tools with examples enough."""
    heads: Heads
    models: tuple[bytes, bytes]
    """The ONNX models that `heads` are run by."""
    evidence: Evidence
    zero_shot_threshold: float
    """From which score on a proposal of the zero-shot caller is given for a tool that was not learnt."""
    zero_shot_rows: tuple[int, int]
    """(rows on which it would be given, wrong ones among them)."""
    options: Options
    new_share: float
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    """`selector_kw` and `extractor_kw` as they were given."""

    def answer(self, request: str, vectors: Encode, zero_shot: ZeroShot | None = None) -> Answer:
        """A call, "no tool", or escalation."""
        reading = read(request)
        if reading.cut or not reading.tokens:
            return Answer("escalate")
        decision = decide(self.heads, reading, vectors([reading.masked])[0], self.tools)
        answer = self.judged(decision)
        if answer.outcome == "call" or zero_shot is None or self.zero_shot_threshold >= NEVER:
            return answer
        proposal = zero_shot.propose(request)
        if proposal is not None and proposal[0] not in self.learnt and proposal[2] >= self.zero_shot_threshold:
            return Answer("call", proposal[0], proposal[1], proposal[2], "zero-shot")
        return answer

    def judged(self, decision: Decision) -> Answer:
        """What is done with a decision."""
        thresholds = self.evidence.thresholds
        if decision.args is not None:
            score = sureness(decision.features)
            if score >= thresholds.call:
                return Answer("call", decision.tool, decision.args, score, "student")
            return Answer("escalate", score=score)
        if decision.tool == NO_TOOL and decision.score >= thresholds.no_tool:
            return Answer("no-tool", score=decision.score, source="student")
        return Answer("escalate", score=decision.score)


def options_of(selector_kw: Mapping[str, Any] | None, extractor_kw: Mapping[str, Any] | None) -> Options:
    """Settings by name.  Raises DistillError for a name that there is not."""
    known = {each.name for each in fields(Options)}
    given: dict[str, Any] = {}
    for where, kw in (("selector_kw", selector_kw), ("extractor_kw", extractor_kw)):
        for name, value in (kw or {}).items():
            if name not in known or (name.startswith("field_") or name == "rare") != (where == "extractor_kw"):
                raise DistillError(f"{where} has no setting `{name}`")
            if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
                raise DistillError(f"{where}[{name!r}] must be a number above 0, not {value!r}")
            given[name] = value
    return Options(**given)


def train(
    rows: Sequence[Row],
    tools: Mapping[str, ToolSpec],
    encode: Encode,
    *,
    options: Options,
    alpha: float,
    delta: float,
    new_share: float,
    seed: int,
    zero_shot: ZeroShot | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train on rows, set the thresholds by cross-fitting.  Raises DistillError when there is too little to learn."""
    counts = Counter(row.tool for row in rows if row.tool is not None)
    learnt = tuple(name for name in tools if counts[name] >= ENOUGH)
    if len(rows) < FEWEST_ROWS or not learnt:
        raise DistillError(
            f"{len(rows)} usable rows, {len(learnt)} tools with {ENOUGH} or more: at least {FEWEST_ROWS} rows and one "
            "tool are needed"
        )
    prepared = prepare(rows, tools, encode, seed=seed, progress=progress)
    evidence = cross_fit(
        prepared,
        learnt,
        tools,
        options,
        alpha=alpha,
        delta=delta,
        new_share=new_share,
        seed=seed,
        progress=progress,
    )
    if progress is not None:
        progress("training", 0, 1)
    heads = fit_heads(prepared, range(len(rows)), learnt, tools, options, seed)
    models = (select_model(heads), tag_model(heads.tagger))
    threshold, spread = _zero_shot_threshold(rows, learnt, tools, zero_shot, alpha, delta, progress)
    return Trained(
        dict(tools),
        learnt,
        run_by_sessions(heads, *models),
        models,
        evidence,
        threshold,
        spread,
        options,
        new_share,
        seed,
        dict(settings or {}),
    )


def _zero_shot_threshold(
    rows: Sequence[Row],
    learnt: Sequence[str],
    tools: Mapping[str, ToolSpec],
    zero_shot: ZeroShot | None,
    alpha: float,
    delta: float,
    progress: Progress | None,
) -> tuple[float, tuple[int, int]]:
    """Its own calibration, on every row: the zero-shot caller was trained on none of them."""
    if zero_shot is None or len(learnt) == len(tools):
        return NEVER, (0, 0)
    scored: list[tuple[float, bool]] = []
    for number, row in enumerate(rows):
        if progress is not None:
            progress("calibrating the zero-shot caller", number, len(rows))
        proposal = zero_shot.propose(row.request)
        if proposal is None or proposal[0] in learnt:
            continue
        scored.append((proposal[2], not (proposal[0] == row.tool and same(proposal[1], dict(row.args)))))
    threshold = lowest_threshold(scored, alpha, delta)
    if threshold is None:
        return NEVER, (0, 0)
    given = [wrong for score, wrong in scored if score >= threshold]
    return threshold, (len(given), int(np.sum(given)))
