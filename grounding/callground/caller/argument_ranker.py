"""Which candidate each parameter gets: a small learned network over features, and a joint choice over the parameters.

The network is a perceptron with one hidden layer; its outputs for the candidates of one parameter, and for leaving it
out, are the logits of one distribution (a conditional logit: McFadden 1974). The joint choice is a beam search that
pays for two parameters taking the same words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callground.caller.argument_candidates import Candidate
from callground.caller.encoder import EncoderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FILE = "combiner_arguments.json"
_BEAM = 12
_KEPT = 6
"""Candidates of a parameter that the joint choice looks at."""


class RankerUnavailable(EncoderUnavailable):
    """The ranker's file is missing or was made for other features; the message says which.

    It lies in the model folder beside the network: who reports a missing network reports this as well.
    """


@dataclass(frozen=True)
class Choice:
    """What a parameter gets: a candidate and its probability, or nothing and the probability of that."""

    candidate: Candidate | None
    probability: float


class Ranker:
    """The learned weights."""

    def __init__(
        self,
        names: Sequence[str],
        first: Floats,
        first_bias: Floats,
        second: Floats,
        overlap: float,
        whole: Mapping[str, float],
    ) -> None:
        self.names = tuple(names)
        self.first = first
        """(features, hidden)"""
        self.first_bias = first_bias
        self.second = second
        """(hidden + features,): the features also count directly."""
        self.overlap = overlap
        """What two parameters pay for the same words, in logits."""
        self.whole = dict(whole)
        """Weights of the logistic that turns the choices' probabilities into that of the whole call."""

    @classmethod
    def load(cls, path: Path, names: Sequence[str]) -> Ranker:
        """Reads a ranker; `names` are the features that it will be given. Raises RankerUnavailable."""
        import numpy as np

        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            ranker = cls(
                data["features"],
                np.array(data["first"], np.float32),
                np.array(data["first_bias"], np.float32),
                np.array(data["second"], np.float32),
                float(data["overlap"]),
                {key: float(value) for key, value in data["whole"].items()},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise RankerUnavailable(f"{path} cannot be read: {error}") from error
        if ranker.names != tuple(names) or ranker.first.shape[0] != len(names):
            raise RankerUnavailable(f"{path} was made for other features")
        return ranker

    def save(self, path: Path) -> None:
        """Writes it as JSON with five digits."""
        data = {
            "features": list(self.names),
            "first": [[round(float(x), 5) for x in row] for row in self.first],
            "first_bias": [round(float(x), 5) for x in self.first_bias],
            "second": [round(float(x), 5) for x in self.second],
            "overlap": self.overlap,
            "whole": self.whole,
        }
        path.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")

    def logits(self, rows: Floats) -> NDArray[np.floating[Any]]:
        """One logit a row of features."""
        import numpy as np

        hidden = np.maximum(rows @ self.first + self.first_bias, 0.0)
        return np.asarray(hidden @ self.second[: hidden.shape[1]] + rows @ self.second[hidden.shape[1] :])

    def log_probabilities(self, rows: Floats) -> NDArray[np.float64]:
        """Log probabilities of the candidates and, last, of leaving the parameter out."""
        import numpy as np

        logits = self.logits(rows).astype(np.float64)
        logits -= logits.max()
        return np.asarray(logits - np.log(np.exp(logits).sum()))

    def choose(self, options: Mapping[str, Sequence[Candidate]], rows: Mapping[str, Floats]) -> dict[str, Choice]:
        """The best choice for all parameters together."""
        lists: list[tuple[str, list[tuple[float, Candidate | None]]]] = []
        for name, found in options.items():
            logs = self.log_probabilities(rows[name])
            pairs: list[tuple[float, Candidate | None]] = [(float(logs[-1]), None)]
            pairs += [(float(logs[at]), each) for at, each in enumerate(found)]
            pairs.sort(key=lambda pair: -pair[0])
            lists.append((name, pairs[:_KEPT]))
        # The surest first: what they take is what the others find taken.
        lists.sort(key=lambda each: each[1][1][0] if len(each[1]) > 1 else -1e9)
        beam: list[tuple[float, list[tuple[str, float, Candidate | None]]]] = [(0.0, [])]
        for name, pairs in lists:
            grown = [
                (total + log - self._collisions(each, taken), [*taken, (name, log, each)])
                for total, taken in beam
                for log, each in pairs
            ]
            grown.sort(key=lambda state: -state[0])
            beam = grown[:_BEAM]
        chosen = {name: self._choice(log, each) for name, log, each in beam[0][1]}
        return {name: chosen[name] for name in options}

    @staticmethod
    def _choice(log: float, each: Candidate | None) -> Choice:
        import math

        return Choice(each, math.exp(log))

    def _collisions(self, each: Candidate | None, taken: Sequence[tuple[str, float, Candidate | None]]) -> float:
        if each is None or each.start < 0:
            return 0.0
        count = sum(
            other is not None and other.start >= 0 and other.start < each.end and each.start < other.end
            for _, _, other in taken
        )
        return self.overlap * count
