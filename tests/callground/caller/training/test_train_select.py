"""The training itself, on networks that are small or made up.  Needs torch, which only the training extra brings."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch comes with the extra `training`")
pytest.importorskip("safetensors", reason="safetensors comes with the extra `training`")
pytest.importorskip("onnx", reason="onnx comes with the extra `training`")

from tokenizers import Tokenizer  # noqa: E402

from base_model import write_base  # noqa: E402 -- only after the skip above
from callground.caller.encoder import Encoder  # noqa: E402
from callground.caller.training import network  # noqa: E402
from callground.caller.training.__main__ import main  # noqa: E402
from callground.caller.training.corpus import Group, MinedTool, Pair, write  # noqa: E402
from callground.caller.training.train_select import Settings, Trainer  # noqa: E402

WORDS = "red green blue grey paint wash dry fold".split()
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "please", ":", *WORDS]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A base model of random weights in the layout of the published one."""
    folder = tmp_path_factory.mktemp("base")
    write_base(folder, VOCABULARY)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "groups.jsonl"
    names = (name for name in map(str, range(100)) if not Group("seal", name).for_development())
    tools = [MinedTool(word) for word in WORDS]
    groups = [
        Group("seal", next(names), tools, [Pair(f"please {word}", at) for at, word in enumerate(WORDS)])
        for _ in range(2)
    ]
    groups += [
        Group("seal", name, g.tools, g.pairs)
        for name in map(str, range(100))
        if (g := groups[0]) and Group("seal", name).for_development()
    ][:1]
    write(groups, path)
    return path


def test_the_loss_falls_and_a_run_goes_on_where_it_stopped(base, data, tmp_path):
    settings = Settings(steps=8, cooldown=2, warmup=1, batch=8, dropout=0.0, rate=1e-3)
    whole = Trainer(base, data, settings)
    losses = [whole.advance()[0] for _ in range(6)]
    assert losses[-1] < losses[0]

    half = Trainer(base, data, settings)
    for _ in range(3):
        half.advance()
    half.save(tmp_path / "half.pt")
    rest = Trainer(base, data, settings)
    rest.resume(tmp_path / "half.pt")
    assert rest.step == 3
    assert [rest.advance()[0] for _ in range(3)] == pytest.approx(losses[3:], abs=1e-5)


def test_the_trunk_stays_as_it_was(base, data):
    trainer = Trainer(base, data, Settings(steps=2, batch=8))
    before = {name: tensor.clone() for name, tensor in trainer.trunk.state_dict().items()}
    trainer.advance()
    assert all(torch.equal(tensor, before[name]) for name, tensor in trainer.trunk.state_dict().items())


def test_the_rate_rises_stays_and_falls(base, data):
    trainer = Trainer(base, data, Settings(steps=100, cooldown=20, warmup=10, rate=1.0))
    assert trainer.rate_at(0) == pytest.approx(0.1)
    assert trainer.rate_at(50) == 1.0
    assert trainer.rate_at(90) == pytest.approx(0.5)


def test_equal_requests_are_not_judged(base, data):
    trainer = Trainer(base, data, Settings())
    cosines = torch.tensor([[0.9, 0.9], [0.1, 0.9]])
    apart = torch.tensor([[True, False], [True, True]])
    judged, pairwise = trainer.losses(cosines, torch.ones(2, 2, dtype=torch.bool))
    spared, less = trainer.losses(cosines, apart)
    assert spared < judged
    assert less < pairwise


def test_from_data_to_an_exported_model(base, data, tmp_path, capsys):
    """The commands, one after the other, as the README has them."""
    checkpoint, folder, plain = tmp_path / "run.pt", tmp_path / "model", tmp_path / "float"
    assert (
        main(["train", str(base), str(data), str(checkpoint), "--steps", "2", "--batch", "8", "--cooldown", "1"]) == 0
    )
    assert "step 2/2" in capsys.readouterr().out
    assert main(["export", str(base), str(folder), str(checkpoint), str(checkpoint)]) == 0
    assert main(["export", str(base), str(plain), str(checkpoint), "--float"]) == 0
    assert {path.name for path in folder.iterdir()} == {"trunk.onnx", "select.onnx", "tokenizer.json"}
    assert (folder / "select.onnx").stat().st_size < (plain / "select.onnx").stat().st_size / 3

    texts = ["please red", "wash", "please fold green"]
    head = network.load_select_head(base).eval()
    head.load_state_dict(torch.load(checkpoint, weights_only=True)["averaged"])
    trunk = network.load_trunk(base)
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    rows = []
    for text in texts:
        ids = torch.tensor([tokenizer.encode(text).ids])
        ones = torch.ones_like(ids)
        with torch.no_grad():
            rows.append(head(trunk(ids, ones, torch.zeros_like(ids)), ones)[0].numpy())
    assert np.allclose(Encoder(plain).encode(texts), np.stack(rows), atol=1e-4)
    assert ((Encoder(folder).encode(texts) * np.stack(rows)).sum(1) > 0.9).all()

    assert main(["evaluate", str(folder), str(data), "--each", "5"]) == 0
    assert "| seal | 5 |" in capsys.readouterr().out


def test_a_share_of_none_is_the_base(base, data, tmp_path):
    trainer = Trainer(base, data, Settings(steps=2, batch=8, rate=1e-2, warmup=1))
    trainer.advance()
    trainer.save(tmp_path / "run.pt")
    for name, share in (("none", "0"), ("all", "1")):
        main(["export", str(base), str(tmp_path / name), str(tmp_path / "run.pt"), "--float", "--share", share])
    head, trunk = network.load_select_head(base).eval(), network.load_trunk(base)
    ids = torch.tensor([[2, 4, 6, 3]])
    with torch.no_grad():
        untrained = head(trunk(ids, torch.ones_like(ids), torch.zeros_like(ids)), torch.ones_like(ids))[0].numpy()
    assert np.allclose(Encoder(tmp_path / "none").encode(["please red"])[0], untrained, atol=1e-4)
    assert not np.allclose(Encoder(tmp_path / "all").encode(["please red"])[0], untrained, atol=1e-3)


def test_the_data_command(tmp_path, capsys):
    (tmp_path / "dists").mkdir()
    assert main(["data", str(tmp_path / "dists"), str(tmp_path / "groups.jsonl"), "--offline"]) == 0
    assert json.loads(capsys.readouterr().out) == {}
