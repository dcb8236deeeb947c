"""What the gate lets through: the ``[tool.callground.gate]`` section as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from callground.rules import RULES
from callground.rules.tool_codes import TOOL_CODES

UNREAD = ("block", "warn", "ignore")
HOOK = ("deny", "ask", "warn")
WORDS = ("error", "warning", "hint", "ungrounded", "arity", "import", "third-party", "note")
"""What a list may name besides codes: severities, kinds of findings, and those about installed packages."""


@dataclass(frozen=True)
class Policy:
    """Which findings stop a plan.  A code counts before a kind, a kind before a severity."""

    block: frozenset[str] = frozenset({"error"})
    """Codes and WORDS that stop a plan."""
    warn: frozenset[str] = frozenset({"warning"})
    """Codes and WORDS that are told and stop nothing."""
    ignore: frozenset[str] = frozenset()
    """Codes and WORDS that are not told."""
    max_abstained: float | None = None
    """Highest share (0 to 1) of calls that may be abstained on; None for any."""
    unread: str = "block"
    """What a text that could not be read or parsed does: ``block``, ``warn`` or ``ignore``."""
    hook: str = "deny"
    """What a hook answers to a blocker: ``deny``, ``ask`` (the person decides) or ``warn``."""


def read_policy(value: object, report: Callable[[str], None]) -> Policy | None:
    """A policy out of plain settings; what cannot be used is reported and left at its default."""
    if not isinstance(value, Mapping):
        report("`gate` must be a table; the default is used")
        return None
    read: dict[str, Any] = {}
    known = {field.name.replace("_", "-") for field in fields(Policy)}
    for key, given in value.items():
        if key not in known:
            report(f"`gate.{key}`: unknown setting")
        elif key in ("block", "warn", "ignore"):
            read[key] = _names(key, given, report)
        elif key == "max-abstained":
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
                report(f"`gate.{key}` must be a number from 0 to 1, not {given!r}; the default is used")
            else:
                read["max_abstained"] = float(given)
        else:
            choices = UNREAD if key == "unread" else HOOK
            if given in choices:
                read[key] = given
            else:
                wanted = ", ".join(map(repr, choices))
                report(f"`gate.{key}` must be one of {wanted}, not {given!r}; the default is used")
    return Policy(**{key: each for key, each in read.items() if each is not None})


def _names(key: str, given: object, report: Callable[[str], None]) -> frozenset[str] | None:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        report(f"`gate.{key}` must be a list of rule codes or of {', '.join(WORDS)}; the default is used")
        return None
    for name in given:
        if name not in RULES and name not in TOOL_CODES and name not in WORDS:
            report(f"`gate.{key}`: unknown rule `{name}`")
    return frozenset(given)
