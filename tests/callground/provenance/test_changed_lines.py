"""The lines that git says changed."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from callground.provenance import changed_lines as changes
from callground.provenance.changed_lines import (
    GitError,
    changed_lines,
    changed_lines_of_text,
    parse_diff,
)

LINES = [f"line{n} = {n}" for n in range(1, 11)]


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def write(folder, name, lines):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "répo with 'quotes'"
    folder.mkdir()
    git(folder, "init")
    write(folder, "a.py", LINES)
    write(folder, "päck age/b\tc.py", LINES)
    write(folder, "gone.py", LINES)
    git(folder, "add", ".")
    git(folder, "commit", "-m", "first")
    return folder


def changed(folder, since=None):
    return {
        os.path.relpath(path, os.path.realpath(folder)).replace(os.sep, "/"): lines
        for path, lines in changed_lines(str(folder), since).items()
    }


def test_nothing_changed(repo):
    assert changed(repo) == {}


def test_changed_added_and_deleted_lines(repo):
    write(repo, "a.py", [*LINES[:2], "new = 1", "new = 2", *LINES[2:5], "other = 1", *LINES[6:9]])
    assert changed(repo) == {"a.py": ((3, 4), (8, 8))}


def test_names_with_tabs_and_accents(repo):
    write(repo, "päck age/b\tc.py", [*LINES, "x = 1"])
    assert changed(repo) == {"päck age/b\tc.py": ((11, 11),)}


def test_untracked_files_count_whole_and_ignored_ones_not(repo):
    write(repo, "new.py", ["x = 1"])
    write(repo, "skip.py", ["x = 1"])
    write(repo, ".gitignore", ["skip.py"])
    assert changed(repo)["new.py"] is None
    assert "skip.py" not in changed(repo)


def test_staged_and_deleted(repo):
    write(repo, "a.py", ["x = 1", *LINES])
    (repo / "gone.py").unlink()
    git(repo, "add", "-A")
    assert changed(repo) == {"a.py": ((1, 1),)}


def test_renamed_files_keep_what_did_not_change(repo):
    git(repo, "mv", "a.py", "z.py")
    write(repo, "z.py", [*LINES, "x = 1"])
    assert changed(repo) == {"z.py": ((11, 11),)}


def test_since_a_branch_is_since_its_merge_base(repo):
    git(repo, "branch", "base")
    write(repo, "a.py", ["mine = 1", *LINES])
    git(repo, "commit", "-am", "mine")
    git(repo, "checkout", "base")
    write(repo, "gone.py", ["theirs = 1", *LINES])
    git(repo, "commit", "-am", "theirs")
    git(repo, "checkout", "main")
    assert changed(repo, "base") == {"a.py": ((1, 1),)}
    assert changed(repo) == {}


def test_a_workspace_inside_a_repository_is_told_about_itself(repo):
    write(repo, "a.py", ["x = 1", *LINES])
    write(repo, "päck age/b\tc.py", ["x = 1", *LINES])
    write(repo, "päck age/new.py", ["x = 1"])
    found = changed_lines(str(repo / "päck age"))
    assert {os.path.basename(p): lines for p, lines in found.items()} == {
        "b\tc.py": ((1, 1),),
        "new.py": None,
    }


def test_before_the_first_commit_everything_changed(tmp_path):
    git(tmp_path, "init")
    write(tmp_path, "a.py", LINES)
    write(tmp_path, "b.py", LINES)
    git(tmp_path, "add", "a.py")
    assert changed(tmp_path) == {"a.py": ((1, 10),), "b.py": None}


def test_inside_a_hook(repo, monkeypatch):
    """A hook's own GIT_DIR and half-made index are of no interest."""
    write(repo, "a.py", ["x = 1", *LINES])
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert changed(repo) == {"a.py": ((1, 1),)}


@pytest.mark.parametrize("revision", ["nope", "--output=x", "-x"])
def test_unknown_revision(repo, revision):
    with pytest.raises(GitError, match="knows no revision"):
        changed_lines(str(repo), revision)
    assert not (repo / "x").exists()


def test_no_repository(tmp_path):
    with pytest.raises(GitError, match="is not in a git repository"):
        changed_lines(str(tmp_path))


def test_no_git(repo, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError, match="git is not installed"):
        changed_lines(str(repo))


def test_git_that_hangs(repo, monkeypatch, tmp_path):
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(slow))
    monkeypatch.setattr(changes, "TIME_LIMIT", 0.2)
    with pytest.raises(GitError, match="took longer"):
        changed_lines(str(repo))


def test_lines_that_look_like_headers():
    diff = "\n".join(
        [
            "diff --git a/a.py b/a.py",
            "--- a/a.py",
            "+++ b/a.py",
            "@@ -1 +1,2 @@",
            "--- x",
            "+++ b/evil.py",
            "+@@ -9 +9 @@",
            "\\ No newline at end of file",
            "@@ -5,0 +7 @@ def f():",
            "+diff --git a/b b/b",
        ]
    )
    assert parse_diff(diff) == {"a.py": ((1, 2), (7, 7))}


def test_only_deletions_change_no_line():
    assert parse_diff("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -3,2 +2,0 @@\n-x\n-y\n") == {}


def test_text_that_is_not_on_disk(repo):
    text = "\n".join(["new = 1", *LINES, "last = 1"]) + "\n"
    assert changed_lines_of_text(str(repo), str(repo / "a.py"), text) == ((1, 1), (12, 12))
    assert changed_lines_of_text(str(repo), str(repo / "a.py"), "\r\n".join([*LINES, ""])) == ()
    assert changed_lines_of_text(str(repo), str(repo / "not there" / "yet.py"), text) is None
    with pytest.raises(GitError):
        changed_lines_of_text(str(repo), str(repo / "a.py"), text, "nope")
