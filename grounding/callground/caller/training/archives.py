"""Wheels and source distributions, read in place: nothing in them is installed, imported or run."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from email.parser import Parser
from functools import cached_property
from pathlib import Path

PERMISSIVE = ("mit", "bsd", "apache", "isc", "python software foundation", "psf", "unlicense", "zlib", "cc0")
SHARE_ALIKE = (
    "gpl",
    "affero",
    "mozilla",
    "mpl",
    "eclipse",
    "epl",
    "cc-by-sa",
    "non-commercial",
    "proprietary",
    "commons clause",
)


class Archive:
    """One wheel (zip) or sdist (tar).  Names of an sdist are without its top folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _zip(self) -> zipfile.ZipFile | None:
        return zipfile.ZipFile(self.path) if self.path.suffix in (".whl", ".zip") else None

    @cached_property
    def _files(self) -> dict[str, bytes] | dict[str, None]:
        if self._zip is not None:
            return dict.fromkeys(name for name in self._zip.namelist() if not name.endswith("/"))
        with tarfile.open(self.path) as archive:
            return {
                member.name.partition("/")[2]: opened.read()
                for member in archive
                if member.isfile() and member.size < 2**21 and (opened := archive.extractfile(member)) is not None
            }

    def names(self, prefix: str = "") -> Iterator[str]:
        """The files whose name begins with `prefix`, in order."""
        return iter(sorted(name for name in self._files if name.startswith(prefix)))

    def has(self, name: str) -> bool:
        """Whether there is a file of that name."""
        return name in self._files

    def read(self, name: str) -> bytes:
        """A file's bytes.  Raises KeyError."""
        if self._zip is not None:
            return self._zip.read(name)
        return self._files[name] or b""

    def text(self, name: str) -> str:
        """A file's text; bytes that are not UTF-8 become U+FFFD."""
        return self.read(name).decode("utf-8", "replace")

    @cached_property
    def _metadata(self) -> dict[str, list[str]]:
        name = next((n for n in self.names() if n.endswith(".dist-info/METADATA") or n == "PKG-INFO"), None)
        message = Parser().parsestr(self.text(name), headersonly=True) if name else Parser().parsestr("")
        found: dict[str, list[str]] = {}
        for key, told in message.items():
            found.setdefault(key.lower(), []).append(told)
        return found

    @property
    def project(self) -> str:
        """The distribution's name in lower case, with dashes for underscores."""
        return self._metadata.get("name", ["?"])[0].lower().replace("_", "-")

    @property
    def version(self) -> str:
        """The distribution's version."""
        return self._metadata.get("version", ["?"])[0]

    @property
    def licence(self) -> str:
        """What the metadata says: the expression, else the classifiers, else the first line of the old field."""
        expression = self._metadata.get("license-expression")
        if expression:
            return expression[0]
        classifiers = [c for c in self._metadata.get("classifier", ()) if c.startswith("License ::")]
        if classifiers:
            return "; ".join(c.rpartition(" :: ")[2] for c in classifiers)
        return (self._metadata.get("license") or ["unknown"])[0].split("\n")[0][:80]

    @property
    def permissive(self) -> bool:
        """Whether the licence allows a model made from it without asking anything of the model's users."""
        licence = self.licence.lower()
        return any(word in licence for word in PERMISSIVE) and not any(word in licence for word in SHARE_ALIKE)
