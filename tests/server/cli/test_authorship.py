"""``check --scope ai`` and ``callground provenance``: records and git, in a terminal."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from callground_server.cli import main

TOOLS = "def real(a):\n    return a\n"
OLD = "import tools\n\ntools.old_and_wrong(1)\n"
BY_AI = "import tools\n\ntools.by_claude(1)\n"


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's commit, an assistant's, and lines that are not committed."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(root)
    git(root, "init", "-q")
    (root / "tools.py").write_text(TOOLS)
    (root / "old.py").write_text(OLD)
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "ai.py").write_text(BY_AI)
    git(root, "add", ".")
    git(root, "commit", "-qm", "more\n\nCo-Authored-By: Claude <noreply@anthropic.com>")
    return root


def wrong(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    main(["check", "--python", sys.executable, "--format", "json", "--scope", "ai", *arguments])
    data = json.loads(capsys.readouterr().out)
    assert data["scope"] == "ai"
    return sorted(entry["callee"] for entry in data["ungrounded"])


def test_records_and_uncommitted_lines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong(capsys) == ["tools.by_claude"]
    (project / "old.py").write_text(OLD + "tools.new_and_wrong(1)\n")
    assert wrong(capsys) == ["tools.by_claude", "tools.new_and_wrong"]
    assert wrong(capsys, "--since", "HEAD") == ["tools.new_and_wrong"]
    assert wrong(capsys, "old.py") == ["tools.new_and_wrong"]


def test_signals_can_be_switched_off(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text("[tool.callground.provenance]\ncommits = false\n")
    assert wrong(capsys) == []
    (project / "pyproject.toml").write_text("[tool.callground.provenance]\nuncommitted = false\n")
    (project / "old.py").write_text(OLD + "tools.new_and_wrong(1)\n")
    assert wrong(capsys) == ["tools.by_claude"]


def test_text_on_standard_input(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((OLD + "tools.piped(1)\n").encode())))
    assert wrong(capsys, "--stdin-filename", "old.py") == ["tools.piped"]


def test_broken_records_are_told_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".agent-trace").mkdir()
    (project / ".agent-trace" / "traces.jsonl").write_text("{broken\n")
    main(["check", "--python", sys.executable, "--scope", "ai"])
    assert capsys.readouterr().err.count("record is broken and ignored") == 1


def test_who_wrote_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "ai.py").write_text(BY_AI + "tools.real(2)\n")
    assert main(["provenance", "ai.py"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "1-3  ai (Claude): the line's commit names an assistant as its author or co-author [commits, 60% sure]",
        "  4  unknown: the line differs from HEAD, and nothing tells who changed it [git, 30% sure]",
    ]
    assert main(["provenance", "old.py"]) == 0
    assert capsys.readouterr().out == "old.py: nothing tells that anybody but a person wrote it\n"
    assert main(["provenance", "--format", "json", "ai.py"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["start_line"], row["end_line"], row["origin"]) for row in rows] == [(1, 3, "ai"), (4, 4, "unknown")]
    assert main(["provenance", "absent.py"]) == 2


def test_what_a_hook_has_seen(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    new = OLD + "tools.real(3)\n"
    payload = {
        "hook_event_name": "PostToolUse",
        "cwd": str(project),
        "tool_name": "Write",
        "tool_input": {"file_path": str(project / "old.py"), "content": new},
        "tool_response": {"originalFile": OLD},
    }
    (project / "old.py").write_text(new)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode())))
    assert main(["hook", "--no-daemon", "--python", sys.executable]) == 0
    capsys.readouterr()
    assert main(["provenance", "old.py"]) == 0
    assert capsys.readouterr().out == "4  ai (Claude Code): an agent's edit hook reported the text [hook]\n"
