"""Answer or abstain: BFCL's requests with its irrelevant ones, by the caller that ships.

    pip download --no-deps bfcl-eval
    python tests/bench/caller/decisions.py bfcl_eval-*.whl [--model FOLDER] [--splits 40]

Printed are the choice of the tool, the area under the ROC curve of the gate, and, for the live requests (the
irrelevant ones are 40 % of them), how often the answered are wrong: with the threshold that ships, and with thresholds learnt
on one half of BFCL and tried on the other, no list of tools standing on both sides.  A call that lacks a required
argument, or a request for several actions, counts as not answered.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from requests_of_bfcl import Request, load

from callground.caller.arguments import fill
from callground.caller.bundled import KIND, load_calibration
from callground.caller.calibration import Calibration, Row
from callground.caller.encoder import Encoder, default_model
from callground.caller.gate import GATE_FILE, Gate, features
from callground.caller.selection import ToolSet, rank
from callground.caller.tool_vectors import ToolVectors

ANSWERABLE = ("simple_python", "multiple")
LIVE = ("live_simple", "live_multiple")


class Seen(NamedTuple):
    """What came of one request."""

    score: float
    """Of the gate."""
    held_back: bool
    """An argument is missing, or there are several actions."""
    right: bool
    answerable: bool
    tools: tuple[str, ...]


def look(requests: Sequence[Request], vectors: ToolVectors, encoder: Encoder, gate: Gate) -> list[Seen]:
    """Every request through selection, arguments and gate."""
    seen = []
    for request in requests:
        ranked = rank(request.text, ToolSet(request.tools, vectors), encoder)
        filled = fill(request.text, ranked[0].tool, encoder)
        score = gate.score(features(request.text, ranked, vectors, filled))
        held_back = bool(filled.missing or filled.several_actions)
        right = request.gold is not None and ranked[0].tool.name == request.gold
        names = tuple(sorted(tool.name for tool in request.tools))
        seen.append(Seen(score, held_back, right, request.gold is not None, names))
    return seen


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Area under the ROC curve, ties counting half."""
    order = np.sort(negative)
    below, upto = np.searchsorted(order, positive, "left"), np.searchsorted(order, positive, "right")
    return float((below + (upto - below) / 2).sum() / (len(positive) * len(negative)))


def answered(rows: Sequence[Seen], threshold: float) -> tuple[float, float]:
    """Share of wrong tools among the answered, and share of the answerable that are answered."""
    given = [row for row in rows if not row.held_back and row.score >= threshold]
    wrong = sum(not row.right for row in given) / len(given) if given else float("nan")
    return wrong, sum(row.answerable for row in given) / sum(row.answerable for row in rows)


def learnt(rows: Sequence[Seen], shipped: Calibration, alpha: float, splits: int) -> str:
    """Thresholds of the shipped grid, learnt on half of the lists of tools and tried on the others."""
    wrong, coverage, none = [], [], 0
    for seed in range(splits):
        lists = sorted({row.tools for row in rows})
        random.Random(seed).shuffle(lists)
        half = set(lists[: len(lists) // 2])
        calibration = [Row(0.0 if row.held_back else row.score, not row.right) for row in rows if row.tools in half]
        found = Calibration(tuple(calibration), shipped.grid, shipped.starts).guarantee(alpha)
        if found is None:
            none += 1
            coverage.append(0.0)
            continue
        error, share = answered([row for row in rows if row.tools not in half], found.threshold)
        wrong.append(error)
        coverage.append(share)
    over = sum(error > alpha for error in wrong) / splits
    return (
        f"wrong {np.mean(wrong):.3f}, answered {np.mean(coverage):.3f}, over alpha in {over:.2f} of {splits} splits, "
        f"no threshold in {none}"
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--model", type=Path, default=default_model())
    parser.add_argument("--splits", type=int, default=40)
    options = parser.parse_args()
    encoder = Encoder(options.model)
    vectors, gate = ToolVectors(encoder), Gate.load(options.model / GATE_FILE)
    shipped = load_calibration(options.model, KIND)
    names = (*ANSWERABLE, "irrelevance", *LIVE, "live_irrelevance")
    seen = {name: look(load(options.wheel, name), vectors, encoder, gate) for name in names}
    for positive, negative in ((ANSWERABLE, "irrelevance"), (LIVE, "live_irrelevance")):
        scores = [row.score for name in positive for row in seen[name]]
        print(f"{negative}: area {area(scores, [row.score for row in seen[negative]]):.3f}")
    for name in ("multiple", "live_multiple"):
        rows = [row for row in seen[name] if len(row.tools) > 1]
        print(f"{name}: right tool {np.mean([row.right for row in rows]):.3f} of {len(rows)}")
    live = [row for name in (*LIVE, "live_irrelevance") for row in seen[name]]
    for alpha in (0.05, 0.1, 0.2):
        found = shipped.guarantee(alpha)
        told = "none" if found is None else "wrong {:.3f}, answered {:.3f}".format(*answered(live, found.threshold))
        print(f"alpha {alpha:g}: shipped threshold: {told}; learnt: {learnt(live, shipped, alpha, options.splits)}")


if __name__ == "__main__":
    main()
