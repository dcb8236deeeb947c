"""How far apart two spellings are.  The one place that knows rapidfuzz.

Without the package the same numbers are worked out in Python: the answers are equal, a large workspace
only takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any


@cache
def _fast() -> tuple[Any, Callable[..., Any]] | None:
    """(the distance, the search through many choices), or None where the package is absent."""
    try:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA
    except ImportError:
        return None
    return OSA, process.extract


def available() -> bool:
    """Whether rapidfuzz is there."""
    return _fast() is not None


def similarity(one: str, other: str, cutoff: float = 0.0) -> float:
    """1 minus the edits (neighbours changed places count as one) per letter; 0 for less than `cutoff`."""
    fast = _fast()
    if fast is not None:
        return float(fast[0].normalized_similarity(one, other, score_cutoff=cutoff))
    longest = max(len(one), len(other))
    if longest == 0:
        return 1.0
    if 1 - abs(len(one) - len(other)) / longest < cutoff:
        return 0.0
    found = 1 - edits(one, other) / longest
    return found if found >= cutoff else 0.0


def nearest(query: str, choices: Sequence[str], cutoff: float, limit: int) -> list[tuple[int, float]]:
    """(index, similarity) of the choices that are at least `cutoff` near, the nearest first."""
    fast = _fast()
    if fast is not None:
        scorer, extract = fast
        found = extract(query, choices, scorer=scorer.normalized_similarity, score_cutoff=cutoff, limit=limit)
        return [(index, float(score)) for _choice, score, index in found]
    scored = [(similarity(query, choice, cutoff), index) for index, choice in enumerate(choices)]
    near = sorted(((score, index) for score, index in scored if score >= cutoff), key=lambda s: (-s[0], s[1]))
    return [(index, score) for score, index in near[:limit]]


def edits(one: str, other: str) -> int:
    """Optimal string alignment distance: inserted, deleted, changed letters and swapped neighbours."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, letter_there in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != letter_there))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == letter_there:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
