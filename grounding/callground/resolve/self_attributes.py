"""What stores through ``self`` give to an attribute."""

from __future__ import annotations

import ast

from callground.facts.model import SelfAttr
from callground.resolve import (
    calls,
    containers,
    expressions,
    hierarchy,
    names,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace, FunctionFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    Ref,
    Values,
    unknown,
)
from callground.verdict.model import Reason


def self_attribute(ev: Evaluator, face: ClassFace, a: SelfAttr) -> Values:
    """The values that one store through ``self`` gives to the attribute."""
    key = ("self-attr", face.ref, face.file.path, face.file.digest, a)
    return ev.values(key, lambda: _self_attribute(ev, face, a), local=hierarchy.is_local(face.ref))


def _self_attribute(ev: Evaluator, face: ClassFace, a: SelfAttr) -> Values:
    if a.annotation is not None:
        node = parse_expression(a.annotation)
        if node is not None:
            return type_forms.instances(ev, node, face.scope)
    if a.kind in ("augassign", "setattr", "del") and a.kind != "setattr":
        return Values() if a.kind == "augassign" else unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
    if a.value is not None and a.kind == "assign" and not a.path:
        quick = parse_expression(a.value)
        if isinstance(quick, ast.Constant):
            return expressions.value(ev, quick, face.scope)
    method = _method_face(ev, face, a)
    if method is None:
        return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
    scope = ev.function_scope(method)
    if scope is None or scope.node is None:
        return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
    for stmt in ast.walk(scope.node):
        if getattr(stmt, "lineno", None) != a.line or not isinstance(stmt, (ast.stmt, ast.NamedExpr)):
            continue
        if isinstance(stmt, ast.stmt) and stmt.col_offset != a.col and a.kind in ("assign", "annassign"):
            continue
        inner = _inner_scope(ev, scope, stmt)
        if inner is None:
            return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
        path = names._path(a.path.removeprefix("async:"))
        if isinstance(stmt, ast.Assign):
            return containers.unpack(ev, expressions.value(ev, stmt.value, inner), path)
        if isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
            return expressions.value(ev, stmt.value, inner)
        if isinstance(stmt, (ast.For, ast.AsyncFor)):
            return containers.unpack(ev, containers.iterate(ev, stmt.iter, inner, isinstance(stmt, ast.AsyncFor)), path)
        if isinstance(stmt, (ast.With, ast.AsyncWith)):
            for item in stmt.items:
                if item.optional_vars is not None:
                    return calls.enter(
                        ev, expressions.value(ev, item.context_expr, inner), isinstance(stmt, ast.AsyncWith)
                    )
    return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)


def _inner_scope(ev: Evaluator, scope: Scope, stmt: ast.AST) -> Scope | None:
    """The scope that a statement stands in: the method itself, or nothing when a nested function holds it."""
    node = scope.node
    if node is None:
        return None
    for sub in ast.walk(node):
        if sub is not node and isinstance(sub, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if any(s is stmt for s in ast.walk(sub)):
                return None
    return scope


def _method_face(ev: Evaluator, face: ClassFace, a: SelfAttr) -> FunctionFace | None:
    for piece, row in ev.index(face.file).functions(a.method):
        if piece == face.piece and row.line <= a.line <= row.end_line:
            return FunctionFace(
                Ref(face.module.name, a.method), face.module, face.file, piece, row, ev.class_scope(face)
            )
    return None
