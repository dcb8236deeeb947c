"""A positional-only parameter is given by keyword."""

from __future__ import annotations

from callground.rules.base import Facts, Rule


def compose(facts: Facts) -> str:
    """Say which parameter takes no keyword."""
    name = facts.name or "".join(facts.parameters[:1])
    return f"`{facts.callee}`{facts.installed()} takes `{name}` by position only, not as a keyword"


RULE = Rule(
    code="positional-only-as-keyword",
    kind="arity",
    severity="error",
    marks="argument",
    summary="A positional-only parameter is given by keyword.",
    compose=compose,
)
