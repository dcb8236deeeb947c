"""A member is called that its class or module does not have."""

from __future__ import annotations

from callground.rules.base import Facts, Rule, with_detail


def compose(facts: Facts) -> str:
    """Name the owner that was asked, and its installed version where it has one."""
    kind = facts.owner_kind if facts.owner_kind in ("class", "module", "function") else "object"
    owner = f"{kind} `{facts.owner}`" if facts.owner else f"this {kind}"
    return with_detail(f"{owner}{facts.installed()} has no member `{facts.name}`", facts)


RULE = Rule(
    code="unknown-member",
    kind="ungrounded",
    severity="error",
    marks="callee",
    summary="A member is called that its class or module does not have.",
    compose=compose,
)
