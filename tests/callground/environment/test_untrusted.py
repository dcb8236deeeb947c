"""A workspace that nobody trusts runs nothing, whatever lies in it; with trust still none of its modules."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from callground.environment import typeshed
from callground.environment.declared import declared_distributions
from callground.environment.finder import Finder
from callground.environment.probe import Prober
from callground.environment.roots import find_roots
from callground.environment.workspace_files import list_files
from environment_lab import write_files

NAMES = [
    "json",
    "requests",
    "math",
    "typing",
    "os",
    "evil",
    "sitecustomize",
    "conftest",
    "setup",
    "numpy.core",
    "re",
]


@pytest.fixture
def trap(lab):
    """A workspace full of code that leaves a trace when it runs: (lab, where traces would stand)."""
    traces = lab.folder / "traces"
    traces.mkdir()

    def leave(name):
        return f"import os\nos.close(os.open({str(traces / name)!r}, os.O_CREAT | os.O_WRONLY))\n"

    lab.venv()
    root = lab.workspace
    for folder in (root, lab.site(), lab.folder / "pythonpath"):
        place = folder.name
        write_files(
            folder,
            {
                f"{name}.py": leave(f"{place}-{name}")
                for name in (
                    "json",
                    "typing",
                    "re",
                    "inspect",
                    "os",
                    "ctypes",
                    "resource",
                    "keyword",
                    "math",
                    "sitecustomize",
                    "usercustomize",
                    "conftest",
                    "setup",
                    "evil",
                    "typeshed_client",
                    "pathspec",
                )
            },
        )
    line = leave("pth").replace("\n", "; ").rstrip("; ")
    write_files(lab.site(), {"evil.pth": f"{line}\n", "evil2.pth": "import evil\n", "more.pth": f"{root}\n"})
    script = f'#!/bin/sh\ntouch "{traces}/fake-interpreter"\n'
    for path in (root / "python", root / "bin/python", root / "fakevenv/bin/python"):
        write_files(path.parent, {path.name: script})
        path.chmod(0o755)
    write_files(root / "fakevenv", {"pyvenv.cfg": f"home = {root}/bin\nversion = 3.11.1\n"})
    write_files(
        root,
        {"pyproject.toml": "[build-system]\nrequires = []\nbackend-path = ['.']\nbuild-backend = 'evil'\n"},
    )
    source = Path(Finder(lab.find(trusted=False)).locate("_json").path or "")
    for package in (root / "native", lab.site() / "native"):
        write_files(package, {"__init__.py": leave(f"{package.parent.name}-native")})
        if source.name:
            shutil.copy(source, package / source.name)
    return lab, traces


def use_everything(lab, *, trusted, python=None):
    root = str(lab.workspace)
    environment = lab.find(trusted=trusted, python=python, PYTHONPATH=str(lab.folder / "pythonpath"))
    files = list_files(root)
    finder = Finder(environment, find_roots(root, files.python))
    for name in (*NAMES, "native", "native._json"):
        finder.locate(name)
        finder.submodules(name)
        finder.import_open(name)
        finder.distribution_of(name)
    for path in files.python:
        finder.module_of(path)
    declared_distributions(root)
    typeshed.bundled()
    finder.stamp()
    finder.refresh()
    prober = Prober(environment)
    return environment, {name: prober.probe(name) for name in (*NAMES, "native._json", "_json", "builtins")}


@pytest.mark.parametrize("python", [None, "python", "bin/python", "fakevenv", "fakevenv/bin/python", ".venv"])
def test_untrusted_nothing_runs(trap, monkeypatch, python):
    lab, traces = trap
    monkeypatch.chdir(lab.workspace)
    environment, probed = use_everything(lab, trusted=False, python=python)
    assert os.listdir(traces) == []
    assert not environment.trusted
    assert probed["native._json"].text is None


def test_trusted_the_interpreter_runs_but_no_module_of_the_workspace(trap, monkeypatch):
    lab, traces = trap
    monkeypatch.chdir(lab.workspace)
    environment, probed = use_everything(lab, trusted=True, python=".venv")
    assert environment.trusted
    ran = set(os.listdir(traces))
    # The compiled module of site-packages was imported, and with it the package around it: nothing else.
    assert ran == {"site-packages-native"}
    assert probed["native._json"].text is not None
    assert probed["builtins"].text is not None
    assert environment.version == sys.version_info[:3]
