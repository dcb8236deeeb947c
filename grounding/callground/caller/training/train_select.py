"""Training of the selection head: requests near to their tools, far from the tools beside them.

Two losses over the cosines of a batch.  InfoNCE in both directions (van den Oord et al. 2018, "Representation
Learning with Contrastive Predictive Coding") puts the right tool first; a pairwise sigmoid with a learned scale and
bias (Zhai et al. 2023, "Sigmoid Loss for Language Image Pre-Training") gives cosines one meaning across requests,
which the decision to answer at all needs.  The trunk is frozen.
"""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
# pyright: reportMissingImports=false
from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from callground.caller.training.batches import Batches, same
from callground.caller.training.corpus import read
from callground.caller.training.network import SelectHead, Trunk, load_select_head, load_trunk


@dataclass(frozen=True)
class Settings:
    """What a run depends on, beside its data and its seed."""

    steps: int = 1000
    cooldown: int = 200
    """The last steps, in which the learning rate falls to zero; before them it is constant, so that a run can be
    ended early by starting the cooldown early."""
    warmup: int = 40
    batch: int = 48
    rate: float = 8e-5
    scale: float = 20.0
    sigmoid: float = 0.3
    """Weight of the sigmoid loss beside InfoNCE."""
    tokens: int = 40
    dropout: float = 0.1
    average: float = 0.99
    """Decay of the running average of the weights, which is what is kept."""
    seed: int = 0


class Trainer:
    """One run.  `folder` is the base model (``model.safetensors``, ``tokenizer.json``), `data` a file of groups."""

    def __init__(self, base: Path, data: Path, settings: Settings) -> None:
        torch.manual_seed(settings.seed)
        self.settings = settings
        self.batches = Batches(read(data), settings.batch, settings.seed)
        self.trunk: Trunk = load_trunk(base)
        self.head: SelectHead = load_select_head(base, settings.dropout).train()
        self.averaged: SelectHead = copy.deepcopy(self.head).eval().requires_grad_(False)
        self.sigmoid = nn.Parameter(torch.tensor([2.5, -6.0]))  # log of the scale, bias
        self.optimiser = torch.optim.AdamW(
            [
                {"params": list(self.head.parameters()), "share": 1.0, "weight_decay": 0.01},
                {"params": [self.sigmoid], "share": 50.0, "weight_decay": 0.0},
            ],
            lr=settings.rate,
        )
        self.tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
        self.tokenizer.enable_truncation(settings.tokens)
        self.tokenizer.enable_padding()
        self.step = 0

    def encode(self, texts: Sequence[str], head: SelectHead) -> Tensor:
        """Unit vectors (len(texts), WIDTH); run in pieces of like length, since padding costs as much as text."""
        encodings = self.tokenizer.encode_batch(list(texts))
        lengths = [sum(encoding.attention_mask) for encoding in encodings]
        order = sorted(range(len(texts)), key=lengths.__getitem__)
        rows: list[Tensor | None] = [None] * len(texts)
        for start in range(0, len(order), 16):
            piece = order[start : start + 16]
            longest = max(lengths[at] for at in piece)
            ids = torch.tensor([encodings[at].ids[:longest] for at in piece])
            mask = torch.tensor([encodings[at].attention_mask[:longest] for at in piece])
            with torch.no_grad():
                hidden = self.trunk(ids, mask, torch.zeros_like(ids))
            for at, row in zip(piece, head(hidden, mask), strict=True):
                rows[at] = row
        return torch.stack([row for row in rows if row is not None])

    def rate_at(self, step: int) -> float:
        """The learning rate of a step: rising, constant, falling."""
        settings = self.settings
        rising = min(1.0, (step + 1) / settings.warmup)
        falling = min(1.0, (settings.steps - step) / max(1, settings.cooldown))
        return settings.rate * rising * max(0.02, falling)

    def losses(self, cosines: Tensor, apart: Tensor) -> tuple[Tensor, Tensor]:
        """InfoNCE in both directions, and the sigmoid loss; `apart` is False where a pair is not to be judged."""
        targets = torch.arange(len(cosines))
        logits = (cosines * self.settings.scale).masked_fill(~apart, -1e4)
        cross = nn.functional.cross_entropy
        contrast = (cross(logits, targets) + cross(logits.T, targets)) / 2
        signs = 2 * torch.eye(len(cosines)) - 1
        pairwise = -nn.functional.logsigmoid(signs * (cosines * self.sigmoid[0].exp() + self.sigmoid[1]))
        return contrast, (pairwise * apart).sum() / len(cosines)

    def advance(self) -> tuple[float, float, int]:
        """One step: its two losses and the number of pairs."""
        rows = self.batches.batch(self.step)
        apart = torch.ones(len(rows), len(rows), dtype=torch.bool)
        for one, other in same(rows):
            apart[one, other] = False
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate_at(self.step) * group["share"]
        requests = self.encode([row.request for row in rows], self.head)
        tools = self.encode([row.tool for row in rows], self.head)
        contrast, pairwise = self.losses(requests @ tools.T, apart)
        self.optimiser.zero_grad()
        (contrast + self.settings.sigmoid * pairwise).backward()
        nn.utils.clip_grad_norm_(self.head.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        decay = min(self.settings.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for kept, now in zip(self.averaged.parameters(), self.head.parameters(), strict=True):
                kept.lerp_(now, 1 - decay)
        return contrast.item(), pairwise.item(), len(rows)

    def save(self, path: Path) -> None:
        """Writes the run so far, so that it can go on; never leaves half a file."""
        state = {
            "step": self.step,
            "head": self.head.state_dict(),
            "averaged": self.averaged.state_dict(),
            "sigmoid": self.sigmoid.detach(),
            "optimiser": self.optimiser.state_dict(),
        }
        aside = path.with_suffix(".part")
        torch.save(state, aside)
        aside.replace(path)

    def resume(self, path: Path) -> None:
        """Goes on from what `save` wrote."""
        state: dict[str, Any] = torch.load(path, weights_only=True)
        self.step = state["step"]
        self.head.load_state_dict(state["head"])
        self.averaged.load_state_dict(state["averaged"])
        with torch.no_grad():
            self.sigmoid.copy_(state["sigmoid"])
        self.optimiser.load_state_dict(state["optimiser"])


def train(
    base: Path, data: Path, target: Path, settings: Settings, *, resume: Path | None = None, every: int = 50
) -> None:
    """Runs until `settings.steps`, on one thread; writes a checkpoint to `target` every so many steps."""
    torch.set_num_threads(1)
    trainer = Trainer(base, data, settings)
    if resume is not None:
        trainer.resume(resume)
    target.parent.mkdir(parents=True, exist_ok=True)
    began, seen = time.process_time(), 0
    contrast = pairwise = float("nan")
    while trainer.step < settings.steps:
        one, other, rows = trainer.advance()
        seen += rows
        contrast = one if contrast != contrast else 0.95 * contrast + 0.05 * one
        pairwise = other if pairwise != pairwise else 0.95 * pairwise + 0.05 * other
        if trainer.step % every == 0 or trainer.step == settings.steps:
            trainer.save(target)
            spent = time.process_time() - began
            print(
                f"step {trainer.step}/{settings.steps}: contrast {contrast:.3f} pairwise {pairwise:.3f}, {seen} pairs, "
                f"{spent:.0f} CPU-s, {seen / spent:.1f} pairs per CPU-s",
                flush=True,
            )
