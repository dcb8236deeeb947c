"""The Neovim plugin, as its users have it: on the runtime path of a headless Neovim."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import callground_server
from editor import server_command
from test_neovim import neovim, run

pytestmark = pytest.mark.e2e

RUNTIME = Path(callground_server.__file__).parent / "nvim"
TOOLS = "def real(text, color=''):\n    return text\n\n\ndef invented(number):\n    return number\n"


def test_the_plugin_in_a_project(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    (root / "tools.py").write_text(TOOLS)
    (root / "app.py").write_text("import tools\n\nprint(tools.real('a'))\n")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    (root / "closed.py").write_text("import tools\n\ntools.nothing()\n")
    launcher = tmp_path / "callground"
    command = server_command("--cache-dir", str(tmp_path / "cache"))
    launcher.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "if sys.argv[1:] == ['--version']:\n    print('callground for tests')\n    sys.exit()\n"
        f"os.execv({command[0]!r}, {command!r})\n"
    )
    launcher.chmod(0o755)
    answer = run(
        tmp_path,
        "neovim_plugin.lua",
        {
            "command": [str(launcher), "lsp"],
            "root": str(root),
            "file": "app.py",
            "runtime": str(RUNTIME),
        },
    )
    steps: dict[str, Any] = {step["name"]: step.get("value") for step in answer["steps"]}
    assert steps["status"] == "2 grounded, 0 ungrounded, 0 abstained"
    assert {4, 5} <= set(steps["signs"])
    assert "unknown-member" in steps["hover"]
    assert "ungrounded" in steps["explanation"]
    assert steps["changes"] == ["app.py:5", "closed.py:3"]
    assert steps["fixed"] == "tools.invented(1)"
    assert "unknown client" in steps["paste"]
    assert steps["completion"] == ["mark-ai", "mark-mine"]
    assert "ERROR" not in steps["health"], steps["health"]
    assert "WARN" not in steps["health"], steps["health"]
    assert "callground for tests" in steps["health"]
    assert steps["help"] == "callground.txt"
    assert steps["ghost"] == "tools.real(\n    'x')"
    assert steps["accepted"] == ["answer = tools.real(", "    'x')"]


def test_the_help_has_tags_for_all_of_it() -> None:
    text = (RUNTIME / "doc" / "callground.txt").read_text("utf-8")
    tags = {line.split("\t")[0] for line in (RUNTIME / "doc" / "tags").read_text("utf-8").splitlines()}
    import re

    assert tags == set(re.findall(r"\*([^*\s]+)\*", text))


def test_the_files_load_in_an_editor_without_a_server(tmp_path: Path) -> None:
    """No Python file, no server, no error."""
    done = subprocess.run(
        [neovim(), "--clean", "--headless", "--cmd", f"set rtp+={RUNTIME}", "-c", "Callground status", "-c", "qa!"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"XDG_STATE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )
    assert done.returncode == 0
    assert "nothing is known of this file" in done.stderr, done.stderr
