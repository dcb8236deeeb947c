"""The model that is shipped: complete, small enough, unchanged, described, and made of nothing that it is judged by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from callground.caller import encoder as module
from callground.caller.encoder import Encoder
from callground.caller.training.bundle import DIGESTS, MOST_BYTES, NEEDED, digests, seal
from callground.caller.training.sources import EVALUATION_PROJECTS, EVALUATION_SETS, SAME_OWNERS

MODEL = Path(module.__file__).parent / "model"


@pytest.fixture(scope="module")
def encoder():
    return Encoder(MODEL)


def test_every_file_is_as_it_was_when_it_was_measured():
    assert json.loads((MODEL / DIGESTS).read_text("utf-8")) == digests(MODEL)
    assert set(NEEDED) <= set(digests(MODEL))


def test_all_files_together_are_small_enough():
    assert sum(path.stat().st_size for path in MODEL.iterdir()) <= MOST_BYTES


def test_the_card_says_what_it_is_made_of_and_what_it_cannot_do():
    card = (MODEL / "CARD.md").read_text("utf-8")
    for heading in ("## Base", "## Data", "## Training", "## What was measured", "## Limits"):
        assert heading in card, heading
    for licence in ("Apache-2.0", "CC BY 3.0"):
        assert licence in card


def test_nothing_that_is_evaluated_on_is_among_the_sources():
    sources = json.loads((MODEL / "sources.json").read_text("utf-8"))
    names = {source["name"].lower() for source in sources}
    assert len(names) >= 40
    assert not names & {*EVALUATION_PROJECTS, *EVALUATION_SETS, *SAME_OWNERS}
    assert all(source["licence"] and source["version"] for source in sources)


def test_rows_have_unit_length_and_do_not_depend_on_their_neighbours(encoder):
    texts = ["send a mail", "delete the file", "what is the weather in Paris? " * 20]
    together = encoder.encode(texts)
    assert together.shape == (3, module.WIDTH)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-3)
    assert np.array_equal(encoder.encode(texts[:1]), together[:1])


@pytest.mark.parametrize(
    ("request_", "right", "wrong"),
    [
        ("I'd like to know how warm it is in Oslo", "get current weather (city)", "send mail (to, subject)"),
        ("tell Anna that I am late", "send message (recipient, text)", "list files (folder)"),
        ("throw away the old backups", "delete snapshots (older than)", "create snapshot (name)"),
        ("how much is 30 dollars in yen", "convert currency (amount, from, to)", "convert units (value, unit)"),
        ("Wie ist das Wetter in Berlin?", "get current weather (city)", "send mail (to, subject)"),
        ("read the settings from disk", "load config (path)", "render template (name, values)"),
    ],
)
def test_requests_are_nearer_to_their_tools(encoder, request_, right, wrong):
    asked, near, far = encoder.encode([request_, right, wrong])
    assert asked @ near > asked @ far + 0.05


def test_sealing(tmp_path):
    for name in NEEDED:
        (tmp_path / name).write_text(name)
    assert seal(tmp_path) == sum(len(name) for name in NEEDED)
    assert json.loads((tmp_path / DIGESTS).read_text()) == digests(tmp_path)
    (tmp_path / "select.onnx").write_bytes(b"another")
    assert json.loads((tmp_path / DIGESTS).read_text()) != digests(tmp_path)


def test_what_is_incomplete_or_too_large_is_not_sealed(tmp_path):
    with pytest.raises(ValueError, match=r"lacks CARD\.md"):
        seal(tmp_path)
    for name in NEEDED:
        (tmp_path / name).write_text(name)
    with (tmp_path / "trunk.onnx").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(ValueError, match="more than"):
        seal(tmp_path)
