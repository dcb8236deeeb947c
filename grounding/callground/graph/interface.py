"""What the evaluator may ask of a snapshot.  Nothing here does I/O."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Protocol

from callground.facts.model import AttrStore, ModuleFacts

INDEX = "<index>"
"""What `NotLoaded` names when the workspace's own index is not complete: no loading helps but patience."""


class NotLoaded(Exception):
    """Raised by a snapshot when a module that exists has not been read yet.

    The driver loads `module` and asks the same question again; without a driver the call site is
    abstained with the reason ``not-loaded``.
    """

    def __init__(self, module: str) -> None:
        super().__init__(module)
        self.module = module


@dataclass(frozen=True, eq=False)
class SourceFile:
    """One read file: its text and its facts."""

    path: str
    """Absolute path, or a pseudo path such as ``<probe:math>``."""
    text: str
    facts: ModuleFacts
    digest: str
    """Digest of the file's content."""
    is_stub: bool = False


@dataclass(frozen=True, eq=False)
class Module:
    """A module as the environment's import system finds it, with up to two faces."""

    name: str
    origin: str
    """``workspace``, ``stdlib`` or ``third-party``."""
    is_package: bool
    is_namespace: bool = False
    source: SourceFile | None = None
    stub: SourceFile | None = None
    """A ``.pyi``: beside the source, from a stub package, or from typeshed."""
    probed: SourceFile | None = None
    """For compiled modules: what an isolated child saw, written as stub text."""
    compiled: bool = False
    """The module has no Python source (extension or built in)."""
    partial_stub: bool = False
    distribution: str | None = None
    version: str | None = None
    submodules: frozenset[str] = field(default=frozenset())
    """Last names of the submodules that can be imported from its directories."""
    importable: bool = True
    """False when only a stub exists: it gives types, but ``import`` fails at run time."""
    also: tuple[str, ...] = ()
    """Other files that the name may mean, depending on how the program is started: absence is no proof."""


class SnapshotLike(Protocol):
    """The evaluator's whole view of the world."""

    python_version: tuple[int, int]
    platform: str
    """As ``sys.platform``."""
    complete: bool
    """False until every workspace file has been indexed: by-name questions then raise NotLoaded (`INDEX`)."""

    def module(self, name: str) -> Module | None:
        """The module `name`; None when the import system has no such module.

        Raises NotLoaded when it exists and is not in memory.
        """
        ...

    def exists(self, name: str) -> bool:
        """Whether the module can be imported, without loading it."""
        ...

    def import_open(self, name: str) -> str | None:
        """Why an absent module may exist all the same (import hooks, ``sys.path`` edits), else None."""
        ...

    def module_of_path(self, path: str) -> str | None:
        """Dotted name of a workspace file (``/r/src/a/b.py`` -> ``a.b``); None if it is not importable."""
        ...

    def tree(self, file: SourceFile, piece: int) -> ast.Module | None:
        """The parsed text of one piece (lines relative to the piece), from a bounded cache."""
        ...

    def stores(self, attr: str) -> tuple[tuple[str, AttrStore], ...]:
        """Stores to an attribute of that name in workspace files: (module or path, row), lines of the file.

        ``"*"`` asks for the dynamic ones.
        """
        ...

    def classes_with_base(self, name: str) -> tuple[tuple[str, str], ...]:
        """Workspace classes with a base of that last name, aliases undone: (module or path, qualname)."""
        ...

    def library_stores(self, attr: str) -> frozenset[str]:
        """Last names of classes on which an installed package that the workspace imports stores that attribute.

        ``"*"``: on a class that nobody can tell.  May raise NotLoaded.
        """
        ...

    def importers(self, module: str) -> tuple[str, ...]:
        """Workspace files with an import that binds the submodule on its parent: modules, or paths."""
        ...

    def imported_anywhere(self, module: str) -> bool:
        """Whether an import binds the submodule `module` on its parent.

        Counts the workspace's imports and those that importing the top package runs.  May raise NotLoaded.
        """
        ...

    def declared(self, name: str) -> str | None:
        """The distribution that the workspace's metadata declares and that may provide a top-level module, if any."""
        ...

    def extra(self, module: str, name: str) -> str | None:
        """The installed distribution with a module `module`, where its metadata requires what may provide `name`."""
        ...
