"""A caller without a network: vectors out of words, arguments out of a table, and a model folder to go with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from callground.caller.calibration import Row, make_calibration
from callground.caller.lexical import stems

WIDTH = 384


class WordEncoder:
    """A text's vector is the sum of one fixed random vector for each of its words, at unit length."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.encoded: list[str] = []

    def available(self) -> str | None:
        return None

    def encode(self, texts: Sequence[str], stop: Callable[[], bool] | None = None) -> Any:
        rows = []
        for text in texts:
            if stop is not None and stop():
                break
            self.encoded.append(text)
            row = np.full(WIDTH, 1e-3)
            for word in stems(text):
                seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
                row = row + np.random.default_rng(seed).normal(size=WIDTH)
            rows.append(row / np.linalg.norm(row))
        return np.array(rows, np.float32).reshape(len(rows), WIDTH)


@dataclass
class Filled:
    """The arguments of one call, as `callground.caller.arguments` tells them."""

    values: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    confidence: float = 0.9
    reasons: dict[str, str] = field(default_factory=dict)
    several_actions: bool = False


def model_folder(folder: Path, wrong_below: float = 0.5, rows: int = 400) -> Path:
    """Combiner, gate and calibration by hand: rows whose score is under `wrong_below` are wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    scores = [(place + 0.5) / rows for place in range(rows)]
    calibration = make_calibration(
        [Row(score, score < wrong_below) for score in scores],
        scores,
        about="made by hand",
        conformal=[0.5] * 100,
    )
    files = {
        "combiner_tools.json": {"weights": {"meaning": 8.0, "said": 4.0, "name_said": 2.0}},
        "gate.json": {"bias": -4.0, "weights": {"meaning": 6.0, "said": 8.0, "complete": 1.0}},
        "calibration.json": {"tools": calibration.to_json()},
    }
    for name, data in files.items():
        (folder / name).write_text(json.dumps(data), "utf-8")
    return folder
