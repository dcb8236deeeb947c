"""A callee is called that its author marked as deprecated."""

from __future__ import annotations

from callground.rules.base import Facts, Rule


def compose(facts: Facts) -> str:
    """Repeat the author's own words where there are any."""
    callee = f"`{facts.callee or facts.name}`{facts.installed()}"
    return f"{callee} is deprecated: {facts.detail}" if facts.detail else f"{callee} is deprecated"


RULE = Rule(
    code="deprecated-call",
    kind="ungrounded",
    severity="hint",
    marks="callee",
    summary="A callee is called that its author marked as deprecated.",
    compose=compose,
)
