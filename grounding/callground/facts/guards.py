"""The conditions that a statement stands under, kept as tree references until a row needs their text."""

from __future__ import annotations

import ast

from callground.facts.spans import Spans

Guard = tuple["Guard", str, ast.expr | list[ast.ExceptHandler] | None] | None
"""(the guard around it, prefix, what gives the rest of the text); None where nothing guards.

The prefix is ``if:``, ``else:``, ``try``, ``except``, ``try-else``, ``finally``, ``loop``, ``with``
or ``match``.
"""

_DEEPEST = 100
"""Only so many of the innermost guards are kept: a chain of 5,000 ``elif`` stays linear."""


class GuardTexts:
    """Guards as the tuples of text that rows hold."""

    __slots__ = ("_memo", "_spans")

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        # The guard itself is kept beside its text, so that its id stays its own.
        self._memo: dict[int, tuple[Guard, str]] = {}

    def texts(self, guard: Guard) -> tuple[str, ...]:
        """The guards' texts, outermost first."""
        if guard is None:
            return ()
        texts: list[str] = []
        while guard is not None:
            if len(texts) == _DEEPEST:
                texts.append("if:?")
                break
            texts.append(self._text(guard))
            guard = guard[0]
        texts.reverse()
        return tuple(texts)

    def _text(self, guard: tuple[Guard, str, ast.expr | list[ast.ExceptHandler] | None]) -> str:
        known = self._memo.get(id(guard))
        if known is not None:
            return known[1]
        _, prefix, what = guard
        if what is None:
            text = prefix
        elif isinstance(what, list):
            text = f"{prefix}:{self._caught(what)}" if what else prefix
        else:
            text = prefix + (self._spans.short(what) or "?")
        self._memo[id(guard)] = (guard, text)
        return text

    def _caught(self, handlers: list[ast.ExceptHandler]) -> str:
        names: list[str] = []
        for handler in handlers:
            kind = handler.type
            if kind is None:
                names.append("")
            elif isinstance(kind, ast.Tuple):
                names.extend(self._spans.short(element) or "?" for element in kind.elts)
            else:
                names.append(self._spans.short(kind) or "?")
        return ",".join(names)
