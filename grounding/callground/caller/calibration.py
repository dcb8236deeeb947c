"""From scores to a promise: where to answer so that the answers are rarely wrong, and how sure that is.

Two promises, both without assumptions about the scores, both about requests like those of the calibration:

- *Selective risk*: among the calls that are given out at most `alpha` are wrong, and the statement holds with
  probability `1 - delta` over the calibration rows.  "Learn then test" (Angelopoulos, Bates, Candès, Jordan, Lei
  2021) with fixed-sequence tests; each test is the exact one-sided binomial (Clopper and Pearson 1934).
- *Candidate sets*: the right tool, where there is one, is in the set with probability `1 - alpha` (split
  conformal prediction: Vovk, Gammerman, Shafer 2005).

Rows of one group (the same tools, near-duplicate texts) are not independent: one row stands for each group.
"""

from __future__ import annotations

import math
import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

ALPHA = 0.1
"""Share of wrong calls among those given out, unless a setting says otherwise."""

DELTA = 0.05
"""Probability that the calibration rows were lucky and the promise does not hold."""

GRID = 40
"""Thresholds that are tested."""

STARTS = (0.15,)
"""Where the sequences of tests begin, as shares of the development rows that would be answered.

Stricter thresholds leave too few rows to prove anything, and every further sequence takes its part of `delta`."""


class CalibrationError(ValueError):
    """A calibration record that cannot be used; the text says why."""


class Row(NamedTuple):
    """One request of the calibration."""

    score: float
    """How sure the gate was of the best call."""
    wrong: bool
    """Whether giving that call out would have been a mistake."""


class Guarantee(NamedTuple):
    """A threshold and what is known of it."""

    threshold: float
    """A call is given out when its score reaches this."""
    alpha: float
    delta: float
    answered: int
    """Calibration rows that reach the threshold."""
    wrong: int
    bound: float
    """Upper end of the exact one-sided interval of the error, at the level that this test was given."""
    coverage: float
    """Share of the calibration rows that reach the threshold."""


@dataclass(frozen=True)
class Calibration:
    """The calibration record of one kind of tools: enough to find the threshold for any `alpha` and `delta`."""

    rows: tuple[Row, ...]
    grid: tuple[float, ...]
    """The thresholds to test, strictest first.  They come from other rows than `rows`, or the tests mean nothing."""
    starts: tuple[int, ...]
    """Places in `grid` where a sequence of tests begins."""
    about: str = ""
    """Which data this is, for people."""
    conformal: tuple[float, ...] = ()
    """Nonconformity of the right tool in each row that has one, sorted: 1 less its share of the softmax."""

    def guarantee(self, alpha: float = ALPHA, delta: float = DELTA) -> Guarantee | None:
        """The lowest threshold that the tests allow, or None when they allow none: then nothing is given out."""
        return learn_then_test(self.rows, self.grid, self.starts, alpha, delta)

    def conformal_limit(self, alpha: float = ALPHA) -> float:
        """Nonconformity up to which a tool belongs to the candidates; infinite when there are too few rows."""
        return conformal_quantile(self.conformal, alpha)

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        return {
            "about": self.about,
            "scores": [round(row.score, 6) for row in self.rows],
            "wrong": [int(row.wrong) for row in self.rows],
            "grid": [round(threshold, 6) for threshold in self.grid],
            "starts": list(self.starts),
            "conformal": [round(value, 6) for value in self.conformal],
        }

    @classmethod
    def from_json(cls, data: object) -> Calibration:
        """The record out of plain data.  Raises CalibrationError."""
        if not isinstance(data, Mapping):
            raise CalibrationError("a calibration record is a JSON object")
        try:
            scores = [float(score) for score in data["scores"]]
            wrong = [bool(value) for value in data["wrong"]]
            grid = tuple(float(threshold) for threshold in data["grid"])
            starts = tuple(int(start) for start in data["starts"])
            conformal = tuple(sorted(float(value) for value in data.get("conformal", ())))
        except (KeyError, TypeError, ValueError) as error:
            raise CalibrationError(f"a calibration record lacks or garbles a member: {error!r}") from None
        if len(scores) != len(wrong) or list(grid) != sorted(grid, reverse=True):
            raise CalibrationError("a calibration record contradicts itself")
        if not all(math.isfinite(number) for number in (*scores, *grid, *conformal)):
            raise CalibrationError("a calibration record holds a number that is none")
        if not all(0 <= start < len(grid) for start in starts):
            raise CalibrationError("a calibration record starts outside of its grid")
        rows = tuple(Row(score, mistake) for score, mistake in zip(scores, wrong, strict=True))
        return cls(rows, grid, starts, str(data.get("about", "")), conformal)


def make_calibration(
    rows: Sequence[Row],
    development: Sequence[float],
    *,
    about: str = "",
    conformal: Iterable[float] = (),
    grid: int = GRID,
    starts: Sequence[float] = STARTS,
) -> Calibration:
    """A record whose thresholds are quantiles of the `development` scores (which are none of the rows')."""
    ordered = sorted(development, reverse=True)
    if not ordered:
        raise CalibrationError("no development scores to take the thresholds from")
    thresholds = [ordered[min(len(ordered) - 1, (len(ordered) * (step + 1)) // grid)] for step in range(grid)]
    places = sorted({min(grid - 1, max(0, round(share * grid) - 1)) for share in starts})
    return Calibration(tuple(rows), tuple(thresholds), tuple(places), about, tuple(sorted(conformal)))


def learn_then_test(
    rows: Sequence[Row], grid: Sequence[float], starts: Sequence[int], alpha: float, delta: float
) -> Guarantee | None:
    """The lowest threshold of the grid that is proven to keep the error at `alpha`.

    From each start the thresholds are tested downwards until one fails; each sequence has ``delta / len(starts)``,
    so that with probability ``1 - delta`` no threshold is accepted whose error is above `alpha`.
    """
    _check_level("alpha", alpha)
    _check_level("delta", delta)
    ordered = sorted(rows, key=lambda row: -row.score)
    level = delta / max(1, len(starts))
    best: Guarantee | None = None
    for start in starts:
        for threshold in grid[start:]:
            answered = [row for row in ordered if row.score >= threshold]
            wrong = sum(row.wrong for row in answered)
            bound = upper_bound(wrong, len(answered), level)
            if bound > alpha:
                break
            if best is None or threshold < best.threshold:
                share = len(answered) / len(ordered)
                best = Guarantee(threshold, alpha, delta, len(answered), wrong, bound, share)
    return best


def upper_bound(errors: int, trials: int, delta: float) -> float:
    """The error rate that `errors` in `trials` exclude, at confidence ``1 - delta`` (Clopper and Pearson 1934).

    It is the rate under which so few errors, or fewer, have probability `delta`; 1 when every trial was one.
    """
    if not 0 <= errors <= trials:
        raise ValueError(f"{errors} errors in {trials} trials")
    _check_level("delta", delta)
    if errors == trials:
        return 1.0
    low, high = errors / trials, 1.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        if binomial_at_most(errors, trials, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def binomial_at_most(errors: int, trials: int, rate: float) -> float:
    """Probability of at most `errors` in `trials` that fail independently with probability `rate`."""
    if errors >= trials or rate <= 0:
        return 1.0
    if rate >= 1:
        return 0.0
    odds = math.log(rate) - math.log1p(-rate)
    term = (
        math.lgamma(trials + 1)
        - math.lgamma(errors + 1)
        - math.lgamma(trials - errors + 1)
        + errors * odds
        + trials * math.log1p(-rate)
    )
    terms = [term]
    for count in range(errors, 0, -1):
        term += math.log(count) - math.log(trials - count + 1) - odds
        terms.append(term)
    # As logarithms, and relative to the largest, so that nothing underflows.
    peak = max(terms)
    return min(1.0, math.exp(peak) * math.fsum(math.exp(each - peak) for each in terms))


def conformal_quantile(nonconformity: Sequence[float], alpha: float) -> float:
    """The ``ceil((n + 1)(1 - alpha))``-th smallest of n values; infinite where n is too small for it."""
    _check_level("alpha", alpha)
    rank = math.ceil((len(nonconformity) + 1) * (1 - alpha) - 1e-9)
    return sorted(nonconformity)[rank - 1] if rank <= len(nonconformity) else math.inf


def one_per_group(groups: Sequence[Hashable], seed: int = 0) -> list[int]:
    """One place of each group, chosen by lot: what is left are independent draws."""
    lot = random.Random(seed)
    members: dict[Hashable, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    return sorted(lot.choice(places) for places in members.values())


def _check_level(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie between 0 and 1, not {value!r}")
