"""The span head as ONNX: ``span.onnx`` of the model folder."""

# torch and its kin come with the extra `training`, which need not be there when types are checked.
# pyright: reportMissingImports=false
from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import torch

from callground.caller.training.export import OPSET, quantised
from callground.caller.training.network import WIDTH
from callground.caller.training.span_network import SpanHead


def export_span_head(head: SpanHead, target: Path, int8: bool = True) -> None:
    """Writes the head: hidden (batch, tokens, WIDTH), attention_mask (batch, tokens), pool (batch, segments, tokens)
    -> start, end (batch, segments, tokens), label (batch, segments, 3)."""
    mask = torch.ones(2, 16, dtype=torch.long)
    inputs = {"hidden": torch.randn(2, 16, WIDTH), "attention_mask": mask, "pool": torch.rand(2, 3, 16)}
    pointing = {0: "batch", 1: "segments", 2: "tokens"}
    axes = {
        "hidden": {0: "batch", 1: "tokens"},
        "attention_mask": {0: "batch", 1: "tokens"},
        "pool": pointing,
        "start": pointing,
        "end": pointing,
        "label": {0: "batch", 1: "segments"},
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = Path(folder) / target.name if int8 else target
        torch.onnx.export(
            head.eval(),
            tuple(inputs.values()),
            str(plain),
            input_names=list(inputs),
            output_names=["start", "end", "label"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
        if int8:
            quantised(plain, target)
