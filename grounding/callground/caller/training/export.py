"""torch to ONNX to int8: dynamic, per channel, with a reduced weight range (7 bits, so that no AVX2 sum saturates)."""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
# pyright: reportMissingImports=false
from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from callground.caller.training.network import WIDTH, load_select_head, load_trunk

OPSET = 17


def _onnx(module: nn.Module, inputs: dict[str, Tensor], output: str, path: Path) -> None:
    dynamic = {name: ({0: "batch"} if name == "embedding" else {0: "batch", 1: "tokens"}) for name in (*inputs, output)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            module.eval(),
            tuple(inputs.values()),
            str(path),
            input_names=list(inputs),
            output_names=[output],
            dynamic_axes=dynamic,
            opset_version=OPSET,
            dynamo=False,
        )


def quantised(source: Path, target: Path) -> None:
    """Writes the int8 form of an ONNX file."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(source, target, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


def _export(module: nn.Module, inputs: dict[str, Tensor], output: str, target: Path, int8: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not int8:
        _onnx(module, inputs, output, target)
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / target.name
        _onnx(module, inputs, output, plain)
        quantised(plain, target)


def export_trunk(trunk: nn.Module, target: Path, int8: bool = True) -> None:
    """Writes ``trunk.onnx``: input_ids, attention_mask, token_type_ids (batch, tokens) -> hidden."""
    ones = torch.ones(2, 16, dtype=torch.long)
    inputs = {"input_ids": ones, "attention_mask": ones, "token_type_ids": torch.zeros_like(ones)}
    _export(trunk, inputs, "hidden", target, int8)


def export_head(head: nn.Module, output: str, target: Path, int8: bool = True) -> None:
    """Writes a head: hidden (batch, tokens, WIDTH), attention_mask (batch, tokens) -> `output`.

    `output` is ``embedding`` (batch, WIDTH) for the selection head, ``logits`` (batch, tokens, 2) for the span head.
    """
    inputs = {"hidden": torch.randn(2, 16, WIDTH), "attention_mask": torch.ones(2, 16, dtype=torch.long)}
    _export(head, inputs, output, target, int8)


def export_model(
    base: Path, checkpoints: Sequence[Path], folder: Path, *, share: float = 1.0, int8: bool = True
) -> None:
    """Writes the trunk, the selection head and the tokenizer into `folder`.

    The head is the mean of those of the checkpoints (Wortsman et al. 2022, "Model soups").  `share` below 1 mixes it
    with the base's (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"): what the base knew beyond the
    training data is kept the better for it.  Raises ValueError where there is no checkpoint.
    """
    if not checkpoints:
        raise ValueError("no checkpoint to export")
    head = load_select_head(base)
    runs = [torch.load(checkpoint, weights_only=True)["averaged"] for checkpoint in checkpoints]
    head.load_state_dict(
        {
            name: torch.lerp(old, torch.stack([run[name] for run in runs]).mean(0), share)
            for name, old in head.state_dict().items()
        }
    )
    export_trunk(load_trunk(base), folder / "trunk.onnx", int8)
    export_head(head, "embedding", folder / "select.onnx", int8)
    shutil.copyfile(base / "tokenizer.json", folder / "tokenizer.json")
