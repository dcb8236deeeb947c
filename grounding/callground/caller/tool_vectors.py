"""Vectors of tools: each text is encoded once, and kept in the store under a digest of text and model."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from callground.facts.store import Store

    Floats = NDArray[np.float32]

NAMESPACE = "vectors"
"""Of the store; a value is the vector as little-endian float16."""

CAP = 20_000
"""Vectors in memory (15 MB); those that were not asked for longest go first."""


_ASKED = 64


class TextEncoder(Protocol):
    """What turns texts into unit vectors; `callground.caller.encoder.Encoder` does."""

    path: Path

    def encode(self, texts: Sequence[str], stop: Callable[[], bool] | None = None) -> Floats:
        """One row a text; fewer when `stop()` said so."""
        ...


class ToolVectors:
    """A bounded cache of vectors before an encoder.  Safe for threads; without a store it keeps to memory."""

    def __init__(self, encoder: TextEncoder, store: Store | None = None, cap: int = CAP) -> None:
        self.encoder = encoder
        self._store = store
        self._cap = cap
        self._lock = Lock()
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self._asked: OrderedDict[str, Any] = OrderedDict()
        self._model = ""

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, texts: Sequence[str]) -> Floats:
        """The vectors of texts, float32 of shape (texts, width).  Raises EncoderUnavailable."""
        import numpy as np

        rows = self._known(texts)
        self._encode([text for text, row in zip(texts, rows, strict=True) if row is None], None)
        full = [row if row is not None else self._one(text) for text, row in zip(texts, rows, strict=True)]
        return np.stack(full).astype(np.float32) if full else np.zeros((0, 0), np.float32)

    def known(self, texts: Sequence[str]) -> list[Any]:
        """The vector of each text (float16), or None where it has not been encoded yet."""
        return self._known(texts)

    def of_requests(self, texts: Sequence[str]) -> Floats:
        """The vectors of requests: the last few are remembered, none is kept in the store."""
        import numpy as np

        with self._lock:
            known = {text: self._asked[text] for text in texts if text in self._asked}
        fresh = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(fresh, self.encoder.encode(fresh), strict=True) if fresh else ())
        with self._lock:
            self._asked.update(known)
            while len(self._asked) > _ASKED:
                self._asked.popitem(last=False)
        return np.stack([known[text] for text in texts])

    def missing(self, texts: Sequence[str]) -> list[str]:
        """The texts that have no vector yet, each once."""
        rows = self._known(texts)
        return list(dict.fromkeys(text for text, row in zip(texts, rows, strict=True) if row is None))

    def warm(self, texts: Sequence[str], stop: Callable[[], bool] | None = None) -> int:
        """Encode what is missing until `stop()`; how many texts are left."""
        missing = self.missing(texts)
        return len(missing) - self._encode(missing, stop)

    def flush(self) -> None:
        """Let other processes see what was encoded."""
        if self._store is not None:
            self._store.flush()

    def _known(self, texts: Sequence[str]) -> list[Any]:
        """The vectors that are in memory or in the store; None for the others."""
        import numpy as np

        rows: list[Any] = []
        for text in texts:
            with self._lock:
                row = self._kept.get(text)
                if row is not None:
                    self._kept.move_to_end(text)
            if row is None and self._store is not None:
                data = self._store.get(NAMESPACE, self._key(text))
                # A vector of another length is of no use; the entry is written anew.
                if data is not None and len(data) == 2 * self._width():
                    row = np.frombuffer(data, "<f2")
                    self._keep(text, row)
            rows.append(row)
        return rows

    def _one(self, text: str) -> Any:
        with self._lock:
            row = self._kept.get(text)
        return row if row is not None else self.encoder.encode([text])[0]

    def _encode(self, texts: Sequence[str], stop: Callable[[], bool] | None) -> int:
        import numpy as np

        once = list(dict.fromkeys(texts))
        if not once:
            return 0
        vectors = self.encoder.encode(once, stop)
        for text, vector in zip(once, vectors, strict=False):  # fewer, when it was stopped
            row = vector.astype("<f2")
            self._keep(text, row)
            if self._store is not None:
                self._store.put(NAMESPACE, self._key(text), np.ascontiguousarray(row).tobytes())
        return len(vectors)

    def _keep(self, text: str, row: Any) -> None:
        with self._lock:
            self._kept[text] = row
            self._kept.move_to_end(text)
            while len(self._kept) > self._cap:
                self._kept.popitem(last=False)

    def _width(self) -> int:
        from callground.caller.encoder import WIDTH

        return WIDTH

    def _key(self, text: str) -> str:
        if not self._model:
            self._model = model_digest(self.encoder.path)
        return hashlib.blake2b(f"{self._model}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def model_digest(folder: Path) -> str:
    """What the vectors of a model folder depend on, as hex digits: the digests beside the model, else its files."""
    digest = hashlib.blake2b(digest_size=16)
    listed = folder / "digests.json"
    for file in [listed] if listed.is_file() else sorted(folder.glob("*.onnx")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
