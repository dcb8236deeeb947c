"""Calls of what its author has marked as deprecated: by the decorator of PEP 702, or by a warning at the body's top."""

from __future__ import annotations

import ast

from callground.resolve import calls, classes, decorators, expressions, hierarchy
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace, FunctionFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    BoundMethod,
    ClassMethodObject,
    ClassObject,
    FunctionObject,
    Obj,
    Ref,
    StaticObject,
)
from callground.verdict.findings import Proof
from callground.verdict.sites import Site

_MARKS = frozenset({("warnings", "deprecated"), ("typing_extensions", "deprecated")})
_WARNINGS = frozenset(
    {
        Ref("builtins", "DeprecationWarning"),
        Ref("builtins", "PendingDeprecationWarning"),
        Ref("builtins", "FutureWarning"),
    }
)


def of_call(ev: Evaluator, site: Site, scope: Scope | None) -> Proof | None:
    """What a grounded call's callee says of itself; None unless each callee that is possible is deprecated."""
    if site.role != "call" or not isinstance(site.node, ast.Call) or scope is None:
        return None
    values = expressions.value(ev, site.node.func, scope)
    if not values.items or values.whys:
        return None
    said = [_said(ev, each) for each in values.items]
    if any(text is None for text in said):
        return None
    name = site.callee.rpartition(".")[2]
    return Proof("deprecated-call", name, "", "", site.node.func, owner_object=values.items[0], detail=said[0] or "")


def _said(ev: Evaluator, o: Obj) -> str | None:
    """The author's words about an object's deprecation, "" where there are none; None when it is not deprecated."""
    while isinstance(o, (BoundMethod, StaticObject, ClassMethodObject)):
        o = o.function
    if isinstance(o, FunctionObject):
        return _function(ev, o.ref)
    if isinstance(o, ClassObject):
        for face in classes.faces(ev, o.ref):
            text = _marked(ev, face, face.row.decorators)
            if text is not None:
                return text
        for name in ("__init__", "__new__"):
            found = classes.find(ev, o.ref, name, on_class=True).found
            if found is not None and found.entry.ref != hierarchy.OBJECT:
                text = _function(ev, Ref(found.entry.ref.module, f"{found.entry.ref.qualname}.{name}"))
                if text is not None:
                    return text
    return None


def _function(ev: Evaluator, ref: Ref) -> str | None:
    def compute() -> str | None:
        rows = calls.function_faces(ev, ref)
        for stub in (False, True):
            # An overload may be deprecated alone; which one a call takes is not looked at.
            group = [f for f in rows if f.file.is_stub == stub and (stub or not calls.is_overload(f))]
            texts = [_marked(ev, face, face.row.decorators) for face in group]
            if texts and texts[0] is not None and None not in texts:
                return texts[0]
        sources = [f for f in rows if not f.file.is_stub and not calls.is_overload(f)]
        return _warned(ev, sources[0]) if len(sources) == 1 else None

    return ev.memo(("deprecated", ref), compute, lambda reason: None)


def _marked(ev: Evaluator, face: FunctionFace | ClassFace, texts: tuple[str, ...]) -> str | None:
    """The message of a ``@deprecated`` decorator."""
    for text in texts:
        node = parse_expression(text) if "deprecated" in text else None
        if isinstance(node, ast.Call) and decorators.where(ev, node, face.scope) in _MARKS:
            return _words(node.args[0]) if node.args else ""
    return None


def _warned(ev: Evaluator, face: FunctionFace) -> str | None:
    """The message of a deprecation warning that every call gives, before anything else happens."""
    if "warn" not in face.file.facts.pieces[face.piece].mentions:
        return None
    scope = ev.function_scope(face)
    if scope is None or not isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    for statement in scope.node.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)):
            continue
        if not isinstance(statement, ast.Expr):
            return None
        call = statement.value
        if isinstance(call, ast.Constant):
            continue
        if not isinstance(call, ast.Call) or decorators.where(ev, call, scope) not in (
            ("warnings", "warn"),
            ("_warnings", "warn"),
        ):
            return None
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        category = call.args[1] if len(call.args) > 1 else named.get("category")
        if category is None or not _is_deprecation(ev, expressions.value(ev, category, scope).items):
            return None
        message = call.args[0] if call.args else named.get("message")
        return _words(message) if message is not None else ""
    return None


def _is_deprecation(ev: Evaluator, items: tuple[Obj, ...]) -> bool:
    return bool(items) and all(
        isinstance(o, ClassObject) and any(e.ref in _WARNINGS for e in hierarchy.mro(ev, o.ref).entries) for o in items
    )


def _words(node: ast.expr) -> str:
    """The text of a message that is written out, in one line."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    return ""
