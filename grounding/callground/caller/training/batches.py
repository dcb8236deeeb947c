"""Which pairs are learned from together.

A batch is made of clusters: requests for tools that stand beside each other and are named alike, so that the other
tools of a batch are hard negatives without a text more to encode.  Batch number n is always the same, whatever was
done before: a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from callground.caller.tools import words
from callground.caller.training.corpus import Group, Pair

CLUSTER = 4
"""Pairs of one group in a batch."""

SHARES = {
    "seal": 0.16,
    "metatool": 0.13,
    "clinc": 0.04,
    "mcp": 0.12,
    "awscli": 0.12,
    "azure-cli": 0.11,
    "botocore": 0.08,
    "discovery": 0.06,
    "home-assistant": 0.05,
    "translation": 0.03,
    "docstring": 0.04,
    "comment": 0.06,
}
"""How much of what is learned comes from each kind of source."""

DESCRIBED_TOLD = 0.35
DESCRIBED = 0.85
"""How often a tool is shown with its description: seldom where the request was made from it, else that is all that is
learned; not always elsewhere, for many tools have none."""


@dataclass(frozen=True)
class Example:
    """One row of a batch."""

    request: str
    tool: str
    identity: tuple[str, str]
    """Source and name of the tool: two rows with the same are no negatives of each other."""


class Batches:
    """Batches out of the groups that are for training."""

    def __init__(self, groups: Iterable[Group], size: int = 64, seed: int = 0) -> None:
        self.size = size
        self.seed = seed
        self._by_source: dict[str, list[Group]] = {}
        for group in groups:
            if group.pairs and not group.for_development():
                self._by_source.setdefault(group.source, []).append(group)
        self._sources = [source for source in SHARES if source in self._by_source]
        if not self._sources:
            raise ValueError("no group to train on")
        self._weights = {
            # A project counts by the root of what it has, so that large ones do not drown small ones.
            source: [len(group.pairs) ** 0.5 for group in groups_]
            for source, groups_ in self._by_source.items()
        }

    def batch(self, number: int) -> list[Example]:
        """The rows of one batch, at most `size`; each tool and each request once."""
        chance = random.Random(self.seed * 1_000_003 + number)
        rows: dict[tuple[str, str], Example] = {}
        shares = [SHARES[source] for source in self._sources]
        for _ in range(4 * self.size // CLUSTER):
            if len(rows) >= self.size:
                break
            (source,) = chance.choices(self._sources, shares)
            (group,) = chance.choices(self._by_source[source], self._weights[source])
            for pair in _cluster(group, chance):
                tool = group.tools[pair.tool]
                described = chance.random() < (DESCRIBED_TOLD if pair.told else DESCRIBED)
                identity = (group.name, tool.name)
                rows.setdefault(identity, Example(pair.request, tool.text(described=described), identity))
        return list(rows.values())[: self.size]


def _cluster(group: Group, chance: random.Random) -> list[Pair]:
    """One pair, those of a sample whose tools are named most like its tool, and any one more."""
    sample = chance.sample(group.pairs, min(len(group.pairs), 60))
    first = sample[0]
    wanted = _words(group, first)
    others = sorted(
        (pair for pair in sample[1:] if pair.tool != first.tool),
        key=lambda pair: -_likeness(wanted, _words(group, pair)),
    )
    chosen: list[Pair] = [first]
    for pair in [*others[: CLUSTER - 2], *chance.sample(others, min(len(others), CLUSTER))]:
        if len(chosen) < CLUSTER and all(pair.tool != other.tool for other in chosen):
            chosen.append(pair)
    return chosen


def _words(group: Group, pair: Pair) -> frozenset[str]:
    return frozenset(words(group.tools[pair.tool].name).split())


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def same(rows: Sequence[Example]) -> list[tuple[int, int]]:
    """Pairs of rows (one, other) whose tool may answer each other's request: equal requests, equal tool texts."""
    return [
        (i, j)
        for i, one in enumerate(rows)
        for j, other in enumerate(rows)
        if i != j and (one.request == other.request or one.tool == other.tool)
    ]
