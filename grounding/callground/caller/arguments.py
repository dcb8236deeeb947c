"""Fills the arguments of a chosen tool out of a request.

Candidates of every parameter (`argument_candidates`) are weighed by their features (`argument_features`), among them
what the span head says, and chosen together (`argument_ranker`). Without the network the same ranker works on what
the text alone shows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callground.caller.argument_candidates import Candidate, candidates
from callground.caller.argument_features import NAMES, FeatureMaker
from callground.caller.argument_ranker import FILE, Choice, Ranker
from callground.caller.argument_senses import default_of
from callground.caller.argument_text import RequestText
from callground.caller.encoder import Encoder, EncoderUnavailable, default_model
from callground.caller.several_actions import several_actions, value_goes_on
from callground.caller.spans import ParameterScores
from callground.caller.tools import ToolSpec

if TYPE_CHECKING:
    from callground.caller.argument_features import Floats

LEAST_REQUIRED = 0.12
"""A required argument is taken at this probability though leaving it out is more probable; below, it is missing."""


@dataclass(frozen=True)
class FilledArguments:
    """The arguments of one call."""

    values: dict[str, Any]
    """Typed values by parameter; what is left to its default is not there."""
    missing: list[str]
    """Required parameters that the request says nothing of."""
    confidence: float
    """Estimated probability that the whole call is right, 0 to 1; 0 when something is missing."""
    reasons: dict[str, str]
    """For each parameter, where its value comes from or why it has none."""
    several_actions: bool = False
    """Whether the request asks for more than one call."""
    probabilities: dict[str, float] = field(default_factory=dict)
    """For each parameter the probability of what was chosen for it (leaving it out included)."""
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where in the request the values stand, for those that do."""


def fill(
    request: str, tool: ToolSpec, encoder: Encoder | None = None, scope: Sequence[str] | None = None
) -> FilledArguments:
    """The arguments that the request gives to the tool.

    Without an encoder, or where its span head cannot run, the text alone decides. `scope` lists identifiers that
    the request may name as they are; their spelling is kept. Raises RankerUnavailable where the ranker's weights are
    missing or do not belong to this version.
    """
    text = RequestText(request, tuple(scope or ()))
    scores = span_scores(text.text, tool, encoder)  # places in what is read of a long request
    options, rows = prepare(text, tool, scores)
    ranker = load_ranker(_ranker_path(encoder))
    choices = ranker.choose(options, rows)
    return filled(text, tool, choices, options, rows, ranker)


def span_scores(request: str, tool: ToolSpec, encoder: Encoder | None) -> dict[str, ParameterScores] | None:
    """The span head's answers, or None where it cannot run."""
    if encoder is None or not tool.args or not request.strip() or encoder.spans_available() is not None:
        return None
    try:
        return encoder.parameter_scores(request, tool)
    except EncoderUnavailable:
        return None


def prepare(
    text: RequestText, tool: ToolSpec, scores: Mapping[str, ParameterScores] | None
) -> tuple[dict[str, list[Candidate]], dict[str, Floats]]:
    """Candidates and their features, by parameter."""
    known = dict(scores or {})
    options = {arg.name: candidates(text, arg, known.get(arg.name)) for arg in tool.args}
    maker = FeatureMaker(text, tool, options, known)
    return options, {arg.name: maker.rows(arg.name) for arg in tool.args}


def _ranker_path(encoder: Encoder | None) -> Path:
    folder = encoder.path if encoder is not None and (encoder.path / FILE).is_file() else default_model()
    return folder / FILE


@lru_cache(maxsize=8)
def load_ranker(path: Path) -> Ranker:
    """The ranker of a model folder, read once. Raises RankerUnavailable."""
    return Ranker.load(path, NAMES)


def filled(
    text: RequestText,
    tool: ToolSpec,
    choices: Mapping[str, Choice],
    options: Mapping[str, list[Candidate]],
    rows: Mapping[str, Floats],
    ranker: Ranker,
) -> FilledArguments:
    """The call that the choices make."""
    values: dict[str, Any] = {}
    missing: list[str] = []
    reasons: dict[str, str] = {}
    spans: dict[str, tuple[int, int]] = {}
    probabilities: dict[str, float] = {}
    for arg in tool.args:
        choice = choices[arg.name]
        default = default_of(arg)
        if choice.candidate is None and arg.required and default is None:
            choice = _second(arg.name, choices, options, rows, ranker) or choice
        probabilities[arg.name] = choice.probability
        each = choice.candidate
        if each is None:
            if arg.required and default is None:
                missing.append(arg.name)
                reasons[arg.name] = "not said"
            else:
                reasons[arg.name] = "left to its default" if default is not None else "not said, not required"
        elif each.start < 0 and not arg.required and default is not None and each.value == default:
            reasons[arg.name] = "left to its default"
        else:
            values[arg.name] = each.value
            reasons[arg.name] = _reason(text, each)
            if each.start >= 0:
                spans[arg.name] = (each.start, each.end)
    taken = list(spans.values())
    many = several_actions(text, taken) or any(
        value_goes_on(text, values[name], end, taken)
        for name, (_, end) in spans.items()
        if not isinstance(values[name], (list, dict))
    )
    confidence = 0.0 if missing else whole_confidence(list(probabilities.values()), many, ranker.whole)
    return FilledArguments(values, missing, confidence, reasons, many, probabilities, spans)


def _second(
    name: str,
    choices: Mapping[str, Choice],
    options: Mapping[str, list[Candidate]],
    rows: Mapping[str, Floats],
    ranker: Ranker,
) -> Choice | None:
    """The best candidate of a required parameter whose words nobody else took, if it is worth taking."""
    logs = ranker.log_probabilities(rows[name])
    taken = [choice.candidate for other, choice in choices.items() if other != name and choice.candidate is not None]
    for at in sorted(range(len(options[name])), key=lambda index: -logs[index]):
        each = options[name][at]
        if math.exp(logs[at]) < LEAST_REQUIRED:
            return None
        if each.start < 0 or not any(each.start < other.end and other.start < each.end for other in taken):
            return Choice(each, math.exp(logs[at]))
    return None


def whole_confidence(probabilities: Sequence[float], several: bool, weights: Mapping[str, float]) -> float:
    """Probability that all choices are right: a logistic over their probabilities."""
    logs = [math.log(max(1e-6, probability)) for probability in probabilities]
    total = weights["bias"]
    total += weights["sum"] * sum(logs)
    total += weights["least"] * min(logs, default=0.0)
    total += weights["count"] * math.log1p(len(logs))
    total += weights["several"] * several
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def _reason(text: RequestText, each: Candidate) -> str:
    if each.start < 0:
        return "meant by the request" if each.kind in ("member", "boolean") else each.kind
    shown = text.text[each.start : each.end]
    note = {"fraction": ", as a fraction", "converted": ", converted", "formatted": ", in the form asked for"}.get(
        each.note, ""
    )
    return f"{shown!r} at {each.start}{note}"
