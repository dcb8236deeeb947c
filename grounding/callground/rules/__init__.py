"""One finding kind per file: code, severity, words, range and page."""

from __future__ import annotations

from collections.abc import Sequence

from callground.rules import (
    deprecated_call,
    duplicate_argument,
    missing_argument,
    not_callable,
    positional_only_as_keyword,
    too_many_arguments,
    unknown_import,
    unknown_keyword,
    unknown_member,
    unknown_name,
)
from callground.rules.base import Facts, Rule

RULES: dict[str, Rule] = {
    module.RULE.code: module.RULE
    for module in (
        unknown_name,
        unknown_import,
        unknown_member,
        not_callable,
        too_many_arguments,
        missing_argument,
        unknown_keyword,
        duplicate_argument,
        positional_only_as_keyword,
        deprecated_call,
    )
}
"""Every rule by its code, in the order in which they are documented."""

SEVERITIES = ("error", "warning", "hint", "off")
"""What a rule's severity can be set to."""


def message(
    code: str,
    *,
    name: str = "",
    owner: str = "",
    owner_kind: str = "",
    callee: str = "",
    signature: str = "",
    maximum: int | None = None,
    given: int | None = None,
    parameter: str | Sequence[str] = (),
    version: str | None = "",
    distribution: str | None = "",
    detail: str = "",
) -> str:
    """The text of a finding of rule `code`, made of plain facts.

    `parameter` is one parameter's name or several (missing arguments are named together).
    Raises KeyError for a code that no rule has.
    """
    parameters = (parameter,) if isinstance(parameter, str) else tuple(parameter)
    facts = Facts(
        name=name,
        owner=owner,
        owner_kind=owner_kind,
        callee=callee,
        signature=signature,
        maximum=maximum,
        given=given,
        parameters=tuple(p for p in parameters if p),
        version=version or "",
        distribution=distribution or "",
        detail=detail,
    )
    return RULES[code].compose(facts)


__all__ = ["RULES", "SEVERITIES", "Facts", "Rule", "message"]
