"""The lowest threshold that keeps a promise, and whether two shares differ: exact tests on counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from callground.caller.calibration import binomial_at_most, upper_bound

ALWAYS = -1e9
"""A threshold that every score reaches."""


def lowest_threshold(rows: Sequence[tuple[float, bool]], alpha: float, delta: float, starts: int = 3) -> float | None:
    """The lowest score from which on at most a share `alpha` is wrong, with confidence 1 - `delta`, if there is one.

    `rows` are (score, whether answering was wrong).  Learn-then-test (Angelopoulos et al. 2021) with fixed sequences:
    from each of `starts` places, set before any error is looked at, thresholds are lowered while the exact binomial
    test at level `delta` / `starts` still rejects "more than `alpha` are wrong".
    """
    if not rows:
        return None
    ordered = sorted(rows, key=lambda row: -row[0])
    total = len(ordered)
    wrongs = [0]
    for _, wrong in ordered:
        wrongs.append(wrongs[-1] + wrong)
    # Only where the score changes can a threshold lie.
    ends = [i + 1 for i in range(total) if i + 1 == total or ordered[i + 1][0] < ordered[i][0]]
    best = 0
    for start in range(1, starts + 1):
        first = next(i for i, end in enumerate(ends) if end * starts >= start * total)
        for end in ends[first:]:
            if binomial_at_most(wrongs[end], end, alpha) > delta / starts:
                break
            best = max(best, end)
    return ordered[best - 1][0] if best else None


def lowest_share(rows: Sequence[tuple[float, bool]], alpha: float, delta: float) -> float:
    """The lowest threshold at which at most a share `alpha` of all rows is called, with confidence 1 - `delta`.

    `rows` are (score, whether there is a call).  0 where there are too few to promise it even if none was called.
    """
    n = len(rows)
    if n == 0 or upper_bound(0, n, delta) > alpha:
        return ALWAYS
    above = sorted((score for score, calls in rows if calls), reverse=True)
    allowed = 0
    while allowed < len(above) and upper_bound(allowed + 1, n, delta) <= alpha:
        allowed += 1
    return math.nextafter(above[allowed], math.inf) if allowed < len(above) else ALWAYS


def differ(hits: int, total: int, other_hits: int, other_total: int) -> float:
    """Fisher's exact test, two-sided: how likely shares as different as these are when both are the same."""
    if total == 0 or other_total == 0:
        return 1.0
    marked, n = hits + other_hits, total + other_total
    low, high = max(0, marked - other_total), min(marked, total)
    logs = [_choose(total, k) + _choose(other_total, marked - k) - _choose(n, marked) for k in range(low, high + 1)]
    seen = logs[hits - low]
    return min(1.0, math.fsum(math.exp(each) for each in logs if each <= seen + 1e-9))


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
