"""Definitions and what an analysis of them gives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False)
class Def:
    """One definition of a name.  Definitions are compared by identity: one analysis makes each of them once."""

    kind: str
    """param, assign, aug, for, with, except, import, from, def, class, walrus, match, unbound, narrow, attribute,
    declared (an annotation without a value), outer (what the scope around it binds), shared (what functions defined
    inside bind)."""
    node: ast.AST | None
    """What it is made from: the value, the iterable, the context expression, the statement, the argument."""
    path: tuple[int | str, ...] = ()
    """Where in an unpacking; ``*`` before an index of a starred target."""
    base: frozenset[Def] = frozenset()
    """For narrow and aug: what was there before."""
    positive: bool = True
    name: str = ""
    is_async: bool = False
    annotation: ast.expr | None = None

    def grown(self, more: frozenset[Def]) -> Def:
        """The same definition, with more of what may have been there before (only while its flow is made)."""
        object.__setattr__(self, "base", self.base | more)
        return self


Env = dict[str, frozenset[Def]]


UNBOUND = Def("unbound", None)


ATTRIBUTE = Def("attribute", None)


class Flow:
    """The result for one body (nested lambdas and comprehensions included, nested functions not)."""

    def __init__(self) -> None:
        self.uses: dict[int, frozenset[Def]] = {}
        """By ``id`` of a Name or Attribute node that is loaded."""
        self.locals: dict[str, set[Def]] = {}
        """All definitions of each local name, whatever the flow."""
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.returns: list[ast.Return] = []
        self.yields: list[ast.Yield | ast.YieldFrom] = []
        self.falls_through = False
        self.dead: set[int] = set()
        """Nodes of calls and names that cannot be reached."""
        self.dynamic = False
        """The body calls ``exec`` or writes ``locals()``."""
        self.inner: dict[int, ast.AST] = {}
        """By ``id`` of a node in a lambda or comprehension: that lambda (its parameters are in the environment)."""
        self.keep: list[ast.AST] = []


def dotted(node: ast.AST) -> str | None:
    """``self.x.y`` as text for a chain of names and attributes, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


def place(node: ast.AST) -> str | None:
    """``self.x[0]["k"]`` as text: a dotted name with constant subscripts, else None."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append("." + node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            parts.append(f"[{node.slice.value!r}]")
            node = node.value
        elif isinstance(node, ast.Name):
            parts.append(node.id)
            return "".join(reversed(parts))
        else:
            return None


def target_defs(
    target: ast.expr, make: Callable[[tuple[int | str, ...]], Def], path: tuple[int | str, ...] = ()
) -> Iterable[tuple[str, Def, ast.expr]]:
    """(name or dotted attribute, definition, target) for each simple target in an assignment target."""
    if isinstance(target, ast.Name):
        yield target.id, make(path), target
    elif isinstance(target, ast.Attribute):
        text = dotted(target)
        if text:
            yield text, make(path), target
    elif isinstance(target, ast.Starred):
        last = path[-1] if path else 0
        yield from target_defs(target.value, make, (*path[:-1], f"*{last}"))
    elif isinstance(target, (ast.Tuple, ast.List)):
        for i, element in enumerate(target.elts):
            yield from target_defs(element, make, (*path, i))


def sources_of(defs: frozenset[Def]) -> tuple[frozenset[Def], frozenset[Def]]:
    """(augmented assignments that go into the definitions, the other definitions that do)."""
    others: set[Def] = set()
    sources: set[Def] = set()
    seen: set[Def] = set()
    pending = list(defs)
    while pending:
        d = pending.pop()
        if d in seen:
            continue
        seen.add(d)
        if d.kind == "aug":
            others.add(d)
            pending.extend(d.base)
        elif d.kind == "narrow" and _augmented(d, set()):
            pending.extend(d.base)
        else:
            sources.add(d)
    return frozenset(others), frozenset(sources)


def _augmented(d: Def, seen: set[Def]) -> bool:
    if d in seen:
        return False
    seen.add(d)
    return d.kind == "aug" or any(_augmented(b, seen) for b in d.base)
