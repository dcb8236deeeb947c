"""One parameter gets two values."""

from __future__ import annotations

from callground.rules.base import Facts, Rule


def compose(facts: Facts) -> str:
    """Say which parameter is filled twice."""
    name = facts.name or "".join(facts.parameters[:1])
    return f"`{facts.callee}`{facts.installed()} gets its parameter `{name}` twice"


RULE = Rule(
    code="duplicate-argument",
    kind="arity",
    severity="error",
    marks="argument",
    summary="A call fills one parameter twice, by position and by keyword.",
    compose=compose,
)
