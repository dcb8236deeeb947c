"""What the graph asks the environment room for, in one place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from callground.config.model import Config
from callground.environment.declared import declared_distributions
from callground.environment.discover import find_environment as discover
from callground.environment.finder import Roots
from callground.environment.listing import mark_of as mark
from callground.environment.model import Environment
from callground.environment.probe import KeyValueStore, Prober
from callground.environment.roots import find_roots
from callground.environment.workspace_files import is_excluded, list_files


def find_environment(root: str, config: Config, *, trusted: bool = False) -> Environment:
    """The environment of a workspace by its settings."""
    return discover(root, python=config.python, trusted=trusted)


def mark_of(environment: Environment) -> tuple[object, ...]:
    """What changes when packages are installed: a few ``stat`` calls."""
    places = [*environment.site, *environment.pth_files]
    if environment.prefix:
        places.append(os.path.join(environment.prefix, "pyvenv.cfg"))
    return tuple(mark(place) for place in places)


def workspace_files(root: str, config: Config, *, shallow: bool = False) -> list[str]:
    """Every Python file of the workspace; `shallow` for the ones right in the folder only."""
    if shallow:
        try:
            names = sorted(os.listdir(root))
        except OSError:
            return []
        return [os.path.join(root, name) for name in names if name.endswith((".py", ".pyi"))]
    return list(list_files(root, exclude=config.exclude).python)


def belongs(path: str, root: str, config: Config) -> bool:
    """Whether a file is one of the workspace's own."""
    return not is_excluded(path, root, exclude=config.exclude)


def roots(root: str, config: Config, files: Iterable[str]) -> Roots:
    """The folders that imports start from."""
    return find_roots(root, files, config.roots)


def declared(root: str) -> frozenset[str]:
    """Names of the distributions that the workspace's metadata declares."""
    return frozenset(declared_distributions(root))


def prober(environment: Environment, store: KeyValueStore | None = None) -> Callable[[str], str | None]:
    """Gives the stub text of a compiled module as a child sees it, None where none may be started."""
    return Prober(environment, store=store)
