"""A plain name is called, and nothing binds it."""

from __future__ import annotations

from callground.rules.base import Facts, Rule


def compose(facts: Facts) -> str:
    """Say where the name was looked for."""
    if facts.owner and facts.owner_kind == "module":
        return f"name `{facts.name}` is not defined in module `{facts.owner}`, nor is it a builtin"
    return f"name `{facts.name}` is not defined, nor is it a builtin"


RULE = Rule(
    code="unknown-name",
    kind="ungrounded",
    severity="error",
    marks="callee",
    summary="A name is called that no scope and no builtin defines.",
    compose=compose,
)
