"""Which installed distribution a module comes from: read lazily from the metadata beside it.

Reading every ``RECORD`` of a large environment takes a tenth of a second, so a distribution that is
called like the module is tried first, and the whole index is made only when that does not answer.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from callground.environment.listing import Listings


class Distribution(NamedTuple):
    """An installed distribution."""

    name: str
    """As its metadata spells it."""
    version: str
    path: str
    """The ``.dist-info`` or ``.egg-info`` folder (or file)."""


def normalised(name: str) -> str:
    """The form in which names of distributions are compared (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower().strip("-")


_INFO = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)(?:-py\d[\d.]*(?:-[^-]+)?)?\.(?:dist|egg)-info$")
_SUFFIX = re.compile(r"(\.(cpython|pypy|cp|abi)\w*[-\w]*)?\.(so|pyd)$|\.pyi?$|\.pyc$")


class Distributions:
    """The distributions in some site-packages folders."""

    def __init__(self, sites: Iterable[str], listings: Listings) -> None:
        self._sites = tuple(sites)
        self._listings = listings
        self._all: tuple[Distribution, ...] | None = None
        self._owners: dict[str, tuple[Distribution, ...]] = {}
        self._index: dict[str, list[Distribution]] | None = None
        self._tables: dict[str, dict[str, Distribution]] = {}
        self._files: dict[str, frozenset[str]] = {}
        self._spellings: dict[str, Distribution] = {}

    def forget(self) -> None:
        """Drop everything, after an installation."""
        self._all = None
        self._index = None
        self._owners.clear()
        self._tables.clear()
        self._files.clear()
        self._spellings.clear()

    def all(self) -> tuple[Distribution, ...]:
        """Every installed distribution; of two with the same name the first on the path."""
        if self._all is None:
            seen: dict[str, Distribution] = {}
            for site in self._sites:
                listing = self._listings.entries(site)
                for entry in sorted(listing.folders | listing.files):
                    found = self._read_name(site, entry)
                    if found is not None:
                        seen.setdefault(normalised(found.name), found)
            self._all = tuple(seen.values())
        return self._all

    def named(self, name: str) -> Distribution | None:
        """The installed distribution called `name` (any spelling)."""
        wanted = normalised(name)
        return next((each for each in self.all() if normalised(each.name) == wanted), None)

    def _read_name(self, site: str, entry: str) -> Distribution | None:
        path = os.path.join(site, entry)
        if entry.endswith(".egg"):
            # An egg that is a folder or a zip on the path by itself.
            name, _, rest = entry[:-4].partition("-")
            return Distribution(name, rest.split("-py")[0] or "0", path)
        if not entry.endswith(("-info",)):
            return None
        match = _INFO.match(entry)
        if match:
            # The folder's name escapes the version ("+" stays, "-" becomes "_"): good enough without a read.
            return Distribution(match["name"], match["version"], path)
        if entry.endswith((".egg-info", ".dist-info")):
            fields = _metadata(path)
            if fields:
                return Distribution(fields[0], fields[1], path)
        return None

    def owner(self, module: str) -> Distribution | None:
        """The distribution that `module` (dotted) comes from; None for the shared part of a namespace."""
        top = module.partition(".")[0]
        owners = self._owners.get(top)
        if owners is None:
            owners = self._owners[top] = self._find_owners(top)
        if len(owners) <= 1:
            return self._spelled(owners[0]) if owners else None
        # Several share a namespace package: the one with the longest prefix of this module.
        table = self._tables.get(top)
        if table is None:
            table = self._tables[top] = {}
            for each in owners:
                for path in self._paths(each):
                    stem = _SUFFIX.sub("", path)
                    table.setdefault(stem.removesuffix("/__init__"), each)
        parts = module.split(".")
        for end in range(len(parts), 0, -1):
            found = table.get("/".join(parts[:end]))
            if found is not None:
                return self._spelled(found)
        return None

    def _spelled(self, found: Distribution) -> Distribution:
        """With name and version as the metadata spells them; folder names are escaped."""
        known = self._spellings.get(found.path)
        if known is None:
            fields = _metadata(found.path)
            known = Distribution(fields[0], fields[1], found.path) if fields else found
            self._spellings[found.path] = known
        return known

    def owner_of_file(self, path: str) -> Distribution | None:
        """The distribution that put the file `path` straight into its site folder (a ``.pth``, a finder)."""
        site, name = os.path.split(path)
        for each in self.all():
            if os.path.dirname(each.path) == site and name in self._paths(each):
                return self._spelled(each)
        return None

    def required_by(self, module: str) -> tuple[Distribution, frozenset[str]] | None:
        """The distribution that `module` comes from, with the normalised names that it requires, extras included."""
        found = self.owner(module)
        if found is None:
            return None
        return found, frozenset(normalised(name) for name in _requirements(found.path))

    def import_names(self, name: str) -> frozenset[str]:
        """Top-level import names of the distribution called `name`; empty when it is not installed."""
        found = self.named(name)
        return self._tops(found) if found else frozenset()

    def _find_owners(self, top: str) -> tuple[Distribution, ...]:
        direct = self.named(top)
        if self._index is None and direct is not None and top in self._tops(direct):
            folder = os.path.join(os.path.dirname(direct.path), top)
            # A folder without __init__.py may be shared: then all have to be looked at.
            if not os.path.isdir(folder) or os.path.isfile(os.path.join(folder, "__init__.py")):
                return (direct,)
        if self._index is None:
            self._index = {}
            for each in self.all():
                for name in self._tops(each):
                    self._index.setdefault(name, []).append(each)
        return tuple(self._index.get(top, ()))

    def _tops(self, dist: Distribution) -> frozenset[str]:
        """Top-level import names of a distribution."""
        tops: set[str] = set()
        for path in self._paths(dist):
            head, slash, _ = path.partition("/")
            name = head if slash else _SUFFIX.sub("", head)
            if name.isidentifier() and (slash or name != head):
                tops.add(name)
        if not tops or _is_editable(dist):
            text = _read(os.path.join(dist.path, "top_level.txt")) or ""
            tops.update(line.strip().split("/")[0] for line in text.splitlines() if line.strip())
        if not tops:
            guess = normalised(dist.name).replace("-", "_")
            tops.add(guess)
        return frozenset(tops)

    def _paths(self, dist: Distribution) -> frozenset[str]:
        """Files of a distribution, relative to its site folder, with ``/``."""
        known = self._files.get(dist.path)
        if known is None:
            known = self._files[dist.path] = frozenset(_files(dist.path))
        return known


def _is_editable(dist: Distribution) -> bool:
    return '"editable": true' in (_read(os.path.join(dist.path, "direct_url.json")) or "")


def _metadata(path: str) -> tuple[str, str] | None:
    """(name, version) out of a metadata folder or file."""
    inner = (os.path.join("EGG-INFO", "PKG-INFO"),) if path.endswith(".egg") else ("METADATA", "PKG-INFO")
    for candidate in (*(os.path.join(path, each) for each in inner), path):
        text = _read(candidate, limit=8192)
        if text is None:
            continue
        head = text.split("\n\n", 1)[0]
        name = re.search(r"^Name:\s*(.+)$", head, re.MULTILINE)
        version = re.search(r"^Version:\s*(.+)$", head, re.MULTILINE)
        if name and version:
            return name[1].strip(), version[1].strip()
    return None


def _requirements(info: str) -> Iterator[str]:
    """Names of the distributions that a metadata folder says are required."""
    text = _read(os.path.join(info, "METADATA")) or _read(os.path.join(info, "PKG-INFO")) or ""
    for match in re.finditer(r"^Requires-Dist:\s*([A-Za-z0-9][\w.-]*)", text.split("\n\n", 1)[0], re.MULTILINE):
        yield match[1]
    for line in (_read(os.path.join(info, "requires.txt")) or "").splitlines():  # eggs
        found = re.match(r"[A-Za-z0-9][\w.-]*", line)
        if found:
            yield found[0]


def _files(info: str) -> Iterator[str]:
    record = _read(os.path.join(info, "RECORD"))
    if record is not None:
        for row in csv.reader(record.splitlines()):
            if row and not row[0].startswith(("..", "/")) and ".dist-info/" not in row[0]:
                yield row[0].replace("\\", "/")
        return
    installed = _read(os.path.join(info, "installed-files.txt"))
    if installed is not None:  # eggs: relative to the .egg-info folder
        for line in installed.splitlines():
            path = line.strip().replace("\\", "/")
            if path.startswith("../") and not path.startswith("../../"):
                yield path[3:]
        return
    # dpkg installs keep neither: top_level.txt is all there is.
    for line in (_read(os.path.join(info, "top_level.txt")) or "").splitlines():
        if line.strip():
            yield line.strip() + "/__init__.py"


def _read(path: str, limit: int = 64 * 1024 * 1024) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(limit)
    except (OSError, ValueError):
        return None
