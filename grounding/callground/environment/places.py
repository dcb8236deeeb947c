"""What the finder is asked with and what it answers: plain values."""

from __future__ import annotations

import os
from typing import NamedTuple


class Roots(NamedTuple):
    """The workspace's own entries of the search path."""

    primary: tuple[str, ...]
    """Source roots, searched before the standard library."""
    scripts: tuple[str, ...] = ()
    """Folders without ``__init__.py`` that hold Python files: on the path only when a file of theirs is
    started as a script or collected by pytest.  Asked last; a clash makes the answer ambiguous
    (`Located.also`)."""
    folders: tuple[str, ...] = ()
    """Package folders, whose modules a sibling that is started as a script can import by last name: they only
    make `Finder.import_open` answer."""


class Located(NamedTuple):
    """Where one module lies."""

    name: str
    kind: str
    """``source``, ``bytecode``, ``extension``, ``builtin``, ``namespace``, ``zip`` (in an egg or zip:
    exists, is open), ``assumed`` (standard library of an environment whose files cannot be read: typeshed
    says it exists), or ``stub`` (only a stub exists: it can be read for types, but **cannot be imported at
    run time**)."""
    path: str | None
    """Absolute path of the ``.py``, ``.pyc`` or extension file; None for the other kinds.  An extension
    that was compiled from a ``.py`` beside it counts as ``source``, with the path of that file."""
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
    """Other files that this name may mean, depending on how the program is started.  When not empty, a
    member that is absent here is no proof."""

    @property
    def importable(self) -> bool:
        """Whether ``import`` finds it at run time."""
        return self.kind != "stub"

    @property
    def compiled(self) -> bool:
        """Whether it has no Python source: an extension or built-in module."""
        return self.kind in ("extension", "builtin")


def dotted_name(path: str, root: str) -> str | None:
    """The dotted name of the Python file `path` seen from the folder `root`; None when it has none there."""
    root = root.rstrip(os.sep)
    if not path.startswith(root + os.sep):
        return None
    base, suffix = os.path.splitext(path[len(root) + 1 :])
    if suffix in (".so", ".pyd"):
        base = base.partition(".")[0] if os.sep not in base else _without_tag(base)
    elif suffix not in (".py", ".pyi", ".pyc"):
        return None
    parts = base.split(os.sep)
    if parts[-1] == "__init__":
        parts.pop()
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    return ".".join(parts)


def _without_tag(base: str) -> str:
    folder, name = os.path.split(base)
    return os.path.join(folder, name.partition(".")[0])
