"""Chooses the interpreter of a workspace, as its users expect it, and describes it.

Everything is read from files.  Only where that does not suffice, and only when the workspace is trusted,
the interpreter itself is asked, in isolation.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from callground.environment.child import run_isolated
from callground.environment.layout import Layout, read_folder, read_python
from callground.environment.managers import Candidate, for_project, in_folder, pyenv_shim
from callground.environment.model import Environment, OpenImport, PathEntry, Redirect
from callground.environment.pth import read_customize, read_pth_files

_QUESTION = """
import sys, json
print(json.dumps({
    "executable": sys.executable, "version": list(sys.version_info[:3]), "platform": sys.platform,
    "implementation": sys.implementation.name, "prefix": sys.prefix, "base_prefix": sys.base_prefix,
    "path": sys.path, "builtins": list(sys.builtin_module_names)}))
"""
_QUESTION_TIMEOUT = 10.0


def find_environment(
    workspace: str,
    *,
    python: str | None = None,
    trusted: bool = False,
    environ: Mapping[str, str] | None = None,
    asked_by: str = "the setting",
) -> Environment:
    """The environment of the folder `workspace`.

    Args:
        workspace: a folder; for a monorepo the folder of one project.
        python: an explicit choice: an executable, an environment's folder or a command name; relative to
        `workspace`.
        trusted: whether an interpreter may be started.
        environ: variables to look at instead of the process's own.
        asked_by: who made the explicit choice, for messages.

    Never raises: in the end it is the Python that runs this program, with `doubtful` set.
    """
    variables = os.environ if environ is None else environ
    folder = os.path.abspath(workspace)
    folders = _upwards(folder)
    notices: list[str] = []
    broken: tuple[Layout, Candidate] | None = None
    for position, candidate in enumerate(_candidates(folders, python, asked_by, variables)):
        layout, problem = _read(candidate.path, folders, trusted, variables)
        if layout is not None and layout.version[0] == 2:
            problem = f"{candidate.path} is Python 2; only Python 3 is understood"
            layout = None
        if layout is not None and problem is None:
            # Somebody asked for one interpreter and gets another.
            doubt = notices[0] if python and position and notices else None
            return _environment(layout, candidate.how, trusted, variables, folder, notices, doubt)
        if candidate.named and problem:
            notices.append(problem)
        if layout is not None and layout.site and layout.version[0] and broken is None:
            broken = (layout, candidate)
    if broken is not None:
        layout, candidate = broken
        if not layout.stdlib:
            layout = _lend_library(layout)
        doubt = layout.problem or notices[0]
        return _environment(layout, candidate.how, trusted, variables, folder, notices, doubt)
    return own_environment(notices, trusted, folder, variables)


def own_environment(
    notices: list[str] | None = None,
    trusted: bool = False,
    workspace: str = "",
    environ: Mapping[str, str] | None = None,
) -> Environment:
    """The environment of the Python that runs this program: what is left when a workspace has none."""
    variables = os.environ if environ is None else environ
    notices = list(notices or ())
    doubt = notices[0] if notices else "no environment was found for this workspace"
    how = "the Python that callground itself runs on"
    notices.append(
        f"no usable environment was found: {how} is used ({sys.executable}); "
        "set the interpreter or create a virtual environment"
    )
    layout = read_python(sys.executable, variables) if sys.executable else None
    if layout is None or not layout.stdlib:
        path = tuple(os.path.abspath(each) for each in sys.path if each)
        site = tuple(each for each in path if "site-packages" in each or "dist-packages" in each)
        layout = Layout(
            python=sys.executable or None,
            version=sys.version_info[:3],
            prefix=sys.prefix,
            base_prefix=sys.base_prefix,
            base_python=os.path.realpath(sys.executable) if sys.executable else None,
            stdlib=tuple(each for each in path if each not in site and os.path.exists(each)),
            site=site,
            platform=sys.platform,
            implementation=sys.implementation.name,
            problem=None,
        )
    return _environment(layout, how, trusted, variables, workspace, notices, doubt)


# -- candidates ------------------------------------------------------------------------------


def _candidates(
    folders: tuple[str, ...], python: str | None, asked_by: str, environ: Mapping[str, str]
) -> Iterator[Candidate]:
    if python:
        yield Candidate(_resolved(python, folders[0], environ), f"chosen by {asked_by}", True)
    active = environ.get("VIRTUAL_ENV")
    own = active is not None and os.path.realpath(active) == os.path.realpath(sys.prefix)
    if active and not own:
        yield Candidate(active, "the activated virtual environment (VIRTUAL_ENV)", True)
    conda = environ.get("CONDA_PREFIX")
    base_is_active = environ.get("CONDA_DEFAULT_ENV", "") in ("base", "root")
    if conda and not base_is_active:
        yield Candidate(conda, "the activated conda environment (CONDA_PREFIX)", True)
    if environ.get("UV_PROJECT_ENVIRONMENT"):
        path = os.path.join(folders[0], environ["UV_PROJECT_ENVIRONMENT"])
        yield Candidate(path, "named by UV_PROJECT_ENVIRONMENT", True)
    for folder in folders:
        yield from in_folder(folder)
        yield from for_project(folder, environ)
    if active and own:
        # Activated, but this program's own: a project's environment comes first.
        yield Candidate(active, "the activated virtual environment (VIRTUAL_ENV)", True)
    if conda and base_is_active:
        yield Candidate(conda, "the activated conda environment (CONDA_PREFIX)", True)


def _upwards(folder: str) -> tuple[str, ...]:
    """The folder and those above it, up to the root of its repository; alone when there is no repository."""
    found = [folder]
    home = os.path.expanduser("~")
    while not os.path.lexists(os.path.join(found[-1], ".git")):
        above = os.path.dirname(found[-1])
        if above == found[-1] or above == home:
            return (folder,)
        found.append(above)
    return tuple(found)


def _resolved(python: str, folder: str, environ: Mapping[str, str]) -> str:
    path = os.path.expanduser(python)
    if os.path.exists(os.path.join(folder, path)):
        return os.path.join(folder, path)
    if os.sep not in path and "/" not in path:
        return shutil.which(path, path=environ.get("PATH")) or path
    return os.path.join(folder, path)


# -- reading ---------------------------------------------------------------------------------


def _read(
    path: str, folders: tuple[str, ...], trusted: bool, environ: Mapping[str, str]
) -> tuple[Layout | None, str | None]:
    """(the interpreter at `path`, what is wrong with it)."""
    if os.path.isdir(path):
        layout = read_folder(path, environ)
        if layout is None:
            return None, f"{path} is no Python environment"
        return layout, layout.problem
    if not os.path.exists(path):
        layout = read_python(path, environ)  # a broken virtual environment still tells what it was
        if os.path.islink(path):
            problem = f"{path} points to {os.readlink(path)}, which does not exist"
        else:
            problem = f"{path} does not exist"
        return layout._replace(problem=problem) if layout else None, problem
    path = pyenv_shim(path, folders, environ) or path
    layout = read_python(path, environ)
    if layout is not None and layout.stdlib:
        return layout, layout.problem
    if not trusted:
        return (
            layout,
            f"the library of {path} was not found, and it may not be asked in an untrusted workspace",
        )
    answer = ask(path)
    if answer is None:
        return layout, f"{path} is no usable Python interpreter"
    actual = read_python(answer["executable"], environ) if answer["executable"] else None
    if actual is not None and actual.stdlib:
        return actual, actual.problem
    stdlib = tuple(each for each in answer["path"] if os.path.exists(each))
    site = tuple(
        each
        for folder in stdlib
        for each in (os.path.join(folder, "site-packages"), os.path.join(folder, "dist-packages"))
        if os.path.isdir(each)
    )
    version: tuple[int, int, int] = tuple(answer["version"])
    return Layout(
        path,
        version,
        answer["prefix"],
        answer["base_prefix"],
        os.path.realpath(path),
        stdlib,
        site,
        answer["platform"],
        answer["implementation"],
        None,
    ), None


def ask(python: str) -> dict[str, Any] | None:
    """What a trusted interpreter says about itself; None when it does not answer sensibly."""
    outcome = run_isolated(python, ["-c", _QUESTION], timeout=_QUESTION_TIMEOUT, limit=1_000_000)
    if outcome.problem is not None:
        return None
    try:
        answer = json.loads(outcome.output)
        kinds = {
            "executable": str,
            "version": list,
            "platform": str,
            "implementation": str,
            "prefix": str,
            "base_prefix": str,
            "path": list,
            "builtins": list,
        }
        if not all(isinstance(answer[key], kind) for key, kind in kinds.items()):
            return None
        if not all(isinstance(each, int) for each in answer["version"]) or len(answer["version"]) != 3:
            return None
        answer["path"] = [each for each in answer["path"] if isinstance(each, str) and each]
        answer["builtins"] = [each for each in answer["builtins"] if isinstance(each, str)]
    except (ValueError, KeyError, TypeError):
        return None
    return dict(answer)


def _lend_library(layout: Layout) -> Layout:
    """A broken environment reads the standard library of this program's Python when the versions fit."""
    own = read_python(sys.executable) if sys.executable else None
    if own is not None and own.version[:2] == layout.version[:2] and own.stdlib:
        return layout._replace(
            stdlib=own.stdlib, base_prefix=own.base_prefix, base_python=own.base_python, version=own.version
        )
    return layout


def _environment(
    layout: Layout,
    how: str,
    trusted: bool,
    environ: Mapping[str, str],
    workspace: str,
    notices: list[str],
    doubtful: str | None,
) -> Environment:
    entries = [PathEntry(path, "pythonpath") for path in _python_path(environ, workspace)]
    entries += [PathEntry(path, "stdlib") for path in layout.stdlib]
    redirects: list[Redirect] = []
    opens: list[OpenImport] = []
    files: list[str] = []
    packages = os.path.join(workspace, "__pypackages__", ".".join(map(str, layout.version[:2])), "lib")
    sites = (*((packages,) if os.path.isdir(packages) else ()), *layout.site)
    for site in sites:
        content = read_pth_files(site)
        entries.append(PathEntry(site, "site"))
        entries.extend(content.entries)
        redirects.extend(content.redirects)
        opens.extend(content.opens)
        files.extend(content.files)
    unique: dict[str, PathEntry] = {}
    for entry in entries:
        unique.setdefault(entry.path, entry)
    opens.extend(read_customize(tuple(unique)))
    builtins, known = _builtins(layout, trusted and doubtful is None)
    return Environment(
        python=layout.python,
        version=layout.version,
        platform=layout.platform,
        prefix=layout.prefix,
        base_prefix=layout.base_prefix,
        search=tuple(unique.values()),
        redirects=tuple(redirects),
        open_imports=tuple(opens),
        builtins=builtins,
        builtins_known=known,
        implementation=layout.implementation,
        trusted=trusted and layout.python is not None and os.path.exists(layout.python),
        how=how,
        doubtful=doubtful,
        notices=tuple(notices),
        pth_files=tuple(files),
    )


def _python_path(environ: Mapping[str, str], workspace: str) -> tuple[str, ...]:
    found = []
    for each in environ.get("PYTHONPATH", "").split(os.pathsep):
        path = os.path.normpath(os.path.join(workspace, each)) if each else ""
        if path and os.path.exists(path):
            found.append(path)
    return tuple(found)


def _builtins(layout: Layout, may_ask: bool) -> tuple[frozenset[str], bool]:
    """(names of the compiled-in modules, whether that list is exact)."""
    own = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable or "")
    if layout.base_python and layout.base_python == own:
        return frozenset(sys.builtin_module_names), True
    if may_ask and layout.python:
        answer = ask(layout.python)
        if answer is not None and tuple(answer["version"][:2]) == layout.version[:2]:
            return frozenset(answer["builtins"]), True
    if (layout.version[:2], layout.implementation, layout.platform) == (
        sys.version_info[:2],
        sys.implementation.name,
        sys.platform,
    ):
        return frozenset(sys.builtin_module_names), False
    return frozenset(), False
