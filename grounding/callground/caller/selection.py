"""Which tool a request means: similarity of meaning joined with the words of the definitions.

Each tool has a few features, each between 0 and 1 or nearly so; its score is their weighted sum (`Combiner`),
so every score can be taken apart again.  The weights are learned from public requests
(`callground.caller.training.decisions`), as the conditional logit of choosing the right tool out of a list
(McFadden 1974).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callground.caller.lexical import LexicalIndex, RequestWords, request_words, sentences
from callground.caller.tool_vectors import TextEncoder, ToolVectors
from callground.caller.tools import ToolSpec, tool_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEATURES = {
    "meaning": "cosine of request and tool text",
    "sentence": "the same for the one sentence of the request that fits best",
    "said": "share of the request's words that stand anywhere in the definition",
    "name_said": "share of the words of the tool's name that stand in the request",
    "name_letters": "share of the letter trigrams of the tool's name that stand in the request",
    "choice_said": "a value of one of its enums stands in the request",
}
"""What `--explain` shows, and what each feature is."""

COMBINER_FILE = "combiner_tools.json"

_MOST_SENTENCES = 4


class CombinerError(ValueError):
    """A combiner file that cannot be used; the text says why."""


@dataclass(frozen=True)
class Combiner:
    """The weight of each feature."""

    weights: Mapping[str, float]
    about: str = ""
    """How it was fitted, for people."""

    def scores(self, features: Mapping[str, Floats], count: int) -> Floats:
        """The weighted sum for each of `count` tools.  A feature that is not given counts 0."""
        import numpy as np

        total = np.zeros(count)
        for name, weight in self.weights.items():
            if name in features:
                total += weight * features[name]
        return total

    def to_json(self) -> dict[str, Any]:
        """The combiner as plain data."""
        return {"about": self.about, "weights": {name: round(weight, 4) for name, weight in self.weights.items()}}

    @classmethod
    def from_json(cls, data: object) -> Combiner:
        """The combiner out of plain data.  Raises CombinerError."""
        weights = data.get("weights") if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(weights, Mapping):
            raise CombinerError("a combiner is a JSON object with `weights`")
        try:
            read = {str(name): float(weight) for name, weight in weights.items()}
        except (TypeError, ValueError) as error:
            raise CombinerError(f"a weight is no number: {error}") from None
        if not read or not all(map(math.isfinite, read.values())):
            raise CombinerError("the weights of a combiner must be numbers, at least one")
        return cls(read, str(data.get("about", "")))

    @classmethod
    def load(cls, path: Path) -> Combiner:
        """The combiner of a file.  Raises CombinerError."""
        try:
            return cls.from_json(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError) as error:
            raise CombinerError(f"{path.name}: {error}") from None


DEFAULT = Combiner({"meaning": 2.0, "said": 1.0, "name_said": 0.3}, "by hand, where no fitted one lies by the model")


@dataclass(frozen=True)
class Scored:
    """One tool and how well it fits."""

    index: int
    tool: ToolSpec
    score: float
    share: float
    """Of the softmax over all tools that were ranked, from 0 to 1."""
    features: Mapping[str, float]


class ToolSet:
    """A list of tools, made ready for requests: vectors and words are looked up once."""

    def __init__(self, tools: Sequence[ToolSpec], vectors: ToolVectors) -> None:
        self.tools = tuple(tools)
        self.vectors = vectors
        self.lexical = LexicalIndex(self.tools)
        self._texts = [tool_text(tool) for tool in self.tools]
        self._matrix: Any = None

    @property
    def matrix(self) -> Any:
        """The vectors of the tools, float32 of shape (tools, width).  Raises EncoderUnavailable."""
        if self._matrix is None:
            self._matrix = self.vectors.of(self._texts)
        return self._matrix

    def features(self, request: str, words: RequestWords | None = None) -> dict[str, Floats]:
        """Each feature of `FEATURES` for every tool, shape (tools,).  Raises EncoderUnavailable."""
        said = words or request_words(request)
        parts = sentences(request)
        parts = parts[: _MOST_SENTENCES - 1] + parts[-1:] if len(parts) > _MOST_SENTENCES else parts
        rows = self.vectors.of_requests([request, *(parts if len(parts) > 1 else [])])
        cosines = (self.matrix @ rows.T).astype(float)
        return {
            "meaning": cosines[:, 0],
            "sentence": cosines[:, 1:].max(axis=1) if cosines.shape[1] > 1 else cosines[:, 0],
            "said": self.lexical.said(said),
            "name_said": self.lexical.name_said(said),
            "name_letters": self.lexical.name_letters(said),
            "choice_said": self.lexical.choice_said(said),
        }


def rank(
    request: str,
    tools: Sequence[ToolSpec] | ToolSet,
    encoder: TextEncoder,
    context: Mapping[str, Floats] | None = None,
    combiner: Combiner | None = None,
) -> list[Scored]:
    """The tools, the best fitting first.

    `context` are further features, one number a tool, for a combiner that knows them.  Without `combiner` the
    one beside the encoder's model is used.  Raises EncoderUnavailable.
    """
    import numpy as np

    toolset = tools if isinstance(tools, ToolSet) else ToolSet(tools, ToolVectors(encoder))
    if not toolset.tools:
        return []
    features = {**toolset.features(request), **(context or {})}
    scores = (combiner or combiner_of(encoder)).scores(features, len(toolset.tools))
    raised = np.exp(scores - scores.max())
    shares = raised / raised.sum()
    order = np.argsort(-scores, kind="stable")
    return [
        Scored(
            int(place),
            toolset.tools[place],
            float(scores[place]),
            float(shares[place]),
            {name: round(float(values[place]), 4) for name, values in features.items()},
        )
        for place in order
    ]


def combiner_of(encoder: TextEncoder) -> Combiner:
    """The combiner that lies beside a model; one made by hand where there is none or it is damaged."""
    path = encoder.path / COMBINER_FILE
    known = _LOADED.get(path)
    if known is None:
        try:
            known = Combiner.load(path) if path.is_file() else DEFAULT
        except CombinerError:
            known = DEFAULT
        _LOADED[path] = known
    return known


_LOADED: dict[Path, Combiner] = {}
