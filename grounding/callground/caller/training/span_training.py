"""Trains the span head on the frozen trunk.

One step is a batch of packs (`spans.packs`); the loss is the cross entropy of start and of end over the request's
tokens and "not said" (Devlin et al. 2019, section 4.3), and of the label (not said, true, false) for booleans and
members of enums. Seeds are fixed; the same steps on the same machine give the same head.
"""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
# pyright: reportMissingImports=false
from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from callground.caller.spans import Pack, Segment, packs, parameter_segments, pooling
from callground.caller.tools import words
from callground.caller.training.network import Trunk, load_trunk
from callground.caller.training.span_data import Example
from callground.caller.training.span_network import SpanHead, load_span_head

IGNORED = -100
_SOURCES = {"seal": 4, "seal-several": 2}
"""How often an example of a source is seen in an epoch; once where none is named."""


@dataclass(frozen=True)
class Settings:
    """What a training run is made of."""

    steps: int = 1500
    batch: int = 16
    rate: float = 2e-4
    """Learning rate of the layers; what points learns at `pointer_rate` times that."""
    pointer_rate: float = 4.0
    warmup: int = 60
    seed: int = 0
    threads: int = 1
    dropout: float = 0.1
    absent: int = 3
    """At most so many parameters that were not said are asked of one request."""


@dataclass(frozen=True)
class Question:
    """A pack with what is right for each segment."""

    pack: Pack
    start: list[int]
    """Token position of the start; 0 where it is not said."""
    end: list[int]
    label: list[int]
    """IGNORED for a segment that is neither a boolean nor a member of an enum."""


def question(
    example: Example, encode: Callable[[str], Any], marks: tuple[int, int], r: random.Random, absent: int
) -> Question | None:
    """A pack for a training example, with its parameters in random order. None where nothing can be asked."""
    known = [arg for arg in example.tool.args if arg.name not in example.open]
    asked = [arg for arg in known if arg.name in example.values]
    silent = [arg for arg in known if arg.name not in example.values]
    asked += r.sample(silent, min(absent, len(silent)))
    r.shuffle(asked)
    groups: list[list[Segment]] = []
    for arg in asked[:8]:
        if r.random() < 0.12:
            arg = dataclasses.replace(arg, description="")
        head, *options = parameter_segments(arg)
        right = str(example.values.get(arg.name))
        others = [each for each in options if each.option != right]
        kept = [each for each in options if each.option == right] + r.sample(others, min(2, len(others)))
        r.shuffle(kept)
        groups.append([head, *kept])
    pack = next(packs(example.text, words(example.tool.name), groups, encode, marks), None)
    if pack is None:
        return None
    types = {arg.name: arg.type for arg in example.tool.args}
    starts, ends, labels = [], [], []
    for segment in pack.segments:
        said = segment.parameter in example.values
        value = example.values.get(segment.parameter)
        hit = said and (segment.option is None or segment.option == str(value))
        place = _tokens(pack, example.spans.get(segment.parameter)) if hit else (0, 0)
        starts.append(place[0] if place else IGNORED)
        ends.append(place[1] if place else IGNORED)
        if segment.option is not None:
            labels.append(1 if hit else 0)
        elif types[segment.parameter] == "boolean":
            labels.append(0 if not said else 1 if value else 2)
        else:
            labels.append(IGNORED)
    return Question(pack, starts, ends, labels)


def _tokens(pack: Pack, span: tuple[int, int] | None) -> tuple[int, int] | None:
    if span is None:
        return None
    inside = [index for index, (low, high) in enumerate(pack.places) if high > span[0] and low < span[1]]
    return (1 + inside[0], 1 + inside[-1]) if inside else None


@dataclass(frozen=True)
class Batch:
    """Questions padded to one size."""

    ids: Tensor
    mask: Tensor
    kinds: Tensor
    pool: Tensor
    allowed: Tensor
    """(batch, 1, tokens): where an answer can be."""
    start: Tensor
    end: Tensor
    label: Tensor


def batch_of(questions: Sequence[Question]) -> Batch:
    """Pads questions to one size."""
    tokens = max(len(each.pack.ids) for each in questions)
    segments = max(len(each.start) for each in questions)
    size = len(questions)
    ids = torch.zeros(size, tokens, dtype=torch.long)
    mask, kinds = torch.zeros_like(ids), torch.zeros_like(ids)
    pool = torch.zeros(size, segments, tokens)
    allowed = torch.zeros(size, 1, tokens, dtype=torch.bool)
    answers = torch.full((3, size, segments), IGNORED, dtype=torch.long)
    for row, each in enumerate(questions):
        length = len(each.pack.ids)
        ids[row, :length] = torch.tensor(each.pack.ids)
        mask[row, :length] = 1
        kinds[row, :length] = torch.tensor(each.pack.kinds)
        pool[row, : len(each.start), :length] = torch.from_numpy(pooling(each.pack))
        allowed[row, 0, : 1 + len(each.pack.places)] = True
        for kind, values in enumerate((each.start, each.end, each.label)):
            answers[kind, row, : len(values)] = torch.tensor(values)
    return Batch(ids, mask, kinds, pool, allowed, *answers)


def loss_of(head: SpanHead, trunk: Trunk, batch: Batch) -> Tensor:
    """Half the sum of the three cross entropies."""
    with torch.no_grad():
        hidden = trunk(batch.ids, batch.mask, batch.kinds)
    start, end, label = head(hidden, batch.mask, batch.pool)
    start = start.masked_fill(~batch.allowed, -1e4)
    end = end.masked_fill(~batch.allowed, -1e4)
    entropy = nn.functional.cross_entropy
    loss = entropy(start.flatten(0, 1), batch.start.flatten(), ignore_index=IGNORED)
    loss = loss + entropy(end.flatten(0, 1), batch.end.flatten(), ignore_index=IGNORED)
    if (batch.label != IGNORED).any():
        loss = loss + entropy(label.flatten(0, 1), batch.label.flatten(), ignore_index=IGNORED)
    return loss / 2


def tokenizer_of(folder: Path) -> tuple[Callable[[str], Any], tuple[int, int]]:
    """How a text becomes tokens without marks, and the ids of [CLS] and [SEP]. Raises ValueError without these."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    if first is None or last is None:
        raise ValueError(f"{folder}: the tokenizer knows no [CLS] or no [SEP]")
    return lambda text: tokenizer.encode(text, add_special_tokens=False), (first, last)


def batches(examples: Sequence[Example], base: Path, settings: Settings) -> Iterator[Batch]:
    """Batches without end: of similar lengths, in random order."""
    encode, marks = tokenizer_of(base)
    r = random.Random(settings.seed)
    pool = [example for example in examples for _ in range(_SOURCES.get(example.source, 1))]
    while True:
        r.shuffle(pool)
        for first in range(0, len(pool), settings.batch * 32):
            made = [
                question(each, encode, marks, r, settings.absent) for each in pool[first : first + settings.batch * 32]
            ]
            ready = sorted((each for each in made if each is not None), key=lambda each: len(each.pack.ids))
            chunks = [ready[at : at + settings.batch] for at in range(0, len(ready), settings.batch)]
            r.shuffle(chunks)
            yield from (batch_of(chunk) for chunk in chunks)


def train(
    examples: Sequence[Example],
    base: Path,
    out: Path,
    settings: Settings,
    initial: Path | None = None,
    say: Callable[[str], None] = print,
) -> SpanHead:
    """Trains and writes the head's state to `out`, every two minutes and at the end.

    `base` is the base model's folder; `initial` is a state of an earlier run to go on from.
    """
    torch.manual_seed(settings.seed)
    torch.set_num_threads(settings.threads)
    trunk, head = load_trunk(base), load_span_head(base, settings.dropout).train()
    if initial is not None:
        head.load_state_dict(torch.load(initial, weights_only=True))
    learned = [
        {"params": head.upper.parameters(), "lr": settings.rate},
        {
            "params": [value for name, value in head.named_parameters() if not name.startswith("upper.")],
            "lr": settings.rate * settings.pointer_rate,
        },
    ]
    optimizer = torch.optim.AdamW(learned, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1.0, (step + 1) / settings.warmup) * max(0.03, min(1.0, 1.6 * (1 - step / settings.steps))),
    )
    begun, written, mean = time.process_time(), time.monotonic(), 0.0
    stream = batches(examples, base, settings)
    for step in range(1, settings.steps + 1):
        loss = loss_of(head, trunk, next(stream))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        mean = loss.item() if step == 1 else 0.97 * mean + 0.03 * loss.item()
        if step % 20 == 0:
            spent = time.process_time() - begun
            say(f"step {step} of {settings.steps}: loss {mean:.3f}, {step * settings.batch / spent:.1f} requests/CPU s")
        if time.monotonic() - written > 120:
            torch.save(head.state_dict(), out)
            written = time.monotonic()
    torch.save(head.state_dict(), out)
    return head.eval()


def load_trained(base: Path, state: Path) -> SpanHead:
    """A head with the state that `train` wrote."""
    head = load_span_head(base)
    head.load_state_dict(torch.load(state, weights_only=True))
    return head.eval()


def measure(head: SpanHead, examples: Sequence[Example], base: Path, seed: int = 7) -> dict[str, float]:
    """Share of segments whose start and end are both right, of those said; right "not said"; right labels."""
    encode, marks = tokenizer_of(base)
    trunk, r = load_trunk(base), random.Random(seed)
    head.requires_grad_(False)
    counts: dict[str, list[int]] = {"said": [], "not said": [], "label": []}
    for example in examples:
        asked = question(example, encode, marks, r, 3)
        if asked is None:
            continue
        batch = batch_of([asked])
        start, end, label = head(trunk(batch.ids, batch.mask, batch.kinds), batch.mask, batch.pool)
        starts = start.masked_fill(~batch.allowed, -1e4).argmax(-1)[0].tolist()
        ends = end.masked_fill(~batch.allowed, -1e4).argmax(-1)[0].tolist()
        for row, segment in enumerate(asked.pack.segments):
            if asked.label[row] != IGNORED:
                counts["label"].append(int(label[0, row].argmax()) == asked.label[row])
            if segment.option is None and asked.start[row] != IGNORED:
                right = starts[row] == asked.start[row] and ends[row] == asked.end[row]
                counts["said" if asked.start[row] else "not said"].append(right)
    return {name: sum(values) / max(1, len(values)) for name, values in counts.items()}
