"""A suggestion or an abstention as JSON: the contract of every face (`suggest.md`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from callground.caller import gate, selection
from callground.caller.bundled import Abstention, BundledCaller, Suggestion


def answer_json(
    request: str,
    result: Suggestion | Abstention,
    caller: BundledCaller,
    *,
    explain: bool = False,
    problems: Sequence[str] = (),
) -> dict[str, Any]:
    """What is answered to a request; with `explain` also what the decision rests on."""
    told = result.explanation
    suggestion: dict[str, Any] | None = None
    abstained: dict[str, Any] | None = None
    if isinstance(result, Suggestion):
        suggestion = {
            "name": result.tool,
            "arguments": result.arguments,
            "missing": list(result.missing),
            "certain": result.certain,
            "score": round(result.score, 4),
            "confidence": round(result.confidence, 4),
        }
    else:
        abstained = {"reason": result.why.value, "message": result.message, "score": round(result.score, 4)}
    found = caller.guarantee
    answer: dict[str, Any] = {
        "request": request,
        "suggestion": suggestion,
        "abstained": abstained,
        "candidates": [
            {"name": each.tool, "score": round(each.score, 4), "share": round(each.share, 4)}
            for each in told.candidates
        ],
        "likely": list(told.likely),
        "promise": {
            "alpha": caller.alpha,
            "delta": caller.delta,
            "threshold": round(found.threshold, 4) if found is not None else None,
        },
        "problems": list(problems),
    }
    if explain:
        answer["explanation"] = {
            "candidates": [
                {
                    "name": each.tool,
                    "features": {
                        name: {
                            "value": value,
                            "weight": round(told.weights.get(name, 0.0), 4),
                            "about": selection.FEATURES.get(name, ""),
                        }
                        for name, value in each.features.items()
                    },
                }
                for each in told.candidates
            ],
            "gate": {
                name: {"value": round(value, 4), "about": gate.FEATURES.get(name, "")}
                for name, value in told.gate.items()
            },
            "arguments": told.arguments,
            "calibration": {"about": caller.calibration.about, "rows": len(caller.calibration.rows)},
        }
    return answer
