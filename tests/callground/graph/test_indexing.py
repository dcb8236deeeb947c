"""The first index: by a child, by the store, in spite of deaths."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from callground.environment.model import Environment
from callground.graph import index_process
from callground.graph.index_process import Child, ChildDied
from callground.graph.workspace import Workspace

ENVIRONMENT = Environment.described((3, 11))


def lay(root: Path, count: int) -> None:
    root.mkdir(exist_ok=True)
    for number in range(count):
        (root / f"part_{number}.py").write_text(f"def f_{number}(): ...\n\n\nclass C{number}(Base): ...\n", "utf-8")


def indexed(workspace: Workspace) -> list[str]:
    snapshot = workspace.snapshot()
    return sorted(qualname for _, qualname in snapshot.classes_with_base("Base"))


def test_a_child_finds_what_is_found_here(tmp_path: Path) -> None:
    lay(tmp_path / "p", 40)
    (tmp_path / "p" / "broken.py").write_bytes(b"\xff\xfe\x00 not text")
    seen: list[tuple[str, int, int]] = []
    away = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "one"))
    away.index(lambda *step: seen.append(step), processes=True)
    here = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "two"))
    here.index(processes=False)
    assert indexed(away) == indexed(here)
    assert len(indexed(away)) == 40
    assert away.reader.extracted == 0, "nothing was parsed in this process"
    assert away.errors == here.errors == {str(tmp_path / "p" / "broken.py"): "not-text"}
    assert seen[0] == ("indexing", 0, 41)
    assert seen[-1] == ("indexing", 41, 41)
    assert away.complete


def test_a_second_start_parses_nothing(tmp_path: Path) -> None:
    lay(tmp_path / "p", 10)
    first = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "store"))
    first.index(processes=False)
    assert first.reader.extracted == 10
    first.close()
    second = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "store"))
    second.index(processes=False)
    assert second.reader.extracted == 0
    assert indexed(second) == indexed(first)


def test_stopping_early_leaves_it_incomplete(tmp_path: Path) -> None:
    lay(tmp_path / "p", 10)
    workspace = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "store"))
    steps: list[int] = []
    workspace.index(lambda _, done, __: steps.append(done), processes=False, stop=lambda: len(steps) > 4)
    assert not workspace.complete
    workspace.index(processes=False)
    assert workspace.complete
    assert len(indexed(workspace)) == 10


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_child_that_is_killed_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_process, "BACK_OFF", (0.0, 0.0, 0.0, 0.0))
    lay(tmp_path / "p", 60)
    workspace = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "store"))
    pids: list[int] = []
    original = Child._running

    def running(self: Child) -> object:
        process = original(self)
        if process.pid not in pids:
            pids.append(process.pid)
            if len(pids) < 3:
                os.kill(process.pid, signal.SIGKILL)
        return process

    monkeypatch.setattr(Child, "_running", running)
    workspace.index(processes=True)
    assert len(pids) == 3
    assert workspace.complete
    assert len(indexed(workspace)) >= 59, "at most the file at which it died twice is given up"


def test_a_child_that_cannot_be_started_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_process, "BACK_OFF", (0.0, 0.0))
    monkeypatch.setattr(index_process, "command", lambda *_: [str(tmp_path / "no-such-program")])
    lay(tmp_path / "p", 30)
    workspace = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "store"))
    workspace.index(processes=True)
    assert workspace.complete
    assert len(indexed(workspace)) == 30


def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    lay(tmp_path / "p", 3)
    child = Child(str(tmp_path / "store"))
    rows = list(child.index([str(tmp_path / "p" / "part_0.py"), str(tmp_path / "gone.py")], lambda: False))
    assert [(Path(path).name, bool(digest)) for path, digest in rows] == [("part_0.py", True), ("gone.py", False)]
    process = child._process
    assert process is not None
    child.close()
    assert process.poll() is not None


def test_answers_out_of_step_are_a_death(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = 'import sys\nfor line in sys.stdin: print(\'["other", ""]\', flush=True)'
    monkeypatch.setattr(index_process, "command", lambda *_: [sys.executable, "-c", talk])
    child = Child(None)
    with pytest.raises(ChildDied):
        list(child.index([str(tmp_path / "a.py")], lambda: False))


def test_many_versions_of_files_are_cleared_out(tmp_path: Path) -> None:
    lay(tmp_path / "p", 3)
    workspace = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "store"))
    workspace.index()
    old = workspace.snapshot()
    for number in range(1100):
        (tmp_path / "p" / "part_0.py").write_text(f"class C0(Base): ...  # {number}\n", "utf-8")
        os.utime(tmp_path / "p" / "part_0.py", ns=(number * 10**9, number * 10**9))
        workspace.file_changed("part_0.py")
    assert indexed(workspace) == ["C0", "C1", "C2"]
    assert len(workspace.snapshot().postings.paths) < 1000
    assert sorted(q for _, q in old.classes_with_base("Base")) == ["C0", "C1", "C2"]


def test_a_large_file_is_parsed_away(tmp_path: Path) -> None:
    lay(tmp_path / "p", 1)
    (tmp_path / "p" / "large.py").write_text("def f(): ...\n" * 20_000, "utf-8")
    workspace = Workspace.open(str(tmp_path / "p"), ENVIRONMENT, cache=str(tmp_path / "store"))
    workspace.parse_large_files_away()
    workspace.load("part_0")
    assert workspace.reader.extracted == 1
    workspace.load("large")
    assert workspace.reader.extracted == 1
    found = workspace.snapshot().module("large")
    assert found is not None
    assert found.source is not None
    assert len(found.source.facts.pieces) == 20_000
    workspace.close()
