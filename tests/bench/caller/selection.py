"""Which tool is chosen: BFCL's `multiple` and `live_multiple`, out of the tools given and out of all of them.

    pip download --no-deps bfcl-eval
    python tests/bench/caller/selection.py bfcl_eval-*.whl cosine overlap cosine+0.15

A scorer is ``cosine`` (the encoder), ``overlap`` (shared words), ``cosine+W`` (cosine and W times the overlap), or
``module:name``, where `name()` gives an object with ``scores(request, tools) -> array``.  With ``--model FOLDER``
another model than the bundled one is asked.
"""

from __future__ import annotations

import argparse
import importlib
import random
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from requests_of_bfcl import CATEGORIES, Request, load

from callground.caller.encoder import Encoder
from callground.caller.tools import ToolSpec, tool_text, words

Scores = NDArray[np.float64]
POOL_REQUESTS = 300
_WORD = re.compile(r"[a-z0-9]+")
# What requests are put in, not what they are about.
_STOP = frozenset(
    "a an the of to in for on with and or is are be i me my you your it this that what how can could please want need "
    "would like find get from by at as do does will".split()
)


class Scorer(Protocol):
    """Anything that ranks tools."""

    def scores(self, request: str, tools: Sequence[ToolSpec]) -> Scores:
        """One number a tool; the highest is chosen."""
        ...


class Cosine:
    """The encoder alone.  Each text is encoded once."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._rows: dict[str, NDArray[np.float32]] = {}

    def row(self, text: str) -> NDArray[np.float32]:
        """The vector of a text."""
        if text not in self._rows:
            self._rows[text] = self._encoder.encode([text])[0]
        return self._rows[text]

    def scores(self, request: str, tools: Sequence[ToolSpec]) -> Scores:
        """Cosines."""
        return np.stack([self.row(tool_text(tool)) for tool in tools]) @ self.row(request)


class Overlap:
    """The baseline without a network: shares of the request's words, and of the name's, that the other side has."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[set[str], set[str]]] = {}

    def scores(self, request: str, tools: Sequence[ToolSpec]) -> Scores:
        """Between 0 and 1."""
        asked = _content(request)
        found = []
        for tool in tools:
            text = tool_text(tool)
            if text not in self._tools:
                self._tools[text] = _content(text), _content(words(tool.name))
            told, name = self._tools[text]
            found.append((len(asked & told) / max(1, len(asked)) + 2 * len(asked & name) / max(1, len(name))) / 3)
        return np.array(found)


class Joined:
    """The cosine and a share of the overlap."""

    def __init__(self, cosine: Cosine, weight: float) -> None:
        self._cosine, self._overlap, self._weight = cosine, Overlap(), weight

    def scores(self, request: str, tools: Sequence[ToolSpec]) -> Scores:
        """The sum."""
        return self._cosine.scores(request, tools) + self._weight * self._overlap.scores(request, tools)


def _content(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP}


def _stem(word: str) -> str:
    for ending in ("ing", "es", "s", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word[: -len(ending)]
    return word


def ranked(scorer: Scorer, requests: Sequence[Request], pool: Sequence[ToolSpec] = ()) -> tuple[float, float]:
    """Shares of the requests whose tool is first, and in the first five, of its own tools and those of `pool`."""
    first = five = 0
    for request in requests:
        own = {tool.name for tool in request.tools}
        tools = [*request.tools, *(tool for tool in pool if tool.name not in own)]
        order = np.argsort(-scorer.scores(request.text, tools), kind="stable")
        place = next(at for at, index in enumerate(order) if tools[index].name == request.gold)
        first += place == 0
        five += place < 5
    return first / len(requests), five / len(requests)


def area(positive: Scores, negative: Scores) -> float:
    """Area under the ROC curve, ties counting half."""
    order = np.sort(negative)
    below, upto = np.searchsorted(order, positive, "left"), np.searchsorted(order, positive, "right")
    return float((below + (upto - below) / 2).sum() / (len(positive) * len(negative)))


def best(scorer: Scorer, requests: Sequence[Request]) -> Scores:
    """The highest score of each request."""
    return np.array([scorer.scores(request.text, request.tools).max() for request in requests])


def row(name: str, scorer: Scorer, sets: dict[str, list[Request]], pool: Sequence[ToolSpec]) -> str:
    """One line of the table."""
    began = time.process_time()
    cells = []
    pooled = []
    for category in ("multiple", "live_multiple"):
        requests = [request for request in sets[category] if len(request.tools) > 1]
        cells.append(f"{ranked(scorer, requests)[0]:.3f}")
        sample = random.Random(0).sample(requests, min(POOL_REQUESTS, len(requests)))
        first, five = ranked(scorer, sample, pool)
        pooled.append(f"{first:.3f}/{five:.3f}")
    for answerable, irrelevant in (
        (("simple_python", "multiple"), "irrelevance"),
        (("live_simple", "live_multiple"), "live_irrelevance"),
    ):
        positive = np.concatenate([best(scorer, sets[category]) for category in answerable])
        pooled.append(f"{area(positive, best(scorer, sets[irrelevant])):.3f}")
    return f"| {' | '.join([name, *cells, *pooled])} | {time.process_time() - began:.0f} |"


def scorer_of(name: str, cosine: Cosine) -> Scorer:
    """The scorer that a name on the command line means."""
    if name == "cosine":
        return cosine
    if name == "overlap":
        return Overlap()
    if name.startswith("cosine+"):
        return Joined(cosine, float(name.removeprefix("cosine+")))
    module, _, attribute = name.partition(":")
    made: Scorer = getattr(importlib.import_module(module), attribute)()
    return made


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path, help="the wheel of bfcl-eval")
    parser.add_argument("scorers", nargs="+")
    parser.add_argument("--model", type=Path, help="a model folder")
    parser.add_argument("--limit", type=int, help="questions of each category")
    options = parser.parse_args()
    sets = {category: load(options.wheel, category)[: options.limit] for category in CATEGORIES}
    tools = {
        tool.name: tool
        for requests in reversed(sets.values())
        for r in reversed(requests)
        for tool in reversed(r.tools)
    }
    cosine = Cosine(Encoder(options.model))
    print(f"{len(tools)} tools")
    print(
        "| scorer | multiple | live_multiple | multiple, all tools | live_multiple, all tools | AUROC | live AUROC | CPU-s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in options.scorers:
        print(row(name, scorer_of(name, cosine), sets, list(tools.values())), flush=True)


if __name__ == "__main__":
    main()
