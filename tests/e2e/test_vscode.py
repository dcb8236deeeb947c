"""VS Code end to end: the packaged extension, with its bundled server, in a real workbench."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbenches import Workbenches, install, package

pytestmark = pytest.mark.e2e

TOOLS = """\
def real(text: str, color: str = "") -> str:
    return text + color


def invented_style(text: str) -> str:
    return text
"""
EVERYTHING = '[tool.callground]\nscope = "all"\n'
APP = "import tools\n\nprint(tools.real('a'))\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with one small package, selected in the Python extension's stand-in."""
    root = tmp_path_factory.mktemp("python") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True, timeout=120)
    (site,) = root.glob("lib/python3*/site-packages")
    (site / "thing").mkdir()
    (site / "thing" / "__init__.py").write_text("def there() -> int:\n    return 1\n")
    (site / "thing-1.dist-info").mkdir()
    (site / "thing-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
    return root / "bin" / "python"


@pytest.fixture(scope="module")
def extensions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Built from the sources; an installation that fails, fails the tests."""
    install()
    return package(tmp_path_factory.mktemp("vsix"))


@pytest.fixture(scope="module")
def workbenches(
    tmp_path_factory: pytest.TempPathFactory, extensions: list[Path], python: Path
) -> Iterator[Workbenches]:
    """One code-server for the windows of a person who trusts her folders."""
    made = Workbenches(tmp_path_factory.mktemp("vscode"), extensions, python)
    made.prepare()
    with made.served():
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "0"\n')
    (root / "tools.py").write_text(TOOLS)
    (root / "app.py").write_text(APP)
    return root


def test_an_insertion_is_flagged_and_repaired(workbenches: Workbenches, project: Path) -> None:
    workbenches.run("first", root=project)
    assert "😀" in (project / "app.py").read_text("utf-8")


def test_commands_marks_and_fix_all(workbenches: Workbenches, project: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *words],
            cwd=project,
            check=True,
            capture_output=True,
        )

    (project / "tools.py").write_text(TOOLS.replace("invented_style", "invented"))
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "x")
    (project / "closed.py").write_text("import tools\n\ntools.nothing()\n")
    (project / "app.py").write_text(APP + "\n")
    answer = workbenches.run("commands", root=project)
    assert answer["steps"][-1][2][-4:-1] == ["tools.invented(1)", "tools.real(1)", "tools.invented(2)"]


def test_an_accepted_suggestion(workbenches: Workbenches, project: Path) -> None:
    workbenches.run("suggestion", root=project)


def test_settings_while_running_and_no_double_squiggles(workbenches: Workbenches, project: Path) -> None:
    (project / "tools.py").write_text(TOOLS.replace("invented_style", "invented"))
    workbenches.run("settings", root=project)


def test_a_killed_server_comes_back(workbenches: Workbenches, project: Path) -> None:
    workbenches.run("killed", root=project)


def test_two_folders(workbenches: Workbenches, tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("one", "two")}
    for name, folder in folders.items():
        folder.mkdir()
        (folder / "shared.py").write_text(f"def only_{name}():\n    return 1\n")
        (folder / "app.py").write_text("import shared\n\nshared.only_one()\nshared.only_two()\n")
        (folder / "pyproject.toml").write_text(EVERYTHING)
    severity = '[tool.callground.severity]\nunknown-member = "warning"\n'
    (folders["two"] / "pyproject.toml").write_text(EVERYTHING + severity)
    workspace = tmp_path / "both.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"path": "one"}, {"path": "two"}]}))
    workbenches.run("folders", workspace=workspace, **folders)


def test_a_notebook(workbenches: Workbenches, project: Path) -> None:
    def cell(source: str) -> dict[str, object]:
        return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}

    (project / "pyproject.toml").write_text(EVERYTHING)
    book = {
        "cells": [cell("%matplotlib inline\nimport tools"), cell("tools.real('a')\ntools.invented('b')")],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (project / "book.ipynb").write_text(json.dumps(book))
    workbenches.run("notebook", root=project)


def test_the_selected_interpreter_counts(workbenches: Workbenches, project: Path, python: Path) -> None:
    (project / "pyproject.toml").write_text(EVERYTHING)
    (project / "app.py").write_text("import thing\n\nthing.there()\nthing.not_there()\n")
    workbenches.run("interpreter", root=project, python=python)


def test_a_warm_start(workbenches: Workbenches, project: Path) -> None:
    (project / "pyproject.toml").write_text(EVERYTHING)
    (project / "app.py").write_text(APP + "tools.invented(1)\n")
    workbenches.run("startup", root=project)
    answer = workbenches.run("startup", root=project)
    # Machines that run tests are slow; the figure that counts is printed.
    assert answer["steps"][-1][2] < 60_000
    assert answer["value"]["activation"] < 150, "milliseconds of the processor"


def test_nothing_of_an_untrusted_workspace_is_run(
    tmp_path_factory: pytest.TempPathFactory, extensions: list[Path], tmp_path: Path
) -> None:
    root, marker = tmp_path / "evil", tmp_path / "marker"
    (root / ".vscode").mkdir(parents=True)
    (root / ".venv" / "bin").mkdir(parents=True)
    script = f'#!/bin/sh\necho "$0 $@" >> {marker}\nexit 1\n'
    for place in ("callground", "python3", ".venv/bin/python", ".venv/bin/callground"):
        (root / place).write_text(script)
        (root / place).chmod(0o755)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.0\n")
    settings = {"callground.path": str(root / "callground"), "callground.python": str(root / "python3")}
    (root / ".vscode" / "settings.json").write_text(json.dumps(settings))
    for name in ("json", "pygls", "sitecustomize", "callground"):
        (root / f"{name}.py").write_text(f"open({str(marker)!r}, 'a').write(__file__)\n")
    (root / "tools.py").write_text(TOOLS)
    (root / "app.py").write_text(APP + "tools.invented(1)\n")
    (root / "pyproject.toml").write_text(EVERYTHING)

    made = Workbenches(tmp_path_factory.mktemp("restricted"), extensions, root / ".venv" / "bin" / "python")
    made.prepare()
    (made.home / "bin").mkdir()
    (made.home / "bin" / "python3").symlink_to(sys.executable)
    with made.served(trusted=False):
        answer = made.run("restricted", root=root, marker=marker)
    assert not marker.exists()
    assert "--untrusted" in answer["steps"][-1][2]
