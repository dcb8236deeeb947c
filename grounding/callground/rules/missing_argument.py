"""A required argument is not given."""

from __future__ import annotations

from callground.rules.base import Facts, Rule, quoted


def compose(facts: Facts) -> str:
    """Name every required parameter that stays empty."""
    callee = f"`{facts.callee or facts.name}`{facts.installed()}"
    missing = facts.parameters
    if not missing:
        return f"a required argument of {callee} is missing"
    noun = "argument" if len(missing) == 1 else "arguments"
    return f"{callee} is called without its required {noun} {quoted(missing)}"


RULE = Rule(
    code="missing-argument",
    kind="arity",
    severity="error",
    marks="callee",
    summary="A call leaves out an argument that its callee requires.",
    compose=compose,
)
