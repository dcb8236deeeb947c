"""The span head: what it is asked in training, that it learns, that its ONNX form says the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch comes with the extra `training`")
pytest.importorskip("safetensors", reason="safetensors comes with the extra `training`")
pytest.importorskip("onnx", reason="onnx comes with the extra `training`")

from base_model import write_base  # noqa: E402
from callground.caller.encoder import Encoder  # noqa: E402
from callground.caller.spans import pooling  # noqa: E402
from callground.caller.tools import ToolParameter, ToolSpec  # noqa: E402
from callground.caller.training.__main__ import main  # noqa: E402
from callground.caller.training.export import export_trunk  # noqa: E402
from callground.caller.training.network import load_trunk  # noqa: E402
from callground.caller.training.span_data import Example, write  # noqa: E402
from callground.caller.training.span_training import (  # noqa: E402
    IGNORED,
    Settings,
    batch_of,
    load_trained,
    question,
    tokenizer_of,
    train,
)

CITIES = "oslo rome paris bern".split()
VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *CITIES,
    *"fly from to origin destination fast yes or no ( ) : =".split(),
]
TOOL = ToolSpec(
    "fly",
    [
        ToolParameter("origin"),
        ToolParameter("destination"),
        ToolParameter("fast", "boolean", required=False),
        ToolParameter("to", enum=("oslo", "rome"), required=False),
    ],
)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    write_base(folder, VOCABULARY)
    return folder


def example(one, other, fast):
    text = f"fly from {one} to {other}" + (" fast" if fast else "")
    spans = {"origin": (9, 9 + len(one)), "destination": (13 + len(one), 13 + len(one) + len(other))}
    values = {"origin": one, "destination": other}
    if fast:
        values["fast"], spans["fast"] = True, (len(text) - 4, len(text))
    return Example("made", "span", text, TOOL, values, spans, frozenset(("to",)))


def examples():
    return [example(one, other, fast) for one in CITIES for other in CITIES if one != other for fast in (True, False)]


def test_what_is_asked_and_what_is_right(base):
    encode, marks = tokenizer_of(base)
    asked = question(example("oslo", "rome", False), encode, marks, random.Random(1), 3)
    by_name = {segment.parameter: row for row, segment in enumerate(asked.pack.segments)}
    assert set(by_name) == {"origin", "destination", "fast"}  # of "to" the example says nothing
    assert [VOCABULARY[at] for at in asked.pack.ids[:7]] == ["[CLS]", "fly", "from", "oslo", "to", "rome", "[SEP]"]
    assert (asked.start[by_name["origin"]], asked.end[by_name["origin"]]) == (3, 3)
    assert (asked.start[by_name["destination"]], asked.end[by_name["destination"]]) == (5, 5)
    assert (asked.start[by_name["fast"]], asked.label[by_name["fast"]]) == (0, 0)
    assert asked.label[by_name["origin"]] == IGNORED


def test_members_of_an_enum_are_asked_one_by_one(base):
    encode, marks = tokenizer_of(base)
    known = Example(
        "made", "span", "fly to rome", TOOL, {"to": "rome"}, {"to": (7, 11)}, frozenset(("origin", "destination"))
    )
    asked = question(known, encode, marks, random.Random(1), 0)
    assert {segment.option: label for segment, label in zip(asked.pack.segments, asked.label, strict=True)} == {
        None: IGNORED,
        "rome": 1,
        "oslo": 0,
    }


def test_padding_changes_nothing(base):
    encode, marks = tokenizer_of(base)
    r = random.Random(1)
    short = question(Example("m", "span", "fly", TOOL, {}, {}, frozenset(("to", "fast"))), encode, marks, r, 3)
    long = question(example("oslo", "rome", True), encode, marks, r, 3)
    trunk, head = load_trunk(base), load_trained_free(base)
    both, alone = batch_of([short, long]), batch_of([short])
    with torch.no_grad():
        padded = head(trunk(both.ids, both.mask, both.kinds), both.mask, both.pool)
        plain = head(trunk(alone.ids, alone.mask, alone.kinds), alone.mask, alone.pool)
    count, tokens = len(short.start), len(short.pack.ids)
    assert torch.allclose(padded[0][0, :count, :tokens], plain[0][0], atol=1e-4)
    assert torch.allclose(padded[2][0, :count], plain[2][0], atol=1e-4)


def load_trained_free(base):
    from callground.caller.training.span_network import load_span_head

    torch.manual_seed(1)
    return load_span_head(base).eval()


@pytest.mark.slow
def test_it_learns_and_its_onnx_form_says_the_same(base, tmp_path, capsys):
    data, state, folder = tmp_path / "e.jsonl", tmp_path / "s.pt", tmp_path / "model"
    rows = examples()
    write(
        iter(
            [*rows, Example("made", "dev", *[getattr(rows[0], n) for n in ("text", "tool", "values", "spans", "open")])]
        ),
        data,
    )
    assert main(["span-train", str(base), str(data), str(state), "--steps", "60"]) == 0
    shown = capsys.readouterr().out
    losses = [float(line.split("loss ")[1].split(",")[0]) for line in shown.splitlines() if "loss" in line]
    assert losses[-1] < 0.6 * losses[0]
    export_trunk(load_trunk(base), folder / "trunk.onnx", int8=False)
    (folder / "select.onnx").write_bytes(b"")
    (folder / "tokenizer.json").write_bytes((base / "tokenizer.json").read_bytes())
    assert main(["span-export", str(base), str(state), str(folder), "--float"]) == 0
    scores = Encoder(folder).parameter_scores("fly from bern to paris", TOOL, {"origin", "destination"})
    assert scores["destination"].best(1)[0][:2] == (17, 22)
    encode, marks = tokenizer_of(base)
    from callground.caller.spans import packs, segments_of

    groups = [group[:1] for group in segments_of(TOOL)][:2]
    pack = next(packs("fly from bern to paris", "fly", groups, encode, marks))
    head, trunk = load_trained(base, state), load_trunk(base)
    ids, kinds = torch.tensor([pack.ids]), torch.tensor([pack.kinds])
    mask = torch.ones_like(ids)
    with torch.no_grad():
        start, _, _ = head(trunk(ids, mask, kinds), mask, torch.from_numpy(pooling(pack))[None])
    wanted = (start[0, 0, 1:6] - start[0, 0, 0]).numpy()
    assert np.allclose(scores["origin"].scores.start, wanted, atol=1e-3)


def test_the_same_seed_gives_the_same_head(base, tmp_path):
    settings = Settings(steps=2, batch=4, warmup=1)
    made = [train(examples(), base, tmp_path / f"{run}.pt", settings, say=lambda _: None) for run in range(2)]
    first, second = (head.state_dict() for head in made)
    assert all(torch.equal(first[name], second[name]) for name in first)
