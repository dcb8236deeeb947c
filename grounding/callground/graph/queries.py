"""Questions that people and programs ask of a code base by name: the public face of the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple, TypeVar

from callground.facts.index import index_of
from callground.facts.model import Function, Param
from callground.graph.interface import NotLoaded, SourceFile
from callground.graph.snapshot import Snapshot

_T = TypeVar("_T")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NEAR = 0.6


class DefinitionSite(NamedTuple):
    """Where a name is defined."""

    path: str
    line: int
    """1-based."""
    qualname: str
    kind: str
    """``function``, ``class``, ``variable`` or ``import``."""
    module: str | None


class Reference(NamedTuple):
    """Where a name is used."""

    path: str
    line: int
    """1-based."""
    column: int
    """0-based, in code points."""


class Signature(NamedTuple):
    """What one definition of a function takes, as its ``def`` says; for a class its constructor.

    Decorators are not looked at: whether a call really fits is the evaluator's to say.
    """

    name: str
    """Dotted from the module."""
    max_positional: int | None
    """How many positional arguments fit (``self`` not counted); None for any number."""
    accepted_kwargs: frozenset[str] | None
    """Keywords that are accepted; None for any."""
    required: tuple[str, ...]
    """Parameters without a default that take a positional argument."""
    required_keywords: tuple[str, ...]
    """Keyword-only parameters without a default."""
    positional_only: tuple[str, ...]
    text: str
    """``(path, *, mode='r')``."""
    path: str
    line: int


class Located(NamedTuple):
    """One answer to `CodeGraph.locate`, best first."""

    site: DefinitionSite
    score: float


class CodeGraph:
    """One moment of a workspace, to be asked by name.  Reads files when an answer needs them."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def definition_sites(self, name: str) -> list[DefinitionSite]:
        """Where `name` is defined: a plain name, ``Class.member`` or ``module.name``."""
        last = name.rpartition(".")[2]
        sites = [
            DefinitionSite(entry.path, row.line, row.qualname, row.kind, entry.module)
            for entry, row in self.snapshot.definitions(last)
        ]
        if "." not in name:
            return sites
        return [site for site in sites if _ends_with(f"{site.module or ''}.{site.qualname}", name)]

    def files_defining(self, name: str) -> list[str]:
        """The files that define `name`, imports of it not counted."""
        return list(dict.fromkeys(site.path for site in self.definition_sites(name) if site.kind != "import"))

    def references(self, name: str) -> list[Reference]:
        """Where `name` is used (read, called, imported, passed as a keyword), by file and line."""
        found: list[Reference] = []
        for entry in self.snapshot.mentioning(name):
            file = self._loading(partial(self.snapshot.file, entry.path))
            if file is not None:
                found += sorted(self._references_in(file, name))
        return found

    def signatures(self, name: str) -> list[Signature]:
        """The signatures of every function, method or class of that name in the workspace."""
        found: list[Signature] = []
        for site in self.definition_sites(name):
            if site.kind not in ("function", "class"):
                continue
            file = self._loading(partial(self.snapshot.file, site.path))
            if file is not None:
                found += _signatures(file, site)
        return found

    def related_symbols(self, name: str, limit: int = 10) -> list[DefinitionSite]:
        """Definitions with a similar name, nearest first: other spellings, the same words otherwise put."""
        last = name.rpartition(".")[2]
        words = _words(last)
        scored: list[tuple[float, str]] = []
        for other in self.snapshot.defined_names():
            if other == last:
                continue
            score = _similarity(last, words, other)
            if score >= _NEAR:
                scored.append((-score, other))
        sites: list[DefinitionSite] = []
        for _, other in sorted(scored):
            sites += [site for site in self.definition_sites(other) if site.kind != "import"]
            if len(sites) >= limit:
                break
        return sites[:limit]

    def locate(self, query: str, limit: int = 20) -> list[Located]:
        """Find definitions by a part of their name, several words, or a dotted path; best first."""
        query = query.strip().removesuffix("()")
        exact = self.definition_sites(query)
        found = {site: 1.0 for site in exact if site.kind != "import"}
        last = query.rpartition(".")[2]
        wanted = _words(query)
        lowered = last.lower()
        for name in self.snapshot.defined_names():
            have = _words(name)
            if lowered and lowered in name.lower():
                score = 0.6 + 0.3 * len(lowered) / len(name)
            elif wanted and wanted <= have:
                score = 0.5 + 0.3 * len(wanted) / len(have)
            else:
                continue
            for site in self.definition_sites(name):
                if site.kind != "import":
                    found.setdefault(site, round(score, 3))
        order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [Located(site, score) for site, score in order[:limit]]

    def _references_in(self, file: SourceFile, name: str) -> Iterator[Reference]:
        lines = file.text.split("\n")
        for number, piece in enumerate(file.facts.pieces):
            if name not in piece.mentions:
                continue
            tree = self.snapshot.tree(file, number)
            if tree is None:
                continue
            offset = file.facts.starts[number] - 1
            for line, column in _uses(tree, name):
                text = lines[line + offset - 1].encode("utf-8", "surrogatepass")[:column]
                yield Reference(file.path, line + offset, len(text.decode("utf-8", "ignore")))

    def _loading(self, ask: Callable[[], _T]) -> _T | None:
        asked: set[str] = set()
        while True:
            try:
                return ask()
            except NotLoaded as missing:
                if missing.module in asked:
                    return None
                asked.add(missing.module)
                self.snapshot.space.load(missing.module)


def _uses(tree: ast.Module, name: str) -> Iterator[tuple[int, int]]:
    """(line, byte column) of every use of a name in a tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store):
            yield node.lineno, node.col_offset
        elif isinstance(node, ast.Attribute) and node.attr == name:
            yield node.end_lineno or node.lineno, (node.end_col_offset or 0) - len(name.encode())
        elif isinstance(node, ast.keyword) and node.arg == name:
            yield node.lineno, node.col_offset
        elif isinstance(node, ast.alias) and node.name.rpartition(".")[2] == name:
            yield node.lineno, node.col_offset + len(node.name.rpartition(name)[0].encode())


def _signatures(file: SourceFile, site: DefinitionSite) -> Iterator[Signature]:
    index = index_of(file.facts)
    if site.kind == "function":
        rows = index.functions(site.qualname)
    else:
        rows = index.functions(f"{site.qualname}.__init__") or index.functions(f"{site.qualname}.__new__")
    for piece, row in rows:
        line = index.absolute_line(piece, row.line)
        if site.kind == "class" or line == site.line:
            method = "." in row.qualname and bool(index.class_(row.qualname.rpartition(".")[0]))
            yield signature_of(row, site.qualname, method, file.path, line)


def signature_of(row: Function, name: str, method: bool, path: str, line: int) -> Signature:
    """The signature of a definition, without ``self`` or ``cls`` for a method."""
    params = list(row.params)
    static = any(decorator.rpartition(".")[2] == "staticmethod" for decorator in row.decorators)
    if method and not static and params and params[0].kind in ("positional", "positional-only"):
        params = params[1:]
    positional = [param for param in params if param.kind in ("positional", "positional-only")]
    keywords = {param.name for param in params if param.kind in ("positional", "keyword-only")}
    return Signature(
        name=name,
        max_positional=None if any(param.kind == "*args" for param in params) else len(positional),
        accepted_kwargs=None if any(param.kind == "**kwargs" for param in params) else frozenset(keywords),
        required=tuple(param.name for param in positional if param.default is None),
        required_keywords=tuple(
            param.name for param in params if param.kind == "keyword-only" and param.default is None
        ),
        positional_only=tuple(param.name for param in params if param.kind == "positional-only"),
        text=_text(params),
        path=path,
        line=line,
    )


def _text(params: Iterable[Param]) -> str:
    parts: list[str] = []
    slash = star = False
    for param in params:
        if param.kind == "positional-only":
            slash = True
        elif slash:
            parts.append("/")
            slash = False
        if param.kind == "keyword-only" and not star:
            parts.append("*")
            star = True
        star = star or param.kind == "*args"
        prefix = {"*args": "*", "**kwargs": "**"}.get(param.kind, "")
        parts.append(prefix + param.name + (f"={param.default}" if param.default is not None else ""))
    if slash:
        parts.append("/")
    return f"({', '.join(parts)})"


def _ends_with(dotted: str, name: str) -> bool:
    return f".{dotted}".endswith(f".{name}")


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORDS.findall(name))


def _similarity(name: str, words: frozenset[str], other: str) -> float:
    theirs = _words(other)
    shared = len(words & theirs) / len(words | theirs) if words and theirs else 0.0
    matcher = SequenceMatcher(None, name.lower(), other.lower())
    if matcher.real_quick_ratio() < _NEAR or matcher.quick_ratio() < _NEAR:
        return shared
    return max(shared, matcher.ratio())
