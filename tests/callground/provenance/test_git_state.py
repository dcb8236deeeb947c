"""Was it git that wrote a file?  Real repositories, the clock of the real file system."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from callground.provenance import git_state
from callground.provenance.disk import Watch

ONE, OTHER = "a(1)\n", "b(2)\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text(ONE)
    git(folder, "add", "a.py")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "checkout", "-q", "-b", "other")
    (folder / "a.py").write_text(OTHER)
    git(folder, "commit", "-q", "-a", "-m", "other")
    git(folder, "checkout", "-q", "main")
    time.sleep(0.06)
    return folder


def by_git(folder: Path, watch: Watch) -> bool:
    assert watch.look()
    text = (folder / "a.py").read_text()
    shown = subprocess.run(["git", "show", "HEAD:a.py"], cwd=folder, capture_output=True, text=True, check=False)
    return watch.by_git(str(folder / "a.py"), text, lambda: shown.stdout)


COMMANDS = [
    [("checkout", "-q", "other")],
    [("switch", "-q", "other")],
    [("merge", "-q", "other")],
    [("reset", "-q", "--hard", "other")],
    [("rebase", "-q", "other")],
    [("cherry-pick", "other")],
]


@pytest.mark.parametrize("commands", COMMANDS)
def test_git_wrote_it(repo: Path, commands: list[tuple[str, ...]]) -> None:
    watch = Watch(str(repo), time.time)
    for command in commands:
        git(repo, *command)
    assert (repo / "a.py").read_text() == OTHER
    assert by_git(repo, watch)


def test_stash_and_back(repo: Path) -> None:
    (repo / "a.py").write_text(OTHER)
    watch = Watch(str(repo), time.time)
    git(repo, "stash")
    assert by_git(repo, watch)
    time.sleep(0.06)
    git(repo, "stash", "pop")
    assert (repo / "a.py").read_text() == OTHER
    assert by_git(repo, watch)


def test_a_file_brought_back(repo: Path) -> None:
    (repo / "a.py").write_text(OTHER)
    watch = Watch(str(repo), time.time)
    time.sleep(0.06)
    git(repo, "checkout", "--", "a.py")
    assert by_git(repo, watch)


def test_an_agent_wrote_it(repo: Path) -> None:
    watch = Watch(str(repo), time.time)
    (repo / "a.py").write_text(OTHER)
    assert not by_git(repo, watch)


@pytest.mark.parametrize("commands", [[("add", "a.py")], [("add", "a.py"), ("commit", "-q", "-m", "x")]])
def test_an_agent_that_stages_and_commits_what_it_wrote(repo: Path, commands: list[tuple[str, ...]]) -> None:
    watch = Watch(str(repo), time.time)
    (repo / "a.py").write_text("agent(1)\n")
    for command in commands:
        git(repo, *command)
    assert not by_git(repo, watch)
    assert watch.head_moved == (len(commands) > 1)


def test_an_agent_after_git(repo: Path) -> None:
    watch = Watch(str(repo), time.time)
    git(repo, "checkout", "-q", "other")
    assert by_git(repo, watch)
    time.sleep(1.2)
    (repo / "a.py").write_text("agent(1)\n")
    assert not by_git(repo, watch)


def test_git_is_waited_for(repo: Path) -> None:
    watch = Watch(str(repo), time.time)
    (repo / ".git" / "index.lock").touch()
    assert not watch.look()
    (repo / ".git" / "index.lock").unlink()
    assert watch.look()


def test_work_trees_and_no_repository(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "other")
    tree = tmp_path / "tree"
    watch = Watch(str(tree), time.time)
    assert watch.state.folder.endswith("worktrees/tree")
    assert watch.state.head.startswith("refs/heads/other ")
    time.sleep(0.06)
    git(tree, "checkout", "-q", "--detach", "main")
    assert by_git(tree, watch)
    nothing = git_state.look(str(tmp_path))
    assert nothing.folder == ""
    assert git_state.moves(nothing, nothing) == git_state.NOTHING


def test_packed_references(repo: Path) -> None:
    before = git_state.look(str(repo)).head
    git(repo, "pack-refs", "--all")
    assert git_state.look(str(repo)).head == before
