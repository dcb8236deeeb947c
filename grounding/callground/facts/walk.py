"""The walk over statements that makes rows.

One loop over an explicit stack of statement lists: no recursion, so depth costs nothing, and no
visit to expressions unless the statement holds one of the words of `facts.words`.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator

from callground.facts import exports, scan
from callground.facts.guards import Guard, GuardTexts
from callground.facts.model import AttrStore, Binding, SelfAttr
from callground.facts.scopes import FUNCTION, MODULE, ClassBuilder, PendingFunction, Scope
from callground.facts.spans import Spans
from callground.facts.statements import IN_BODY, IN_FUNCTION

_LONGEST_RECEIVER = 200


class Walker:
    """Collects what the statements of one piece say."""

    def __init__(self, spans: Spans, base: int, words: frozenset[str], hot_lines: list[int]) -> None:
        """`base` is what to subtract from a line of the tree to get a line of the piece."""
        self.spans = spans
        self.base = base
        self.hot_lines = hot_lines
        self.has_globals = "global" in words
        self.bindings: list[Binding] = []
        self.functions: list[PendingFunction] = []
        self.classes: list[ClassBuilder] = []
        self.attr_stores: list[AttrStore] = []
        self.exports: list[tuple[str, str, tuple[str, ...]]] = []
        self.dynamic: dict[str, None] = {}
        self.imports: dict[tuple[str, tuple[str, ...]], None] = {}
        self.guards = GuardTexts(spans)
        self.stack: list[tuple[Iterator[ast.stmt], Guard, Scope]] = []

    def walk(self, body: list[ast.stmt]) -> None:
        """Visit the statements of the piece and everything below them."""
        stack = self.stack
        hot = self.hot_lines
        stack.append((iter(body), None, Scope(MODULE, "")))
        while stack:
            nodes, guard, scope = stack[-1]
            handlers = IN_FUNCTION if scope.kind == FUNCTION else IN_BODY
            for node in nodes:
                if hot and self.is_hot(node):
                    scan.statement(self, node, guard, scope)
                handler = handlers.get(node.__class__)
                if handler is not None and handler(self, node, guard, scope):
                    break
            else:
                stack.pop()

    def is_hot(self, node: ast.stmt) -> bool:
        """Whether one of the hot words stands on the lines of the statement's own expressions."""
        first = node.lineno
        last = node.end_lineno or first
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.decorator_list:
            first = node.decorator_list[0].lineno
        body = getattr(node, "body", None)
        if isinstance(body, list) and not isinstance(node, ast.Try):
            last = body[0].lineno
        index = bisect_left(self.hot_lines, first)
        return index < len(self.hot_lines) and self.hot_lines[index] <= last

    # -- what a statement binds ------------------------------------------------------------------

    def bind(
        self,
        scope: Scope,
        name: str,
        kind: str,
        node: ast.stmt | ast.alias | ast.expr | ast.excepthandler | ast.pattern,
        guard: Guard,
        value: str | None = "",
        path: str = "",
        annotation: str | None = None,
    ) -> None:
        """Record that `name` gets a value, wherever the scope says that the name lives."""
        if scope.kind == FUNCTION or name in scope.globals:
            if name not in scope.globals:
                return
            if kind == "del" or (value is not None and path in ("", "+=")):
                text = value if kind in ("assign", "annassign", "walrus") else ""
            else:
                text = ""
            kind, path = "global", kind
            value, annotation = text, None
            bindings = self.bindings
            if name == "__all__":
                self.exports.append(exports.LATER)
        elif scope.kind == MODULE or scope.klass is None:
            bindings = self.bindings
        else:
            bindings = scope.klass.members
        bindings.append(
            Binding(
                name,
                kind,
                node.lineno - self.base,
                node.col_offset,
                value,
                path,
                annotation,
                self.guards.texts(guard),
            )
        )

    def store(
        self,
        target: ast.expr,
        kind: str,
        node: ast.stmt | ast.expr,
        value: ast.expr | None,
        guard: Guard,
        scope: Scope,
        prefix: str = "",
        annotation: str | None = None,
    ) -> None:
        """Record a store to a target, which may be an unpacking."""
        todo: list[tuple[ast.expr, str]] = [(target, "")]
        text: str | None = None
        known = value is None
        if known:
            text = ""
        while todo:
            leaf, path = todo.pop()
            if isinstance(leaf, ast.Name):
                if scope.kind == FUNCTION and leaf.id not in scope.globals:
                    continue
                if not known:
                    text, known = self.spans.short(value), True  # type: ignore[arg-type]
                self.bind(scope, leaf.id, kind, node, guard, text, prefix + path, annotation)
            elif isinstance(leaf, ast.Attribute):
                if not known:
                    text, known = self.spans.short(value), True  # type: ignore[arg-type]
                self.store_attribute(leaf, kind, node, text, prefix + path, annotation, guard, scope)
            elif isinstance(leaf, (ast.Tuple, ast.List)):
                todo.extend(_unpacked(leaf.elts, path))
            elif isinstance(leaf, ast.Starred):
                todo.append((leaf.value, path))
            elif isinstance(leaf, ast.Subscript) and self.hot_lines:
                scan.subscript_store(self, leaf, node, value, guard, scope)

    def store_attribute(
        self,
        target: ast.Attribute,
        kind: str,
        node: ast.stmt | ast.expr,
        value: str | None,
        path: str,
        annotation: str | None,
        guard: Guard,
        scope: Scope,
    ) -> None:
        """Record ``receiver.attr = value``."""
        receiver = target.value
        attr = target.attr
        klass = scope.klass
        if klass is not None:
            how = self.receiver_kind(receiver, scope)
            if how is not None:
                if attr == "__class__":
                    klass.dynamic["class-write"] = None
                elif attr == "__dict__":
                    klass.dynamic["dict-write"] = None
                self.self_attr(scope, how, attr, kind, node, guard, value, path, annotation)
                return
        if kind == "del":
            return
        self.attr_store(receiver, attr, node, value if path == "" else None, scope)
        scan.store_mark(self, target)

    def receiver_kind(self, node: ast.expr, scope: Scope) -> str | None:
        """``instance`` or ``class`` when the expression is the method's receiver or its class, else None."""
        if isinstance(node, ast.Name):
            if node.id == scope.self_name:
                return scope.receiver
            return "instance" if node.id in scope.instances else None
        if scope.receiver != "instance" or scope.self_name is None:
            return None
        if isinstance(node, ast.Attribute) and node.attr == "__class__":
            inner: ast.expr = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "type"
            and len(node.args) == 1
        ):
            inner = node.args[0]
        else:
            return None
        return "class" if isinstance(inner, ast.Name) and inner.id == scope.self_name else None

    def self_attr(
        self,
        scope: Scope,
        receiver: str,
        attr: str,
        kind: str,
        node: ast.stmt | ast.expr,
        guard: Guard,
        value: str | None,
        path: str = "",
        annotation: str | None = None,
    ) -> None:
        """Add a row to the class that the scope's method belongs to."""
        klass = scope.klass
        if klass is None:
            return
        klass.self_attrs.append(
            SelfAttr(
                attr,
                scope.qualname,
                receiver,
                kind,
                node.lineno - self.base,
                node.col_offset,
                value,
                path,
                annotation,
                self.guards.texts(guard),
            )
        )

    def attr_store(
        self, receiver: ast.expr, attr: str, node: ast.stmt | ast.expr, value: str | None, scope: Scope
    ) -> None:
        """Add a row for a store through anything else."""
        text = self.spans.short(receiver)
        if text is None or len(text) > _LONGEST_RECEIVER:
            text = "?"
        if attr == "__dict__":
            attr = "*"
        self.attr_stores.append(
            AttrStore(text, attr, scope.qualname, node.lineno - self.base, value if value != "" else None)
        )


def _unpacked(elements: list[ast.expr], path: str) -> list[tuple[ast.expr, str]]:
    """The elements of an unpacking with their paths, last first (for a stack)."""
    prefix = f"{path}." if path else ""
    count = len(elements)
    result: list[tuple[ast.expr, str]] = []
    starred = False
    for index, element in enumerate(elements):
        if isinstance(element, ast.Starred):
            starred = True
            result.append((element, f"{prefix}*{index}"))
        else:
            result.append((element, f"{prefix}{index - count if starred else index}"))
    result.reverse()
    return result
