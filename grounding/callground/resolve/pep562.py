"""Module ``__getattr__`` (PEP 562): what it does for one given name, by running its body on that name in the abstract."""

from __future__ import annotations

import ast

from callground.graph.interface import Module, SourceFile
from callground.resolve.evaluator import Evaluator
from callground.resolve.static import parse_expression


def raises_for(ev: Evaluator, module: Module, file: SourceFile, attr: str) -> bool:
    """Whether the module's ``__getattr__(attr)`` certainly raises."""
    for piece, row in ev.index(file).functions("__getattr__"):
        node = ev.node(file, piece, row.line, "__getattr__")
        ev.read("body", module.name, "__getattr__")
        if not isinstance(node, ast.FunctionDef) or not node.args.args:
            return False
        outcome = _run(ev, file, node.body, {node.args.args[0].arg: attr})
        if outcome != "raise":
            return False
    return True


def _run(ev: Evaluator, file: SourceFile, body: list[ast.stmt], known: dict[str, object]) -> str:
    """``raise``, ``return``, ``open`` or ``next`` (fell through)."""
    for stmt in body:
        if isinstance(stmt, ast.Raise):
            return "raise"
        if isinstance(stmt, ast.Return):
            return "open"
        if isinstance(stmt, (ast.Import, ast.ImportFrom, ast.Pass, ast.Global)):
            continue
        if isinstance(stmt, ast.Expr):
            if isinstance(stmt.value, ast.Constant) or isinstance(stmt.value, ast.Call):
                continue
            return "open"
        if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
            known.pop(stmt.targets[0].id, None)
            continue
        if isinstance(stmt, ast.If):
            truth = _truth(ev, file, stmt.test, known)
            if truth is None:
                yes = _run(ev, file, stmt.body, dict(known))
                no = _run(ev, file, stmt.orelse, dict(known))
                if {yes, no} <= {"raise", "next"}:
                    if yes == no == "raise":
                        return "raise"
                    continue
                return "open"
            result = _run(ev, file, stmt.body if truth else stmt.orelse, known)
            if result != "next":
                return result
            continue
        return "open"
    return "next" if body else "next"


def _truth(ev: Evaluator, file: SourceFile, test: ast.expr, known: dict[str, object]) -> bool | None:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _truth(ev, file, test.operand, known)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [_truth(ev, file, v, known) for v in test.values]
        decisive = isinstance(test.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = _constant(ev, file, test.left, known), _constant(ev, file, test.comparators[0], known)
        if left is None or right is None:
            return None
        op = test.ops[0]
        try:
            if isinstance(op, ast.Eq):
                return bool(left == right)
            if isinstance(op, ast.NotEq):
                return bool(left != right)
            if isinstance(op, ast.In):
                return left in right  # type: ignore[operator]  # a wrong container is caught below
            if isinstance(op, ast.NotIn):
                return left not in right  # type: ignore[operator]  # a wrong container is caught below
        except TypeError:
            return None
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and len(test.args) == 1:
        base, arg = _constant(ev, file, test.func.value, known), _constant(ev, file, test.args[0], known)
        if isinstance(base, str) and isinstance(arg, str) and test.func.attr in ("startswith", "endswith"):
            return bool(getattr(base, test.func.attr)(arg))
    return None


def _constant(ev: Evaluator, file: SourceFile, node: ast.expr, known: dict[str, object]) -> object | None:
    """A string, or the set of string keys of a literal container; None when it is neither."""
    if isinstance(node, ast.Constant):
        value: object = node.value
        return value
    if isinstance(node, ast.Name):
        if node.id in known:
            return known[node.id]
        rows = ev.index(file).bindings(node.id)
        if not rows:
            return None
        total: set[object] = set()
        for _piece, b in rows:
            if not ev.alive(b.guards):
                continue
            if b.kind not in ("assign", "annassign") or b.path or not b.value:
                return None
            inner = parse_expression(b.value)
            part = _constant(ev, file, inner, {}) if inner is not None else None
            if not isinstance(part, frozenset):
                return part if len(rows) == 1 else None
            total |= part
        # Keys may also be added after the display.
        if any(b.kind == "augassign" for _p, b in rows):
            return None
        return frozenset(total)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        if all(isinstance(e, ast.Constant) for e in node.elts):
            return frozenset(e.value for e in node.elts if isinstance(e, ast.Constant))
        return None
    if isinstance(node, ast.Dict):
        if all(isinstance(k, ast.Constant) for k in node.keys):
            return frozenset(k.value for k in node.keys if isinstance(k, ast.Constant))
        return None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset", "list", "tuple"):
        return _constant(ev, file, node.args[0], known) if len(node.args) == 1 else None
    return None
