"""The functions, methods and classes of a workspace as tools: what there is to call, out of the CodeGraph's facts.

Rows are made file by file and kept for as long as the file's version lives, so an edit costs one file.  Nothing
here needs the network; vectors are kept elsewhere, by `CodeTool.key`.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import log
from typing import NamedTuple

from callground.caller.tools import words
from callground.facts.index import index_of
from callground.facts.model import Class, Function, ModuleFacts, Param
from callground.graph.changes import never
from callground.graph.interface import NotLoaded, SourceFile
from callground.graph.layers import FileEntry
from callground.graph.snapshot import Snapshot

_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[a-z]+|\d+")
_SHOWN_PARAMETERS = 12
_SHOWN_DOC = 300
_FILES_KEPT = 20_000
_ENDINGS = ("ing", "es", "s", "ed")
_STOP = frozenset(
    "a an the of to in for on with and or is are be i me my you your it this that what how can could please want need "
    "would like by at as do does will if we so our their its from".split()
)
_MADE_BY_FIELDS = ("dataclass", "dataclasses.dataclass", "attr.s", "attrs", "attr.attrs", "define", "attrs.define")


class CodeTool(NamedTuple):
    """Something of the workspace that can be called."""

    name: str
    qualname: str
    """Dotted from the module."""
    module: str
    """Dotted module; empty for a file that cannot be imported."""
    path: str
    line: int
    """1-based line of its ``def`` or ``class``."""
    end_line: int
    kind: str
    """``function``, ``method``, ``classmethod``, ``staticmethod``, ``property`` or ``class``."""
    owner: str
    """Qualname of the class around it; empty for functions and for classes at the top."""
    params: tuple[Param, ...]
    """Without ``self`` and ``cls``; for a class those of its own constructor."""
    doc: str
    returns: str
    """Annotation, as written; empty without one."""
    is_async: bool
    is_generator: bool
    decorators: tuple[str, ...]
    text: str
    """What the encoder reads."""
    key: str
    """32 hex digits over `text`: the key of its vector."""
    name_words: frozenset[str]
    owner_words: frozenset[str]
    param_words: frozenset[str]
    doc_words: frozenset[str]

    @property
    def required(self) -> tuple[Param, ...]:
        """The parameters that a call has to give."""
        return tuple(p for p in self.params if p.default is None and p.kind not in ("*args", "**kwargs"))

    @property
    def private(self) -> bool:
        """Whether its name, or its class's, begins with an underscore."""
        return any(part.startswith("_") for part in self.qualname.split("."))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A lower-case word without its commonest endings."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=50_000)
def name_stems(identifier: str) -> frozenset[str]:
    """The stems of an identifier's words."""
    return frozenset(stem(word) for word in words(identifier).split())


def stems(text: str) -> list[str]:
    """The stems of a text's words, function words left out; identifiers in it count by their words."""
    found: list[str] = []
    for word in _WORD.findall(words(text)):
        if word not in _STOP:
            found.append(stem(word))
    return found


def tools_of_file(file: SourceFile, module: str) -> list[CodeTool]:
    """What one file defines that can be called, in source order."""
    return list(_rows(file.facts, file.path, module))


def _rows(facts: ModuleFacts, path: str, module: str) -> Iterator[CodeTool]:
    index = index_of(facts)
    classes: dict[str, Class] = {}
    for number, piece in enumerate(facts.pieces):
        for cls in piece.classes:
            classes.setdefault(cls.qualname, cls)
            line = index.absolute_line(number, cls.line)
            yield _class(index.functions, cls, path, module, line, index.absolute_line(number, cls.end_line))
    seen: set[str] = set()
    for number in range(len(facts.pieces) - 1, -1, -1):
        # The last definition of a name is the one that holds.
        for row in reversed(facts.pieces[number].functions):
            if row.qualname in seen or (row.name.startswith("__") and row.name.endswith("__")):
                continue
            lasts = [decorator.partition("(")[0].rpartition(".")[2] for decorator in row.decorators]
            if "overload" in lasts or "setter" in lasts or "deleter" in lasts:
                continue
            seen.add(row.qualname)
            owner = row.qualname.rpartition(".")[0]
            line, end = index.absolute_line(number, row.line), index.absolute_line(number, row.end_line)
            yield _function(row, owner if owner in classes else "", lasts, path, module, line, end)


def _function(
    row: Function, owner: str, decorators: Sequence[str], path: str, module: str, line: int, end: int
) -> CodeTool:
    kind = "function"
    params = row.params
    if owner:
        kind = "method"
        for name in ("staticmethod", "classmethod", "property", "cached_property"):
            if name in decorators:
                kind = "property" if name == "cached_property" else name
        if kind != "staticmethod" and params and params[0].kind in ("positional", "positional-only"):
            params = params[1:]
    return _tool(row.name, row.qualname, module, path, line, end, kind, owner, params, row.doc, row.returns or "", row)


def _class(
    functions: Callable[[str], list[tuple[int, Function]]], cls: Class, path: str, module: str, line: int, end: int
) -> CodeTool:
    params: tuple[Param, ...] = ()
    made = functions(f"{cls.qualname}.__init__") or functions(f"{cls.qualname}.__new__")
    doc = cls.doc
    if made:
        row = made[-1][1]
        params = row.params[1:]
        doc = doc or row.doc
    elif any(decorator.partition("(")[0] in _MADE_BY_FIELDS for decorator in cls.decorators) or any(
        base.rpartition(".")[2] in ("NamedTuple", "BaseModel") for base in cls.bases
    ):
        params = tuple(
            Param(b.name, "positional", b.annotation, b.value or None)
            for b in cls.members
            if b.kind == "annassign" and "ClassVar" not in (b.annotation or "") and not b.guards
        )
    owner = cls.qualname.rpartition(".")[0]
    return _tool(cls.name, cls.qualname, module, path, line, end, "class", owner, params, doc, cls.name, None)


def _tool(
    name: str,
    qualname: str,
    module: str,
    path: str,
    line: int,
    end: int,
    kind: str,
    owner: str,
    params: tuple[Param, ...],
    doc: str,
    returns: str,
    row: Function | None,
) -> CodeTool:
    named = [p.name for p in params if p.kind not in ("*args", "**kwargs")]
    shown = ", ".join(words(p) for p in named[:_SHOWN_PARAMETERS])
    plain = _SPACE.sub(" ", doc).strip()[:_SHOWN_DOC]
    text = words(qualname) + (f": {plain}" if plain else "") + (f" ({shown})" if shown else "")
    return CodeTool(
        name,
        qualname,
        module,
        path,
        line,
        end,
        kind,
        owner,
        params,
        doc,
        returns,
        row is not None and row.is_async,
        row is not None and row.is_generator,
        row.decorators if row is not None else (),
        text,
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest(),
        name_stems(name),
        name_stems(owner.rpartition(".")[2]) if owner else frozenset(),
        frozenset(each for p in named for each in name_stems(p)),
        frozenset(stems(plain)),
    )


@dataclass(eq=False)
class ToolTable:
    """The tools of some files, ready to be searched by word."""

    tools: list[CodeTool]

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """Name -> places in `tools`."""
        found: dict[str, list[int]] = {}
        for index, tool in enumerate(self.tools):
            found.setdefault(tool.name, []).append(index)
        return found

    @cached_property
    def by_path(self) -> dict[str, list[int]]:
        """File -> places in `tools`."""
        found: dict[str, list[int]] = {}
        for index, tool in enumerate(self.tools):
            found.setdefault(tool.path, []).append(index)
        return found

    @cached_property
    def holding(self) -> dict[str, array[int]]:
        """Stem -> tools in whose name, class, documentation or parameters it occurs."""
        found: dict[str, array[int]] = {}
        for index, tool in enumerate(self.tools):
            for word in tool.name_words | tool.owner_words | tool.doc_words | tool.param_words:
                posting = found.get(word)
                if posting is None:
                    found[word] = array("L", (index,))
                else:
                    posting.append(index)
        return found

    def rarity(self, word: str) -> float:
        """Inverse document frequency of a stem: 0 would be one that every tool has."""
        count = len(self.holding.get(word, ()))
        return log(1 + (len(self.tools) + 1) / (count + 0.5))


class CodeTools:
    """The tools of one workspace, version by version of its files.  One thread at a time."""

    def __init__(self) -> None:
        self._files: OrderedDict[tuple[str, str], list[CodeTool]] = OrderedDict()
        self._disk: tuple[object, list[CodeTool]] | None = None
        self._table: tuple[object, ToolTable] | None = None

    def missing(self, snapshot: Snapshot) -> list[str]:
        """Files on disk that have not been read for their tools yet."""
        return [
            path
            for path, entry in snapshot.files.disk.items()
            if (path, entry.digest) not in self._files and entry.error is None
        ]

    def read(self, snapshot: Snapshot, paths: Iterable[str], stop: Callable[[], bool] = never) -> bool:
        """Read files for their tools; False when `stop` ended it early."""
        for path in paths:
            if stop():
                return False
            entry = snapshot.files.disk.get(path)
            if entry is not None and (path, entry.digest) not in self._files:
                self._keep(entry, _file(snapshot, path))
        return True

    def table(self, snapshot: Snapshot, stop: Callable[[], bool] = never) -> ToolTable | None:
        """The tools of a snapshot's files and open documents, all of them read; None when `stop` ended it early."""
        files = snapshot.files
        if self._table is not None and self._table[0] is files:
            return self._table[1]
        if self._disk is None or self._disk[0] is not files.disk:
            if not self.read(snapshot, list(files.disk), stop):
                return None
            rows: list[CodeTool] = []
            for path, entry in files.disk.items():
                rows += self._files.get((path, entry.digest), ())
            self._disk = (files.disk, rows)
        tools = self._disk[1]
        if files.open:
            tools = [tool for tool in tools if tool.path not in files.open]
            for document in files.documents():
                key = (document.entry.path, document.file.digest)
                opened = self._files.get(key)
                tools += self._keep(document.entry, document.file) if opened is None else opened
        table = ToolTable(tools)
        self._table = (files, table)
        return table

    def _keep(self, entry: FileEntry, file: SourceFile | None) -> list[CodeTool]:
        rows = tools_of_file(file, entry.module or "") if file is not None else []
        self._files[entry.path, entry.digest if file is None else file.digest] = rows
        if len(self._files) > _FILES_KEPT:
            self._files.popitem(last=False)
        return rows


def _file(snapshot: Snapshot, path: str) -> SourceFile | None:
    asked: set[str] = set()
    while True:
        try:
            return snapshot.file(path)
        except NotLoaded as missing:
            if missing.module in asked:
                return None
            asked.add(missing.module)
            snapshot.space.load(missing.module)
