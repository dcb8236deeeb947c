"""Every kind of quick fix, applied by a real Neovim: the file is as expected, clean, and runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from editor import server_command
from fix_cases import ACTIONS, SHOP
from test_neovim import neovim

pytestmark = pytest.mark.e2e


def test_fixes(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(f'[tool.callground]\npython = "{sys.executable}"\nscope = "all"\n')
    (root / "shop.py").write_text(SHOP, encoding="utf-8")
    cases: list[dict[str, Any]] = []
    for number, (_, before, _, title, after, _) in enumerate(ACTIONS):
        (root / f"case{number}.py").write_text(before, encoding="utf-8")
        cases.append({"file": f"case{number}.py", "title": title, "expected": after})
    report = tmp_path / "report.json"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for name in ("STATE", "CACHE", "DATA", "CONFIG"):
        environment[f"XDG_{name}_HOME"] = str(tmp_path / "nvim" / name.lower())
    given = {"command": server_command(), "root": str(root), "cases": cases, "report": str(report)}
    environment["CALLGROUND_E2E"] = json.dumps(given)
    script = Path(__file__).with_name("fixes.lua")
    subprocess.run(
        [neovim(), "--clean", "--headless", "-l", str(script)],
        env=environment,
        capture_output=True,
        timeout=500,
        check=False,
    )
    answer = json.loads(report.read_text("utf-8"))
    assert answer["ok"], answer
    for case, result in zip(cases, answer["results"], strict=True):
        assert result["flagged"], result
        assert result["applied"], (result, case["expected"])
        assert result["clean"], result
        text = (root / case["file"]).read_text("utf-8")
        assert text == case["expected"]
        if "..." not in text and "NotImplementedError" not in text and "ignore[" not in text:
            done = subprocess.run([sys.executable, case["file"]], cwd=root, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (text, done.stderr)
