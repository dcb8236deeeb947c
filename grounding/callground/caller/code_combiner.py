"""The learned part of suggestions in code: features to one score a tool, and the sureness of the best one.

A small network over the features of one tool (one hidden layer), trained so that the softmax over the tools of a
place gives the called one (a conditional logit, McFadden 1974, with a hidden layer).  The gate is a logistic
regression over a few figures of the ranked list.  Both are plain numbers in ``combiner_code.json``; the threshold
of the gate and how it was found are in ``calibration_code.json``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from callground.caller.calibration import Calibration
from callground.caller.code_features import COUNT, FEATURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

COMBINER_FILE = "combiner_code.json"
CALIBRATION_FILE = "calibration_code.json"
ALPHA, DELTA = 0.2, 0.05
_NAMES = tuple(FEATURES)

RELATIVE = ("cosine", "overlap", "name said", "function alike", "words near", "arguments at hand")
"""Features that also count by how far they are below the best tool of the place."""

GATE = ("sure", "ahead", "spread", "cosine", "name said", "score", "reach")
"""What the gate looks at: the best tool's share of the softmax, its lead over the second, the entropy of the list,
three figures of the best tool, and whether it can be called from here."""
_RELATIVE_AT = tuple(_NAMES.index(name) for name in RELATIVE)
_COSINE, _SAID = _NAMES.index("cosine"), _NAMES.index("name said")
_REACH = tuple(_NAMES.index(name) for name in ("receiver", "receiver self", "class known", "imported", "same class"))
_FUNCTION, _SAME_FILE = _NAMES.index("is function"), _NAMES.index("same file")


class CombinerError(ValueError):
    """A file of the combiner that cannot be used; the text says why."""


@dataclass(frozen=True)
class Weights:
    """One trained network."""

    mean: Floats
    scale: Floats
    linear: Floats
    """(inputs,)."""
    hidden: Floats
    """(inputs, units)."""
    bias: Floats
    out: Floats
    """(units,)."""


class Reason(NamedTuple):
    """How much one feature lifts (or lowers) a tool above the mean of its list."""

    feature: str
    effect: float
    value: float


class CodeCombiner:
    """Ranks the tools of a place."""

    def __init__(self, weights: Sequence[Weights], gate: Floats, *, threshold: float = 2.0) -> None:
        self.weights = tuple(weights)
        """Networks whose scores are averaged."""
        self.gate = gate
        self.threshold = threshold
        """Sureness from which a suggestion may be shown unasked; above 1 for never."""

    @classmethod
    def read(cls, folder: Path, *, alpha: float = ALPHA, delta: float = DELTA) -> CodeCombiner:
        """The combiner of a model folder.  Raises CombinerError.

        Of what is shown unasked at most a share `alpha` is wrong, with confidence ``1 - delta``, as far as other
        code is like that of the calibration projects; nothing is shown where that cannot be had.
        """
        try:
            data = json.loads((folder / COMBINER_FILE).read_text("utf-8"))
            made = cls.from_json(data)
            record = Calibration.from_json(json.loads((folder / CALIBRATION_FILE).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CombinerError(f"the combiner in {folder} cannot be read: {error}") from None
        guarantee = record.guarantee(alpha, delta)
        if guarantee is not None:
            made.threshold = guarantee.threshold
        return made

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CodeCombiner:
        """The combiner that `to_json` has written.  Raises CombinerError for other features than ours."""
        import numpy as np

        if list(data["features"]) != list(_NAMES):
            raise CombinerError("it was made for other features")

        def table(value: Any) -> Floats:
            return np.asarray(value, dtype=np.float32)

        nets = [
            Weights(*(table(net[key]) for key in ("mean", "scale", "linear", "hidden", "bias", "out")))
            for net in data["networks"]
        ]
        return cls(nets, table(data["gate"]))

    def to_json(self) -> dict[str, Any]:
        """The numbers, for a file."""

        def plain(value: Floats) -> Any:
            import numpy as np

            return np.round(value.astype(float), 5).tolist()

        keys = ("mean", "scale", "linear", "hidden", "bias", "out")
        return {
            "features": list(_NAMES),
            "relative": list(RELATIVE),
            "gate features": list(GATE),
            "networks": [{key: plain(getattr(net, key)) for key in keys} for net in self.weights],
            "gate": plain(self.gate),
        }

    def scores(self, rows: Floats) -> Floats:
        """One score a tool: float32 of shape (tools,).  Their softmax is how likely each is."""
        import numpy as np

        inputs = expanded(rows)
        result: Floats = np.mean([_score(net, inputs) for net in self.weights], axis=0)
        return result

    def sureness(self, rows: Floats, scores: Floats) -> float:
        """How sure it is that the best tool is the right one, between 0 and 1."""
        import numpy as np

        if not len(scores):
            return 0.0
        value = float(gate_inputs(rows, scores) @ self.gate[:-1] + self.gate[-1])
        return float(1 / (1 + np.exp(-value)))

    def explain(self, rows: Floats, index: int, most: int = 8) -> list[Reason]:
        """What speaks for and against a tool: each feature put to its mean over the list, one at a time."""
        import numpy as np

        base = float(self.scores(rows)[index])
        means = rows.mean(axis=0)
        found: list[Reason] = []
        for at in range(COUNT):
            if rows[index, at] == means[at]:
                continue
            changed = rows.copy()
            changed[index, at] = means[at]
            effect = base - float(self.scores(changed)[index])
            if abs(effect) >= 0.05:
                found.append(Reason(_NAMES[at], round(effect, 2), round(float(np.float64(rows[index, at])), 2)))
        found.sort(key=lambda reason: -abs(reason.effect))
        return found[:most]


def expanded(rows: Floats) -> Floats:
    """The network's inputs: the features, and how far some of them are below the best of the list."""
    import numpy as np

    picked = rows[:, _RELATIVE_AT]
    best = picked.max(axis=0) if len(rows) else picked
    result: Floats = np.concatenate([rows, picked - best, (picked >= best).astype(np.float32)], axis=1)
    return result


def _score(net: Weights, inputs: Floats) -> Floats:
    import numpy as np

    x = (inputs - net.mean) * net.scale
    result: Floats = x @ net.linear + np.tanh(x @ net.hidden + net.bias) @ net.out
    return result


def softmax(scores: Floats) -> Floats:
    """Shares that add up to one."""
    import numpy as np

    shifted = np.exp(scores - scores.max())
    result: Floats = shifted / shifted.sum()
    return result


def gate_inputs(rows: Floats, scores: Floats) -> Floats:
    """What the gate looks at, in the order of `GATE`."""
    import numpy as np

    shares = softmax(scores)
    order = np.argsort(-scores, kind="stable")
    best = int(order[0])
    second = float(shares[order[1]]) if len(order) > 1 else 0.0
    entropy = float(-(shares * np.log(shares + 1e-9)).sum())
    row = rows[best]
    reach = bool(row[list(_REACH)].any()) or bool(row[_FUNCTION] and row[_SAME_FILE])
    return np.array(
        [
            float(shares[best]),
            float(shares[best]) - second,
            entropy / 4,
            float(row[_COSINE]),
            float(row[_SAID]),
            float(scores[best] - np.median(scores)) / 10,
            float(reach),
        ],
        dtype=np.float32,
    )
