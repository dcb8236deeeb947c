"""Arguments to parameters: the binding that Python does at a call, and which overloads it allows."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from callground.facts.model import Param
from callground.resolve import calls, classes, generics, hierarchy, openness, returns
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import FunctionFace
from callground.resolve.values import (
    BoundMethod,
    CallableObject,
    ClassObject,
    FunctionObject,
    Instance,
    Literal,
    LocalFunction,
    Obj,
    TypeOfVar,
    TypeVarObject,
    Values,
    builtin,
    is_none,
    known,
    unknown,
)
from callground.verdict.model import Reason


class Problem(NamedTuple):
    """Why arguments do not bind."""

    code: str
    name: str
    """The keyword or parameter."""
    argument: int = -1
    """Index of the positional, or of the keyword in the call's keywords."""
    maximum: int = 0
    given: int = 0


class Shape(NamedTuple):
    """The arguments of a call as far as binding needs them."""

    positional: int
    """How many plain positionals stand before the first ``*args``."""
    keywords: tuple[str, ...]
    star: bool
    double_star: bool
    after_star: int = 0
    """Plain positionals after a ``*args``."""


def shape(args: calls.CallArgs) -> Shape:
    """The shape of a call's arguments."""
    plain, after, star = 0, 0, False
    for a in args.positional:
        if isinstance(a, ast.Starred):
            star = True
        elif star:
            after += 1
        else:
            plain += 1
    names = tuple(k for k, _v in args.keywords if k is not None)
    return Shape(plain, names, star, any(k is None for k, _v in args.keywords), after)


def problems(params: Sequence[Param], call: Shape) -> list[Problem]:
    """Everything that keeps the arguments from binding, most telling first; empty when they bind (or may)."""
    found: list[Problem] = []
    slots = [p for p in params if p.kind in ("positional-only", "positional")]
    has_var = any(p.kind == "*args" for p in params)
    has_kw = any(p.kind == "**kwargs" for p in params)
    by_name = {p.name: p for p in params if p.kind in ("positional", "keyword-only")}
    only = {p.name for p in params if p.kind == "positional-only"}
    given = call.positional + call.after_star
    filled = {p.name for p in slots[: call.positional]}
    seen: set[str] = set()
    for i, keyword in enumerate(call.keywords):
        if keyword in seen:
            found.append(Problem("duplicate-argument", keyword, i))
        seen.add(keyword)
        if keyword in by_name:
            if keyword in filled:
                found.append(Problem("duplicate-argument", keyword, i))
        elif has_kw:
            continue
        elif keyword in only:
            found.append(Problem("positional-only-as-keyword", keyword, i))
        else:
            found.append(Problem("unknown-keyword", keyword, i))
    if given > len(slots) and not has_var:
        found.append(Problem("too-many-arguments", "", len(slots), len(slots), given))
    if not call.star and not call.double_star:
        for i, p in enumerate(slots):
            if (i >= call.positional and p.default is None and p.name not in seen) or (
                i >= call.positional and p.kind == "positional-only" and p.default is None and p.name in seen and has_kw
            ):
                found.append(Problem("missing-argument", p.name))
    if not call.double_star:
        for p in params:
            if p.kind == "keyword-only" and p.default is None and p.name not in seen:
                found.append(Problem("missing-argument", p.name))
    order = (
        "unknown-keyword",
        "positional-only-as-keyword",
        "duplicate-argument",
        "too-many-arguments",
        "missing-argument",
    )
    found.sort(key=lambda f: order.index(f.code))
    return found


def assign(ev: Evaluator, params: Sequence[Param], args: calls.CallArgs) -> list[tuple[Param, Values]]:
    """(parameter, the values it gets) for what can be told."""
    out: list[tuple[Param, Values]] = []
    slots = [p for p in params if p.kind in ("positional-only", "positional")]
    var = next((p for p in params if p.kind == "*args"), None)
    kw = next((p for p in params if p.kind == "**kwargs"), None)
    by_name = {p.name: p for p in params if p.kind in ("positional", "keyword-only")}
    for position, a in enumerate(args.positional):
        if isinstance(a, ast.Starred):
            if var is not None:
                out.append((var, unknown(Reason.STAR_ARGUMENTS)))
            for p in slots[position:]:
                out.append((p, unknown(Reason.STAR_ARGUMENTS)))
            break
        if position < len(slots):
            out.append((slots[position], args.value(ev, a)))
        elif var is not None:
            out.append((var, args.value(ev, a)))
    for keyword, a in args.keywords:
        if keyword is None:
            continue
        named = by_name.get(keyword) or kw
        if named is not None:
            out.append((named, args.value(ev, a)))
    return out


def select(
    ev: Evaluator, overloads: list[FunctionFace], args: calls.CallArgs, receiver: Obj | None
) -> list[FunctionFace]:
    """The overloads that the arguments may choose: all that are possible up to the first that is certain."""
    call = shape(args)
    out: list[FunctionFace] = []
    for face in overloads:
        params = list(face.row.params)
        # What a star brings may choose another overload.
        fits: bool | None = None if call.star or call.double_star else True
        if receiver is not None and params and params[0].kind in ("positional", "positional-only"):
            first = params.pop(0)
            if first.annotation is not None:
                declared = returns.param_values(ev, face, first.name, first.annotation)
                fits = compatible(ev, Values((receiver,)), declared)
        if fits is False or problems(params, call):
            continue
        for param, values in assign(ev, params, args):
            if param.annotation is None:
                continue
            declared = _declared(ev, face, param.name, param.annotation, receiver)
            one = compatible(ev, values, declared)
            if one is False:
                fits = False
                break
            if one is None:
                fits = None
        if fits is False:
            continue
        out.append(face)
        if fits is True:
            break
    return out


def _declared(ev: Evaluator, face: FunctionFace, name: str, annotation: str, receiver: Obj | None) -> Values:
    """What a parameter is declared to take; ``Self`` is the receiver's class."""
    declared = returns.param_values(ev, face, name, annotation)
    if isinstance(receiver, (Instance, ClassObject)):
        me = known(Instance(receiver.ref, receiver.args))
        return generics.substitute(declared, {generics.SELF: me})
    return declared


def certain(ev: Evaluator, face: FunctionFace, args: calls.CallArgs, receiver: Obj | None) -> bool:
    """Whether the arguments certainly fit one row's annotations."""
    params = list(face.row.params)
    if receiver is not None and params and params[0].kind in ("positional", "positional-only"):
        params.pop(0)
    return all(
        param.annotation is None
        or compatible(ev, values, _declared(ev, face, param.name, param.annotation, receiver)) is True
        for param, values in assign(ev, params, args)
    )


def compatible(ev: Evaluator, given: Values, declared: Values) -> bool | None:
    """Whether an argument fits a declared parameter: certainly, certainly not, or not known."""
    if not declared.complete:
        return True if not declared.items else None
    if not given.items:
        return None
    results = {_fits(ev, o, declared) for o in given.items}
    if results == {True}:
        return True if given.complete else None
    if results == {False} and given.complete:
        return False
    return None


def _fits(ev: Evaluator, o: Obj, declared: Values) -> bool | None:
    unsure = False
    for d in declared.items:
        one = _fits_one(ev, o, d)
        if one is True:
            return True
        unsure = unsure or one is None
    return None if unsure else False


def _fits_one(ev: Evaluator, o: Obj, d: Obj) -> bool | None:
    if isinstance(d, TypeVarObject):
        if d.bound is None or not d.bound.complete:
            return True
        return _fits(ev, o, d.bound)
    if isinstance(d, TypeOfVar):
        return True if isinstance(o, ClassObject) else False if isinstance(o, Instance) else None
    if isinstance(d, CallableObject):
        if isinstance(o, (FunctionObject, LocalFunction, BoundMethod, ClassObject, CallableObject)):
            return True
        if isinstance(o, Instance):
            if is_none(o):
                return False
            looked = classes.find(ev, o.ref, "__call__")
            return True if looked.found is not None else None if looked.why is not None else False
        return None
    if isinstance(d, ClassObject):
        if isinstance(o, ClassObject):
            return hierarchy.is_subclass(ev, o.ref, d.ref)
        return False if isinstance(o, Instance) and o.ref.module == "builtins" else None
    if isinstance(d, Instance):
        if d.ref == builtin("object"):
            return True
        if is_none(o) or is_none(d):
            return (is_none(o) and is_none(d)) or (None if not is_none(d) and _protocol(ev, d) else False)
        if isinstance(o, Instance):
            if isinstance(d.literal, Literal):
                if isinstance(o.literal, Literal):
                    return o.literal == d.literal
                return False if o.ref != d.ref else None
            sub = hierarchy.is_subclass(ev, o.ref, d.ref)
            if sub is False:
                if d.ref == builtin("float") and o.ref in (builtin("int"), builtin("bool")):
                    return True
                if d.ref == builtin("complex") and o.ref in (builtin("int"), builtin("float")):
                    return True
                if _protocol(ev, d):
                    return _has_protocol(ev, o, d)
                return False if o.exact or _unrelated(ev, o, d) else None
            if sub is True and d.args and o.args:
                return _args_fit(ev, o, d)
            return sub
        if isinstance(o, TypeVarObject):
            return None
        if d.ref.module in ("builtins",) and d.ref.qualname in (
            "str",
            "bytes",
            "int",
            "float",
            "bool",
            "list",
            "dict",
            "tuple",
        ):
            return False
        return None
    return None


def _args_fit(ev: Evaluator, o: Instance, d: Instance) -> bool | None:
    args = generics.args_as(ev, o, d.ref)
    if args is None:
        return True
    unsure = False
    for given, wanted in zip(args, d.args, strict=False):
        if generics.has_vars(wanted) or not wanted.items:
            continue
        one = compatible(ev, given, wanted)
        if one is False:
            return False
        unsure = unsure or one is None
    return None if unsure else True


def _unrelated(ev: Evaluator, o: Instance, d: Instance) -> bool:
    """Two builtin value types of which nothing can be both."""
    solid = {"str", "bytes", "int", "float", "list", "dict", "set", "tuple", "bytearray", "bool"}
    return o.ref.module == d.ref.module == "builtins" and o.ref.qualname in solid and d.ref.qualname in solid


def _protocol(ev: Evaluator, d: Instance) -> bool:
    return any(openness.is_protocol(ev, f) for f in classes.faces(ev, d.ref))


def _has_protocol(ev: Evaluator, o: Instance, d: Instance) -> bool | None:
    for face in classes.faces(ev, d.ref):
        for b in face.row.members:
            if b.kind != "def" or b.name in ("__init__",):
                continue
            looked = classes.find(ev, o.ref, b.name)
            if looked.found is None:
                return None if looked.why is not None else False
    return None
