"""Calls: what calling a value gives, with overloads, generics and inferred returns; and what decorators do."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from callground.facts.model import Binding
from callground.graph.interface import SourceFile
from callground.resolve import (
    binding,
    classes,
    decorators,
    expressions,
    generics,
    hierarchy,
    members,
    returns,
    signatures,
    special_calls,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace, FunctionFace, Scope
from callground.resolve.values import (
    BoundMethod,
    CallableObject,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    Obj,
    PartialObject,
    Ref,
    StaticObject,
    TypeOfVar,
    TypeVarObject,
    Values,
    Why,
    is_none,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

Argument = ast.expr | Values
COROUTINE = Ref("types", "CoroutineType")


@dataclass(frozen=True, eq=False)
class CallArgs:
    """The arguments of a call: expressions in a scope, or values already known."""

    positional: tuple[Argument, ...] = ()
    keywords: tuple[tuple[str | None, Argument], ...] = ()
    scope: Scope | None = None

    @staticmethod
    def nothing() -> CallArgs:
        """No arguments."""
        return _NOTHING

    @staticmethod
    def of(values: Sequence[Values]) -> CallArgs:
        """Positional values."""
        return CallArgs(tuple(values))

    @staticmethod
    def from_node(node: ast.Call, scope: Scope) -> CallArgs:
        """The arguments of a call expression."""
        return CallArgs(tuple(node.args), tuple((k.arg, k.value) for k in node.keywords), scope)

    def value(self, ev: Evaluator, arg: Argument) -> Values:
        """The values of one argument."""
        if isinstance(arg, Values):
            return arg
        if self.scope is None:
            return unknown(Reason.UNSUPPORTED)
        return expressions.value(ev, arg, self.scope)


_NOTHING = CallArgs()


def call_values(ev: Evaluator, callee: Values, args: CallArgs) -> Values:
    """The union of calling each alternative; those that cannot be called add nothing."""
    parts: list[Values] = [Values((), callee.whys)]
    for o in callee.items:
        if not is_none(o):
            parts.append(call(ev, o, args))
    return join(*parts)


def call(ev: Evaluator, callee: Obj, args: CallArgs) -> Values:
    """What calling one object gives."""
    special = special_calls.result(ev, callee, args)
    if special is not None:
        return special
    if isinstance(callee, ClassObject):
        return construct(ev, callee, args)
    if isinstance(callee, FunctionObject):
        return function_result(ev, callee, args, None)
    if isinstance(callee, LocalFunction):
        return returns.of_local(ev, callee, args, None)
    if isinstance(callee, BoundMethod):
        inner = callee.function
        if isinstance(inner, FunctionObject):
            return function_result(ev, inner, args, callee.receiver)
        if isinstance(inner, LocalFunction):
            return returns.of_local(ev, inner, args, callee.receiver)
        if isinstance(inner, CallableObject):
            return _callable_result(ev, inner, args)
        return unknown(Reason.UNKNOWN_RETURN)
    if isinstance(callee, CallableObject):
        return _callable_result(ev, callee, args)
    if isinstance(callee, PartialObject):
        return call(ev, callee.callee, CallArgs())
    if isinstance(callee, StaticObject):
        return call(ev, callee.function, args)
    if isinstance(callee, Instance):
        return call_method(ev, callee, "__call__", args=args)
    if isinstance(callee, TypeOfVar):
        return known(callee.var)
    if isinstance(callee, TypeVarObject):
        return unknown(Reason.UNKNOWN_RETURN, callee.ref.qualname)
    return unknown(Reason.UNKNOWN_RETURN)


def _callable_result(ev: Evaluator, o: CallableObject, args: CallArgs) -> Values:
    """What ``Callable[[T], R]`` gives: its own type parameters are solved from the arguments."""
    if not generics.has_vars(o.result):
        return o.result
    solution: generics.Solution = {}
    for declared, arg in zip(o.params or (), args.positional, strict=False):
        if isinstance(arg, ast.Starred):
            break
        generics.solve(ev, declared, args.value(ev, arg), solution)
    return generics.finish(generics.substitute(o.result, solution))


def call_method(
    ev: Evaluator,
    o: Instance,
    name: str,
    values: Sequence[Values] = (),
    *,
    args: CallArgs | None = None,
    reason: Reason = Reason.UNKNOWN_RETURN,
) -> Values:
    """What ``o.name(*values)`` gives."""
    got = members.of(ev, o, name)
    if got.found is None:
        return unknown(*got.why) if got.why is not None else unknown(reason, name)
    return call_values(ev, got.found, args if args is not None else CallArgs.of(values))


def construct(ev: Evaluator, cls: ClassObject, args: CallArgs) -> Values:
    """An instance; its type arguments are solved from ``__init__`` or ``__new__``."""
    ref = cls.ref
    params = hierarchy.type_params(ev, ref)
    meta = hierarchy.metaclass(ev, ref)
    if meta != hierarchy.TYPE and classes.defines_call(ev, meta):
        return unknown(Reason.UNKNOWN_METACLASS, meta.dotted)
    new = classes.find(ev, ref, "__new__", on_class=True)
    if new.found is not None and new.found.entry.ref != hierarchy.OBJECT:
        made = _new_result(ev, cls, new.found, args)
        if made is not None:
            bare = Instance(ref, (), cls.exact)
            if cls.args or not params or bare not in made.items:
                return made
            # ``-> Self``: the type arguments follow from the call's.
            full = Instance(ref, _solved_args(ev, cls, params, args), cls.exact)
            return Values(tuple(full if o == bare else o for o in made.items), made.whys)
    if cls.args or not params:
        return known(Instance(ref, cls.args, cls.exact))
    return known(Instance(ref, _solved_args(ev, cls, params, args), cls.exact))


def _solved_args(
    ev: Evaluator, cls: ClassObject, params: tuple[TypeVarObject, ...], args: CallArgs
) -> tuple[Values, ...]:
    """The type arguments of a new instance, from what its constructor is given."""
    ref = cls.ref
    solution: generics.Solution = {}
    given = tuple(known(p) for p in params)
    receivers: tuple[tuple[str, Obj], ...] = (
        ("__new__", ClassObject(ref, given, cls.exact)),
        ("__init__", Instance(ref, given, cls.exact)),
    )
    for name, me in receivers:
        looked = classes.find(ev, ref, name, on_class=True)
        if looked.found is None or looked.found.entry.ref == hierarchy.OBJECT:
            continue
        for o in members.raw(ev, looked.found).items:
            inner = o.function if isinstance(o, StaticObject) else o
            if isinstance(inner, FunctionObject):
                _solve_constructor(ev, inner, args, me, params, solution)
    values = (solution.get(p.ref, unknown(Reason.UNKNOWN_TYPE, p.ref.qualname)) for p in params)
    return tuple(generics.finish(v) for v in values)


def _solve_constructor(
    ev: Evaluator,
    o: FunctionObject,
    args: CallArgs,
    me: Obj,
    params: tuple[TypeVarObject, ...],
    solution: generics.Solution,
) -> None:
    """Solve a class's parameters from one constructor; ``self: C[str, T]`` says what they are in its terms."""
    for face in _fitting(ev, o, args, me):
        own: generics.Solution = {}
        returns.solve_row(ev, face, args, me, own)
        first = face.row.params[0] if face.row.params else None
        if first is not None and first.annotation is not None:
            for declared in returns.param_values(ev, face, first.name, first.annotation).items:
                if isinstance(declared, Instance) and isinstance(me, Instance) and declared.ref == me.ref:
                    for p, a in zip(params, declared.args, strict=False):
                        own[p.ref] = generics.substitute(a, own)
        for ref, values in own.items():
            # The first overload that fits counts; what it leaves open may follow from the next.
            solution.setdefault(ref, values)


def _new_result(ev: Evaluator, cls: ClassObject, found: classes.Found, args: CallArgs) -> Values | None:
    """What a custom ``__new__`` gives; None when it says nothing but an instance of the class."""
    out: list[Values] = []
    for o in members.raw(ev, found).items:
        inner = o.function if isinstance(o, StaticObject) else o
        if not isinstance(inner, FunctionObject):
            return None
        rows = function_faces(ev, inner.ref)
        if not any(f.row.returns for f in rows):
            if any(not f.file.is_stub for f in rows) and found.entry.ref != cls.ref:
                return None
            got = function_result(ev, inner, args, cls)
            instances = tuple(i for i in got.items if isinstance(i, Instance))
            if got.complete and instances and len(instances) == len(got.items):
                out.append(got)
                continue
            return known(Instance(cls.ref, cls.args, cls.exact)) if not hierarchy.type_params(ev, cls.ref) else None
        out.append(function_result(ev, inner, args, cls))
    result = join(*out)
    return result if result.items else None


def function_faces(ev: Evaluator, ref: Ref) -> list[FunctionFace]:
    """The rows of a function that can run in this environment, stub rows first; setters left out."""

    def compute() -> list[FunctionFace]:
        head, _, last = ref.qualname.rpartition(".")
        out: list[FunctionFace] = []
        if head:
            for face in classes.faces(ev, Ref(ref.module, head)):
                alive = {
                    (b.line) for b in face.row.members if b.name == last and b.kind == "def" and ev.alive(b.guards)
                }
                scope = ev.class_scope(face)
                inner = f"{face.row.qualname}.{last}"
                for piece, row in ev.index(face.file).functions(inner):
                    if piece == face.piece and row.line in alive:
                        out.append(FunctionFace(ref, face.module, face.file, piece, row, scope))
        else:
            module = ev.module(ref.module)
            for file in ev.faces(module) if module is not None else []:
                assert module is not None
                index = ev.index(file)
                live = {(p, b.line) for p, b in index.bindings(last) if b.kind == "def" and ev.alive(b.guards)}
                scope = ev.module_scope(module, file)
                for piece, row in index.functions(last):
                    if (piece, row.line) in live:
                        out.append(FunctionFace(ref, module, file, piece, row, scope))
        plain = [f for f in out if not any(_accessor(d) for d in f.row.decorators)]
        return plain or out

    ev.read("signature", ref.module, ref.qualname)
    return ev.memo(("function-faces", ref), compute, lambda reason: [], local=True)


def _accessor(decorator: str) -> bool:
    return decorator.rsplit(".", 1)[-1] in ("setter", "deleter", "getter") and "." in decorator


def is_overload(face: FunctionFace) -> bool:
    """Whether a row is one of several overloads."""
    return any(d.rsplit(".", 1)[-1] == "overload" for d in face.row.decorators)


def function_result(ev: Evaluator, o: FunctionObject, args: CallArgs, receiver: Obj | None) -> Values:
    """What calling a function of the facts gives."""
    rows = function_faces(ev, o.ref)
    if not rows:
        return unknown(Reason.UNKNOWN_RETURN, o.ref.dotted)
    chosen = [f for f in rows if f.file is rows[0].file]
    overloads = [f for f in chosen if is_overload(f)]
    if overloads:
        chosen = binding.select(ev, overloads, args, receiver) or overloads
    result = join(*(returns.of_row(ev, f, o, args, receiver) for f in chosen))
    return generics.finish(result)


def receiver_solution(ev: Evaluator, o: FunctionObject, receiver: Obj | None) -> generics.Solution:
    """The type parameters that the receiver of a method fixes."""
    solution: generics.Solution = {}
    if receiver is None or o.owner is None:
        return solution
    if isinstance(receiver, (Instance, ClassObject)):
        me = receiver if isinstance(receiver, Instance) else Instance(receiver.ref, receiver.args, receiver.exact)
        solution[generics.SELF] = known(me)
        args = generics.args_as(ev, me, o.owner)
        params = hierarchy.type_params(ev, o.owner)
        if args is not None and params:
            for p, a in zip(params, args, strict=False):
                solution[p.ref] = a
    return solution


def _fitting(ev: Evaluator, o: FunctionObject, args: CallArgs, receiver: Obj | None) -> list[FunctionFace]:
    """The rows of a function that a call may mean (of overloads those that fit)."""
    rows = function_faces(ev, o.ref)
    chosen = [f for f in rows if f.file is rows[0].file]
    overloads = [f for f in chosen if is_overload(f)]
    return (binding.select(ev, overloads, args, receiver) or overloads[:1]) if overloads else chosen


def enter(ev: Evaluator, values: Values, is_async: bool) -> Values:
    """What ``with x as target`` binds."""
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if isinstance(o, Instance) and not is_none(o):
            got = call_method(ev, o, "__aenter__" if is_async else "__enter__")
            parts.append(awaited(ev, got) if is_async else got)
        elif not is_none(o):
            parts.append(unknown(Reason.UNKNOWN_TYPE, "with"))
    return join(*parts)


def coroutine(values: Values) -> Values:
    """The coroutine that an ``async def`` gives."""
    nothing = unknown(Reason.UNKNOWN_TYPE, "coroutine")
    return known(Instance(COROUTINE, (nothing, nothing, values), exact=True))


def awaited(ev: Evaluator, values: Values) -> Values:
    """What ``await x`` gives."""
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if not isinstance(o, Instance) or is_none(o):
            parts.append(unknown(Reason.UNKNOWN_RETURN, "await"))
            continue
        if o.ref == COROUTINE or o.ref == Ref("typing", "Coroutine"):
            parts.append(o.args[2] if len(o.args) > 2 else unknown(Reason.UNKNOWN_RETURN, "await"))
            continue
        made = call_method(ev, o, "__await__")
        for g in made.items:
            args = generics.args_as(ev, g, Ref("typing", "Generator")) if isinstance(g, Instance) else None
            parts.append(args[2] if args and len(args) > 2 else unknown(Reason.UNKNOWN_RETURN, "await"))
        parts.append(Values((), made.whys))
    return join(*parts)


def function_value(
    ev: Evaluator, ref: Ref, file: SourceFile, piece: int, b: Binding, owner: Ref | None, scope: Scope
) -> Values:
    """The value of a def statement's name, decorators applied."""
    qualname = f"{scope.cls.row.qualname}.{b.name}" if scope.cls is not None else ref.qualname
    if scope.cls is not None and owner is not None:
        ref = Ref(ref.module, f"{owner.qualname}.{b.name}")
    base = known(FunctionObject(ref, owner))
    rows = [r for p, r in ev.index(file).functions(qualname) if p == piece or scope.cls is None]
    mine = [r for r in rows if r.line == b.line]
    row = mine[-1] if mine else (rows[-1] if rows else None)
    if row is None:
        return unknown(Reason.UNKNOWN_TYPE, ref.dotted)
    if any(_accessor(d) for d in row.decorators):
        first = next((r for r in rows if r.decorators and not any(_accessor(d) for d in r.decorators)), None)
        if first is None:
            return unknown(Reason.UNKNOWN_DECORATOR, row.decorators[0])
        row = first
    if not row.decorators:
        return base
    here = scope.at(file.facts.starts[piece] + row.line - 1) if scope.kind == "class" else scope
    return decorators.apply_texts(ev, base, row.decorators, here)


def decorate(ev: Evaluator, base: Values, nodes: list[ast.expr], scope: Scope) -> Values:
    """Decorators given as nodes, applied from the innermost."""
    return decorators.apply_nodes(ev, base, nodes, scope)


def class_decorated(ev: Evaluator, values: Values, node: ast.expr, scope: Scope) -> Values:
    """What a class decorator makes of a class."""
    return decorators.apply_to_class(ev, values, node, scope)


def decorator_adds(ev: Evaluator, face: ClassFace, name: str) -> Why | None:
    """Why a class decorator may have added the member `name`."""
    return decorators.adds(ev, face, name)


_ = (type_forms, signatures)
