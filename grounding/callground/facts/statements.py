"""What each kind of statement says, and which blocks it opens."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from callground.facts import exports, scan
from callground.facts.guards import Guard
from callground.facts.scopes import (
    CLASS,
    FUNCTION,
    MODULE,
    ClassBuilder,
    FunctionNode,
    PendingFunction,
    Scope,
    global_names,
    local_method_scope,
    makes_instance,
    method_scope,
    nested_scope,
)
from callground.source.foreign import STAND_INS

if TYPE_CHECKING:
    from callground.facts.walk import Walker

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


def _assign(walker: Walker, node: ast.Assign, guard: Guard, scope: Scope) -> bool:
    for target in node.targets:
        walker.store(target, "assign", node, node.value, guard, scope)
        if scope.kind == MODULE and isinstance(target, ast.Name) and target.id == "__all__":
            walker.exports.extend(exports.operation("=" if guard is None else "+=", node.value))
    scan.alias_mark(walker, node.value)
    return False


def _assign_in_function(walker: Walker, node: ast.Assign, guard: Guard, scope: Scope) -> bool:
    value = node.value
    for target in node.targets:
        if not isinstance(target, ast.Name) or target.id in scope.globals:
            walker.store(target, "assign", node, value, guard, scope)
        elif scope.klass is not None and isinstance(value, ast.Call) and makes_instance(value, scope):
            scope.instances.add(target.id)
    if walker.hot_lines:
        scan.alias_mark(walker, node.value)
    return False


def _annotated(walker: Walker, node: ast.AnnAssign, guard: Guard, scope: Scope) -> bool:
    annotation = walker.spans.short(node.annotation)
    walker.store(node.target, "annassign", node, node.value, guard, scope, "", annotation)
    if scope.kind == MODULE and isinstance(node.target, ast.Name) and node.target.id == "__all__":
        if node.value is not None:
            walker.exports.extend(exports.operation("=" if guard is None else "+=", node.value))
    return False


def _augmented(walker: Walker, node: ast.AugAssign, guard: Guard, scope: Scope) -> bool:
    operator = f"{_OPERATORS.get(node.op.__class__, '?')}="
    target = node.target
    if isinstance(target, ast.Name) or not isinstance(target, ast.Attribute):
        walker.store(target, "augassign", node, node.value, guard, scope, operator)
    else:
        walker.store_attribute(target, "augassign", node, walker.spans.short(node.value), operator, None, guard, scope)
    if scope.kind == MODULE and isinstance(target, ast.Name) and target.id == "__all__":
        known = isinstance(node.op, ast.Add)
        walker.exports.extend(exports.operation("+=", node.value) if known else [exports.OPEN])
    return False


def _for_loop(walker: Walker, node: ast.For | ast.AsyncFor, guard: Guard, scope: Scope) -> bool:
    prefix = "async:" if isinstance(node, ast.AsyncFor) else ""
    walker.store(node.target, "for", node, node.iter, guard, scope, prefix)
    inner = (guard, "loop", None)
    if node.orelse:
        walker.stack.append((iter(node.orelse), inner, scope))
    walker.stack.append((iter(node.body), inner, scope))
    return True


def _while_loop(walker: Walker, node: ast.While, guard: Guard, scope: Scope) -> bool:
    inner = (guard, "loop", None)
    if node.orelse:
        walker.stack.append((iter(node.orelse), inner, scope))
    walker.stack.append((iter(node.body), inner, scope))
    return True


def _with_block(walker: Walker, node: ast.With | ast.AsyncWith, guard: Guard, scope: Scope) -> bool:
    prefix = "async:" if isinstance(node, ast.AsyncWith) else ""
    for item in node.items:
        if item.optional_vars is not None:
            walker.store(item.optional_vars, "with", node, item.context_expr, guard, scope, prefix)
    walker.stack.append((iter(node.body), (guard, "with", None), scope))
    return True


def _if_block(walker: Walker, node: ast.If, guard: Guard, scope: Scope) -> bool:
    blocks: list[tuple[Iterator[ast.stmt], Guard, Scope]] = []
    while True:
        blocks.append((iter(node.body), (guard, "if:", node.test), scope))
        guard = (guard, "else:", node.test)
        orelse = node.orelse
        if len(orelse) == 1 and isinstance(orelse[0], ast.If):
            node = orelse[0]
            if walker.hot_lines and walker.is_hot(node):
                scan.statement(walker, node, guard, scope)
            continue
        if orelse:
            blocks.append((iter(orelse), guard, scope))
        break
    blocks.reverse()
    walker.stack.extend(blocks)
    return True


def _try_block(walker: Walker, node: ast.Try, guard: Guard, scope: Scope) -> bool:
    stack = walker.stack
    caught = (guard, "try", node.handlers)
    if node.finalbody:
        stack.append((iter(node.finalbody), (guard, "finally", None), scope))
    if node.orelse:
        stack.append((iter(node.orelse), (guard, "try-else", None), scope))
    for handler in reversed(node.handlers):
        inner = (guard, "except", [handler])
        stack.append((iter(handler.body), inner, scope))
    # ``except*`` binds a group of what it names.
    kind = "except" if isinstance(node, ast.Try) else "except*"
    for handler in node.handlers:
        if handler.name and (scope.kind != FUNCTION or handler.name in scope.globals):
            text = walker.spans.short(handler.type) if handler.type is not None else ""
            walker.bind(scope, handler.name, kind, handler, (guard, "except", [handler]), text)
    stack.append((iter(node.body), caught, scope))
    return True


def _match_block(walker: Walker, node: ast.Match, guard: Guard, scope: Scope) -> bool:
    inner = (guard, "match", None)
    for case in reversed(node.cases):
        walker.stack.append((iter(case.body), inner, scope))
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
                walker.bind(scope, name, "match", pattern, inner)
    return True


def _delete(walker: Walker, node: ast.Delete, guard: Guard, scope: Scope) -> bool:
    for target in node.targets:
        walker.store(target, "del", node, None, guard, scope)
    return False


def _import_names(walker: Walker, node: ast.Import, guard: Guard, scope: Scope) -> bool:
    for alias in node.names:
        walker.imports[(alias.name, ())] = None
        if alias.asname is not None:
            walker.bind(scope, alias.asname, "import", alias, guard, alias.name, "as")
        else:
            walker.bind(scope, alias.name.partition(".")[0], "import", alias, guard, alias.name)
    return False


def _import_from(walker: Walker, node: ast.ImportFrom, guard: Guard, scope: Scope) -> bool:
    module = "." * node.level + (node.module or "")
    walker.imports[(module, tuple(alias.name for alias in node.names))] = None
    for alias in node.names:
        if alias.name == "*":
            if scope.kind == MODULE:
                walker.bind(scope, "*", "star", alias, guard, module)
            continue
        name = alias.asname or alias.name
        walker.bind(scope, name, "from", alias, guard, module, alias.name)
        if scope.kind == MODULE and name == "__all__":
            walker.exports.append(("=", module, ()) if alias.name == "__all__" else exports.OPEN)
    return False


def _function(walker: Walker, node: FunctionNode, guard: Guard, scope: Scope) -> bool:
    name = node.name
    if scope.kind == FUNCTION:
        walker.bind(scope, name, "def", node, guard, "")
        inner = nested_scope(node, scope)
    else:
        qualname = scope.member_name(name)
        walker.bind(scope, name, "def", node, guard, qualname)
        if scope.around is not None and scope.klass is not None:
            inner = local_method_scope(node, qualname, scope.klass, scope.around)
        else:
            if scope.kind == CLASS and scope.klass is not None:
                inner = method_scope(node, qualname, scope.klass)
            else:
                inner = Scope(FUNCTION, qualname)
            walker.functions.append(PendingFunction(node, qualname, inner))
        guard = None
    if walker.has_globals:
        inner.globals = global_names(node.body)
    walker.stack.append((iter(node.body), guard, inner))
    return True


def _class_block(walker: Walker, node: ast.ClassDef, guard: Guard, scope: Scope) -> bool:
    local = scope.kind == FUNCTION
    qualname = f"{scope.qualname}.<locals>.{node.name}" if local else scope.member_name(node.name)
    walker.bind(scope, node.name, "class", node, guard, "" if local else qualname)
    builder = ClassBuilder(node, qualname)
    walker.classes.append(builder)
    inner = Scope(CLASS, qualname, builder)
    inner.around = scope if local else scope.around
    guard = None
    if walker.has_globals:
        inner.globals = global_names(node.body)
    walker.stack.append((iter(node.body), guard, inner))
    return True


def _type_alias(walker: Walker, node: ast.stmt, guard: Guard, scope: Scope) -> bool:
    name, value = getattr(node, "name", None), getattr(node, "value", None)
    if isinstance(name, ast.Name) and isinstance(value, ast.expr):
        walker.bind(scope, name.id, "type", node, guard, walker.spans.short(value))
    return False


Handler = Callable[["Walker", Any, Guard, Scope], bool]
"""Gives True when it has pushed blocks that come before the statement's next sibling."""

IN_BODY: dict[type[ast.stmt], Handler] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.For: _for_loop,
    ast.AsyncFor: _for_loop,
    ast.While: _while_loop,
    ast.With: _with_block,
    ast.AsyncWith: _with_block,
    ast.If: _if_block,
    ast.Try: _try_block,
    ast.Match: _match_block,
    ast.Delete: _delete,
    ast.Import: _import_names,
    ast.ImportFrom: _import_from,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class_block,
}
for _name, _handler in (("TryStar", _try_block), ("TypeAlias", _type_alias)):
    _node: Any = getattr(ast, _name, None) or STAND_INS.get(_name)  # 3.11 and 3.12
    if _node is not None:
        IN_BODY[_node] = _handler

IN_FUNCTION: dict[type[ast.stmt], Handler] = {**IN_BODY, ast.Assign: _assign_in_function}
