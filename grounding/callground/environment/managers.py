"""Where project managers keep the environment of a project, derived from files and names alone."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from callground.environment.toml_files import read_toml, table


class Candidate(NamedTuple):
    """A place where the interpreter of a workspace may be."""

    path: str
    """A folder or an executable."""
    how: str
    """For people: why this place."""
    named: bool = False
    """Somebody named it: that it is not usable is worth a message."""


def in_folder(folder: str) -> Iterator[Candidate]:
    """Environments that lie in `folder` itself, or that a file in it names."""
    for name in (".venv", "venv", "env", ".env", "virtualenv", ".conda", ".pixi/envs/default"):
        path = os.path.join(folder, *name.split("/"))
        if is_environment(path):
            yield Candidate(path, f"{name} in {folder}", True)
        elif name == ".venv" and os.path.isfile(path):
            target = _first_line(path)
            if target:
                yield Candidate(_named_environment(folder, target), f"named by {path}", True)
    pdm = os.path.join(folder, ".pdm-python")
    named = _first_line(pdm)
    if named:
        yield Candidate(os.path.join(folder, named), f"named by {pdm}", True)
    others = [
        os.path.join(folder, name)
        for name in _names(folder)
        if os.path.isfile(os.path.join(folder, name, "pyvenv.cfg"))
        and name not in (".venv", "venv", "env", ".env", "virtualenv")
    ]
    if len(others) == 1:
        yield Candidate(others[0], f"the only virtual environment in {folder}")


def is_environment(folder: str) -> bool:
    """Whether `folder` looks like a virtual or conda environment, broken ones included."""
    return os.path.isfile(os.path.join(folder, "pyvenv.cfg")) or os.path.isdir(os.path.join(folder, "conda-meta"))


def for_project(folder: str, environ: Mapping[str, str]) -> Iterator[Candidate]:
    """Environments outside of the project `folder` that its manager made for it."""
    project = read_toml(os.path.join(folder, "pyproject.toml"))
    if project:
        yield from _poetry(folder, project, environ)
        yield from _hatch(folder, project, environ)
    if os.path.isfile(os.path.join(folder, "Pipfile")):
        yield from _pipenv(folder, environ)
    yield from _pyenv(folder, environ)


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")


def _data_folder(environ: Mapping[str, str], name: str) -> str:
    if sys.platform == "win32":
        return os.path.join(environ.get("LOCALAPPDATA") or _home(environ), name)
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support", name)
    return os.path.join(environ.get("XDG_DATA_HOME") or os.path.join(_home(environ), ".local", "share"), name)


def _short_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii")[:8]


def _poetry(folder: str, project: Mapping[str, object], environ: Mapping[str, str]) -> Iterator[Candidate]:
    data = dict(project)
    settings = table(data, "tool", "poetry")
    name = settings.get("name") or table(data, "project").get("name")
    if not isinstance(name, str) or not (settings or os.path.isfile(os.path.join(folder, "poetry.lock"))):
        return
    local = table(read_toml(os.path.join(folder, "poetry.toml")), "virtualenvs").get("path")
    cache = environ.get("POETRY_CACHE_DIR")
    if cache is None:
        if sys.platform == "win32":
            cache = os.path.join(environ.get("LOCALAPPDATA") or _home(environ), "pypoetry", "Cache")
        elif sys.platform == "darwin":
            cache = os.path.join(_home(environ), "Library", "Caches", "pypoetry")
        else:
            base = environ.get("XDG_CACHE_HOME") or os.path.join(_home(environ), ".cache")
            cache = os.path.join(base, "pypoetry")
    place = environ.get("POETRY_VIRTUALENVS_PATH")
    if place is None:
        place = local if isinstance(local, str) else os.path.join(cache, "virtualenvs")
    place = os.path.join(folder, os.path.expanduser(place.replace("{cache-dir}", cache)))
    sanitized = re.sub(r'[ $`!*@"\\\r\n\t]', "_", name.lower())[:42]
    stem = f"{sanitized}-{_short_hash(os.path.normcase(os.path.realpath(folder)))}"
    active = table(read_toml(os.path.join(place, "envs.toml")), stem).get("minor")
    found = [each for each in _names(place) if re.fullmatch(re.escape(stem) + r"-py\d[\d.]*", each)]
    # The one that poetry says is active first, then the newest Python.
    found.sort(key=lambda each: (each == f"{stem}-py{active}", _digits(each)), reverse=True)
    for each in found:
        yield Candidate(os.path.join(place, each), "poetry's environment of this project", True)


def _digits(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", name.rpartition("-py")[2]))


def _hatch(folder: str, project: Mapping[str, object], environ: Mapping[str, str]) -> Iterator[Candidate]:
    name = table(dict(project), "project").get("name")
    if not isinstance(name, str):
        return
    normal = re.sub(r"[-_.]+", "-", name).lower()
    data = environ.get("HATCH_DATA_DIR") or _data_folder(environ, "hatch")
    base = os.path.join(data, "env", "virtual", normal, _short_hash(folder))
    for path in (os.path.join(base, normal), os.path.join(folder, ".hatch", normal)):
        if is_environment(path):
            yield Candidate(path, "hatch's default environment of this project", True)


def _pipenv(folder: str, environ: Mapping[str, str]) -> Iterator[Candidate]:
    base = environ.get("WORKON_HOME") or (
        os.path.join(_home(environ), ".virtualenvs")
        if sys.platform == "win32"
        else os.path.join(_data_folder(environ, "virtualenvs"))
    )
    sanitized = re.sub(r'[ &$`!*@"()\[\]\\\r\n\t]', "_", os.path.basename(folder))[:42]
    path = os.path.join(base, f"{sanitized}-{_short_hash(os.path.join(folder, 'Pipfile'))}")
    if is_environment(path):
        yield Candidate(path, "pipenv's environment of this project", True)


def _pyenv(folder: str, environ: Mapping[str, str]) -> Iterator[Candidate]:
    named = _first_line(os.path.join(folder, ".python-version"))
    if not named or not re.fullmatch(r"[\w.+/-]+", named) or ".." in named:
        return
    root = environ.get("PYENV_ROOT") or os.path.join(_home(environ), ".pyenv")
    path = os.path.join(root, "versions", named)
    if not os.path.isdir(path) and re.fullmatch(r"\d+\.\d+", named):
        fitting = [each for each in _names(os.path.join(root, "versions")) if each.startswith(named + ".")]
        fitting.sort(key=lambda each: _digits("-py" + each))
        path = os.path.join(root, "versions", fitting[-1]) if fitting else path
    if os.path.isdir(path):
        yield Candidate(path, f"named by {os.path.join(folder, '.python-version')}")


def pyenv_shim(path: str, folders: tuple[str, ...], environ: Mapping[str, str]) -> str | None:
    """The interpreter that a pyenv shim would start for a project; None when `path` is none or unknown."""
    shims, name = os.path.split(path)
    root = os.path.dirname(shims)
    if os.path.basename(shims) != "shims" or not os.path.isdir(os.path.join(root, "versions")):
        return None
    for folder in folders:
        for found in _pyenv(folder, {**environ, "PYENV_ROOT": root}):
            return os.path.join(found.path, "bin", name)
    default = _first_line(os.path.join(root, "version"))
    if default and re.fullmatch(r"[\w.+-]+", default):
        return os.path.join(root, "versions", default, "bin", name)
    return None


def _named_environment(folder: str, target: str) -> str:
    """What a ``.venv`` file names: a path, or a name below ``~/.virtualenvs``."""
    path = os.path.join(folder, os.path.expanduser(target))
    if not os.path.exists(path) and os.sep not in target:
        return os.path.join(os.path.expanduser("~"), ".virtualenvs", target)
    return path


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file.read(4096).splitlines():
                if line.strip() and not line.lstrip().startswith("#"):
                    return line.strip()
    except (OSError, ValueError):
        pass
    return ""


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
