"""Fits what stands on the encoder: the combiner, the gate, and the calibration record of the JSON tools.

Half of the right tools are the calibration's alone, with everything that was asked of them; the others fit the
combiner (conditional logit) and the gate (logistic regression).  Every source has the same weight in the fits.
"""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # pyright: ignore[reportMissingImports] - in the extra `training` only

from callground.caller import gate as gates
from callground.caller import selection
from callground.caller.arguments import fill
from callground.caller.bundled import CALIBRATION_FILE, KIND, Filler
from callground.caller.calibration import Calibration, Row, make_calibration, one_per_group
from callground.caller.encoder import Encoder
from callground.caller.gate import Gate
from callground.caller.selection import Combiner, ToolSet, rank
from callground.caller.tool_vectors import ToolVectors
from callground.caller.training.decisions import Decision, decisions

Matrix = NDArray[np.float64]

POOL = 40
"""Tools that the combiner has to tell the right one from."""

SHRINK_COMBINER = 0.01
SHRINK_GATE = 0.003
"""Weights of the squared sizes of standardized coefficients."""

ANSWERABLE = 0.6
"""Share of the calibration's requests whose tool is there."""

_EDGE = 0.005
"""Share of the rows that a feature's range leaves out at each end."""


class Judged(NamedTuple):
    """The gate's features of a row's best tool, and whether it was the right one."""

    row: Decision
    features: dict[str, float]
    right: bool
    nonconformity: float | None
    """1 less the right tool's share, where it is there."""


def is_calibration(row: Decision) -> bool:
    """Whether a row is left to the calibration: by the tool that it means, with all that is asked of it."""
    return zlib.crc32(f"{row.source}/{row.meant}".encode()) % 2 == 1


def decide(model: Path, sets: Path, packages: Path | None, target: Path, seed: int = 0) -> dict[str, Any]:
    """Fit on every source that is there, with the networks and the filling of arguments of one model folder."""
    rows = decisions(sets, packages, seed)
    return fit_all(rows, Encoder(model), target, fill, seed)


def fit_all(
    rows: Sequence[Decision], encoder: Encoder, target: Path, filler: Filler | None = None, seed: int = 0
) -> dict[str, Any]:
    """Fit everything, write the three files into `target`; figures of the calibration rows, for the card."""
    vectors = ToolVectors(encoder, cap=10**6)
    fitting = [row for row in rows if not is_calibration(row)]
    combiner = fit_combiner(fitting, vectors)
    harder = [*fitting, *hard_rows(fitting, vectors, combiner, random.Random(seed))]
    judged = judge(harder, vectors, combiner, filler)
    gate = fit_gate(judged)
    apart = judge([row for row in rows if is_calibration(row)], vectors, combiner, filler)
    calibration = calibrate(gate, judged, apart, seed)
    target.mkdir(parents=True, exist_ok=True)
    records_path = target / CALIBRATION_FILE
    records = json.loads(records_path.read_text("utf-8")) if records_path.is_file() else {}
    records[KIND] = calibration.to_json()
    for name, data in (
        (selection.COMBINER_FILE, combiner.to_json()),
        (gates.GATE_FILE, gate.to_json()),
        (CALIBRATION_FILE, records),
    ):
        (target / name).write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    return figures(gate, apart, calibration)


def fit_combiner(rows: Iterable[Decision], vectors: ToolVectors) -> Combiner:
    """The conditional logit of the right tool among its own and `POOL` alike."""
    names = tuple(selection.FEATURES)
    lists: list[tuple[Matrix, int, str]] = []
    for row in rows:
        if row.right is None:
            continue
        tools = [*row.tools, *(tool for tool in row.alike if tool not in row.tools)][: max(POOL, len(row.tools))]
        made = ToolSet(tools, vectors).features(row.request)
        lists.append((np.stack([made[name] for name in names], axis=1), row.right, row.source))
    every = np.concatenate([table for table, _, _ in lists])
    scale = every.std(axis=0) + 1e-9
    counts = Counter(source for _, _, source in lists)
    weighted = [(table / scale, right, 1 / (counts[source] * len(counts))) for table, right, source in lists]

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        total, slope = 0.0, np.zeros_like(weights)
        for table, right, weight in weighted:
            scores = table @ weights
            raised = np.exp(scores - scores.max())
            shares = raised / raised.sum()
            total -= weight * float(np.log(shares[right] + 1e-12))
            slope -= weight * (table[right] - shares @ table)
        return total + SHRINK_COMBINER * float(weights @ weights), slope + 2 * SHRINK_COMBINER * weights

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B").x / scale
    about = f"conditional logit on {len(lists)} requests ({_told(counts)})"
    return Combiner({name: float(weight) for name, weight in zip(names, found, strict=True)}, about)


def hard_rows(rows: Sequence[Decision], vectors: ToolVectors, combiner: Combiner, lot: random.Random) -> list[Decision]:
    """More rows without the right tool: among the nearest others, and among the tools of another source."""
    found: list[Decision] = []
    for row in rows:
        if row.right is None:
            continue
        if len(row.alike) > 4:
            near = rank(row.request, ToolSet(row.alike, vectors), vectors.encoder, combiner=combiner)
            # The very nearest may be right as well: it is left out.
            few = tuple(scored.tool for scored in near[1 : 1 + lot.choice((1, 2, 4))])
            found.append(row._replace(tools=few, right=None))
        other = lot.choice([each for each in rows if each.source != row.source] or list(rows))
        found.append(row._replace(tools=other.tools, right=None))
    return found


def judge(rows: Iterable[Decision], vectors: ToolVectors, combiner: Combiner, filler: Filler | None) -> list[Judged]:
    """What the gate will see of each row."""
    encoder = vectors.encoder
    judged: list[Judged] = []
    for row in rows:
        ranked = rank(row.request, ToolSet(row.tools, vectors), encoder, combiner=combiner)
        filled = filler(row.request, ranked[0].tool, encoder) if filler is not None else None  # type: ignore[arg-type] # the encoder is the one that the filler knows
        seen = gates.features(row.request, ranked, vectors, filled)
        share = next((1 - scored.share for scored in ranked if scored.index == row.right), None)
        judged.append(Judged(row, seen, ranked[0].index == row.right, share))
    return judged


def fit_gate(judged: Sequence[Judged], names: Sequence[str] | None = None) -> Gate:
    """Logistic regression of "the best tool is the right one"."""
    columns = [name for name in names or gates.FEATURES if all(name in each.features for each in judged)]
    table = np.array([[each.features[name] for name in columns] for each in judged])
    right = np.array([each.right for each in judged], float)
    low, high = np.quantile(table, _EDGE, axis=0), np.quantile(table, 1 - _EDGE, axis=0)
    table = np.clip(table, low, high)
    mean, scale = table.mean(axis=0), table.std(axis=0) + 1e-9
    table = (table - mean) / scale
    counts = Counter(each.row.source for each in judged)
    weight = np.array([1 / (counts[each.row.source] * len(counts)) for each in judged])

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        logit = table @ weights[1:] + weights[0]
        off = 1 / (1 + np.exp(-logit)) - right
        value = float(weight @ (np.logaddexp(0, logit) - right * logit))
        slope = np.concatenate([[weight @ off], table.T @ (weight * off) + 2 * SHRINK_GATE * weights[1:]])
        return value + SHRINK_GATE * float(weights[1:] @ weights[1:]), slope

    found = minimize(loss, np.zeros(len(columns) + 1), jac=True, method="L-BFGS-B").x
    plain = found[1:] / scale
    return Gate(
        {name: float(value) for name, value in zip(columns, plain, strict=True)},
        float(found[0] - plain @ mean),
        f"logistic regression on {len(judged)} rows ({_told(counts)}), {right.mean():.2f} of them right",
        {name: (float(first), float(last)) for name, first, last in zip(columns, low, high, strict=True)},
        {name: float(value) for name, value in zip(columns, mean, strict=True)},
    )


def calibrate(gate: Gate, fitted: Sequence[Judged], apart: Sequence[Judged], seed: int) -> Calibration:
    """The record of the choice of the tool: one request for each tool that is meant, none seen by the gate.

    `ANSWERABLE` of them have that tool.  Shortened requests are left out: a missing argument is refused apart.
    """
    lot = random.Random(seed)
    members: dict[tuple[str, str], list[Judged]] = {}
    for each in apart:
        if each.row.complete:
            members.setdefault((each.row.source, each.row.meant), []).append(each)
    chosen: list[Judged] = []
    for found in members.values():
        wanted = lot.random() < ANSWERABLE
        chosen.append(lot.choice([each for each in found if (each.row.right is not None) == wanted] or found))
    within = [each for found in members.values() for each in found if each.nonconformity is not None]
    again = one_per_group([(each.row.source, each.row.meant) for each in within], seed)
    counts = Counter(each.row.source for each in chosen)
    return make_calibration(
        [Row(gate.score(each.features), not each.right) for each in chosen],
        [gate.score(each.features) for each in fitted],
        about=f"one request for each of {len(chosen)} tools ({_told(counts)}), "
        f"{sum(each.row.right is None for each in chosen)} of them with the tool taken away",
        conformal=[within[place].nonconformity or 0.0 for place in again],
    )


def figures(gate: Gate, apart: Sequence[Judged], calibration: Calibration) -> dict[str, Any]:
    """Area under the ROC curve of the rows that no fit has seen, and the thresholds."""
    scores = np.array([gate.score(each.features) for each in apart])
    right = np.array([each.right for each in apart])
    thresholds = {
        f"alpha {alpha:g}": None if found is None else found._asdict()
        for alpha in (0.05, 0.1, 0.15, 0.2, 0.3)
        for found in [calibration.guarantee(alpha)]
    }
    return {"rows": len(apart), "area": area(scores[right], scores[~right]), **thresholds}


def area(positive: Matrix, negative: Matrix) -> float:
    """Area under the ROC curve, ties counting half."""
    order = np.sort(negative)
    below, upto = np.searchsorted(order, positive, "left"), np.searchsorted(order, positive, "right")
    return float((below + (upto - below) / 2).sum() / (len(positive) * len(negative)))


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{source} {count}" for source, count in sorted(counts.items()))
