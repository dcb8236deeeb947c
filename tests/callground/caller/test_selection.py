"""Words, vectors and the combiner: what ranks the tools."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from caller_fakes import WordEncoder, model_folder
from callground.caller.lexical import (
    LexicalIndex,
    request_words,
    sentences,
    stems,
    tool_words,
    value_mentions,
    without_values,
)
from callground.caller.selection import FEATURES, Combiner, CombinerError, ToolSet, combiner_of, rank
from callground.caller.tool_vectors import NAMESPACE, ToolVectors, model_digest
from callground.caller.tools import ToolParameter, ToolSpec
from callground.facts.store import Store

TOOLS = [
    ToolSpec("get_weather", [ToolParameter("city", description="Name of the town")], description="Weather forecast"),
    ToolSpec("send_mail", ["to", "body"], description="Send an electronic message"),
    ToolSpec("set_mode", [ToolParameter("mode", enum=("eco", "turbo"))], description="Change how the heating runs"),
]


@pytest.fixture
def encoder(tmp_path):
    return WordEncoder(model_folder(tmp_path / "model"))


def names(ranked):
    return [scored.tool.name for scored in ranked]


@pytest.mark.parametrize(
    ("request_", "first"),
    [
        ("what is the weather in Oslo", "get_weather"),
        ("send a message to ann", "send_mail"),
        ("change the heating to turbo", "set_mode"),
        ("the town forecast, please", "get_weather"),  # a word of a parameter's description only
    ],
)
def test_rank(encoder, request_, first):
    ranked = rank(request_, TOOLS, encoder)
    assert names(ranked)[0] == first
    assert sum(scored.share for scored in ranked) == pytest.approx(1)
    assert [scored.score for scored in ranked] == sorted((scored.score for scored in ranked), reverse=True)
    assert set(ranked[0].features) == set(FEATURES)


def test_each_score_is_the_sum_of_its_parts(encoder):
    weights = combiner_of(encoder).weights
    for scored in rank("send a message to ann", TOOLS, encoder):
        total = sum(weights.get(name, 0) * value for name, value in scored.features.items())
        assert scored.score == pytest.approx(total, abs=2e-3)


def test_the_order_of_the_tools_does_not_matter(encoder):
    request = "send a message about the weather"
    assert names(rank(request, TOOLS, encoder)) == names(rank(request, TOOLS[::-1], encoder))


def test_what_the_caller_knows_besides_can_count(encoder):
    combiner = Combiner({"meaning": 1.0, "near": 10.0})
    ranked = rank("send a message", TOOLS, encoder, {"near": np.array([1.0, 0.0, 0.0])}, combiner)
    assert names(ranked)[0] == "get_weather"


def test_no_tools_no_answer(encoder):
    assert rank("anything", [], encoder) == []


@pytest.mark.parametrize(
    "data",
    [[], {}, {"weights": {}}, {"weights": {"a": "x"}}, {"weights": {"a": float("inf")}}, {"weights": [1]}],
)
def test_a_damaged_combiner_is_refused(data, tmp_path):
    with pytest.raises(CombinerError):
        Combiner.from_json(data)
    (tmp_path / "c.json").write_text("{")
    with pytest.raises(CombinerError, match=r"c\.json"):
        Combiner.load(tmp_path / "c.json")


def test_a_combiner_survives_its_file(tmp_path):
    made = Combiner({"meaning": 1.25}, "by hand")
    (tmp_path / "c.json").write_text(json.dumps(made.to_json()))
    assert Combiner.load(tmp_path / "c.json") == made


# -- words


def test_stems():
    assert stems("Please get the userNames of meetings") == ["user", "name", "meeting"]
    assert sentences("One. Two?\nThree") == ["One.", "Two?", "Three"]


@pytest.mark.parametrize(
    ("request_", "plain", "mentions"),
    [
        ("Book a table for 4 in New York", "Book a table for   in  ", 2),
        ('Send "hello there" to ann@x.org', "Send   to  ", 2),
        ("open src/app.py", "open  ", 1),
        ("what is the weather", "what is the weather", 0),
    ],
)
def test_values_of_a_request(request_, plain, mentions):
    assert without_values(request_).split() == plain.split()
    assert value_mentions(request_) == mentions


def test_the_index_says_what_each_tool_says():
    index = LexicalIndex(TOOLS)
    words = request_words("set eco mode for the town")
    entries = [tool_words(tool) for tool in TOOLS]
    assert index.said(words).tolist() == pytest.approx(
        [len(words.all & entry.anywhere) / len(words.all) for entry in entries]
    )
    assert index.choice_said(words).tolist() == [0, 0, 1]
    assert index.name_said(words).tolist() == [0, 0, 1]
    assert index.name_letters(words)[2] > index.name_letters(words)[0]


def test_a_request_without_words(encoder):
    assert len(rank("???", TOOLS, encoder)) == 3


# -- vectors


def test_a_text_is_encoded_once_and_kept(tmp_path, encoder):
    with Store(tmp_path / "cache") as store:
        vectors = ToolVectors(encoder, store)
        first = vectors.of(["a b", "c"])
        assert encoder.encoded == ["a b", "c"]
        assert np.allclose(vectors.of(["c", "a b"]), first[::-1])
        assert len(encoder.encoded) == 2
        vectors.flush()
    with Store(tmp_path / "cache") as store:
        again = ToolVectors(encoder, store).of(["a b", "c"])
        assert len(encoder.encoded) == 2
        assert np.allclose(again, first, atol=2e-3)


def test_another_model_has_vectors_of_its_own(tmp_path, encoder):
    other = WordEncoder(model_folder(tmp_path / "other"))
    for each, content in ((encoder, b"1"), (other, b"2")):
        (each.path / "select.onnx").write_bytes(content)
    assert model_digest(encoder.path) != model_digest(other.path)
    with Store(tmp_path / "cache") as store:
        ToolVectors(encoder, store).of(["a"])
        ToolVectors(other, store).of(["a"])
        assert other.encoded == ["a"]
        assert store.info().entries[NAMESPACE] == 2


def test_a_damaged_entry_is_made_anew(tmp_path, encoder):
    with Store(tmp_path / "cache") as store:
        vectors = ToolVectors(encoder, store)
        store.put(NAMESPACE, vectors._key("a"), b"xyz")
        assert vectors.of(["a"]).shape == (1, 384)
        assert encoder.encoded == ["a"]


def test_the_cache_is_bounded(encoder):
    vectors = ToolVectors(encoder, cap=10)
    texts = [f"word{n}" for n in range(25)]
    assert vectors.of(texts).shape == (25, 384)
    assert len(vectors) == 10


def test_warming_up_stops_when_told(encoder):
    vectors = ToolVectors(encoder)
    texts = [f"word{n}" for n in range(9)]
    assert vectors.warm(texts, stop=lambda: len(encoder.encoded) >= 4) == 5
    assert vectors.missing(texts) == texts[4:]
    assert vectors.warm(texts) == 0
    assert vectors.missing(texts) == []


def test_threads_may_share_a_list_of_tools(encoder):
    toolset = ToolSet(TOOLS, ToolVectors(encoder))
    requests = [f"send message {n} about weather" for n in range(20)]
    serial = [names(rank(request, toolset, encoder)) for request in requests]
    found: dict[str, list[str]] = {}

    def work(request):
        found[request] = names(rank(request, toolset, encoder))

    threads = [threading.Thread(target=work, args=(request,)) for request in requests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[request] for request in requests] == serial
