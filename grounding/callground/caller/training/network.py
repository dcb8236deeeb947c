"""The network in torch: a BERT encoder cut into a trunk and heads, and the base weights read into it.

The layers are those of Devlin et al. 2019 ("BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding") in the sizes of all-MiniLM-L6-v2; written out here because trunk and heads are trained, exported and
quantised apart from each other.
"""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
# pyright: reportMissingImports=false
from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

WIDTH = 384
HEADS = 12
INNER = 1536
VOCABULARY = 30522
POSITIONS = 512
LAYERS = 6
TRUNK_LAYERS = 3
EPSILON = 1e-12
MASKED = -1e4


class Layer(nn.Module):
    """Self-attention and a feed-forward net, each followed by a norm over the sum with its input."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.query = nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH)
        self.value = nn.Linear(WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.out_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.inner = nn.Linear(WIDTH, INNER)
        self.outer = nn.Linear(INNER, WIDTH)
        self.outer_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: Tensor, bias: Tensor) -> Tensor:
        """`hidden` (batch, tokens, WIDTH); `bias` (batch, 1, 1, tokens) is added to the attention's logits."""
        batch, tokens = hidden.shape[0], hidden.shape[1]

        def split(x: Tensor) -> Tensor:
            return x.view(batch, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)

        query, key, value = split(self.query(hidden)), split(self.key(hidden)), split(self.value(hidden))
        weights = torch.softmax(query @ key.transpose(2, 3) / (WIDTH // HEADS) ** 0.5 + bias, dim=-1)
        mixed = (weights @ value).transpose(1, 2).reshape(batch, tokens, WIDTH)
        hidden = self.out_norm(hidden + self.dropout(self.out(mixed)))
        inner = nn.functional.gelu(self.inner(hidden))
        return self.outer_norm(hidden + self.dropout(self.outer(inner)))


def attention_bias(mask: Tensor) -> Tensor:
    """0 where a token is, MASKED where padding is; `mask` is (batch, tokens) of 1 and 0."""
    return (1.0 - mask[:, None, None, :].to(torch.float32)) * MASKED


class Trunk(nn.Module):
    """Embeddings and the first layers.  Frozen in every training here, so that the heads can share it."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH)
        self.positions = nn.Embedding(POSITIONS, WIDTH)
        self.kinds = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.layers = nn.ModuleList(Layer() for _ in range(TRUNK_LAYERS))

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """(batch, tokens) each -> (batch, tokens, WIDTH)."""
        places = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        hidden = self.norm(self.words(input_ids) + self.positions(places) + self.kinds(token_type_ids))
        bias = attention_bias(attention_mask)
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return hidden


class Upper(nn.Module):
    """The last layers of one head."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(LAYERS - TRUNK_LAYERS))

    def forward(self, hidden: Tensor, attention_mask: Tensor) -> Tensor:
        """(batch, tokens, WIDTH) -> the same shape."""
        bias = attention_bias(attention_mask)
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return hidden


class SelectHead(nn.Module):
    """The last layers, the mean over the tokens, unit length."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.upper = Upper(dropout)

    def forward(self, hidden: Tensor, attention_mask: Tensor) -> Tensor:
        """(batch, tokens, WIDTH) -> (batch, WIDTH)."""
        hidden = self.upper(hidden, attention_mask)
        weight = attention_mask.unsqueeze(-1).to(hidden.dtype)
        return nn.functional.normalize((hidden * weight).sum(1) / weight.sum(1), dim=1)


_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "out_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "outer_norm": "output.LayerNorm",
}


def _base_tensors(folder: Path) -> dict[str, Tensor]:
    tensors = load_file(str(folder / "model.safetensors"))
    return {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}


def _layers_state(base: dict[str, Tensor], first: int, count: int, prefix: str) -> dict[str, Tensor]:
    return {
        f"{prefix}layers.{index}.{own}.{kind}": base[f"encoder.layer.{first + index}.{theirs}.{kind}"]
        for index in range(count)
        for own, theirs in _NAMES.items()
        for kind in ("weight", "bias")
    }


def load_trunk(folder: Path) -> Trunk:
    """The trunk with the base's weights, in evaluation mode.  `folder` holds `model.safetensors`."""
    base = _base_tensors(folder)
    state = _layers_state(base, 0, TRUNK_LAYERS, "")
    state["words.weight"] = base["embeddings.word_embeddings.weight"]
    state["positions.weight"] = base["embeddings.position_embeddings.weight"]
    state["kinds.weight"] = base["embeddings.token_type_embeddings.weight"]
    state["norm.weight"] = base["embeddings.LayerNorm.weight"]
    state["norm.bias"] = base["embeddings.LayerNorm.bias"]
    trunk = Trunk()
    trunk.load_state_dict(state)
    return trunk.eval().requires_grad_(False)


def base_upper_state(folder: Path) -> dict[str, Tensor]:
    """The base's last layers, named as in `Upper`: where every head starts."""
    return _layers_state(_base_tensors(folder), TRUNK_LAYERS, LAYERS - TRUNK_LAYERS, "")


def load_select_head(folder: Path, dropout: float = 0.0) -> SelectHead:
    """The selection head with the base's weights."""
    head = SelectHead(dropout)
    head.upper.load_state_dict(base_upper_state(folder))
    return head
