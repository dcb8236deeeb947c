"""Type parameters: substitution, and solving them from arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from callground.resolve import calls, classes, hierarchy, members, openness, returns
from callground.resolve.evaluator import Evaluator
from callground.resolve.values import (
    BoundMethod,
    CallableObject,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    Obj,
    Ref,
    TypeOfVar,
    TypeVarObject,
    Values,
    Why,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

Solution = dict[Ref, Values]
SELF = Ref("typing", "Self")


def mapping(params: Iterable[TypeVarObject], args: tuple[Values, ...]) -> Solution:
    """Parameters to the arguments given for them; those without one are unknown."""
    out: Solution = {}
    for i, p in enumerate(params):
        out[p.ref] = args[i] if i < len(args) else unknown(Reason.UNKNOWN_TYPE, p.ref.qualname)
    return out


def has_vars(values: Values) -> bool:
    """Whether any type parameter occurs in the values."""
    return any(_has(o) for o in values.items)


def _has(o: Obj) -> bool:
    if isinstance(o, (TypeVarObject, TypeOfVar)):
        return True
    if isinstance(o, Instance):
        return any(has_vars(a) for a in o.args) or any(has_vars(i) for i in o.items or ())
    if isinstance(o, ClassObject):
        return any(has_vars(a) for a in o.args)
    if isinstance(o, CallableObject):
        return has_vars(o.result) or isinstance(o.like, TypeVarObject) or any(has_vars(p) for p in o.params or ())
    return False


def substitute(values: Values, solution: Mapping[Ref, Values]) -> Values:
    """The values with every solved parameter replaced."""
    if not solution or not has_vars(values):
        return values
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        parts.append(_substitute(o, solution))
    return join(*parts)


def _substitute(o: Obj, solution: Mapping[Ref, Values]) -> Values:
    if isinstance(o, TypeVarObject):
        return solution.get(o.ref, known(o))
    if isinstance(o, TypeOfVar):
        found = solution.get(o.var.ref)
        if found is None:
            return known(o)
        classes_ = tuple(ClassObject(i.ref, i.args, exact=False) for i in found.items if isinstance(i, Instance))
        vars_ = tuple(TypeOfVar(i) for i in found.items if isinstance(i, TypeVarObject))
        rest = len(classes_) + len(vars_) != len(found.items)
        whys = (*found.whys, Why(Reason.UNKNOWN_TYPE, "type")) if rest else found.whys
        return Values((*classes_, *vars_), whys)
    if isinstance(o, Instance) and (o.args or o.items):
        items = o.items
        literal: object = tuple(substitute(i, solution) for i in items) if items is not None else o.literal
        return known(replace(o, args=substitute_all(o.args, solution), literal=literal))
    if isinstance(o, ClassObject) and o.args:
        return known(replace(o, args=substitute_all(o.args, solution)))
    if isinstance(o, CallableObject):
        like = o.like
        if isinstance(like, TypeVarObject) and like.ref in solution:
            found = solution[like.ref]
            like = found.items[0] if len(found.items) == 1 and found.complete else None
        params = substitute_all(o.params, solution) if o.params is not None else None
        return known(CallableObject(substitute(o.result, solution), like, params))
    return known(o)


def substitute_all(args: tuple[Values, ...], solution: Mapping[Ref, Values]) -> tuple[Values, ...]:
    """`substitute` over several."""
    return tuple(substitute(a, solution) for a in args)


def finish(values: Values) -> Values:
    """The values with what is still unsolved replaced by its bound, or by unknown."""
    if not has_vars(values):
        return values
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if isinstance(o, TypeVarObject):
            parts.append((o.bound or Values()).opened(Reason.UNKNOWN_TYPE, o.ref.qualname))
        elif isinstance(o, TypeOfVar):
            parts.append(unknown(Reason.UNKNOWN_TYPE, f"type[{o.var.ref.qualname}]"))
        elif isinstance(o, Instance):
            items = o.items
            literal: object = tuple(finish(i) for i in items) if items is not None else o.literal
            parts.append(known(replace(o, args=tuple(finish(a) for a in o.args), literal=literal)))
        elif isinstance(o, ClassObject):
            parts.append(known(replace(o, args=tuple(finish(a) for a in o.args))))
        elif isinstance(o, CallableObject) and (
            isinstance(o.like, TypeVarObject) or any(has_vars(p) for p in o.params or ())
        ):
            # Generic by itself: what its own parameters bind is solved when it is called.
            parts.append(known(o))
        elif isinstance(o, CallableObject):
            like = None if isinstance(o.like, TypeVarObject) else o.like
            parts.append(known(CallableObject(finish(o.result), like, o.params)))
        else:
            parts.append(known(o))
    return join(*parts)


def solve(ev: Evaluator, declared: Values, given: Values, solution: Solution, depth: int = 0) -> None:
    """Add to `solution` what follows for the parameters in `declared` from an argument's values."""
    if depth > 4:
        return
    variables = [o for o in declared.items if isinstance(o, TypeVarObject)]
    structured = [o for o in declared.items if not isinstance(o, TypeVarObject) and _has(o)]
    if variables:
        rest = given
        if len(declared.items) > 1:
            # ``T | None``: what the other alternatives take is not part of T.
            others = {o.ref for o in declared.items if isinstance(o, Instance)}
            rest = Values(
                tuple(o for o in given.items if not (isinstance(o, Instance) and o.ref in others)), given.whys
            )
        for var in variables:
            widened = Values(tuple(widen(o) for o in rest.items), rest.whys)
            before = solution.get(var.ref)
            solution[var.ref] = widened if before is None else join(before, widened)
    for o in given.items:
        # Of a union only the alternatives that the argument can be say something.
        meant = [shape for shape in structured if _matches(ev, shape, o)] if len(structured) > 1 else []
        for shape in meant or structured:
            _solve_one(ev, shape, o, solution, depth)
    for shape in structured:
        if not given.complete or not given.items:
            for var in vars_in(known(shape)):
                before = solution.get(var.ref, Values())
                solution[var.ref] = join(before, Values((), given.whys or (Why(Reason.UNKNOWN_TYPE, "argument"),)))


def _matches(ev: Evaluator, shape: Obj, o: Obj) -> bool:
    """Whether a declared alternative is what an argument is an instance of."""
    if isinstance(shape, Instance):
        if not isinstance(o, Instance):
            return False
        return args_as(ev, o, shape.ref) is not None or all(
            members.of(ev, o, name).found is not None for name in _protocol_methods(ev, shape.ref) or ("",)
        )
    if isinstance(shape, CallableObject):
        return not isinstance(o, Instance) or classes.find(ev, o.ref, "__call__").found is not None
    return isinstance(o, ClassObject)


def _protocol_methods(ev: Evaluator, ref: Ref) -> tuple[str, ...]:
    """The methods that a protocol asks for; nothing for other classes."""
    if not any(openness.is_protocol(ev, face) for face in classes.faces(ev, ref)):
        return ()
    return tuple(
        dict.fromkeys(
            b.name
            for entry in hierarchy.mro(ev, ref).entries
            if entry.ref != hierarchy.OBJECT
            for face in classes.faces(ev, entry.ref)
            for b in face.row.members
            if b.kind == "def"
        )
    )


def widen(o: Obj) -> Obj:
    """The object without its constant value: what a container of such things may hold later."""
    if isinstance(o, Instance) and o.items is None and o.literal is not None:
        return replace(o, literal=None)
    return o


def vars_in(values: Values) -> list[TypeVarObject]:
    """The type parameters that occur in the values, in order, as often as they do."""
    out: list[TypeVarObject] = []
    for o in values.items:
        if isinstance(o, TypeVarObject):
            out.append(o)
        elif isinstance(o, TypeOfVar):
            out.append(o.var)
        elif isinstance(o, (Instance, ClassObject)):
            for a in o.args:
                out.extend(vars_in(a))
        elif isinstance(o, CallableObject):
            out.extend(vars_in(o.result))
            for p in o.params or ():
                out.extend(vars_in(p))
            if isinstance(o.like, TypeVarObject):
                out.append(o.like)
    return out


def _solve_one(ev: Evaluator, shape: Obj, o: Obj, solution: Solution, depth: int) -> None:
    if isinstance(shape, TypeOfVar):
        if isinstance(o, ClassObject):
            solve(ev, known(shape.var), known(Instance(o.ref, o.args, o.exact)), solution, depth + 1)
        else:
            solution.setdefault(shape.var.ref, unknown(Reason.UNKNOWN_TYPE, "type"))
        return
    if isinstance(shape, Instance) and isinstance(o, Instance):
        if shape.items and o.items is not None and len(shape.items) == len(o.items):
            # Tuples of one length, element by element.
            for wanted, given in zip(shape.items, o.items, strict=True):
                solve(ev, wanted, given, solution, depth + 1)
            return
        args = args_as(ev, o, shape.ref)
        if args is None:
            if not _solve_protocol(ev, shape, o, solution, depth):
                for var in vars_in(known(shape)):
                    solution.setdefault(var.ref, unknown(Reason.UNKNOWN_TYPE, "argument"))
            return
        for i, wanted in enumerate(shape.args):
            given = args[i] if i < len(args) else unknown(Reason.UNKNOWN_TYPE, "argument")
            solve(ev, wanted, given, solution, depth + 1)
        return
    if isinstance(shape, CallableObject):
        if isinstance(shape.like, TypeVarObject):
            solution.setdefault(shape.like.ref, known(o))
        if has_vars(shape.result):
            if isinstance(o, (FunctionObject, LocalFunction, BoundMethod, ClassObject, CallableObject, Instance)):
                result = calls.call(ev, o, calls.CallArgs.nothing())
            else:
                result = unknown(Reason.UNKNOWN_RETURN)
            solve(ev, shape.result, result, solution, depth + 1)
        return
    if isinstance(shape, Instance) and isinstance(o, (FunctionObject, LocalFunction, BoundMethod, ClassObject)):
        for var in vars_in(known(shape)):
            solution.setdefault(var.ref, unknown(Reason.UNKNOWN_TYPE, "argument"))


def _solve_protocol(ev: Evaluator, shape: Instance, o: Instance, solution: Solution, depth: int) -> bool:
    """Solve a protocol's parameters from what the methods that it asks for give; False when it asks for none."""
    if not _protocol_methods(ev, shape.ref):
        return False
    params = mapping(hierarchy.type_params(ev, shape.ref), shape.args)
    solved = False
    for entry in hierarchy.mro(ev, shape.ref).entries:
        rows = [b for face in classes.faces(ev, entry.ref) for b in face.row.members if b.kind == "def"]
        if entry.ref == hierarchy.OBJECT or not rows:
            continue
        inner = mapping(hierarchy.type_params(ev, entry.ref), substitute_all(entry.args, params))
        for name in dict.fromkeys(b.name for b in rows):
            asked = calls.function_faces(ev, Ref(entry.ref.module, f"{entry.ref.qualname}.{name}"))
            if len(asked) != 1 or asked[0].row.returns is None:
                continue
            declared = substitute(returns.declared_return(ev, asked[0]), inner)
            if has_vars(declared):
                solve(ev, declared, calls.call_method(ev, o, name), solution, depth + 1)
                solved = True
    return solved


def args_as(ev: Evaluator, o: Instance, ref: Ref) -> tuple[Values, ...] | None:
    """The type arguments of an instance seen as an instance of a base class; None when it is not one."""
    if o.ref == ref:
        return o.args
    order = hierarchy.mro(ev, o.ref)
    for entry in order.entries:
        if entry.ref == ref:
            solution = mapping(hierarchy.type_params(ev, o.ref), o.args)
            return substitute_all(entry.args, solution)
    return None
