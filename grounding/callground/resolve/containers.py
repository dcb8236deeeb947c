"""Iteration, unpacking and subscripts over typed containers."""

from __future__ import annotations

import ast

from callground.resolve import calls, classes, expressions, hierarchy, members
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import Scope
from callground.resolve.values import (
    ClassObject,
    Instance,
    Ref,
    Values,
    builtin,
    instance,
    is_none,
    join,
    known,
    literal_value,
    unknown,
)
from callground.verdict.model import Reason


def iterate(ev: Evaluator, node: ast.expr, scope: Scope, is_async: bool = False) -> Values:
    """What a loop over an expression yields.  A display that is iterated on the spot is complete."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return join(*(expressions.value(ev, e, scope) for e in node.elts)) if node.elts else Values()
    return elements(ev, expressions.value(ev, node, scope), is_async)


def elements(ev: Evaluator, values: Values, is_async: bool = False) -> Values:
    """What iterating over the values yields."""
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if is_none(o):
            continue
        parts.append(_elements_of(ev, o, is_async))
    return join(*parts)


def _elements_of(ev: Evaluator, o: object, is_async: bool) -> Values:
    if isinstance(o, Instance):
        if o.items is not None and o.ref == builtin("tuple"):
            return join(*o.items) if o.items else Values()
        first, second = ("__aiter__", "__anext__") if is_async else ("__iter__", "__next__")
        iterator = calls.call_method(ev, o, first)
        out = [Values((), iterator.whys)]
        for item in iterator.items:
            if isinstance(item, Instance):
                got = calls.call_method(ev, item, second)
                out.append(calls.awaited(ev, got) if is_async else got)
            else:
                out.append(unknown(Reason.UNKNOWN_TYPE, "iteration"))
        return join(*out)
    if isinstance(o, ClassObject):
        from callground.resolve import generated

        if generated.is_enum(ev, o.ref):
            return known(Instance(o.ref, exact=True))
    return unknown(Reason.UNKNOWN_TYPE, "iteration")


def unpack(ev: Evaluator, values: Values, path: tuple[int | str, ...]) -> Values:
    """The part of the values that a target at `path` gets."""
    for step in path:
        values = _step(ev, values, step)
    return values


def _step(ev: Evaluator, values: Values, step: int | str) -> Values:
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if isinstance(o, Instance) and o.ref == builtin("tuple") and o.items is not None:
            if isinstance(step, int):
                if step < len(o.items):
                    parts.append(o.items[step])
                else:
                    parts.append(unknown(Reason.UNKNOWN_SUBSCRIPT, "unpacking"))
            else:
                parts.append(known(instance("list", join(*o.items) if o.items else Values())))
        elif isinstance(o, Instance) and not is_none(o):
            fields = _namedtuple_items(ev, o)
            if fields is not None and isinstance(step, int) and step < len(fields):
                parts.append(fields[step])
                continue
            got = elements(ev, known(o))
            parts.append(known(instance("list", got)) if isinstance(step, str) else got)
        else:
            parts.append(unknown(Reason.UNKNOWN_SUBSCRIPT, "unpacking"))
    return join(*parts)


def _namedtuple_items(ev: Evaluator, o: Instance) -> list[Values] | None:
    from callground.resolve import generated

    fields = generated.namedtuple_fields(ev, o.ref)
    if fields is not None:
        return [members.attribute(ev, known(o), name) for name, _default in fields]
    return None


def subscript(ev: Evaluator, node: ast.Subscript, scope: Scope) -> Values:
    """The values of ``x[i]``."""
    base = expressions.value(ev, node.value, scope)
    parts: list[Values] = [Values((), base.whys)]
    for o in base.items:
        if is_none(o):
            continue
        parts.append(_subscript_of(ev, o, node, scope))
    return join(*parts)


def _subscript_of(ev: Evaluator, o: object, node: ast.Subscript, scope: Scope) -> Values:
    if isinstance(o, ClassObject):
        return _class_subscript(ev, o, node, scope)
    if not isinstance(o, Instance):
        return unknown(Reason.UNKNOWN_SUBSCRIPT)
    if o.items is not None and o.ref == builtin("tuple") and not isinstance(node.slice, ast.Slice):
        index = expressions.value(ev, node.slice, scope)
        if len(index.items) == 1:
            is_constant, value = literal_value(index.items[0])
            if is_constant and isinstance(value, int) and -len(o.items) <= value < len(o.items):
                return o.items[value]
        return join(*o.items) if o.items else unknown(Reason.UNKNOWN_SUBSCRIPT)
    fields = _namedtuple_items(ev, o)
    if fields is not None:
        is_constant, value = _constant(node.slice)
        if is_constant and isinstance(value, int) and -len(fields) <= value < len(fields):
            return fields[value]
    if isinstance(node.slice, ast.Slice):
        if o.ref in (builtin("list"), builtin("str"), builtin("bytes"), builtin("tuple")):
            return known(Instance(o.ref, o.args, exact=o.exact))
        index = known(instance("slice"))
    else:
        index = expressions.value(ev, node.slice, scope)
    return calls.call_method(ev, o, "__getitem__", [index], reason=Reason.UNKNOWN_SUBSCRIPT)


def _constant(node: ast.expr) -> tuple[bool, object]:
    try:
        return True, ast.literal_eval(node)
    except ValueError:
        return False, None


def _class_subscript(ev: Evaluator, o: ClassObject, node: ast.Subscript, scope: Scope) -> Values:
    from callground.resolve import generated, type_forms

    if generated.is_enum(ev, o.ref):
        return known(Instance(o.ref, exact=True))
    own = classes.find(ev, o.ref, "__class_getitem__", on_class=True)
    if own.found is not None and all(r.kind == "def" and not f.file.is_stub for f, r in own.found.rows):
        # The class says itself what comes of it; a generic one that says nothing does what generic classes do.
        made = calls.call_values(ev, members.attribute(ev, known(o), "__class_getitem__"), calls.CallArgs.nothing())
        if (made.items and made.complete) or not hierarchy.type_params(ev, o.ref):
            return made
    args = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if o.ref == builtin("type"):
        got = type_forms.instances(ev, node, scope)
        classes_ = tuple(c for c in got.items if isinstance(c, ClassObject))
        return known(*classes_) if classes_ else known(o)
    values = tuple(
        unknown(Reason.UNKNOWN_TYPE, "type argument")
        if isinstance(a, (ast.List, ast.Slice)) or (isinstance(a, ast.Constant) and a.value is Ellipsis)
        else type_forms.instances(ev, a, scope)
        for a in args
    )
    if o.ref == builtin("tuple"):
        # One parameter for all elements; the shape is only kept for annotations.
        ellipsis = len(args) == 2 and isinstance(args[1], ast.Constant) and args[1].value is Ellipsis
        values = (values[0] if ellipsis else join(*values),)
    return known(ClassObject(o.ref, values, o.exact))


_ = Ref
