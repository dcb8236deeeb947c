"""How good a model folder is on the development groups, which no training sees.

For each kind of source: the share of requests whose tool comes first among those beside it, and among all of that
source; and how well the best cosine tells a request whose tool is there from one whose tool was taken away.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from callground.caller.encoder import Encoder
from callground.caller.training import public_sets
from callground.caller.training.corpus import Group, Pair, read

CANDIDATES = 20
"""Tools that a request chooses from: its own and the ones named most like it, in the same group."""

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True)
class Result:
    """Of one kind of source.  Shares between 0 and 1."""

    source: str
    requests: int
    first: float
    """Right tool first among the tools beside it."""
    first_of_all: float
    """Right tool first among all tools that were looked at for this source."""
    five_of_all: float
    there: float
    """Area under the ROC curve of the best cosine: tool there against tool taken away."""


def area(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> float:
    """The area under the ROC curve: how often a positive is above a negative, ties counting half."""
    if not len(positive) or not len(negative):
        return float("nan")
    order = np.sort(negative)
    below = np.searchsorted(order, positive, "left")
    tied = np.searchsorted(order, positive, "right") - below
    return float((below + tied / 2).sum() / (len(positive) * len(negative)))


def development(
    groups: Iterable[Group], each: int = 100, seed: int = 0, *, all_of_them: bool = False
) -> dict[str, list[tuple[Group, Pair]]]:
    """At most `each` requests of a kind of source out of the development groups; the same ones every time.

    `all_of_them` takes every group for one of development: those of `public_sets.kept_back`.
    """
    found: dict[str, list[tuple[Group, Pair]]] = {}
    for group in groups:
        if all_of_them or group.for_development():
            found.setdefault(group.source, []).extend((group, pair) for pair in group.pairs)
    chance = random.Random(seed)
    return {source: chance.sample(rows, min(each, len(rows))) for source, rows in sorted(found.items())}


def beside(group: Group, tool: int) -> list[int]:
    """The places of a tool and of those that are named most like it."""
    wanted = set(group.tools[tool].text(described=False).split())

    def likeness(at: int) -> tuple[float, int]:
        words = set(group.tools[at].text(described=False).split())
        return -len(wanted & words) / len(wanted | words), at

    name = group.tools[tool].name
    others = sorted((at for at in range(len(group.tools)) if group.tools[at].name != name), key=likeness)
    return [tool, *others[: CANDIDATES - 1]]


def evaluate(encode: Encode, rows: dict[str, list[tuple[Group, Pair]]]) -> list[Result]:
    """One result a kind of source."""
    return [_of_source(encode, source, chosen) for source, chosen in rows.items() if chosen]


def _of_source(encode: Encode, source: str, chosen: list[tuple[Group, Pair]]) -> Result:
    lists = [
        [group.tools[at].text(described=at != pair.tool or not pair.told) for at in beside(group, pair.tool)]
        for group, pair in chosen
    ]
    texts = sorted({text for each in lists for text in each})
    place = {text: at for at, text in enumerate(texts)}
    tools = encode(texts)
    requests = encode([pair.request for _, pair in chosen])
    first = of_all = five = 0
    there, gone = [], []
    for request, each in zip(requests, lists, strict=True):
        cosines = tools @ request
        own = np.array([cosines[place[text]] for text in each])
        first += int(own.argmax() == 0)
        above = int((cosines > own[0]).sum())
        of_all += above == 0
        five += above < 5
        there.append(own.max())
        if len(own) > 1:
            gone.append(own[1:].max())
    count = len(chosen)
    return Result(source, count, first / count, of_all / count, five / count, area(np.array(there), np.array(gone)))


def report(model: Path, data: Path, each: int = 100, sets: Path | None = None) -> str:
    """The results of a model folder on the development groups of a data file, as a Markdown table.

    With the folder of the public sets also on what is kept back of them.

    Raises ValueError where the file has none.
    """
    rows = development(read(data), each)
    if sets is not None:
        kept = development(public_sets.kept_back(sets), each, all_of_them=True)
        rows |= {f"{source}, kept back": chosen for source, chosen in kept.items()}
    results = evaluate(Encoder(model).encode, rows)
    if not results:
        raise ValueError(f"no development group in {data}")
    lines = ["| source | requests | first beside | first / in five of all | AUROC there |", "|---|---|---|---|---|"]
    for one in results:
        lines.append(
            f"| {one.source} | {one.requests} | {one.first:.3f} | {one.first_of_all:.3f} / {one.five_of_all:.3f} "
            f"| {one.there:.3f} |"
        )
    weights = [one.requests for one in results]
    means = [float(np.average([getattr(one, f) for one in results], weights=weights)) for f in ("first", "there")]
    lines.append(f"| all | {sum(weights)} | {means[0]:.3f} | | {means[1]:.3f} |")
    return "\n".join(lines)
