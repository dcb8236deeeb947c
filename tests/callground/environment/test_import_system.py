"""The finder against the import system itself: every module of a real environment, with its place."""

from __future__ import annotations

import json
import os
import sys

from callground.environment.discover import find_environment
from callground.environment.finder import Finder
from callground.environment.probe import Prober
from environment_lab import Lab, other_pythons, run

# Asks the meta path without importing any of the modules.
ASK = """
import json, sys, types
answers = {}
for name in json.load(sys.stdin):
    parts, path, spec = name.split("."), None, None
    for end in range(1, len(parts) + 1):
        full, spec = ".".join(parts[:end]), None
        for finder in sys.meta_path:
            spec = finder.find_spec(full, path)
            if spec is not None:
                break
        if spec is None:
            break
        path = spec.submodule_search_locations
        if path is None:
            if end < len(parts):
                spec = None
                break
        else:
            path = list(getattr(path, "_path", path))
            if full not in sys.modules:
                sys.modules[full] = types.ModuleType(full)
                sys.modules[full].__path__ = path
    answers[name] = None if spec is None else [spec.origin, path]
print(json.dumps(answers))
"""


def names_below(finder: Finder, name: str, found: list[str]) -> None:
    located = finder.locate(name)
    found.append(name)
    # The test suite of CPython holds files that break import systems on purpose.
    if located is not None and located.is_package and located.importable and name.count(".") < 4 and name != "test":
        for each in sorted(finder.submodules(name)):
            names_below(finder, f"{name}.{each}", found)


def disagreements(python: str, lab: Lab) -> tuple[int, list[object]]:
    """(number of modules compared, where the finder and the interpreter do not agree)."""
    environment = find_environment(str(lab.workspace), python=python, trusted=True, environ={})
    finder = Finder(environment)
    names: list[str] = []
    for top in sorted(finder.submodules("")):
        if top != "distutils":  # setuptools may replace it, see test_pth
            names_below(finder, top, names)
    names += ["no_such_module", "os.no_such_module", "email.no_such_module", "winreg", "_typeshed"]
    answers = json.loads(run(python, ASK, cwd=lab.workspace, stdin=json.dumps(names)))
    different: list[object] = []
    for name in names:
        located = finder.locate(name)
        located = located if located is not None and located.importable else None
        answer = answers[name]
        if located is None or answer is None:
            if located is not answer:
                different.append((name, located, answer))
            continue
        origin, path = answer
        if origin in ("built-in", "frozen", None):
            if located.kind not in ("builtin", "namespace", "source"):
                different.append((name, located, answer))
        elif located.path != origin and not (
            # A compiled module with its source beside it is read from the source.
            located.path and located.path.endswith(".py") and not origin.endswith(".py")
        ):
            different.append((name, located.path, origin))
        if origin != "frozen" and list(located.search_locations) != (path or []):
            different.append((name, located.search_locations, path))
    return len(names), different


def test_it_finds_what_the_interpreter_finds(lab):
    count, different = disagreements(sys.executable, lab)
    assert different == []
    assert count > 500


def test_other_versions_that_are_installed_here(lab):
    """Every Python 3.8 or newer that this machine happens to have; described ones are tested elsewhere."""
    for python, version in other_pythons():
        environment = find_environment(str(lab.workspace), python=python, trusted=True, environ={})
        assert environment.version == version
        assert environment.builtins_known
        _, different = disagreements(python, lab)
        assert different == [], version
        probed = Prober(environment).probe("math")
        assert probed.text is not None, (version, probed)
        assert "def sqrt(x, /)" in probed.text


def test_a_plain_sys_path_is_the_search_path(lab):
    lab.venv()
    environment = lab.find()
    real = json.loads(run(lab.python(), "import sys, json; print(json.dumps(sys.path))", cwd=lab.folder))
    assert [entry.path for entry in environment.search] == [path for path in real if os.path.exists(path)]
    assert environment.version == sys.version_info[:3]
    assert environment.builtins_known
    assert environment.builtins == frozenset(sys.builtin_module_names)
