"""The bundled caller for JSON tools: select, fill, decide, verify; one whole call, or nothing and why."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

from callground.caller.arguments import FilledArguments, fill
from callground.caller.calibration import ALPHA, DELTA, Calibration, CalibrationError, Guarantee
from callground.caller.encoder import Encoder
from callground.caller.gate import GATE_FILE, Gate, GateError, features
from callground.caller.selection import Combiner, Scored, ToolSet, combiner_of, rank
from callground.caller.tool_vectors import ToolVectors
from callground.caller.tools import ToolSpec, ToolSpecError
from callground.facts.store import Store
from callground.toolcalls import ToolCall, ground_call

CALIBRATION_FILE = "calibration.json"

KIND = "tools"
"""Name of this caller's record in the calibration file."""

SHOWN_CANDIDATES = 5

LEAST_CONFIDENCE = 0.5
"""Of the arguments, all together: below it, the call is more likely wrong than right."""

Filler = Callable[[str, ToolSpec, Encoder], FilledArguments]


class Why(Enum):
    """Why no call is given out."""

    NO_TOOLS = "no-tools"
    EMPTY_REQUEST = "empty-request"
    NOT_SURE = "not-sure"
    """The gate's score lies below the threshold."""
    NO_GUARANTEE = "no-guarantee"
    """The calibration proves no threshold for this `alpha` and `delta`."""
    SEVERAL_ACTIONS = "several-actions"
    MISSING_ARGUMENT = "missing-argument"
    UNSURE_ARGUMENTS = "unsure-arguments"
    """The arguments, all together, are more likely wrong than right."""
    NOT_GROUNDED = "not-grounded"
    """The call would not have passed the gate of `callground verify`."""


class Candidate(NamedTuple):
    """A tool that the request may mean."""

    tool: str
    score: float
    share: float
    """Of the softmax over all tools."""
    features: dict[str, float]


@dataclass(frozen=True)
class Explanation:
    """What the decision rests on."""

    candidates: tuple[Candidate, ...] = ()
    """The best tools, best first."""
    likely: tuple[str, ...] = ()
    """The right tool, where there is one, is among these with probability ``1 - alpha``."""
    weights: dict[str, float] = field(default_factory=dict)
    """Of the combiner."""
    gate: dict[str, float] = field(default_factory=dict)
    """The gate's features."""
    arguments: dict[str, str] = field(default_factory=dict)
    """For each parameter, where its value comes from or why it has none."""
    guarantee: Guarantee | None = None


@dataclass(frozen=True)
class Suggestion:
    """One call: it is grounded, and sure enough to be given out (or it was asked for)."""

    tool: str
    arguments: dict[str, Any]
    score: float
    """The gate's, from 0 to 1."""
    confidence: float
    """Estimated probability that the arguments are right, from 0 to 1."""
    missing: tuple[str, ...] = ()
    """Required arguments that the request does not say; only when asked for."""
    certain: bool = True
    """Whether it reaches the threshold and nothing is missing; only when asked for may it be otherwise."""
    explanation: Explanation = field(default_factory=Explanation)


@dataclass(frozen=True)
class Abstention:
    """No call, and why."""

    why: Why
    message: str
    score: float = 0.0
    explanation: Explanation = field(default_factory=Explanation)


class BundledCaller:
    """Suggests calls of a fixed list of tools.  Threads may share it.

    Raises ToolSpecError for two tools of one name, GateError and CalibrationError for damaged files by the model;
    `suggest` raises EncoderUnavailable where the network cannot run.
    """

    def __init__(
        self,
        tools: Sequence[ToolSpec],
        encoder: Encoder,
        *,
        alpha: float = ALPHA,
        delta: float = DELTA,
        store: Store | None = None,
        vectors: ToolVectors | None = None,
        filler: Filler = fill,
    ) -> None:
        names = [tool.name for tool in tools]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ToolSpecError(f"two tools are called `{twice[0]}`")
        self.tools = tuple(tools)
        self.encoder = encoder
        self.alpha = alpha
        self.delta = delta
        self.vectors = vectors or ToolVectors(encoder, store)
        self._set = ToolSet(self.tools, self.vectors)
        self._specs = {tool.name: tool.as_toolcall_spec() for tool in tools}
        self._filler = filler
        self._combiner: Combiner = combiner_of(encoder)
        self._gate = Gate.load(encoder.path / GATE_FILE)
        self.calibration = load_calibration(encoder.path, KIND)
        self.guarantee = self.calibration.guarantee(alpha, delta)

    def suggest(self, request: str, *, ask: bool = False) -> Suggestion | Abstention:
        """The call that the request means, or why there is none.

        With `ask` the best call comes also when it is not sure, or lacks required arguments: it then says so.
        """
        if not request.strip():
            return Abstention(Why.EMPTY_REQUEST, "the request is empty")
        if not self.tools:
            return Abstention(Why.NO_TOOLS, "there are no tools")
        ranked = rank(request, self._set, self.encoder, combiner=self._combiner)
        best = ranked[0]
        filled = self._filler(request, best.tool, self.encoder)
        seen = features(request, ranked, self.vectors, filled)
        score = self._gate.score(seen)
        explanation = self._explain(ranked, seen, filled)
        doubt = self._doubt(best.tool, filled, score)
        if doubt is not None and not ask:
            return Abstention(doubt[0], doubt[1], score, explanation)
        outcome = ground_call(ToolCall(best.tool.name, filled.values), self._specs)
        faults = [fault for fault in outcome.faults if not (ask and fault.code == "missing-argument")]
        if faults or (outcome.status == "abstained" and outcome.reason is not None):
            said = faults[0].message if faults else f"the arguments of `{best.tool.name}` cannot be judged"
            return Abstention(Why.NOT_GROUNDED, said, score, explanation)
        return Suggestion(
            best.tool.name,
            filled.values,
            score,
            filled.confidence,
            tuple(filled.missing),
            doubt is None,
            explanation,
        )

    def _doubt(self, tool: ToolSpec, filled: FilledArguments, score: float) -> tuple[Why, str] | None:
        """Why the call should not be given out."""
        if filled.several_actions:
            return Why.SEVERAL_ACTIONS, "the request asks for more than one call"
        if filled.missing:
            names = ", ".join(f"`{name}`" for name in filled.missing)
            return Why.MISSING_ARGUMENT, f"`{tool.name}` requires {names}, which the request does not say"
        if filled.confidence < LEAST_CONFIDENCE:
            return Why.UNSURE_ARGUMENTS, (
                f"the arguments of `{tool.name}` are more likely wrong than right ({filled.confidence:.2f})"
            )
        if self.guarantee is None:
            return Why.NO_GUARANTEE, (
                f"the calibration proves no threshold for alpha = {self.alpha:g} and delta = {self.delta:g}"
            )
        if score < self.guarantee.threshold:
            return Why.NOT_SURE, (
                f"no tool fits surely enough: {score:.3f} for `{tool.name}`, {self.guarantee.threshold:.3f} is needed"
            )
        return None

    def _explain(self, ranked: Sequence[Scored], seen: dict[str, float], filled: FilledArguments) -> Explanation:
        limit = self.calibration.conformal_limit(self.alpha)
        likely = [scored.tool.name for scored in ranked if 1 - scored.share <= limit]
        return Explanation(
            tuple(
                Candidate(scored.tool.name, scored.score, scored.share, dict(scored.features))
                for scored in ranked[:SHOWN_CANDIDATES]
            ),
            tuple(likely) if math.isfinite(limit) else (),
            dict(self._combiner.weights),
            seen,
            dict(filled.reasons),
            self.guarantee,
        )


def load_calibration(folder: Path, kind: str) -> Calibration:
    """One record of a model's calibration file.  Raises CalibrationError."""
    try:
        data = json.loads((folder / CALIBRATION_FILE).read_text("utf-8"))
        return Calibration.from_json(data[kind])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CalibrationError(f"{CALIBRATION_FILE}: {error}") from None


__all__ = [
    "Abstention",
    "BundledCaller",
    "CalibrationError",
    "Candidate",
    "Explanation",
    "GateError",
    "Suggestion",
    "Why",
    "load_calibration",
]
