"""Trains the ranker of arguments, and the confidence of the whole call on top of it.

The examples are of the fold that the span head has not seen (`span_data`), so that its scores are as good here as
they are on anything new. A part of the time its scores are hidden: the ranker also works without the network.
"""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
# pyright: reportMissingImports=false
from __future__ import annotations

import dataclasses
import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from callground.caller.argument_candidates import Candidate
from callground.caller.argument_features import NAMES, SIZE
from callground.caller.argument_ranker import Ranker
from callground.caller.argument_text import RequestText
from callground.caller.arguments import filled, prepare, span_scores
from callground.caller.encoder import Encoder
from callground.caller.spans import ParameterScores
from callground.caller.tools import ToolSpec
from callground.caller.training.span_data import Example

HIDDEN = 48
_SAME = re.compile(r"[ ,./\-_*^'\"]")


@dataclass
class Case:
    """An example with candidates and features, ready for training and measuring."""

    example: Example
    tool: ToolSpec
    request: RequestText
    options: dict[str, list[Candidate]]
    rows: dict[str, Any]
    right: dict[str, list[int]]
    """Indices of right options by parameter, the last of which is leaving it out; empty where none is right."""


def same(value: Any, wanted: Any) -> bool:
    """Whether two values count as one: texts without case and marks, as the field's checkers compare them."""
    if isinstance(value, str) and isinstance(wanted, str):
        return _SAME.sub("", value).lower() == _SAME.sub("", wanted).lower()
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(same(*pair) for pair in zip(value, wanted, strict=True))
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return bool(value == wanted)


def case_of(example: Example, scores: dict[str, ParameterScores] | None, r: random.Random) -> Case:
    """Prepares an example. Now and then a parameter that is not named is called required: nothing is right for it."""
    args = []
    for arg in example.tool.args:
        absent = arg.name not in example.values and arg.name not in example.open
        if absent and not arg.required and r.random() < 0.15:
            arg = dataclasses.replace(arg, required=True, default=None)
        args.append(arg)
    tool = ToolSpec(example.tool.name, args, description=example.tool.description)
    request = RequestText(example.text)
    options, rows = prepare(request, tool, scores)
    right: dict[str, list[int]] = {}
    for arg in tool.args:
        if arg.name in example.open:
            continue
        if arg.name in example.values:
            wanted = example.values[arg.name]
            right[arg.name] = [at for at, each in enumerate(options[arg.name]) if same(each.value, wanted)]
        else:
            right[arg.name] = [len(options[arg.name])]
    return Case(example, tool, request, options, rows, right)


def cases(examples: Sequence[Example], encoder: Encoder | None, seed: int, hidden_share: float) -> list[Case]:
    """All examples prepared; for `hidden_share` of them the head's scores are not looked at."""
    r = random.Random(seed)
    made = []
    for example in examples:
        scores = span_scores(example.text, example.tool, None if r.random() < hidden_share else encoder)
        made.append(case_of(example, scores, r))
    return made


class _Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(SIZE, HIDDEN)
        self.second = nn.Linear(HIDDEN, 1, bias=False)
        self.direct = nn.Linear(SIZE, 1, bias=False)
        nn.init.zeros_(self.direct.weight)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return (self.second(torch.relu(self.first(rows))) + self.direct(rows)).squeeze(-1)


def train_ranker(made: Sequence[Case], epochs: int = 12, seed: int = 0, say: Callable[[str], None] = print) -> Ranker:
    """The ranker with the least loss; `whole` is filled by `train_whole`."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    groups = [
        (case.rows[name], right)
        for case in made
        for name, right in case.right.items()
        if right and len(case.rows[name]) > 1
    ]
    net = _Net()
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.02)
    r = random.Random(seed)
    size = 64
    steps = epochs * math.ceil(len(groups) / size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    groups.sort(key=lambda group: len(group[0]))  # parameters with as many candidates share a batch: less padding
    batches = [groups[first : first + size] for first in range(0, len(groups), size)]
    for epoch in range(epochs):
        r.shuffle(batches)
        total = 0.0
        for part in batches:
            longest = max(len(rows) for rows, _ in part)
            rows = torch.zeros(len(part), longest, SIZE)
            mask = torch.zeros(len(part), longest, dtype=torch.bool)
            right = torch.zeros(len(part), longest, dtype=torch.bool)
            for at, (given, hits) in enumerate(part):
                rows[at, : len(given)] = torch.from_numpy(given)
                mask[at, : len(given)] = True
                right[at, hits] = True
            logits = net(rows).masked_fill(~mask, -1e4)
            loss = (torch.logsumexp(logits, 1) - torch.logsumexp(logits.masked_fill(~right, -1e4), 1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(part)
        say(f"epoch {epoch + 1} of {epochs}: loss {total / len(groups):.4f} over {len(groups)} parameters")
    state = net.state_dict()
    return Ranker(
        NAMES,
        state["first.weight"].T.numpy().copy(),
        state["first.bias"].numpy().copy(),
        np.concatenate([state["second.weight"][0].numpy(), state["direct.weight"][0].numpy()]),
        4.0,
        {"bias": 0.0, "sum": 1.0, "least": 0.0, "count": 0.0, "several": 0.0},
    )


@dataclass(frozen=True)
class Outcome:
    """A filled call against what is right."""

    right: bool
    probabilities: list[float]
    several: bool
    wrong: dict[str, tuple[Any, Any]]
    """(chosen, wanted) by parameter."""


def outcome(case: Case, ranker: Ranker) -> Outcome:
    """Fills the call of a case, by the same code as the product."""
    call = filled(case.request, case.tool, ranker.choose(case.options, case.rows), case.options, case.rows, ranker)
    wrong: dict[str, tuple[Any, Any]] = {}
    for arg in case.tool.args:
        if arg.name in case.example.open:
            continue
        wanted, got = case.example.values.get(arg.name), call.values.get(arg.name)
        default = arg.default
        if (
            not same(got, wanted)
            and not (got is None and same(default, wanted))
            and not (wanted is None and same(default, got))
        ):
            wrong[arg.name] = (got, wanted)
    return Outcome(not wrong, list(call.probabilities.values()), call.several_actions, wrong)


def train_whole(outcomes: Sequence[Outcome], ranker: Ranker) -> None:
    """Fits the logistic of the whole call's confidence, by Newton's method with a small ridge.

    Requests of several actions are measured here by one of their calls, which says nothing of the rest: that flag gets
    no weight of its own, the caller abstains on it.
    """
    rows = []
    for each in outcomes:
        logs = [math.log(max(1e-6, p)) for p in each.probabilities]
        rows.append([1.0, sum(logs), min(logs, default=0.0), math.log1p(len(logs))])
    x, y = np.array(rows), np.array([float(each.right) for each in outcomes])
    weights = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (y - p) - 0.5 * weights
        curve = (x * (p * (1 - p))[:, None]).T @ x + 0.5 * np.eye(x.shape[1])
        weights += np.linalg.solve(curve, gradient)
    names = ("bias", "sum", "least", "count")
    fitted = {name: round(float(weight), 5) for name, weight in zip(names, weights, strict=True)}
    ranker.whole = fitted | {"several": 0.0}
