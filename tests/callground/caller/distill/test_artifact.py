"""What is saved, and that nothing else is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from callground.caller.distill import artifact
from callground.caller.tool_caller import ArtifactError, ToolCaller
from tool_requests import rule_teacher
from word_encoder import WordEncoder

SUPPORT = Path(__file__).parents[3] / "support"
LIBRARY = Path(__file__).parents[4] / "grounding"

CHILD = """
import json, sys
from word_encoder import WordEncoder
from callground.caller.tool_caller import ToolCaller
caller = ToolCaller.load(sys.argv[1], encoder=WordEncoder())
print(json.dumps([caller.try_local(text) for text in json.load(sys.stdin)]))
"""


def copied(saved, tmp_path):
    caller = ToolCaller.load(saved, rule_teacher, encoder=WordEncoder())
    caller.save(tmp_path / "copy")
    return tmp_path / "copy"


def test_a_fresh_process_decides_the_same(distilled, saved, synth):
    texts = [row["text"] for row in synth[1][:80]]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(saved)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (SUPPORT, LIBRARY)))},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [distilled.try_local(text) for text in texts]


def test_the_folder_is_small_and_holds_onnx_json_and_pictures(saved):
    names = {each.name for each in saved.iterdir()}
    assert names == {*artifact._FILES, artifact.DIGESTS_FILE}
    assert sum(each.stat().st_size for each in saved.iterdir()) < 2_000_000
    assert (saved / "reliability.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("name", artifact._FILES)
def test_a_changed_byte_in_any_file_is_refused(saved, tmp_path, name):
    folder = copied(saved, tmp_path)
    file = folder / name
    data = bytearray(file.read_bytes() or b"x")
    data[len(data) // 2] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(ArtifactError, match=name):
        ToolCaller.load(folder, encoder=WordEncoder())


def test_a_file_that_is_missing_or_new_is_refused(saved, tmp_path):
    folder = copied(saved, tmp_path)
    (folder / "more.json").write_text("{}")
    with pytest.raises(ArtifactError, match=r"more\.json"):
        ToolCaller.load(folder, encoder=WordEncoder())
    (folder / "more.json").unlink()
    (folder / artifact.ROWS_FILE).unlink()
    with pytest.raises(ArtifactError, match=r"rows\.jsonl"):
        ToolCaller.load(folder, encoder=WordEncoder())


def test_another_encoder_or_device_is_refused(saved):
    other = WordEncoder()
    other.identity = "words-2"
    with pytest.raises(ArtifactError, match="another encoder"):
        ToolCaller.load(saved, encoder=other)
    with pytest.raises(ValueError, match="cuda"):
        ToolCaller.load(saved, device="cuda", encoder=WordEncoder())


def test_what_is_no_caller_is_neither_loaded_nor_overwritten(distilled, tmp_path):
    with pytest.raises(ArtifactError, match="no distilled caller"):
        ToolCaller.load(tmp_path, encoder=WordEncoder())
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ArtifactError, match="not overwritten"):
        distilled.save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_saving_again_replaces_the_whole_and_leaves_nothing_behind(saved, tmp_path):
    folder = copied(saved, tmp_path)
    caller = ToolCaller.load(folder, lambda text: {"tool": None}, encoder=WordEncoder())
    caller("rename a")
    caller.save(folder)
    again = ToolCaller.load(folder, encoder=WordEncoder())
    assert [row.request for row in again.harvested] == ["rename a"]
    assert [each.name for each in tmp_path.iterdir()] == ["copy"]


def test_a_save_that_fails_leaves_the_old_folder(saved, tmp_path, monkeypatch):
    folder = copied(saved, tmp_path)
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    caller = ToolCaller.load(folder, encoder=WordEncoder())

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(artifact, "risk_coverage", full)
    with pytest.raises(OSError, match="no space"):
        caller.save(folder)
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before
    assert [each.name for each in tmp_path.iterdir()] == ["copy"]


def test_a_folder_with_other_files_is_kept(saved, tmp_path):
    caller = ToolCaller.load(saved, encoder=WordEncoder())
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "digests.json").write_text("{}")
    (folder / "mine.txt").write_text("precious")
    with pytest.raises(ArtifactError, match="not overwritten"):
        caller.save(folder)
    assert (folder / "mine.txt").read_text() == "precious"


def test_odd_requests_do_not_spoil_what_is_saved(saved, tmp_path):
    caller = ToolCaller.load(saved, rule_teacher, encoder=WordEncoder())
    for request in (b"abc", "   ", "\ud800 hello", "x" * 5000):
        caller(request)
    caller.improve()
    caller.save(tmp_path / "again")
    ToolCaller.load(tmp_path / "again", encoder=WordEncoder())
