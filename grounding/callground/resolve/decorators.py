"""Decorators: what they make of a function or a class."""

from __future__ import annotations

import ast

from callground.resolve import calls, classes, expressions, type_forms
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    BoundMethod,
    CallableObject,
    ClassMethodObject,
    ClassObject,
    FunctionObject,
    LocalFunction,
    Obj,
    PropertyObject,
    StaticObject,
    Values,
    Why,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

# Decorators of the standard library whose result is the very function that they were given.
_TRANSPARENT = {
    ("abc", "abstractmethod"),
    ("typing", "overload"),
    ("typing", "final"),
    ("typing", "override"),
    ("typing", "no_type_check"),
    ("typing", "type_check_only"),
    ("typing_extensions", "overload"),
    ("typing_extensions", "final"),
    ("typing_extensions", "override"),
    ("typing_extensions", "deprecated"),
    ("warnings", "deprecated"),
    ("functools", "wraps"),
    ("types", "coroutine"),
    ("atexit", "register"),
    ("functools", "update_wrapper"),
}
_COPYING = {("functools", "wraps"), ("functools", "update_wrapper")}
_CACHES = {("functools", "lru_cache"), ("functools", "cache")}
_PROPERTIES = {
    ("abc", "abstractproperty"),
    ("types", "DynamicClassAttribute"),
    ("enum", "property"),
    ("enum", "_magic_enum_attr"),
    ("builtins", "property"),
}
_STATIC = {("builtins", "staticmethod"), ("abc", "abstractstaticmethod")}
_CLASS = {("builtins", "classmethod"), ("abc", "abstractclassmethod")}

# Class decorators that keep the class and add only what `generated` knows, or dunders.
_SAFE_CLASS = {
    ("dataclasses", "dataclass"),
    ("functools", "total_ordering"),
    ("typing", "final"),
    ("typing", "runtime_checkable"),
    ("typing_extensions", "final"),
    ("typing_extensions", "runtime_checkable"),
    ("typing_extensions", "deprecated"),
    ("typing_extensions", "disjoint_base"),
    ("typing", "type_check_only"),
    ("typing", "disjoint_base"),
    ("warnings", "deprecated"),
    ("typing", "dataclass_transform"),
    ("enum", "unique"),
    ("enum", "verify"),
    ("enum", "global_enum"),
    ("attr", "s"),
    ("attr", "attrs"),
    ("attr", "attributes"),
    ("attr", "dataclass"),
    ("attr", "define"),
    ("attr", "frozen"),
    ("attr", "mutable"),
    ("attrs", "define"),
    ("attrs", "frozen"),
    ("attrs", "mutable"),
    ("unittest", "skip"),
    ("unittest", "skipIf"),
    ("unittest", "skipUnless"),
}


def where(ev: Evaluator, node: ast.expr, scope: Scope) -> tuple[str, str] | None:
    """(module, name) that a decorator comes from, builtins included; the called function for ``@f(...)``."""
    target = node.func if isinstance(node, ast.Call) else node
    text = dotted(target)
    if text is None:
        return None
    found = type_forms.origin(ev, text, scope.top)
    if found is not None:
        module, name = found
        if module.startswith(("attr.", "attrs.")):
            module = module.split(".")[0]
        if module == "unittest.case":
            module = "unittest"
        return module, name
    if "." not in text and text in ("property", "staticmethod", "classmethod"):
        return "builtins", text
    return None


def copies_attributes(ev: Evaluator, text: str, scope: Scope) -> bool:
    """Whether a decorator gives the function what some other function has."""
    node = parse_expression(text)
    return node is not None and where(ev, node, scope) in _COPYING


def apply_texts(ev: Evaluator, base: Values, texts: tuple[str, ...], scope: Scope) -> Values:
    """Decorators given as source text, applied from the innermost."""
    nodes: list[ast.expr] = []
    for text in texts:
        node = parse_expression(text)
        if node is None:
            return base.opened(Reason.UNKNOWN_DECORATOR, text)
        nodes.append(node)
    return apply_nodes(ev, base, nodes, scope)


def apply_nodes(ev: Evaluator, base: Values, nodes: list[ast.expr], scope: Scope) -> Values:
    """Decorators given as nodes, applied from the innermost."""
    values = base
    for node in reversed(nodes):
        values = _apply(ev, values, node, scope)
    return values


def _each(values: Values, make: type[PropertyObject] | type[StaticObject] | type[ClassMethodObject]) -> Values:
    return Values(tuple(make(o) for o in values.items), values.whys)


def _apply(ev: Evaluator, base: Values, node: ast.expr, scope: Scope) -> Values:
    source = where(ev, node, scope)
    if source is not None:
        if source in _TRANSPARENT:
            return base
        if source in _PROPERTIES and not isinstance(node, ast.Call):
            return _each(base, PropertyObject)
        if source in _STATIC:
            return _each(base, StaticObject)
        if source in _CLASS:
            return _each(base, ClassMethodObject)
        if source in _CACHES:
            return Values(tuple(_cached(ev, o) for o in base.items), base.whys)
    text = ast.unparse(node) if len(ast.dump(node)) < 4000 else "decorator"
    decorator = expressions.value(ev, node, scope)
    if not decorator.items:
        return base.opened(Reason.UNKNOWN_DECORATOR, text)
    result = calls.call_values(ev, decorator, calls.CallArgs.of([base]))
    if not result.items:
        return Values((), (Why(Reason.UNKNOWN_DECORATOR, text),))
    if not result.complete or not decorator.complete:
        return result.opened(Reason.UNKNOWN_DECORATOR, text)
    return result


def _cached(ev: Evaluator, o: Obj) -> Obj:
    if isinstance(o, (FunctionObject, LocalFunction, BoundMethod)):
        return CallableObject(calls.call(ev, o, calls.CallArgs.nothing()), o)
    if isinstance(o, StaticObject):
        return StaticObject(_cached(ev, o.function))
    return CallableObject(unknown(Reason.UNKNOWN_DECORATOR, "lru_cache"))


def apply_to_class(ev: Evaluator, values: Values, node: ast.expr, scope: Scope) -> Values:
    """What a class decorator makes of a class."""
    source = where(ev, node, scope)
    if source in _SAFE_CLASS:
        return values
    text = ast.unparse(node) if len(ast.dump(node)) < 4000 else "decorator"
    decorator = expressions.value(ev, node, scope)
    if not decorator.items:
        return values.opened(Reason.UNKNOWN_DECORATOR, text)
    result = calls.call_values(ev, decorator, calls.CallArgs.of([values]))
    result = Values(
        tuple(ClassObject(o.ref, o.args, True) if isinstance(o, ClassObject) else o for o in result.items), result.whys
    )
    if not result.complete or not decorator.complete:
        return join(values, result).opened(Reason.UNKNOWN_DECORATOR, text)
    return result


def adds(ev: Evaluator, face: ClassFace, member: str) -> Why | None:
    """Why a decorator of the class may have added that member to it."""
    for text in face.row.decorators:
        node = parse_expression(text)
        if node is None:
            return Why(Reason.UNKNOWN_DECORATOR, text)
        source = where(ev, node, face.scope)
        if source in _SAFE_CLASS:
            continue
        if source is None or not ev.snapshot.exists(source[0]):
            return Why(Reason.UNKNOWN_DECORATOR, text)
        module = ev.module(source[0])
        if module is None:
            return Why(Reason.UNKNOWN_DECORATOR, text)
        name = source[1]
        file = module.source
        if file is None or not ev.index(file).functions(name):
            return Why(Reason.UNKNOWN_DECORATOR, text)
        ev.read("body", module.name, name)
        for piece in file.facts.pieces:
            for store in piece.attr_stores:
                if store.attr not in (member, "*"):
                    continue
                if store.scope == name or store.scope.startswith(name + "."):
                    return Why(Reason.UNKNOWN_DECORATOR, f"{text} stores {store.receiver}.{store.attr}")
    return None


_KEEPING = {"append", "appendleft", "add", "insert", "setdefault", "update"}


def gives_back(ev: Evaluator, node: ast.expr, scope: Scope) -> bool:
    """Whether a class decorator is a function that hands its class back and does no more than note it somewhere."""
    decorator = expressions.value(ev, node, scope)
    if not decorator.items or not decorator.complete:
        return False
    for o in decorator.items:
        function: ast.AST | None = None
        if isinstance(o, LocalFunction):
            function = o.node
        elif isinstance(o, FunctionObject):
            rows = calls.function_faces(ev, o.ref)
            inside = ev.function_scope(rows[0]) if len(rows) == 1 and not rows[0].file.is_stub else None
            function = inside.node if inside is not None else None
        if not isinstance(function, ast.FunctionDef) or not _only_notes(function):
            return False
    return True


def _only_notes(function: ast.FunctionDef) -> bool:
    params = [*function.args.posonlyargs, *function.args.args]
    if function.decorator_list or not params:
        return False
    name = params[0].arg
    allowed: set[int] = set()
    returned = False
    for sub in ast.walk(function):
        if isinstance(sub, ast.Return):
            if not isinstance(sub.value, ast.Name) or sub.value.id != name:
                return False
            allowed.add(id(sub.value))
            returned = True
        elif (isinstance(sub, ast.Attribute) and isinstance(sub.ctx, ast.Load)) or (
            isinstance(sub, ast.Assign) and all(isinstance(t, ast.Subscript) for t in sub.targets)
        ):
            allowed.add(id(sub.value))
        elif isinstance(sub, ast.Call) and isinstance(sub.func, ast.Attribute) and sub.func.attr in _KEEPING:
            allowed.update(id(a) for a in sub.args)
    uses = [sub for sub in ast.walk(function) if isinstance(sub, ast.Name) and sub.id == name]
    return returned and all(id(sub) in allowed for sub in uses)


def only_safe(ev: Evaluator, face: ClassFace) -> bool:
    """Whether every decorator of the class is one that keeps its constructor or that `generated` knows."""
    for text in face.row.decorators:
        node = parse_expression(text)
        if node is None or where(ev, node, face.scope) not in _SAFE_CLASS:
            return False
    return True


_ = classes, known
