"""What by-name questions need of a file, and the inverted indexes over all files of the workspace.

Two parts with different lives.  A `FileIndex` is a small extract of one file's facts; it depends on
the file's text alone, so it goes to the store with the facts.  `Postings` turns many of them round:
name -> files.  Postings only ever grow: every entry names the *version* of a file (its `uid`) that it
was made from, and a snapshot asks its own file table whether that version is still the current one.
So no index is copied when a file changes, and older snapshots stay right.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from callground.facts.model import AttrStore, Binding, Class, ModuleFacts

INDEX_VERSION = 3
"""Bumped whenever `index_of` gives other rows for the same text: part of the key in the store."""

_WORD = re.compile(r"[^\W\d]\w*")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")


class Definition(NamedTuple):
    """One place where a name is defined at module or class level."""

    name: str
    qualname: str
    kind: str
    """``function``, ``class``, ``variable`` or ``import``."""
    line: int
    """1-based line in the file."""


class FileIndex(NamedTuple):
    """The by-name extract of one file."""

    definitions: tuple[Definition, ...]
    mentions: frozenset[str]
    stores: tuple[AttrStore, ...]
    """With the lines of the file, not of the piece."""
    bases: tuple[tuple[str, str], ...]
    """(last name of a base, qualname of the class), import aliases undone."""
    imports: frozenset[str]
    """Modules that an import statement may load, as written: leading dots are kept."""
    error: str | None = None
    """As in the facts."""


def index_to_bytes(index: FileIndex) -> bytes:
    """The extract for the store."""
    definitions, mentions, stores, bases, imports, error = index
    value = (definitions, sorted(mentions), stores, bases, sorted(imports), error)
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"), 1)


def index_from_bytes(data: bytes) -> FileIndex | None:
    """The extract out of the store; None for bytes that `index_to_bytes` did not make."""
    try:
        definitions, mentions, stores, bases, imports, error = json.loads(zlib.decompress(data))
        intern = sys.intern
        return FileIndex(
            tuple(Definition(intern(name), *rest) for name, *rest in definitions),
            frozenset(map(intern, mentions)),
            tuple(AttrStore(*row) for row in stores),
            tuple((intern(base), qualname) for base, qualname in bases),
            frozenset(imports),
            error,
        )
    except (ValueError, TypeError, zlib.error, RecursionError):
        return None


_KINDS = {"def": "function", "class": "class", "import": "import", "from": "import"}


def index_of(facts: ModuleFacts) -> FileIndex:
    """The by-name extract of one file."""
    definitions: list[Definition] = []
    mentions: set[str] = set()
    stores: list[AttrStore] = []
    aliases = _aliases(facts)
    bases: set[tuple[str, str]] = set()
    for piece, start in zip(facts.pieces, facts.starts, strict=True):
        mentions |= piece.mentions
        offset = start - 1
        for binding in piece.bindings:
            if binding.kind in ("star", "del"):
                continue
            kind = _KINDS.get(binding.kind, "variable")
            definitions.append(Definition(binding.name, binding.name, kind, binding.line + offset))
        for cls in piece.classes:
            if "<locals>" not in cls.qualname:
                definitions.extend(_members(cls, offset))
            bases.update((base, cls.qualname) for base in _base_names(cls, aliases))
        stores.extend(row._replace(line=row.line + offset) for row in piece.attr_stores)
    return FileIndex(
        tuple(definitions),
        frozenset(mentions),
        tuple(stores),
        tuple(sorted(bases)),
        imports_of(facts),
        facts.error,
    )


def _members(cls: Class, offset: int) -> Iterator[Definition]:
    for member in cls.members:
        if member.kind in ("star", "del"):
            continue
        kind = _KINDS.get(member.kind, "variable")
        yield Definition(member.name, f"{cls.qualname}.{member.name}", kind, member.line + offset)
    seen: set[str] = {member.name for member in cls.members}
    for attribute in cls.self_attrs:
        if attribute.name not in seen and attribute.name != "*" and attribute.kind != "del":
            seen.add(attribute.name)
            yield Definition(attribute.name, f"{cls.qualname}.{attribute.name}", "variable", attribute.line + offset)


def _aliases(facts: ModuleFacts) -> dict[str, set[str]]:
    """Other last names that a name may stand for: ``from m import Base as B``, ``B = m.Base``."""
    found: dict[str, set[str]] = {}

    def note(binding: Binding) -> None:
        last = ""
        if binding.kind == "from":
            last = binding.path
        elif binding.kind in ("assign", "annassign", "type") and binding.value and not binding.path:
            if _DOTTED.match(binding.value):
                last = binding.value.rpartition(".")[2]
        if last and last != binding.name:
            found.setdefault(binding.name, set()).add(last)

    for piece in facts.pieces:
        for binding in piece.bindings:
            note(binding)
        for cls in piece.classes:
            for binding in cls.members:
                note(binding)
    return found


def _base_names(cls: Class, aliases: dict[str, set[str]]) -> set[str]:
    """Last names of everything that a base's expression mentions.

    ``Base[int]`` and ``with_metaclass(Meta, Base)`` name their base inside a larger expression, so every
    name counts: asking for too many possible subclasses costs findings, asking for too few invents them.
    """
    names: set[str] = set()
    for base in cls.bases:
        if _DOTTED.match(base):
            names.add(base.rpartition(".")[2])
            continue
        try:
            tree = ast.parse(base.lstrip("*"), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            names.update(_WORD.findall(base))
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, ast.Attribute):
                names.add(node.attr)
    pending = list(names)
    while pending:
        for other in aliases.get(pending.pop(), ()):
            if other not in names:
                names.add(other)
                pending.append(other)
    return names


def imports_of(facts: ModuleFacts) -> frozenset[str]:
    """Modules that the import statements of a file may load, with leading dots as written."""
    found: set[str] = set()
    for piece in facts.pieces:
        for module, names in piece.imports:
            found.add(module)
            separator = "" if module.endswith(".") else "."
            found.update(f"{module}{separator}{name}" for name in names if name != "*")
    return frozenset(found)


def absolute_import(written: str, module: str | None, is_package: bool) -> str | None:
    """The dotted module that an import as written in `module` names; None when it leaves the package."""
    if not written.startswith("."):
        return written
    if not module:
        return None
    level = len(written) - len(written.lstrip("."))
    parts = module.split(".")
    kept = parts[: len(parts) - (level - 1 if is_package else level)] if level <= len(parts) else []
    if not kept:
        return None
    rest = written[level:]
    return ".".join([*kept, rest] if rest else kept)


def with_parents(module: str) -> Iterator[str]:
    """``a.b.c``, ``a.b``, ``a``: importing the first loads them all."""
    while module:
        yield module
        module = module.rpartition(".")[0]


class Postings:
    """Name -> versions of files, for every file version that was ever added."""

    def __init__(self) -> None:
        self.mentions: dict[str, array[int]] = {}
        self.definitions: dict[str, list[tuple[int, Definition]]] = {}
        self.stores: dict[str, list[tuple[int, AttrStore]]] = {}
        self.bases: dict[str, list[tuple[int, str]]] = {}
        self.imports: dict[str, list[int]] = {}
        self.tops: tuple[object, dict[str, tuple[str, ...]]] = (None, {})
        """Top-level modules that the files of one table import, with the files: see `importers`."""
        self.paths: dict[int, str] = {}
        """The file that a version belongs to."""

    def add(self, uid: int, path: str, index: FileIndex, imports: Iterable[str]) -> None:
        """Enter one version of a file.  `imports` are absolute names with their parents."""
        mentions = self.mentions
        for name in index.mentions:
            posting = mentions.get(name)
            if posting is None:
                mentions[name] = array("L", (uid,))
            else:
                posting.append(uid)
        for definition in index.definitions:
            self.definitions.setdefault(definition.name, []).append((uid, definition))
        for store in index.stores:
            self.stores.setdefault(store.attr, []).append((uid, store))
        for base, qualname in index.bases:
            self.bases.setdefault(base, []).append((uid, qualname))
        for module in imports:
            self.imports.setdefault(module, []).append(uid)
        # Last: a reader that sees an entry without a path takes the version for an old one.
        self.paths[uid] = path

    def kept(self, live: set[int]) -> Postings:
        """A copy with the versions in `live` alone, for when most entries are out of date."""
        fresh = Postings()
        fresh.paths = {uid: path for uid, path in self.paths.items() if uid in live}
        for name, uids in self.mentions.items():
            current = array("L", (uid for uid in uids if uid in live))
            if current:
                fresh.mentions[name] = current
        for name, definitions in self.definitions.items():
            if rows := [row for row in definitions if row[0] in live]:
                fresh.definitions[name] = rows
        for name, stores in self.stores.items():
            if store_rows := [row for row in stores if row[0] in live]:
                fresh.stores[name] = store_rows
        for name, bases in self.bases.items():
            if base_rows := [row for row in bases if row[0] in live]:
                fresh.bases[name] = base_rows
        for name, importers in self.imports.items():
            if import_rows := [uid for uid in importers if uid in live]:
                fresh.imports[name] = import_rows
        return fresh


_uids = count(1)


def next_uid() -> int:
    """A number that no other file version of this process has."""
    return next(_uids)
