"""The student's heads as two ONNX models, and the sessions that run them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from callground.caller.distill.onnx_file import FLOAT, INT64, Node, Port, model, scalar
from callground.caller.distill.student import Heads
from callground.caller.distill.tagger import Tagger

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

SELECT_FILE = "select.onnx"
TAG_FILE = "tag.onnx"
_MOST = 48
"""Features of one token: `token_features` gives fewer, whatever the number of arguments; more are cut."""


def select_model(heads: Heads) -> bytes:
    """``vector`` (1, width) -> ``scores`` (1, classes), ``choices`` (1, values): a kernel machine and linear heads."""
    width = heads.basis.shape[1]
    weights = heads.choice_weights if heads.choice_weights.shape[1] else np.zeros((width + 1, 1))
    half = {"basis": np.ascontiguousarray(heads.basis.T).astype(np.float16)}
    rest = {
        "one": scalar(1.0),
        "reach": scalar(heads.reach),
        "selector": heads.selector.astype(np.float32),
        "choice_weights": weights[:-1].astype(np.float32),
        "choice_bias": weights[-1:].astype(np.float32),
    }
    nodes = [
        Node("Cast", ("basis",), "examples", {"to": FLOAT}),
        Node("MatMul", ("vector", "examples"), "cosine"),
        Node("Sub", ("cosine", "one"), "distance"),
        Node("Div", ("distance", "reach"), "scaled"),
        Node("Exp", ("scaled",), "alike"),
        Node("MatMul", ("alike", "selector"), "scores"),
        Node("MatMul", ("vector", "choice_weights"), "unbiased"),
        Node("Add", ("unbiased", "choice_bias"), "choices"),
    ]
    return model(
        "select",
        nodes,
        {**half, **rest},
        [Port("vector", FLOAT, (1, width))],
        [Port("scores", FLOAT, (1, len(heads.classes))), Port("choices", FLOAT, (1, weights.shape[1]))],
    )


def tag_model(tagger: Tagger) -> bytes:
    """``features`` (tokens, n) -> ``scores`` (tokens, labels): the sum of each token's rows."""
    nodes = [
        Node("Gather", ("emissions", "features"), "rows", {"axis": 0}),
        Node("ReduceSum", ("rows", "axis"), "scores", {"keepdims": 0}),
    ]
    labels = tagger.emissions.shape[1]
    return model(
        "tag",
        nodes,
        {"emissions": tagger.emissions.astype(np.float32), "axis": np.array([1], dtype=np.int64)},
        [Port("features", INT64, ("tokens", "n"))],
        [Port("scores", FLOAT, ("tokens", labels))],
    )


def run_by_sessions(heads: Heads, select: bytes, tag: bytes) -> Heads:
    """The same heads, run by onnxruntime on one thread.  A decision never depends on whether it was saved between."""
    chooser, marker = _session(select), _session(tag)
    empty = len(heads.tagger.vocabulary)

    def scores(x: NDArray[np.float32]) -> tuple[Floats, Floats]:
        one, other = chooser.run(None, {"vector": x[None, :]})
        return one[0].astype(float), other[0].astype(float)

    def emit(ids: Sequence[Sequence[int]]) -> Floats:
        feed = np.full((len(ids), min(max(map(len, ids), default=1) or 1, _MOST)), empty, dtype=np.int64)
        for row, each in zip(feed, ids, strict=True):
            row[: len(each)] = each[: len(row)]
        out: Floats = marker.run(None, {"features": feed})[0].astype(float)
        return out

    old = heads.tagger
    tagger = Tagger(old.arguments, old.by_tool, old.vocabulary, np.zeros((0, 0)), old.transitions, old.known, emit)
    none = np.zeros((0, 0))
    return replace(
        heads, select=scores, tagger=tagger, basis=none.astype(np.float32), selector=none, choice_weights=none
    )


def _session(data: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
