"""Small linear heads: how they are trained (numpy alone) and how they lie on disk (ONNX).

scikit-learn would bring scipy with it, 150 MB and half a second of imports for two convex objectives, and torch a
gigabyte: limited-memory BFGS (Liu and Nocedal 1989) is forty lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

Objective = Callable[["Floats"], "tuple[float, Floats]"]
"""Parameters -> (value, gradient)."""


def minimise(
    objective: Objective, start: Floats, *, steps: int = 100, memory: int = 8, tolerance: float = 1e-4
) -> Floats:
    """The minimum of a smooth convex function, by L-BFGS with backtracking (Armijo) line search.

    Stops after `steps` iterations, or when no component of the gradient is larger than `tolerance`.
    """
    x: Floats = start.copy()
    value, gradient = objective(x)
    moves: list[tuple[Floats, Floats, float]] = []
    for _ in range(steps):
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            break
        direction = _direction(gradient, moves)
        slope = float(gradient @ direction)
        if slope >= 0:  # rounding has spoilt the curvature: begin again from the gradient
            moves.clear()
            direction, slope = -gradient, -float(gradient @ gradient)
        size = 1.0 if moves else min(1.0, 1.0 / float(np.abs(gradient).sum()))
        for _ in range(30):
            there = x + size * direction
            new_value, new_gradient = objective(there)
            if new_value <= value + 1e-4 * size * slope:
                break
            size *= 0.5
        else:
            break
        step, change = there - x, new_gradient - gradient
        curvature = float(step @ change)
        if curvature > 1e-12:
            moves.append((step, change, 1.0 / curvature))
            del moves[:-memory]
        x, value, gradient = there, new_value, new_gradient
    return x


def _direction(gradient: Floats, moves: list[tuple[Floats, Floats, float]]) -> Floats:
    out: Floats = -gradient
    shares = []
    for step, change, scale in reversed(moves):
        share = scale * float(step @ out)
        out = out - share * change
        shares.append(share)
    if moves:
        step, change, scale = moves[-1]
        out = out / (scale * float(change @ change))
    for (step, change, scale), share in zip(moves, reversed(shares), strict=True):
        out = out + (share - scale * float(change @ out)) * step
    return out


def softmax(scores: Floats) -> Floats:
    """Rows of `scores` as probabilities."""
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out: Floats = np.asarray(shifted / shifted.sum(axis=-1, keepdims=True), dtype=float)
    return out


def fit_softmax(
    features: Floats,
    classes: NDArray[np.int64],
    count: int,
    *,
    strength: float = 1.0,
    weights: Floats | None = None,
    steps: int = 100,
) -> Floats:
    """Multinomial logistic regression with an L2 penalty of 1 / (2 * `strength`) on all but the bias.

    `features` has shape (n, d); the answer (d + 1, `count`), its last row the bias. `weights` are per row.
    """
    n, d = features.shape
    each = np.ones(n) if weights is None else weights
    target = np.zeros((n, count))
    target[np.arange(n), classes] = 1.0

    def objective(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(d + 1, count)
        scores = features @ w[:d] + w[d]
        top = scores.max(axis=1, keepdims=True)
        logs = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
        off = (np.exp(logs) - target) * each[:, None]
        gradient = np.empty_like(w)
        gradient[:d] = features.T @ off + w[:d] / strength
        gradient[d] = off.sum(axis=0)
        loss = -float((each * logs[np.arange(n), classes]).sum()) + 0.5 * float((w[:d] ** 2).sum()) / strength
        return loss, gradient.ravel()

    return minimise(objective, np.zeros((d + 1) * count), steps=steps, tolerance=1e-3).reshape(d + 1, count)


def kernel(vectors: Floats, others: Floats, width: float) -> Floats:
    """How alike unit vectors are: exp((cosine - 1) / `width`), of shape (len(vectors), len(others))."""
    out: Floats = np.exp((vectors @ others.T - 1.0) / width)
    return out


def fit_kernel(basis: Floats, targets: Floats, weights: Floats, *, width: float, ridge: float) -> Floats:
    """Kernel ridge regression of `targets` (n, classes): the weights (n, classes) of the basis vectors.

    Regularised least-squares classification (Rifkin, Yeo and Poggio 2003): as good as a logistic regression here, in
    one step, and far from every example all of its scores fall to 0, which is what tells a strange request.
    Row i counts `weights[i]` times.
    """
    out: Floats = np.linalg.solve(kernel(basis, basis, width) + ridge * np.diag(1.0 / weights), targets)
    return out
