"""What an agent asks before it emits: fragments, edits and plans, one report, one decision."""

from __future__ import annotations

from callground.config.policy import Policy
from callground.gate.policy import GateVerdict, gate_verdict
from callground.gate.request import Answer, Place, Request, answer
from callground.gate.violations import (
    Violation,
    arity_violations,
    installed_symbol_resolver,
    third_party_violations,
)

__all__ = [
    "Answer",
    "GateVerdict",
    "Place",
    "Policy",
    "Request",
    "Violation",
    "answer",
    "arity_violations",
    "gate_verdict",
    "installed_symbol_resolver",
    "third_party_violations",
]
