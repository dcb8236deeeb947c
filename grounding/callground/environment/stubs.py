"""Stubs of packages: beside the source, and in stub-only distributions (PEP 561)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from callground.environment.listing import Listings


class StubFinder:
    """Finds ``.pyi`` files of modules that are not part of the standard library."""

    def __init__(self, path: Sequence[str], listings: Listings) -> None:
        self._path = tuple(path)
        self._listings = listings
        self._packages: dict[str, tuple[tuple[str, bool], ...]] = {}

    def forget(self) -> None:
        """Drop what was remembered, after something changed on disk."""
        self._packages.clear()

    def for_module(self, name: str, path: str | None, locations: Sequence[str]) -> tuple[str | None, bool]:
        """(stub of the located module `name`, whether it says that it is incomplete)."""
        packaged = self.packaged(name)
        if packaged is not None:
            return packaged
        if path is not None:
            folder, file = os.path.split(path)
            stem = file.partition(".")[0]
            if stem + ".pyi" in self._listings.entries(folder).files:
                return os.path.join(folder, stem + ".pyi"), False
            return None, False
        for folder in locations:
            if "__init__.pyi" in self._listings.entries(folder).files:
                return os.path.join(folder, "__init__.pyi"), False
        return None, False

    def packaged(self, name: str) -> tuple[str, bool] | None:
        """(stub of `name` in an installed ``*-stubs`` package, whether that package is partial)."""
        top, _, rest = name.partition(".")
        for folder, partial in self._stub_packages(top):
            inner = os.path.join(folder, *rest.split(".")) if rest else folder
            if "__init__.pyi" in self._listings.entries(inner).files:
                return os.path.join(inner, "__init__.pyi"), partial
            above, last = os.path.split(inner)
            if rest and last + ".pyi" in self._listings.entries(above).files:
                return os.path.join(above, last + ".pyi"), partial
        return None

    def inside(self, locations: Sequence[str], last: str) -> str | None:
        """A stub without a source in one of the folders of a package."""
        for folder in locations:
            listing = self._listings.entries(folder)
            if last + ".pyi" in listing.files:
                return os.path.join(folder, last + ".pyi")
            inner = os.path.join(folder, last)
            if last in listing.folders and "__init__.pyi" in self._listings.entries(inner).files:
                return os.path.join(inner, "__init__.pyi")
        return None

    def _stub_packages(self, top: str) -> tuple[tuple[str, bool], ...]:
        known = self._packages.get(top)
        if known is None:
            found = []
            for entry in self._path:
                if top + "-stubs" in self._listings.entries(entry).folders:
                    folder = os.path.join(entry, top + "-stubs")
                    found.append((folder, _is_partial(folder)))
            known = self._packages[top] = tuple(found)
        return known


def _is_partial(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "py.typed"), encoding="utf-8", errors="replace") as file:
            return "partial" in file.read(1000).split()
    except OSError:
        return False
