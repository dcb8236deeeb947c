"""One student against another, and real traffic against the evidence: counts, exact intervals and tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from callground.caller.calibration import upper_bound


class Improvement(NamedTuple):
    """What `improve` found."""

    promoted: bool
    why: str
    before: Mapping[str, Any]
    """Rows answered, right and wrong, of the caller as it was; on the same rows as `after`."""
    after: Mapping[str, Any]


class Health(NamedTuple):
    """Whether real traffic is like the evidence."""

    requests: int
    """Looked back on."""
    escalation_rate: float | None
    expected_escalation_rate: float
    escalation_p: float
    """Fisher's exact test, two-sided."""
    no_tool_rate: float | None
    expected_no_tool_rate: float
    no_tool_p: float
    drifting: bool
    """One of the p-values is at most 0.01."""


def error_rate(wrong: int, total: int) -> dict[str, Any]:
    """A rate with its exact 95 % interval (Clopper and Pearson 1934)."""
    if total == 0:
        return {"wrong": 0, "of": 0, "rate": None, "interval": [0.0, 1.0]}
    low = 0.0 if wrong == 0 else 1.0 - upper_bound(total - wrong, total, 0.025)
    return {"wrong": wrong, "of": total, "rate": wrong / total, "interval": [low, upper_bound(wrong, total, 0.025)]}


def count(counts: Counter[str], emitted: bool, right: bool, tool: str | None) -> None:
    """Add one row to the counts: ``rows``, ``in_scope``, ``emitted``, ``right``, ``wrong``."""
    counts["rows"] += 1
    counts["in_scope"] += tool is not None
    counts["emitted"] += emitted
    counts["right"] += emitted and right
    counts["wrong"] += emitted and not right


def worse(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Why the second is not to be preferred; empty when it may be."""
    if after["right"] < before["right"]:
        return f"{after['right']} right calls instead of {before['right']}"
    old, new = (each["wrong"] / max(each["emitted"], 1) for each in (before, after))
    if new > old:
        return f"{new:.1%} of the emitted calls wrong instead of {old:.1%}"
    return ""
