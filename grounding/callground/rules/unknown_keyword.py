"""A keyword argument has no parameter to go to."""

from __future__ import annotations

from callground.rules.base import Facts, Rule


def compose(facts: Facts) -> str:
    """Name the callee and the keyword it does not take."""
    return f"`{facts.callee}`{facts.installed()} has no parameter `{facts.name}`"


RULE = Rule(
    code="unknown-keyword",
    kind="arity",
    severity="error",
    marks="argument",
    summary="A keyword argument is given that the callee does not take.",
    compose=compose,
)
