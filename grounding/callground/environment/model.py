"""What the rest of the library knows about one Python environment: plain values, no I/O."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class PathEntry(NamedTuple):
    """One entry of the interpreter's search path."""

    path: str
    """Absolute path of a folder or a zip file."""
    kind: str
    """``pythonpath``, ``stdlib``, ``site`` or ``pth`` (added by a line of a ``.pth`` file)."""
    source: str = ""
    """The ``.pth`` file for ``pth``, else empty."""


class Redirect(NamedTuple):
    """A module that a finder of an editable install serves from elsewhere."""

    name: str
    """Dotted name of the module."""
    paths: tuple[str, ...]
    """A package folder or a file (its suffix may be left out); for a namespace package its portions."""
    is_namespace: bool
    source: str
    """The file that the redirect was read from."""


class OpenImport(NamedTuple):
    """Why modules may exist that no search path entry shows."""

    reason: str
    names: tuple[str, ...] = ()
    """Top-level names concerned; empty when it may be any."""


@dataclass(frozen=True)
class Environment:
    """One Python environment.

    Attributes:
        python: absolute path of the executable, None for a described environment.
        version: (major, minor, micro); micro is 0 where nothing tells it.
        platform: as ``sys.platform`` of that interpreter.
        prefix: ``sys.prefix``, empty for a described environment.
        base_prefix: ``sys.base_prefix``.
        search: the search path in the interpreter's order, without the workspace's own folders.
        redirects: what editable finders serve; asked after the search path, as Python does.
        open_imports: import hooks and unknown ``.pth`` lines.
        builtins: names of the modules compiled into the interpreter.
        builtins_known: False when `builtins` is only what every build has: a standard library
            module that is not found may then be built in.
        implementation: ``cpython`` or ``pypy``.
        trusted: whether the interpreter may be started.
        how: why this interpreter was chosen, one phrase for people.
        doubtful: why import findings should not be believed one by one, else None.
        notices: messages for people, for example about a broken virtual environment.
    """

    python: str | None
    version: tuple[int, int, int]
    platform: str = sys.platform
    prefix: str = ""
    base_prefix: str = ""
    search: tuple[PathEntry, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    open_imports: tuple[OpenImport, ...] = ()
    builtins: frozenset[str] = frozenset()
    builtins_known: bool = False
    implementation: str = "cpython"
    trusted: bool = False
    how: str = ""
    doubtful: str | None = None
    notices: tuple[str, ...] = ()
    pth_files: tuple[str, ...] = field(default=(), compare=False)
    """The ``.pth`` files that were read, for change detection."""

    @property
    def python_version(self) -> tuple[int, int]:
        """(major, minor): what version guards are evaluated against."""
        return self.version[:2]

    @property
    def stdlib(self) -> tuple[str, ...]:
        """Folders (or the zip) of the standard library, in search order; empty when described."""
        return tuple(entry.path for entry in self.search if entry.kind == "stdlib")

    @property
    def site(self) -> tuple[str, ...]:
        """The site-packages (dist-packages) folders, in search order."""
        return tuple(entry.path for entry in self.search if entry.kind == "site")

    @property
    def extra(self) -> tuple[str, ...]:
        """Entries that ``.pth`` files and PYTHONPATH add."""
        return tuple(entry.path for entry in self.search if entry.kind in ("pth", "pythonpath"))

    @property
    def is_described(self) -> bool:
        """Whether there is no standard library to read: its names then come from typeshed."""
        return not any(entry.kind == "stdlib" for entry in self.search)

    @property
    def version_text(self) -> str:
        """For people: ``3.11.7``."""
        return ".".join(map(str, self.version))

    def key(self) -> str:
        """16 hex digits that change whenever look-ups may give other answers (file contents aside)."""
        parts = (
            self.version,
            self.platform,
            self.search,
            self.redirects,
            self.open_imports,
            sorted(self.builtins),
            self.builtins_known,
            self.implementation,
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @classmethod
    def described(
        cls,
        version: tuple[int, int] | tuple[int, int, int],
        platform: str = sys.platform,
        site: Iterable[str] = (),
        how: str = "described environment",
    ) -> Environment:
        """An environment without an interpreter: its standard library is what typeshed tells.

        For unpacked distributions that are made for another Python than any installed one.
        """
        micro = version[2] if len(version) == 3 else 0
        return cls(
            python=None,
            version=(version[0], version[1], micro),
            platform=platform,
            search=tuple(PathEntry(path, "site") for path in site),
            how=how,
        )
