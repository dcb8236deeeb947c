"""What happens to ``__all__``."""

from __future__ import annotations

import ast

Export = tuple[str, str, tuple[str, ...]]

OPEN: Export = ("open", "", ())
"""An operation that is not understood: the list of exports is not known."""

LATER: Export = ("open", "later", ())
"""The same inside of a function: when it runs, and so what it adds to, is not known either."""

_COPIES = frozenset({"list", "tuple", "set", "frozenset", "sorted"})


def operation(operator: str, value: ast.expr) -> list[Export]:
    """The exports that ``__all__ <operator> <value>`` stands for, in order.

    Understands displays of string constants, ``module.__all__``, sums and stars of these, and
    ``list(...)``, ``tuple(...)``, ``sorted(...)`` around them; the rest is `OPEN`.
    """
    names: list[str] = []
    modules: list[str] = []
    keeps = False
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
        elif isinstance(node, ast.Name) and node.id == "__all__" and node is not value:
            keeps = True
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
    if keeps:
        operator = "+="
    result: list[Export] = []
    if names or not modules:
        result.append((operator, "", tuple(names)))
        operator = "+="
    for module in modules:
        result.append((operator, module, ()))
        operator = "+="
    return result


def call(method: str, arguments: list[ast.expr], certain: bool) -> list[Export]:
    """The exports that ``__all__.<method>(<arguments>)`` stands for.

    Unless `certain`, the call may not happen, and what it would take away may stay.
    """
    if method == "extend" and len(arguments) == 1:
        return operation("+=", arguments[0])
    if method in ("index", "count", "copy", "sort", "reverse"):
        return []
    at = 1 if method == "insert" else 0
    value = arguments[at] if len(arguments) == at + 1 else None
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        if method in ("append", "insert"):
            return [("+=", "", (value.value,))]
        if method == "remove":
            return [("-=", "", (value.value,))] if certain else []
    return [OPEN]


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
