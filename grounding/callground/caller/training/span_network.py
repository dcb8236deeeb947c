"""The span head in torch."""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
# pyright: reportMissingImports=false
from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from callground.caller.training.network import WIDTH, Upper, base_upper_state

LABELS = 3


class SpanHead(nn.Module):
    """Three layers on the trunk; then each segment's mean vector points at tokens.

    Inputs: hidden (batch, tokens, WIDTH), attention_mask (batch, tokens), pool (batch, segments, tokens).
    Outputs: start and end (batch, segments, tokens), where position 0 is "not said", and label
    (batch, segments, LABELS).
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.upper = Upper(dropout)
        self.start = nn.Linear(WIDTH, WIDTH)
        self.end = nn.Linear(WIDTH, WIDTH)
        self.token = nn.Linear(WIDTH, 2)
        self.absent = nn.Linear(WIDTH, 2)
        self.label = nn.Linear(WIDTH, LABELS)
        with torch.no_grad():
            for layer in (self.start, self.end):
                # A segment and the words that mean it are alike already: start from the plain product.
                layer.weight.copy_(torch.eye(WIDTH) * 0.5 + torch.randn(WIDTH, WIDTH) * 0.01)
                layer.bias.zero_()

    def forward(self, hidden: Tensor, attention_mask: Tensor, pool: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Start, end and label logits."""
        hidden = self.upper(hidden, attention_mask)
        asked = pool @ hidden
        keys = hidden.transpose(1, 2)
        token = self.token(hidden).transpose(1, 2)
        absent = self.absent(asked)
        start = self.start(asked) @ keys / WIDTH**0.5 + token[:, :1]
        end = self.end(asked) @ keys / WIDTH**0.5 + token[:, 1:]
        start = torch.cat([absent[..., :1], start[..., 1:]], dim=-1)
        end = torch.cat([absent[..., 1:], end[..., 1:]], dim=-1)
        return start, end, self.label(asked)


def load_span_head(folder: Path, dropout: float = 0.0) -> SpanHead:
    """The span head with the base's weights in its layers; what points is untrained."""
    head = SpanHead(dropout)
    head.upper.load_state_dict(base_upper_state(folder))
    return head
