"""The walk over statements that makes rows.

One loop over an explicit stack of statement lists: no recursion, so depth costs nothing, and no
visit to expressions unless the statement holds one of the words of `facts.words`.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

from callground.facts import exports, scan
from callground.facts.guards import Guard, GuardTexts
from callground.facts.model import AttrStore, Binding, SelfAttr
from callground.facts.scopes import (
    CLASS,
    FUNCTION,
    MODULE,
    ClassBuilder,
    FunctionNode,
    Scope,
    global_names,
    method_scope,
    nested_scope,
)
from callground.facts.spans import Spans

_LONGEST_RECEIVER = 200


class PendingFunction:
    """A function row that waits for its body to be walked (is it a generator?)."""

    __slots__ = ("node", "qualname", "scope")

    def __init__(self, node: FunctionNode, qualname: str, scope: Scope) -> None:
        self.node = node
        self.qualname = qualname
        self.scope = scope


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
            handlers = _IN_FUNCTION if scope.kind == FUNCTION else _IN_BODY
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
                self.exports.append(exports.OPEN)
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
        if scope.self_name is not None and klass is not None:
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
            return scope.receiver if node.id == scope.self_name and scope.self_name else None
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

    # -- statements ------------------------------------------------------------------------------

    def assign(self, node: ast.Assign, guard: Guard, scope: Scope) -> bool:
        for target in node.targets:
            self.store(target, "assign", node, node.value, guard, scope)
            if scope.kind == MODULE and isinstance(target, ast.Name) and target.id == "__all__":
                self.exports.extend(exports.operation("=" if guard is None else "+=", node.value))
        scan.alias_mark(self, node.value)
        return False

    def assign_in_function(self, node: ast.Assign, guard: Guard, scope: Scope) -> bool:
        for target in node.targets:
            if not isinstance(target, ast.Name) or target.id in scope.globals:
                self.store(target, "assign", node, node.value, guard, scope)
        if self.hot_lines:
            scan.alias_mark(self, node.value)
        return False

    def annotated(self, node: ast.AnnAssign, guard: Guard, scope: Scope) -> bool:
        annotation = self.spans.short(node.annotation)
        self.store(node.target, "annassign", node, node.value, guard, scope, "", annotation)
        if scope.kind == MODULE and isinstance(node.target, ast.Name) and node.target.id == "__all__":
            if node.value is not None:
                self.exports.extend(exports.operation("=" if guard is None else "+=", node.value))
        return False

    def augmented(self, node: ast.AugAssign, guard: Guard, scope: Scope) -> bool:
        operator = f"{_OPERATORS.get(node.op.__class__, '?')}="
        target = node.target
        if isinstance(target, ast.Name) or not isinstance(target, ast.Attribute):
            self.store(target, "augassign", node, node.value, guard, scope, operator)
        else:
            self.store_attribute(
                target, "augassign", node, self.spans.short(node.value), operator, None, guard, scope
            )
        if scope.kind == MODULE and isinstance(target, ast.Name) and target.id == "__all__":
            known = isinstance(node.op, ast.Add)
            self.exports.extend(exports.operation("+=", node.value) if known else [exports.OPEN])
        return False

    def for_loop(self, node: ast.For | ast.AsyncFor, guard: Guard, scope: Scope) -> bool:
        prefix = "async:" if isinstance(node, ast.AsyncFor) else ""
        self.store(node.target, "for", node, node.iter, guard, scope, prefix)
        inner = (guard, "loop", None)
        if node.orelse:
            self.stack.append((iter(node.orelse), inner, scope))
        self.stack.append((iter(node.body), inner, scope))
        return True

    def while_loop(self, node: ast.While, guard: Guard, scope: Scope) -> bool:
        inner = (guard, "loop", None)
        if node.orelse:
            self.stack.append((iter(node.orelse), inner, scope))
        self.stack.append((iter(node.body), inner, scope))
        return True

    def with_block(self, node: ast.With | ast.AsyncWith, guard: Guard, scope: Scope) -> bool:
        prefix = "async:" if isinstance(node, ast.AsyncWith) else ""
        for item in node.items:
            if item.optional_vars is not None:
                self.store(item.optional_vars, "with", node, item.context_expr, guard, scope, prefix)
        self.stack.append((iter(node.body), (guard, "with", None), scope))
        return True

    def if_block(self, node: ast.If, guard: Guard, scope: Scope) -> bool:
        blocks: list[tuple[Iterator[ast.stmt], Guard, Scope]] = []
        while True:
            blocks.append((iter(node.body), (guard, "if:", node.test), scope))
            guard = (guard, "else:", node.test)
            orelse = node.orelse
            if len(orelse) == 1 and isinstance(orelse[0], ast.If):
                node = orelse[0]
                if self.hot_lines and self.is_hot(node):
                    scan.statement(self, node, guard, scope)
                continue
            if orelse:
                blocks.append((iter(orelse), guard, scope))
            break
        blocks.reverse()
        self.stack.extend(blocks)
        return True

    def try_block(self, node: ast.Try, guard: Guard, scope: Scope) -> bool:
        stack = self.stack
        caught = (guard, "try", node.handlers)
        if node.finalbody:
            stack.append((iter(node.finalbody), (guard, "finally", None), scope))
        if node.orelse:
            stack.append((iter(node.orelse), (guard, "try-else", None), scope))
        for handler in reversed(node.handlers):
            inner = (guard, "except", [handler])
            stack.append((iter(handler.body), inner, scope))
        for handler in node.handlers:
            if handler.name and (scope.kind != FUNCTION or handler.name in scope.globals):
                text = self.spans.short(handler.type) if handler.type is not None else ""
                self.bind(scope, handler.name, "except", handler, (guard, "except", [handler]), text)
        stack.append((iter(node.body), caught, scope))
        return True

    def match_block(self, node: ast.Match, guard: Guard, scope: Scope) -> bool:
        inner = (guard, "match", None)
        for case in reversed(node.cases):
            self.stack.append((iter(case.body), inner, scope))
        if scope.kind == FUNCTION and not scope.globals:
            return True
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, (ast.MatchAs, ast.MatchStar)):
                    name = pattern.name
                elif isinstance(pattern, ast.MatchMapping):
                    name = pattern.rest
                else:
                    continue
                if name is not None:
                    self.bind(scope, name, "match", pattern, inner)
        return True

    def delete(self, node: ast.Delete, guard: Guard, scope: Scope) -> bool:
        for target in node.targets:
            self.store(target, "del", node, None, guard, scope)
        return False

    def import_names(self, node: ast.Import, guard: Guard, scope: Scope) -> bool:
        for alias in node.names:
            self.imports[(alias.name, ())] = None
            if alias.asname is not None:
                self.bind(scope, alias.asname, "import", alias, guard, alias.name, "as")
            else:
                self.bind(scope, alias.name.partition(".")[0], "import", alias, guard, alias.name)
        return False

    def import_from(self, node: ast.ImportFrom, guard: Guard, scope: Scope) -> bool:
        module = "." * node.level + (node.module or "")
        self.imports[(module, tuple(alias.name for alias in node.names))] = None
        for alias in node.names:
            if alias.name == "*":
                if scope.kind == MODULE:
                    self.bind(scope, "*", "star", alias, guard, module)
                continue
            name = alias.asname or alias.name
            self.bind(scope, name, "from", alias, guard, module, alias.name)
            if scope.kind == MODULE and name == "__all__":
                self.exports.append(("=", module, ()) if alias.name == "__all__" else exports.OPEN)
        return False

    def function(self, node: FunctionNode, guard: Guard, scope: Scope) -> bool:
        name = node.name
        if scope.kind == FUNCTION:
            self.bind(scope, name, "def", node, guard, "")
            inner = nested_scope(node, scope)
        else:
            qualname = scope.member_name(name)
            self.bind(scope, name, "def", node, guard, qualname)
            if scope.kind == CLASS and scope.klass is not None:
                inner = method_scope(node, qualname, scope.klass)
            else:
                inner = Scope(FUNCTION, qualname)
            self.functions.append(PendingFunction(node, qualname, inner))
            guard = None
        if self.has_globals:
            inner.globals = global_names(node.body)
        self.stack.append((iter(node.body), guard, inner))
        return True

    def class_block(self, node: ast.ClassDef, guard: Guard, scope: Scope) -> bool:
        if scope.kind == FUNCTION:
            self.bind(scope, node.name, "class", node, guard, "")
            inner = Scope(FUNCTION, scope.qualname, scope.klass)
            inner.self_name, inner.receiver = scope.self_name, scope.receiver
        else:
            qualname = scope.member_name(node.name)
            self.bind(scope, node.name, "class", node, guard, qualname)
            builder = ClassBuilder(node, qualname)
            self.classes.append(builder)
            inner = Scope(CLASS, qualname, builder)
            guard = None
        if self.has_globals:
            inner.globals = global_names(node.body)
        self.stack.append((iter(node.body), guard, inner))
        return True

    def type_alias(self, node: ast.stmt, guard: Guard, scope: Scope) -> bool:
        name, value = getattr(node, "name", None), getattr(node, "value", None)
        if isinstance(name, ast.Name) and isinstance(value, ast.expr):
            self.bind(scope, name.id, "type", node, guard, self.spans.short(value))
        return False


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


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}

_Handler = Callable[[Walker, Any, Guard, Scope], bool]
"""Gives True when it has pushed blocks that come before the statement's next sibling."""

_IN_BODY: dict[type[ast.AST], _Handler] = {
    ast.Assign: Walker.assign,
    ast.AnnAssign: Walker.annotated,
    ast.AugAssign: Walker.augmented,
    ast.For: Walker.for_loop,
    ast.AsyncFor: Walker.for_loop,
    ast.While: Walker.while_loop,
    ast.With: Walker.with_block,
    ast.AsyncWith: Walker.with_block,
    ast.If: Walker.if_block,
    ast.Try: Walker.try_block,
    ast.Match: Walker.match_block,
    ast.Delete: Walker.delete,
    ast.Import: Walker.import_names,
    ast.ImportFrom: Walker.import_from,
    ast.FunctionDef: Walker.function,
    ast.AsyncFunctionDef: Walker.function,
    ast.ClassDef: Walker.class_block,
}
for _name, _handler in (("TryStar", Walker.try_block), ("TypeAlias", Walker.type_alias)):
    _node = getattr(ast, _name, None)  # 3.11 and 3.12
    if _node is not None:
        _IN_BODY[_node] = _handler

_IN_FUNCTION = {**_IN_BODY, ast.Assign: Walker.assign_in_function}
