"""The shipped ranking (network and words, joined by the fitted combiner) as a scorer of `selection.py`.

python tests/bench/caller/selection.py bfcl_eval-*.whl ranking:shipped
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from callground.caller.encoder import Encoder
from callground.caller.selection import ToolSet, combiner_of
from callground.caller.tool_vectors import ToolVectors
from callground.caller.tools import ToolSpec

MANY = 500
"""From so many tools on, a list is a pool, which is made ready once."""


class Shipped:
    """A tool's features do not depend on the others: those of a pool are made once for a request."""

    def __init__(self, encoder: Encoder) -> None:
        self._vectors = ToolVectors(encoder, cap=100_000)
        self._combiner = combiner_of(encoder)
        self._pool: ToolSet | None = None
        self._places: dict[str, int] = {}

    def scores(self, request: str, tools: Sequence[ToolSpec]) -> NDArray[np.float64]:
        """The combiner's score of each tool."""
        if len(tools) >= MANY and self._pool is None:
            self._pool = ToolSet(tools, self._vectors)
            self._places = {tool.key: place for place, tool in enumerate(tools)}
        if self._pool is None or len(tools) < MANY:
            return self._of(request, ToolSet(tools, self._vectors))
        known = self._of(request, self._pool)
        fresh = [tool for tool in tools if tool.key not in self._places]
        rest = dict(zip((tool.key for tool in fresh), self._of(request, ToolSet(fresh, self._vectors)), strict=True))
        return np.array(
            [known[self._places[tool.key]] if tool.key in self._places else rest[tool.key] for tool in tools]
        )

    def _of(self, request: str, toolset: ToolSet) -> NDArray[np.float64]:
        if not toolset.tools:
            return np.zeros(0)
        return self._combiner.scores(toolset.features(request), len(toolset.tools))


def shipped() -> Shipped:
    """The scorer, on the bundled model (or the one that CALLGROUND_CALLER_MODEL names)."""
    return Shipped(Encoder())
