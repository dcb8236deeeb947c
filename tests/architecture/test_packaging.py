"""The wheel holds our two packages and what they need, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built without isolation: hatchling is installed, nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=TOP,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    with zipfile.ZipFile(made) as archive:
        yield archive


def test_two_top_level_names(wheel):
    names = {name.partition("/")[0] for name in wheel.namelist()}
    assert {name for name in names if not name.endswith(".dist-info")} == {"callground", "callground_server"}


def test_pages_are_inside(wheel):
    from callground.rules import RULES

    names = set(wheel.namelist())
    assert {f"callground/rules/pages/{code}.md" for code in RULES} <= names
    assert {"callground/verdict/report.md", "callground/py.typed", "callground_server/py.typed"} <= names


def test_what_agents_need_is_inside(wheel):
    names = set(wheel.namelist())
    assert {"callground/gate/gate.md", "callground_server/gate/openapi.json"} <= names
    plugin = (".claude-plugin/plugin.json", ".lsp.json", ".mcp.json", "hooks/hooks.json", "cursor.json")
    assert {f"callground_server/plugin/{name}" for name in plugin} <= names


def test_the_callers_network_is_inside(wheel):
    names = {name.rpartition("/")[2] for name in wheel.namelist() if name.startswith("callground/caller/model/")}
    assert {"trunk.onnx", "select.onnx", "span.onnx", "tokenizer.json", "digests.json", "CARD.md"} <= names


def test_no_tests_and_no_leftovers(wheel):
    assert not [n for n in wheel.namelist() if "test" in n.lower() or n.endswith((".pyc", ".sqlite"))]


def test_the_command_is_declared(wheel):
    (entry,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "callground = callground_server.cli:main" in wheel.read(entry).decode()


def test_the_licence_is_inside(wheel):
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())


def test_the_version_is_the_packages_own(wheel):
    from callground import __version__

    assert Path(wheel.filename).name.startswith(f"callground-{__version__}-")
