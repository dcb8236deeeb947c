"""A module, or a name in a module, is imported that does not exist."""

from __future__ import annotations

from callground.rules.base import Facts, Rule, with_detail


def compose(facts: Facts) -> str:
    """Tell a missing module from a missing name in a module that is there."""
    if facts.owner and facts.owner_kind == "module" and facts.owner != facts.name:
        message = f"cannot import `{facts.name}`: module `{facts.owner}`{facts.installed()} does not define it"
    elif facts.distribution:
        message = f"no module named `{facts.name}` in the installed distribution{facts.installed()}"
    else:
        message = f"no module named `{facts.name}` in the workspace or the environment"
    return with_detail(message, facts)


RULE = Rule(
    code="unknown-import",
    kind="import",
    severity="error",
    marks="import",
    summary="An import names a module, or a name in a module, that does not exist.",
    compose=compose,
)
