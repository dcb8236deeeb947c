"""The frozen encoder as distillation uses it: vectors that are kept, and a name for the network that made them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = 20_000
"""Vectors that are kept; 30 MB."""


class Encodes(Protocol):
    """What is needed of `callground.caller.encoder.Encoder`."""

    def encode(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """Unit vectors, one row a text."""
        ...


class Vectors:
    """An encoder that remembers: learning again asks for the same texts again.  Thread-safe, bounded."""

    def __init__(self, encoder: Encodes) -> None:
        self._encoder = encoder
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (n, width)."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        made = dict(zip(missing, self._encoder.encode(missing), strict=True)) if missing else {}
        with self._lock:
            out = []
            for text in texts:
                vector = made.get(text, self._kept.get(text))
                if vector is None:  # another thread's texts have pushed it out meanwhile
                    vector = self._encoder.encode([text])[0]
                self._kept[text] = vector
                self._kept.move_to_end(text)
                out.append(vector)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return np.stack(out)

    def once(self, text: str) -> NDArray[np.float32]:
        """The vector of a request that is being served: not kept."""
        out: NDArray[np.float32] = self._encoder.encode([text])[0]
        return out


def identity(encoder: Encodes) -> str:
    """What an artifact remembers of its encoder: a digest over the network's files, or the encoder's own word."""
    named = getattr(encoder, "identity", None)
    if isinstance(named, str):
        return named
    path = getattr(encoder, "path", None)
    if not isinstance(path, Path):
        return type(encoder).__name__
    whole = hashlib.sha256()
    for name in ("trunk.onnx", "select.onnx", "tokenizer.json"):
        whole.update((path / name).read_bytes())
    return "sha256:" + whole.hexdigest()
