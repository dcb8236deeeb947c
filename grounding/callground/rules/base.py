"""What a rule is, and the facts its message is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple


class Facts(NamedTuple):
    """Plain inputs of a message.  A rule reads the few that it needs; the rest stay empty."""

    name: str = ""
    """The wrong name, keyword or module."""
    owner: str = ""
    """Dotted name of the class or module that was asked."""
    owner_kind: str = ""
    """``class``, ``module`` or ``scope``."""
    callee: str = ""
    """Source text of the callee, or its dotted name."""
    signature: str = ""
    """The effective signature, for example ``(a, b=1, *, c)``."""
    maximum: int | None = None
    """How many positional arguments fit."""
    given: int | None = None
    """How many were given."""
    parameters: tuple[str, ...] = ()
    """The parameters that the message is about, in the signature's order."""
    version: str = ""
    distribution: str = ""
    detail: str = ""
    """Free text for the rule: the type of what is called, or a deprecation's own words."""

    def installed(self) -> str:
        """``" (requests 2.32.3)"`` for an owner out of an installed distribution, else ``""``."""
        if not self.distribution:
            return ""
        return f" ({self.distribution} {self.version})" if self.version else f" ({self.distribution})"


@dataclass(frozen=True)
class Rule:
    """One kind of finding: its code, its words and where its underline stands."""

    code: str
    kind: str
    """``ungrounded``, ``arity`` or ``import``: the finding's kind in reports."""
    severity: str
    """Default severity: ``error``, ``warning`` or ``hint``."""
    marks: str
    """What is underlined: ``callee`` (its last name), ``argument`` (the wrong one) or ``import``."""
    summary: str
    """One line for lists."""
    compose: Callable[[Facts], str]
    """The message, from plain facts."""

    def page(self) -> str:
        """The rule's documentation, as Markdown."""
        pages = resources.files("callground.rules") / "pages"
        return (pages / f"{self.code}.md").read_text("utf-8")


def with_detail(message: str, facts: Facts) -> str:
    """The message, and what else is to be said."""
    return f"{message}; {facts.detail}" if facts.detail else message


def plural(number: int, noun: str) -> str:
    """``1 argument``, ``2 arguments``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def quoted(names: tuple[str, ...]) -> str:
    """Names in backticks, joined as a sentence does: ``a``, ``b`` and ``c``."""
    ticked = [f"`{name}`" for name in names]
    if len(ticked) < 2:
        return "".join(ticked)
    return f"{', '.join(ticked[:-1])} and {ticked[-1]}"
