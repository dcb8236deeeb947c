"""Answer or abstain: how sure it is that the best call is the one that was asked for.

A logistic model over features that cost next to nothing once the tools are ranked and the arguments found.  It
is fitted on public requests with the right tool there, and with that tool taken away
(`callground.caller.training.decisions`); its output is a score to be calibrated, not a promise.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from callground.caller.lexical import request_words, sentences, stems, value_mentions, without_values
from callground.caller.tools import ToolParameter, ToolSpec, tool_text, words

if TYPE_CHECKING:
    from callground.caller.selection import Scored
    from callground.caller.tool_vectors import ToolVectors

GATE_FILE = "gate.json"

FEATURES = {
    "meaning": "cosine of request and best tool",
    "sentence": "the same for the sentence of the request that fits best",
    "meaning_margin": "how far the next tool's cosine lies below",
    "score": "the combiner's score of the best tool",
    "margin": "how far the next tool's score lies below",
    "share": "the best tool's share of the softmax",
    "said": "share of the request's words in the definition",
    "plain_said": "the same without what looks like a value",
    "name_said": "share of the words of the tool's name in the request",
    "name_letters": "share of the letter trigrams of the name in the request",
    "described": "share of the words of the description in the request",
    "name_meaning": "cosine of the request and the tool's name alone",
    "description_meaning": "cosine of the request and the description alone",
    "plain_meaning": "cosine of the tool and the request without what looks like a value",
    "parameter_meaning": "cosine of the request and the parameter that fits best",
    "parameters_meaning": "mean of that over the required parameters (over all, where none is)",
    "found": "share of the required parameters whose kind of value stands in the request",
    "numbers": "the same for those that want a number; one half where none does",
    "choices": "the same for those that want one value of an enum; one half where none does",
    "valued": "pieces of the request that look like values, for each required parameter, at most 1",
    "no_values": "1 when something is required and nothing in the request looks like a value",
    "nothing_required": "1 when the tool requires nothing",
    "required": "how many parameters are required, up to five, in fifths",
    "length": "words of the request, as a logarithm",
    "sentences": "sentences of the request, as a logarithm",
    "tools": "number of tools, as a logarithm",
    "missing": "share of the required parameters that no value was found for",
    "complete": "1 when none is missing",
    "confidence": "how sure the arguments are, all together",
}
"""What `--explain` shows, and what each feature is."""

_MOST_PARAMETERS = 8
_PARAMETER = 120
_DESCRIPTION = 300
"""Characters that are encoded."""


class Filled(Protocol):
    """What the gate looks at of the arguments that were found (`callground.caller.arguments.FilledArguments`)."""

    @property
    def missing(self) -> Sequence[str]:
        """Required parameters without a value."""
        ...

    @property
    def confidence(self) -> float:
        """Estimated probability that the arguments are right."""
        ...


class GateError(ValueError):
    """A gate file that cannot be used; the text says why."""


@dataclass(frozen=True)
class Gate:
    """Weights of the features, and a bias."""

    weights: Mapping[str, float]
    bias: float
    about: str = ""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Where the training rows lay: a feature outside is drawn to the border, for nothing was learned there."""
    typical: Mapping[str, float] = field(default_factory=dict)
    """What stands for a feature that could not be made."""

    def score(self, features: Mapping[str, float]) -> float:
        """Between 0 and 1, higher where the best tool is more likely the right one."""
        total = self.bias
        for name, weight in self.weights.items():
            value = features.get(name, self.typical.get(name, 0.0))
            low, high = self.ranges.get(name, (-math.inf, math.inf))
            total += weight * min(high, max(low, value))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))

    def to_json(self) -> dict[str, Any]:
        """The gate as plain data."""
        return {
            "about": self.about,
            "bias": round(self.bias, 5),
            "weights": {name: round(weight, 5) for name, weight in self.weights.items()},
            "ranges": {name: [round(low, 4), round(high, 4)] for name, (low, high) in self.ranges.items()},
            "typical": {name: round(value, 4) for name, value in self.typical.items()},
        }

    @classmethod
    def from_json(cls, data: object) -> Gate:
        """The gate out of plain data.  Raises GateError."""
        try:
            if not isinstance(data, Mapping):
                raise TypeError("not an object")
            weights = {str(name): float(weight) for name, weight in data["weights"].items()}
            ranges = {str(name): (float(low), float(high)) for name, (low, high) in data.get("ranges", {}).items()}
            typical = {str(name): float(value) for name, value in data.get("typical", {}).items()}
            bias = float(data["bias"])
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise GateError(f"a gate lacks or garbles a member: {error!r}") from None
        numbers = [bias, *weights.values(), *typical.values(), *(bound for pair in ranges.values() for bound in pair)]
        if not weights or not all(map(math.isfinite, numbers)):
            raise GateError("the weights of a gate must be numbers, at least one")
        return cls(weights, bias, str(data.get("about", "")), ranges, typical)

    @classmethod
    def load(cls, path: Path) -> Gate:
        """The gate of a file.  Raises GateError."""
        try:
            return cls.from_json(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise GateError(f"{path.name}: {error}") from None


def features(
    request: str, ranked: Sequence[Scored], vectors: ToolVectors, filled: Filled | None = None
) -> dict[str, float]:
    """Each feature of `FEATURES` for the first of `ranked`, which must not be empty.

    Those of the arguments are left out without `filled`.  Raises EncoderUnavailable.
    """
    best = ranked[0]
    tool = best.tool
    said = request_words(request)
    others = [scored.features.get("meaning", 0.0) for scored in ranked[1:]]
    described = set(stems(tool.description))
    definition = described | set(stems(tool.name))
    for arg in tool.args:
        definition |= {*stems(arg.name), *stems(arg.description)}
    required = [arg for arg in tool.args if arg.required]
    mentions = value_mentions(request)
    made = {
        **{name: best.features.get(name, 0.0) for name in ("meaning", "sentence", "said", "name_said", "name_letters")},
        "meaning_margin": best.features.get("meaning", 0.0) - max(others) if others else 0.2,
        "score": best.score,
        "margin": min(5.0, best.score - ranked[1].score) if len(ranked) > 1 else 2.0,
        "share": best.share,
        "plain_said": len(said.plain & definition) / max(1, len(said.plain)),
        "described": len(described & said.all) / max(1, len(described)),
        "valued": min(1.0, mentions / len(required)) if required else 1.0,
        "no_values": float(bool(required) and not mentions),
        "nothing_required": float(not required),
        "required": min(5, len(required)) / 5,
        "length": math.log1p(len(words(request).split())),
        "sentences": math.log1p(len(sentences(request))),
        "tools": math.log1p(len(ranked)),
    }
    if filled is not None:
        made["missing"] = len(filled.missing) / max(1, len(required))
        made["complete"] = float(not filled.missing)
        made["confidence"] = filled.confidence
    return {**made, **_meanings(request, tool, required, vectors), **_kinds_found(request, required)}


def _meanings(
    request: str, tool: ToolSpec, required: Sequence[ToolParameter], vectors: ToolVectors
) -> dict[str, float]:
    shown = (required or tool.args)[:_MOST_PARAMETERS]
    description = tool.description.strip()[:_DESCRIPTION]
    texts = [tool_text(tool), words(tool.name), description or tool_text(tool)]
    texts += [f"{words(arg.name)}: {arg.description[:_PARAMETER]}" for arg in shown]
    known = vectors.of(texts)
    plain = without_values(request).strip() or request
    asked = vectors.of_requests([request, plain])
    cosines = known @ asked[0]
    parameters = [float(cosine) for cosine in cosines[3:]] or [0.2]
    return {
        "name_meaning": float(cosines[1]),
        "description_meaning": float(cosines[2]),
        "plain_meaning": float(known[0] @ asked[1]),
        "parameter_meaning": max(parameters),
        "parameters_meaning": sum(parameters) / len(parameters),
    }


def _kinds_found(request: str, required: Sequence[ToolParameter]) -> dict[str, float]:
    """Whether the request holds at all what the required parameters want, by their kind."""
    lowered = request.lower()
    counted = any(f" {word} " in f" {lowered} " for word in _COUNTS)
    has_number = counted or any(letter.isdigit() for letter in request)
    numbers = [has_number for arg in required if arg.type in ("integer", "number")]
    choices = [any(str(value).lower() in lowered for value in arg.enum) for arg in required if arg.enum]
    other = max(0, len(required) - len(numbers) - len(choices))
    return {
        "found": (sum(numbers) + sum(choices) + other) / max(1, len(numbers) + len(choices) + other),
        "numbers": sum(numbers) / len(numbers) if numbers else 0.5,
        "choices": sum(choices) / len(choices) if choices else 0.5,
    }


_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "dozen", "hundred", "half")
