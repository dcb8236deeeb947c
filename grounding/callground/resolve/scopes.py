"""Where names are looked up: module, class and function scopes, with their place in the facts."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from callground.facts.model import Class, Function
from callground.graph.interface import Module, SourceFile
from callground.resolve.flow import Flow
from callground.resolve.values import Ref

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class ClassFace(NamedTuple):
    """One row of a class in one file (stub or source)."""

    ref: Ref
    module: Module
    file: SourceFile
    piece: int
    row: Class
    scope: Scope
    """The scope around the class statement."""

    @property
    def line(self) -> int:
        """Absolute 1-based line of the class statement."""
        return self.file.facts.starts[self.piece] + self.row.line - 1


class FunctionFace(NamedTuple):
    """One row of a function in one file."""

    ref: Ref
    module: Module
    file: SourceFile
    piece: int
    row: Function
    scope: Scope
    """The scope around the def statement (a class scope for methods)."""

    @property
    def line(self) -> int:
        """Absolute 1-based line of the def keyword."""
        return self.file.facts.starts[self.piece] + self.row.line - 1


@dataclass(eq=False)
class Scope:
    """A place where an expression is evaluated."""

    kind: str
    """``module``, ``class``, ``function``, or ``expression`` (comprehensions in a module's or class's body)."""
    module: Module
    file: SourceFile
    parent: Scope | None = None
    before: int | None = None
    """At module level: only bindings above this absolute line count (None: the module has run to its end)."""
    cls: ClassFace | None = None
    """For class scopes: the class."""
    owner: ClassFace | None = None
    """For function scopes of methods: the class in whose body the function stands."""
    node: FunctionNode | ast.Module | None = None
    qualname: str = ""
    decorators: tuple[str, ...] = ()
    flow: Flow | None = None
    face: FunctionFace | None = None
    extra: dict[str, object] = field(default_factory=dict)
    views: dict[int | None, Scope] = field(default_factory=dict)
    """The same scope as seen at lines, each made once: results are remembered by the identity of their scope."""

    def at(self, line: int | None) -> Scope:
        """The same module or class scope as seen at a line."""
        if self.before == line:
            return self
        view = self.views.get(line)
        if view is None:
            view = self.views[line] = Scope(
                self.kind, self.module, self.file, self.parent, line, self.cls, self.owner, self.node, self.qualname
            )
        return view

    @property
    def top(self) -> Scope:
        """The module scope around it."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def enclosing_class(self) -> ClassFace | None:
        """The innermost class around, through functions."""
        scope: Scope | None = self
        while scope is not None:
            if scope.kind == "class":
                return scope.cls
            if scope.owner is not None:
                return scope.owner
            scope = scope.parent
        return None
