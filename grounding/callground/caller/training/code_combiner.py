"""Fit the ranking and the gate of suggestions in code, and say what they reach.

The ranking is a conditional logit with one hidden layer (McFadden 1974): over the tools of a place, the softmax of
their scores should give the tool that was called.  Adam (Kingma and Ba 2015), numpy alone; seeds are fixed.

The gate is a logistic regression: is the best tool the right one?  `code_fit` puts both together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from callground.caller.code_combiner import GATE, CodeCombiner, Weights, expanded, gate_inputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class PlaceRows(NamedTuple):
    """The features of one place's tools, and which of them was called."""

    project: str
    rows: Floats
    """(tools, features)."""
    called: int
    """Place in `rows`; -1 where something else was called."""
    found: bool = True
    """Whether the called tool was among the candidates by itself; else it was added for the fit."""


class Reached(NamedTuple):
    """How often the called tool was first, and among the first five."""

    first: float
    in_five: float
    places: int


@dataclass
class _Batch:
    inputs: Floats
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    called: NDArray[np.int64]
    """Index into `inputs`."""


def fit(
    places: Sequence[PlaceRows],
    *,
    hidden: int = 16,
    epochs: int = 25,
    rate: float = 3e-3,
    decay: float = 1e-2,
    dropped: Sequence[int] = (),
    seed: int = 0,
) -> Weights:
    """One network.  `dropped` are features that it does not get to see."""
    random = np.random.default_rng(seed)
    used = [place for place in places if place.called >= 0]
    tables = [expanded(_without(place.rows, dropped)) for place in used]
    every = np.concatenate(tables)
    mean = every.mean(axis=0)
    deviation = every.std(axis=0)
    scale = np.where(deviation > 1e-6, 1 / np.maximum(deviation, 1e-6), 0.0)
    tables = [(table - mean) * scale for table in tables]
    width = every.shape[1]
    parameters = {
        "linear": np.zeros(width),
        "hidden": random.normal(0, 0.3 / math.sqrt(width), (width, hidden)),
        "bias": np.zeros(hidden),
        "out": random.normal(0, 0.3 / math.sqrt(hidden), hidden),
    }
    moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in parameters.items()}
    step = 0
    size = 64
    total = epochs * math.ceil(len(used) / size)
    for _ in range(epochs):
        order = random.permutation(len(used))
        for start in range(0, len(order), size):
            batch = _batch(
                [tables[i] for i in order[start : start + size]], [used[i].called for i in order[start : start + size]]
            )
            gradients = _gradients(parameters, batch, decay)
            step += 1
            now = rate * 0.5 * (1 + math.cos(math.pi * step / total)) + 1e-5
            for name, gradient in gradients.items():
                first, second = moments[name]
                first += 0.1 * (gradient - first)
                second += 0.001 * (gradient * gradient - second)
                grown = first / (1 - 0.9**step)
                spread = second / (1 - 0.999**step)
                parameters[name] -= now * grown / (np.sqrt(spread) + 1e-8)
    made = {name: value.astype(np.float32) for name, value in parameters.items()}
    return Weights(mean.astype(np.float32), scale.astype(np.float32), **made)


def _without(rows: Floats, dropped: Sequence[int]) -> Floats:
    if not dropped:
        return rows
    copy = rows.copy()
    copy[:, list(dropped)] = 0.0
    return copy


def _batch(tables: Sequence[Floats], called: Sequence[int]) -> _Batch:
    lengths = np.array([len(table) for table in tables])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return _Batch(np.concatenate(tables), starts, lengths, starts + np.array(called))


def _gradients(parameters: dict[str, Any], batch: _Batch, decay: float) -> dict[str, Any]:
    x = batch.inputs
    inside = np.tanh(x @ parameters["hidden"] + parameters["bias"])
    scores = x @ parameters["linear"] + inside @ parameters["out"]
    peaks = np.maximum.reduceat(scores, batch.starts)
    shares = np.exp(scores - np.repeat(peaks, batch.lengths))
    shares /= np.repeat(np.add.reduceat(shares, batch.starts), batch.lengths)
    shares[batch.called] -= 1.0
    shares /= len(batch.starts)
    back = np.outer(shares, parameters["out"]) * (1 - inside * inside)
    return {
        "linear": x.T @ shares + decay * parameters["linear"],
        "hidden": x.T @ back + decay * parameters["hidden"],
        "bias": back.sum(axis=0),
        "out": inside.T @ shares + decay * parameters["out"],
    }


# -- how good it is


def reached(combiner: CodeCombiner, places: Iterable[PlaceRows], *, dropped: Sequence[int] = ()) -> Reached:
    """First and first five, over the places where a tool of the list was called."""
    first = five = count = 0
    for place in places:
        if place.called < 0:
            continue
        count += 1
        if not place.found:
            continue
        scores = combiner.scores(_without(place.rows, dropped))
        rank = int((scores > scores[place.called]).sum())
        first += rank == 0
        five += rank < 5
    return Reached(first / max(1, count), five / max(1, count), count)


# -- the gate


class Decision(NamedTuple):
    """The best tool of one place, as the gate sees it."""

    project: str
    inputs: Floats
    right: bool


def decisions(combiner: CodeCombiner, places: Iterable[PlaceRows]) -> list[Decision]:
    """What the gate has to decide about; places where something else was called are wrong whatever is shown."""
    found: list[Decision] = []
    for place in places:
        rows = place.rows if place.found or place.called < 0 else np.delete(place.rows, place.called, axis=0)
        if not len(rows):
            continue
        scores = combiner.scores(rows)
        right = place.found and place.called >= 0 and int(np.argmax(scores)) == place.called
        found.append(Decision(place.project, gate_inputs(rows, scores), right))
    return found


def fit_gate(rows: Sequence[Decision], *, rounds: int = 400, decay: float = 1e-3) -> Floats:
    """Logistic regression by Newton's method; the last number is the constant."""
    x = np.array([[*row.inputs, 1.0] for row in rows], dtype=float)
    y = np.array([row.right for row in rows], dtype=float)
    weights = np.zeros(x.shape[1])
    ridge = np.eye(x.shape[1]) * decay * len(rows)
    ridge[-1, -1] = 0.0
    for _ in range(min(rounds, 50)):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - y) + ridge @ weights
        curvature = (x * (p * (1 - p))[:, None]).T @ x + ridge + 1e-9 * np.eye(x.shape[1])
        change = np.linalg.solve(curvature, gradient)
        weights -= change
        if float(np.abs(change).max()) < 1e-7:
            break
    assert len(weights) == len(GATE) + 1
    return weights.astype(np.float32)


def sureness(combiner: CodeCombiner, decision: Decision) -> float:
    """The gate's figure for a decision, between 0 and 1."""
    value = float(decision.inputs @ combiner.gate[:-1] + combiner.gate[-1])
    return 1 / (1 + math.exp(-value))
