"""A base model of random weights, for tests of the training. Needs torch, which only the training extra brings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from callground.caller.training import network


def write_base(folder: Path, vocabulary: Sequence[str]) -> None:
    """Writes `model.safetensors` and `tokenizer.json` in the layout of the published model.

    `vocabulary` begins with [PAD], [UNK], [CLS], [SEP].
    """
    torch.manual_seed(0)
    trunk, head = network.Trunk(), network.SelectHead()
    tensors = {
        "embeddings.word_embeddings.weight": trunk.words.weight,
        "embeddings.position_embeddings.weight": trunk.positions.weight,
        "embeddings.token_type_embeddings.weight": trunk.kinds.weight,
        "embeddings.LayerNorm.weight": trunk.norm.weight,
        "embeddings.LayerNorm.bias": trunk.norm.bias,
    }
    theirs = {
        "query": "attention.self.query",
        "key": "attention.self.key",
        "value": "attention.self.value",
        "out": "attention.output.dense",
        "out_norm": "attention.output.LayerNorm",
        "inner": "intermediate.dense",
        "outer": "output.dense",
        "outer_norm": "output.LayerNorm",
    }
    for at, layer in enumerate([*trunk.layers, *head.upper.layers]):
        for ours, name in theirs.items():
            for kind in ("weight", "bias"):
                tensors[f"encoder.layer.{at}.{name}.{kind}"] = getattr(getattr(layer, ours), kind)
    save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
