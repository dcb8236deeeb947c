"""Something is called that cannot be called."""

from __future__ import annotations

from callground.rules.base import Facts, Rule


def compose(facts: Facts) -> str:
    """Say what the callee is instead of a function."""
    what = facts.detail
    if not what and facts.owner:
        what = f"the module `{facts.owner}`" if facts.owner_kind == "module" else f"a value of `{facts.owner}`"
    callee = facts.callee or facts.name
    return f"`{callee}` cannot be called: it is {what}" if what else f"`{callee}` cannot be called"


RULE = Rule(
    code="not-callable",
    kind="ungrounded",
    severity="error",
    marks="callee",
    summary="Something is called that is not callable, such as a module or a number.",
    compose=compose,
)
