"""A plain name is called, and nothing binds it."""

from __future__ import annotations

from callground.rules.base import Facts, Rule, with_detail


def compose(facts: Facts) -> str:
    """Say where the name was looked for."""
    where = f" in module `{facts.owner}`" if facts.owner and facts.owner_kind == "module" else ""
    return with_detail(f"name `{facts.name}` is not defined{where}, nor is it a builtin", facts)


RULE = Rule(
    code="unknown-name",
    kind="ungrounded",
    severity="error",
    marks="callee",
    summary="A name is called that no scope and no builtin defines.",
    compose=compose,
)
