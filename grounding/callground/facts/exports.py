"""What happens to ``__all__``."""

from __future__ import annotations

import ast

Export = tuple[str, str, tuple[str, ...]]

OPEN: Export = ("open", "", ())
"""An operation that is not understood: the list of exports is not known."""

_COPIES = frozenset({"list", "tuple", "set", "frozenset", "sorted"})


def operation(operator: str, value: ast.expr) -> list[Export]:
    """The exports that ``__all__ <operator> <value>`` stands for, in order.

    Understands displays of string constants, ``module.__all__``, sums and stars of these, and
    ``list(...)``, ``tuple(...)``, ``sorted(...)`` around them; the rest is `OPEN`.
    """
    names: list[str] = []
    modules: list[str] = []
    todo: list[ast.expr] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            todo.extend(reversed(node.elts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node is value:
                return [OPEN]
            names.append(node.value)
        elif isinstance(node, ast.Starred):
            todo.append(node.value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr)):
            todo.extend((node.right, node.left))
        elif isinstance(node, ast.Attribute) and node.attr == "__all__":
            module = dotted(node.value)
            if module is None:
                return [OPEN]
            modules.append(module)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _COPIES
            and len(node.args) <= 1
        ):
            todo.extend(node.args)
        else:
            return [OPEN]
    result: list[Export] = []
    if names or not modules:
        result.append((operator, "", tuple(names)))
        operator = "+="
    for module in modules:
        result.append((operator, module, ()))
        operator = "+="
    return result


def call(method: str, arguments: list[ast.expr]) -> list[Export]:
    """The exports that ``__all__.<method>(<arguments>)`` stands for."""
    if len(arguments) == 1:
        if method == "extend":
            return operation("+=", arguments[0])
        value = arguments[0]
        if method == "append" and isinstance(value, ast.Constant) and isinstance(value.value, str):
            return [("+=", "", (value.value,))]
    return [] if method in ("index", "count", "copy") else [OPEN]


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` for a chain of names, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    parts.reverse()
    return ".".join(parts)
