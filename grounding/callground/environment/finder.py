"""Where a module lies, by the interpreter's own rules, without running anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from callground.environment.model import Environment


class Roots(NamedTuple):
    """The workspace's own entries of the search path."""

    primary: tuple[str, ...]
    """Source roots, searched before the standard library."""
    scripts: tuple[str, ...] = ()
    """Folders without ``__init__.py`` that hold Python files: on the path only when a file of theirs is started
    as a script or collected by pytest.  Asked last; a clash makes the answer ambiguous (`Located.also`)."""
    folders: tuple[str, ...] = ()
    """Package folders, whose modules a sibling that is started as a script can import by last name: they only
    make `Finder.import_open` answer."""


class Distribution(NamedTuple):
    """An installed distribution."""

    name: str
    """As its metadata spells it."""
    version: str
    path: str
    """The ``.dist-info`` or ``.egg-info`` folder (or file)."""


class Located(NamedTuple):
    """Where one module lies."""

    name: str
    kind: str
    """``source``, ``bytecode``, ``extension``, ``builtin``, ``namespace``, ``zip`` (in an egg or zip: exists, is open),
    ``assumed`` (standard library of an environment whose files cannot be read: typeshed says it exists), or ``stub``
    (only a stub exists: it can be read for types, but **cannot be imported at run time**)."""
    path: str | None
    """Absolute path of the ``.py``, ``.pyc`` or extension file; None for the other kinds."""
    stub_path: str | None
    origin: str
    """``workspace``, ``stdlib`` or ``third-party``."""
    is_package: bool
    search_locations: tuple[str, ...] = ()
    """Folders that its submodules are looked for in (its ``__path__``)."""
    distribution: str | None = None
    version: str | None = None
    partial_stub: bool = False
    """The stub says that it is incomplete (``partial`` in a stub package's ``py.typed``)."""
    also: tuple[str, ...] = ()
    """Other files that this name may mean, depending on how the program is started.  When not empty, a member that
    is absent here is no proof."""

    @property
    def importable(self) -> bool:
        """Whether ``import`` finds it at run time."""
        return self.kind != "stub"

    @property
    def compiled(self) -> bool:
        """Whether it has no Python source: an extension or built-in module."""
        return self.kind in ("extension", "builtin")


class Finder:
    """Locates modules of one environment together with one workspace.

    Listings are cached: call `stamp` on a timer, and `refresh` when it changed.  Not safe for
    simultaneous use from several threads.
    """

    def __init__(self, environment: Environment, roots: Roots | Sequence[str] = ()) -> None:
        self.environment = environment
        self.roots = roots if isinstance(roots, Roots) else Roots(tuple(roots))

    def locate(self, name: str) -> Located | None:
        """The module `name`; None when neither the import system nor a stub package has it."""
        raise NotImplementedError

    def submodules(self, name: str) -> frozenset[str]:
        """Last names of what can be imported from the package `name`; ``""`` asks for top-level names."""
        raise NotImplementedError

    def module_of(self, path: str) -> str | None:
        """The dotted name under which the file `path` is imported, None when it has none."""
        raise NotImplementedError

    def distribution_of(self, module: str) -> Distribution | None:
        """The installed distribution that `module` comes from."""
        raise NotImplementedError

    def import_open(self, name: str) -> str | None:
        """Why `name`, though not located, may exist all the same; None when it certainly does not."""
        raise NotImplementedError

    def stamp(self) -> str:
        """A token that changes when a listed folder changed: one ``stat`` for each folder in use."""
        raise NotImplementedError

    def refresh(self) -> bool:
        """Forget what changed on disk; whether anything did."""
        raise NotImplementedError
