"""The encoder's own work, over a network that is made up: what it feeds, what it reads, what it says when it cannot."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from callground.caller import encoder as module
from callground.caller.encoder import MODEL_VARIABLE, WIDTH, Encoder, EncoderUnavailable, Span, default_model
from callground.caller.spans import MAX_REQUEST_TOKENS
from callground.caller.tools import ToolParameter, ToolSpec

WORDS = ["[UNK]", "[CLS]", "[SEP]", "copy", "from", "paris", "to", "rome", "which", "city", "goal"]


def write_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


class Trunk:
    """Hands the ids on, so that the heads can see them."""

    def __init__(self):
        self.fed = []

    def run(self, _, feed):
        self.fed.append({name: value.tolist() for name, value in feed.items()})
        return [feed["input_ids"][..., None].astype(np.float32)]


class Select:
    """One axis per text: the number of its first word."""

    def run(self, _, feed):
        row = np.zeros((1, WIDTH), np.float32)
        row[0, int(feed["hidden"][0, 1, 0])] = 1
        return [row]


class SpanHead:
    """Every segment starts at "rome" and ends at "rome"; "not said" is worth 1 in all. The label is the segment's mean."""

    def run(self, _, feed):
        hidden, pool = feed["hidden"], feed["pool"]
        rome = (hidden[0, :, 0] == WORDS.index("rome")).astype(np.float32) * 3
        rome[0] = 0.5
        points = np.repeat(rome[None, None], pool.shape[1], axis=1)
        return [points, points, np.repeat(pool @ hidden, 3, axis=2)]


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    write_tokenizer(tmp_path)
    for name in ("trunk.onnx", "select.onnx", "span.onnx"):
        (tmp_path / name).write_bytes(b"")
    sessions = {"trunk.onnx": Trunk(), "select.onnx": Select(), "span.onnx": SpanHead()}
    made = []

    def session(path, options, providers):
        assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
        assert providers == ["CPUExecutionProvider"]
        made.append(Path(path).name)
        return sessions[Path(path).name]

    monkeypatch.setattr("onnxruntime.InferenceSession", session)
    encoder = Encoder(tmp_path)
    return encoder, sessions, made


def test_one_row_a_text_in_their_order(made_up):
    encoder, sessions, _ = made_up
    rows = encoder.encode(["to rome", "copy", "to paris"])
    assert rows.shape == (3, WIDTH)
    assert rows.dtype == np.float32
    assert rows.argmax(1).tolist() == [WORDS.index(word) for word in ("to", "copy", "to")]
    assert sessions["trunk.onnx"].fed[0] == {
        "input_ids": [[1, 6, 7, 2]],
        "attention_mask": [[1, 1, 1, 1]],
        "token_type_ids": [[0, 0, 0, 0]],
    }


def test_no_texts_no_rows_and_nothing_is_loaded(made_up):
    encoder, _, made = made_up
    assert encoder.encode([]).shape == (0, WIDTH)
    assert made == []


def test_a_long_text_is_cut(made_up):
    encoder, sessions, _ = made_up
    encoder.encode(["copy " * 1000])
    assert len(sessions["trunk.onnx"].fed[0]["input_ids"][0]) == module.MAX_TEXT_TOKENS


def test_it_stops_between_two_texts(made_up):
    encoder, _, _ = made_up
    asked = iter([False, False, True])
    assert encoder.encode(["to", "copy", "from", "rome"], stop=lambda: next(asked)).shape == (2, WIDTH)


def test_spans_are_pieces_of_the_request(made_up):
    encoder, sessions, _ = made_up
    request = "copy from paris to rome"
    goal, city = encoder.spans(request, ["goal", "which city"])
    assert goal[0] == Span(request.index("rome"), len(request), 5.0)
    assert len(goal) == 3
    assert all(later.score <= goal[0].score for later in goal)
    assert city[0] == goal[0]
    (fed,) = sessions["trunk.onnx"].fed
    assert fed["token_type_ids"] == [[0] * 7 + [1] * 6]


def test_the_question_is_no_answer(made_up):
    encoder, _, _ = made_up
    (spans,) = encoder.spans("copy to paris", ["rome"], limit=100)
    assert max(span.score for span in spans) < 0
    assert {span.end for span in spans} == {4, 7, 13}


def test_the_longest_span(made_up):
    encoder, _, _ = made_up
    (spans,) = encoder.spans("copy from paris to rome", ["goal"], limit=100, longest=1)
    assert sorted((span.start, span.end) for span in spans) == [(0, 4), (5, 9), (10, 15), (16, 18), (19, 23)]


def test_an_empty_request_has_no_spans(made_up):
    encoder, _, _ = made_up
    assert encoder.spans("", ["goal"]) == [[]]


def test_a_long_request_is_cut_and_the_question_is_not(made_up):
    encoder, sessions, _ = made_up
    encoder.spans("copy " * 1000, ["which city"])
    ids = sessions["trunk.onnx"].fed[0]["input_ids"][0]
    assert ids.count(WORDS.index("copy")) == MAX_REQUEST_TOKENS
    assert ids[-3:] == [WORDS.index("which"), WORDS.index("city"), 2]


def test_all_parameters_are_asked_at_once(made_up):
    encoder, sessions, _ = made_up
    goal = ToolParameter("goal", description="which city")
    tool = ToolSpec("copy", [goal, ToolParameter("from", enum=("paris", "rome"))])
    scores = encoder.parameter_scores("copy to rome", tool)
    (fed,) = sessions["trunk.onnx"].fed
    request = ["[CLS]", "copy", "to", "rome", "[SEP]", "copy", "[SEP]"]
    segments = ["goal", "[UNK]", "which", "city", "[SEP]", "from", "[SEP]", "from", "[UNK]", "paris", "[SEP]"]
    read = [WORDS[at] for at in fed["input_ids"][0]]
    assert read == [*request, *segments, "from", "[UNK]", "rome", "[SEP]"]
    assert list(scores) == ["goal", "from"]
    assert list(scores["from"].options) == ["paris", "rome"]
    # "= rome" and "= paris" differ in one token, and their means with them.
    assert scores["from"].options["rome"].label[0] > scores["from"].options["paris"].label[0]
    assert scores["goal"].best(1) == [(8, 12, 5.0)]
    assert scores["goal"].span(0, 4) == -1.0
    assert list(encoder.parameter_scores("copy to rome", tool, {"goal"})) == ["goal"]


def test_many_threads_load_once(made_up):
    encoder, _, made = made_up
    threads = [threading.Thread(target=encoder.encode, args=(["copy"],)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == ["select.onnx", "trunk.onnx"]


def test_a_missing_file_is_named(tmp_path):
    write_tokenizer(tmp_path)
    (tmp_path / "trunk.onnx").write_bytes(b"")
    encoder = Encoder(tmp_path)
    assert encoder.available() == f"the model file select.onnx is missing in {tmp_path}"
    with pytest.raises(EncoderUnavailable, match=r"select\.onnx is missing"):
        encoder.encode(["copy"])


def test_without_a_span_head_texts_are_still_encoded(made_up):
    encoder, _, _ = made_up
    (encoder.path / "span.onnx").unlink()
    assert encoder.available() is None
    assert encoder.encode(["copy"]).shape == (1, WIDTH)
    assert "span.onnx is missing" in str(encoder.spans_available())
    with pytest.raises(EncoderUnavailable, match=r"span\.onnx is missing"):
        encoder.spans("copy", ["goal"])


def test_a_missing_package_is_named(made_up, monkeypatch):
    encoder, _, _ = made_up
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "onnxruntime" else object())
    assert encoder.available() == "the package onnxruntime is not installed"


@pytest.mark.parametrize("name", ["tokenizer.json", "trunk.onnx"])
def test_a_damaged_file_is_an_error_with_its_name(tmp_path, name):
    write_tokenizer(tmp_path)
    for other in ("trunk.onnx", "select.onnx"):
        (tmp_path / other).write_bytes(b"not a network")
    (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(EncoderUnavailable, match=name.replace(".", r"\.")):
        Encoder(tmp_path).encode(["copy"])


def test_the_variable_names_another_model(tmp_path, monkeypatch):
    monkeypatch.setenv(MODEL_VARIABLE, str(tmp_path))
    assert Encoder().path == tmp_path
    monkeypatch.delenv(MODEL_VARIABLE)
    assert default_model() == Path(module.__file__).parent / "model"


def test_importing_it_loads_nothing_heavy():
    code = "import sys, callground.caller.encoder; print({'numpy', 'onnxruntime', 'tokenizers', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_half_a_surrogate_pair_is_read_over(made_up):
    encoder, _, _ = made_up
    assert encoder.encode(["to \ud800"]).shape == (1, WIDTH)
    (spans,) = encoder.spans("\ud800 to rome", ["go\udfff"], limit=1)
    assert (spans[0].start, spans[0].end) == (5, 9)
