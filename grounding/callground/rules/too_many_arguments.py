"""More positional arguments are given than the callee takes."""

from __future__ import annotations

from callground.rules.base import Facts, Rule, plural


def compose(facts: Facts) -> str:
    """Say how many fit and how many were given."""
    callee = f"`{facts.callee or facts.name}`{facts.installed()}"
    if facts.maximum is None:
        return f"too many positional arguments for {callee}"
    fits = (
        "no positional arguments" if facts.maximum == 0 else (f"at most {plural(facts.maximum, 'positional argument')}")
    )
    given = "" if facts.given is None else f", {facts.given} {'is' if facts.given == 1 else 'are'} given"
    return f"{callee} takes {fits}{given}"


RULE = Rule(
    code="too-many-arguments",
    kind="arity",
    severity="error",
    marks="argument",
    summary="A call gives more positional arguments than its callee takes.",
    compose=compose,
)
