"""Texts to vectors, and questions to spans of a request: the one place that runs the bundled network.

The network is MiniLM (Wang et al. 2020, "MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of
Pre-Trained Transformers"), cut in two.  The *trunk* (embeddings and the first three layers) is shared; on it stand
two heads of three layers each: *select* gives one vector per text (mean over the tokens, unit length: Reimers and
Gurevych 2019, "Sentence-BERT"), *span* points at the start and the end of each parameter's value (`spans`).

onnxruntime, tokenizers and numpy are imported when the first text is encoded, never earlier.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from callground.caller.spans import ParameterScores, Segment, packs, pooling, segments_of, unpack
from callground.caller.tools import ToolSpec, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

WIDTH = 384
"""Numbers in one vector."""

MAX_TEXT_TOKENS = 128
"""Longer texts are cut: the end of a long description says little about which tool it is."""

MODEL_VARIABLE = "CALLGROUND_CALLER_MODEL"
"""Environment variable that names another model folder."""

_PACKAGES = ("numpy", "onnxruntime", "tokenizers")
_TOKENIZER_FILE = "tokenizer.json"
_SELECT_FILES = (_TOKENIZER_FILE, "trunk.onnx", "select.onnx")
_SPAN_FILE = "span.onnx"


class EncoderUnavailable(RuntimeError):
    """The network cannot run here; the message says what is missing."""


@dataclass(frozen=True)
class Span:
    """A piece of the request as the answer to one question: ``request[start:end]``.

    `score` is its start score plus its end score, less those of "not said": above 0 the network thinks it was said.
    """

    start: int
    end: int
    score: float


def default_model() -> Path:
    """The folder of the model: the one that `CALLGROUND_CALLER_MODEL` names, else the one inside the package."""
    named = os.environ.get(MODEL_VARIABLE)
    return Path(named) if named else Path(__file__).parent / "model"


def _readable(text: str) -> str:
    """The text with ``?`` for halves of surrogate pairs, which no tokenizer takes; as long as before."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Encoder:
    """The network of one model folder.  Cheap to make; everything is loaded on first use, once, from any thread.

    Each text is run by itself, on one thread: its vector does not depend on what else is asked at the same time
    (int8 activations are scaled per call), and an idle slice can end after any text.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_model()
        self._lock = Lock()
        self._loaded: dict[str, Any] = {}

    def available(self) -> str | None:
        """Why the network cannot run here, or None.  Loads nothing."""
        for package in _PACKAGES:
            if find_spec(package) is None:
                return f"the package {package} is not installed"
        for name in _SELECT_FILES:
            if not (self.path / name).is_file():
                return f"the model file {name} is missing in {self.path}"
        return None

    def spans_available(self) -> str | None:
        """The same for `spans`, which needs one file more."""
        reason = self.available()
        if reason is None and not (self.path / _SPAN_FILE).is_file():
            return f"the model file {_SPAN_FILE} is missing in {self.path}"
        return reason

    def encode(self, texts: Sequence[str], stop: Callable[[], bool] | None = None) -> Floats:
        """One unit vector a text: float32 of shape (len(texts), WIDTH).

        `stop` is asked before each text; once it says True, the rows made so far are returned.
        Raises EncoderUnavailable.
        """
        import numpy as np

        rows: list[Floats] = []
        for text in texts:
            if stop is not None and stop():
                break
            ids = self._tokenizer("texts").encode(_readable(text)).ids
            hidden, mask = self._hidden(ids, [0] * len(ids))
            rows.append(self._session("select.onnx").run(None, {"hidden": hidden, "attention_mask": mask})[0][0])
        return np.stack(rows).astype(np.float32, copy=False) if rows else np.zeros((0, WIDTH), np.float32)

    def parameter_scores(
        self, request: str, tool: ToolSpec, names: Collection[str] | None = None
    ) -> dict[str, ParameterScores]:
        """What the span head says to the tool's parameters (to those of `names`, if given), by name.

        Raises EncoderUnavailable.
        """
        groups = [group for group in segments_of(tool) if names is None or group[0].parameter in names]
        return self._ask(request, words(tool.name), groups)

    def spans(self, request: str, questions: Sequence[str], limit: int = 3, longest: int = 24) -> list[list[Span]]:
        """For each question the best pieces of the request, best first: at most `limit`, of at most `longest` tokens.

        Raises EncoderUnavailable.
        """
        asked = [[Segment(str(index), None, question)] for index, question in enumerate(questions)]
        scores = self._ask(request, "", asked)
        return [[Span(*found) for found in scores[str(index)].best(limit, longest)] for index in range(len(questions))]

    def _ask(self, request: str, title: str, groups: Sequence[list[Segment]]) -> dict[str, ParameterScores]:
        tokenizer = self._tokenizer("pieces")
        marks = (tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]"))
        found: dict[str, ParameterScores] = {}

        def tokens(text: str) -> Any:
            return tokenizer.encode(_readable(text), add_special_tokens=False)

        for pack in packs(request, title, groups, tokens, marks):
            hidden, mask = self._hidden(pack.ids, pack.kinds)
            feed = {"hidden": hidden, "attention_mask": mask, "pool": pooling(pack)[None]}
            start, end, label = self._session(_SPAN_FILE).run(None, feed)
            found |= unpack(pack, start[0], end[0], label[0])
        return found

    def _hidden(self, ids: list[int], kinds: list[int]) -> tuple[Floats, NDArray[np.int64]]:
        """What the trunk makes of one text: (1, tokens, WIDTH), and the mask that the heads want."""
        import numpy as np

        mask = np.ones((1, len(ids)), np.int64)
        feed = {"input_ids": np.array([ids], np.int64), "attention_mask": mask}
        feed["token_type_ids"] = np.array([kinds], np.int64)
        return self._session("trunk.onnx").run(None, feed)[0], mask

    def _tokenizer(self, kind: str) -> Any:
        """The tokenizer for single texts, which are cut, or for pieces of a pack (the cut is the object's state)."""

        def load() -> Any:
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(self.path / _TOKENIZER_FILE))
            tokenizer.no_padding()
            tokenizer.no_truncation()
            if kind == "texts":
                tokenizer.enable_truncation(MAX_TEXT_TOKENS)
            return tokenizer

        return self._once(kind, load)

    def _session(self, name: str) -> Any:
        def load() -> Any:
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.enable_cpu_mem_arena = False  # it would keep the longest text's memory for ever
            options.log_severity_level = 3
            return onnxruntime.InferenceSession(str(self.path / name), options, providers=["CPUExecutionProvider"])

        return self._once(name, load)

    def _once(self, key: str, load: Callable[[], Any]) -> Any:
        """What `load` made the first time; other threads wait for it."""
        with self._lock:
            if key not in self._loaded:
                reason = self.spans_available() if key == _SPAN_FILE else self.available()
                if reason is not None:
                    raise EncoderUnavailable(reason)
                try:
                    self._loaded[key] = load()
                except Exception as error:  # whatever the two libraries raise for a damaged file
                    file = self.path / (key if key.endswith(".onnx") else _TOKENIZER_FILE)
                    raise EncoderUnavailable(f"{file} cannot be loaded: {error}") from error
            return self._loaded[key]
