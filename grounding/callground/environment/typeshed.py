"""The stubs of the standard library.  The only module that knows where they come from.

They are the data files of the distribution ``typeshed-client``; its code is never imported.  (jedi bundles
a typeshed too, but an older one without the ``VERSIONS`` file: it still has ``asyncore``, ``distutils``
and ``imp`` for everybody.) Without that distribution the standard library's types come from its sources,
and `unavailable` says so.
"""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache

MISSING_MESSAGE = (
    "the package 'typeshed-client' is not installed: types of the standard library come from its sources only"
)

# Names in typeshed that only type checkers know.
PSEUDO_MODULES = frozenset({"_typeshed"})


class Typeshed:
    """One folder of standard library stubs with its ``VERSIONS`` file."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._versions = _read_versions(os.path.join(folder, "VERSIONS"))

    def listed(self, name: str, version: tuple[int, int]) -> bool | None:
        """Whether the standard library of `version` has the module `name`, by ``VERSIONS``.

        None when neither `name` nor a package around it is listed.
        """
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            limits = self._versions.get(".".join(parts[:end]))
            if limits is not None:
                first, last = limits
                return first <= version and (last is None or version <= last)
        return None

    def stub_path(self, name: str, version: tuple[int, int]) -> str | None:
        """The stub of the module `name` in `version`, None when there is none."""
        if not self.listed(name, version):
            return None
        base = os.path.join(self.folder, *name.split("."))
        for path in (os.path.join(base, "__init__.pyi"), base + ".pyi"):
            if os.path.isfile(path):
                return path
        return None

    def is_package(self, name: str) -> bool:
        """Whether the stub of `name` is a package."""
        return os.path.isfile(os.path.join(self.folder, *name.split("."), "__init__.pyi"))

    def submodules(self, name: str, version: tuple[int, int]) -> frozenset[str]:
        """Last names of the stubs below `name` that `version` has; ``""`` asks for the top level."""
        folder = os.path.join(self.folder, *name.split(".")) if name else self.folder
        found: set[str] = set()
        try:
            entries = os.listdir(folder)
        except OSError:
            return frozenset()
        for entry in entries:
            last = entry[:-4] if entry.endswith(".pyi") else entry
            if last.isidentifier() and last != "__init__":
                full = f"{name}.{last}" if name else last
                if self.listed(full, version):
                    found.add(last)
        return frozenset(found)


def _read_versions(path: str) -> dict[str, tuple[tuple[int, int], tuple[int, int] | None]]:
    versions: dict[str, tuple[tuple[int, int], tuple[int, int] | None]] = {}
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return versions
    for line in lines:
        name, colon, limits = line.partition("#")[0].partition(":")
        first, dash, last = limits.strip().partition("-")
        if not (colon and dash):
            continue
        try:
            versions[name.strip()] = (_version(first), _version(last) if last.strip() else None)
        except ValueError:
            continue
    return versions


def _version(text: str) -> tuple[int, int]:
    major, _, minor = text.strip().partition(".")
    return int(major), int(minor)


@lru_cache(maxsize=1)
def bundled() -> Typeshed | None:
    """The typeshed that is installed beside this library, None when there is none."""
    try:
        spec = importlib.util.find_spec("typeshed_client")
    except (ImportError, ValueError):
        return None
    for location in (spec.submodule_search_locations if spec else None) or ():
        folder = os.path.join(location, "typeshed")
        if os.path.isfile(os.path.join(folder, "VERSIONS")):
            return Typeshed(folder)
    return None


def unavailable() -> str | None:
    """One message for people when there are no stubs of the standard library, else None."""
    return None if bundled() is not None else MISSING_MESSAGE
