"""Classes whose ``__getattr__`` gives what they hold under that name: columns of a table, fields of an array.

Such an attribute may exist, but calling it fails where what is held cannot be called.
"""

from __future__ import annotations

import ast

from callground.resolve import classes, expressions, signatures
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace, FunctionFace
from callground.resolve.values import Instance, Ref, Values, is_none

_ARRAY = ("__array__", "__array_interface__", "__arrow_c_stream__", "__dataframe__")


def holds_no_callables(ev: Evaluator, face: ClassFace, asked: Ref) -> bool:
    """Whether the class's ``__getattr__`` only gives its own items, and no item can be called."""
    return ev.memo(
        ("items-only", face.ref, face.file.path, face.file.digest, face.piece, face.row.line, asked),
        lambda: _holds_no_callables(ev, face, asked),
        lambda _: False,
        local=True,
    )


def _holds_no_callables(ev: Evaluator, face: ClassFace, asked: Ref) -> bool:
    rows = [
        row
        for piece, row in ev.index(face.file).functions(f"{face.row.qualname}.__getattr__")
        if piece == face.piece and any(b.line == row.line for b in face.row.members)
    ]
    if len(rows) != 1 or any(d.rpartition(".")[2] != "final" for d in rows[0].decorators):
        return False
    ref = Ref(face.ref.module, f"{face.ref.qualname}.__getattr__")
    method = FunctionFace(ref, face.module, face.file, face.piece, rows[0], ev.class_scope(face))
    scope = ev.function_scope(method)
    if scope is None or not isinstance(scope.node, ast.FunctionDef):
        return False
    items = _items(scope.node)
    if items is None:
        return False
    if any(classes.defines(ev, asked, name) for name in _ARRAY):
        # An array's or a table's items are data, arrays and tables.
        return True
    return all(_not_callable(ev, expressions.value(ev, item, scope)) for item in items)


def _items(node: ast.FunctionDef) -> list[ast.expr] | None:
    """The ``self[name]`` that the method returns; None when it returns anything else."""
    args = [*node.args.posonlyargs, *node.args.args]
    if len(args) != 2:
        return None
    me, name = args[0].arg, args[1].arg
    items: list[ast.expr] = []
    for sub in ast.walk(node):
        if isinstance(sub, (ast.Yield, ast.YieldFrom, ast.Lambda, ast.FunctionDef)) and sub is not node:
            return None
        if isinstance(sub, ast.Name) and sub.id in (me, name) and not isinstance(sub.ctx, ast.Load):
            return None
        if not isinstance(sub, ast.Return):
            continue
        got = sub.value
        if isinstance(got, ast.Subscript) and _is(got.value, me) and _is(got.slice, name):
            items.append(got)
        elif got is None or not _default_look_up(got, name):
            return None
    return items or None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _default_look_up(node: ast.expr, name: str) -> bool:
    """``object.__getattribute__(self, name)`` and its kin, which fail for what is not there."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "__getattribute__"
        and bool(node.args)
        and _is(node.args[-1], name)
    )


def _not_callable(ev: Evaluator, values: Values) -> bool:
    return (
        values.complete
        and bool(values.items)
        and all(isinstance(o, Instance) and (is_none(o) or signatures.of(ev, o).not_callable) for o in values.items)
    )
