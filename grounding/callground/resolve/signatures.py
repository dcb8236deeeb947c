"""Effective signatures: what a value accepts when it is called."""

from __future__ import annotations

import ast
from typing import NamedTuple

from callground.facts.model import Param
from callground.resolve import calls, classes, forwarding, generated, hierarchy, members, openness
from callground.resolve.evaluator import Evaluator
from callground.resolve.values import (
    BoundMethod,
    CallableObject,
    ClassMethodObject,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    ModuleObject,
    Obj,
    PartialObject,
    Ref,
    StaticObject,
    Values,
    Why,
    is_none,
)
from callground.verdict.model import Reason


class Signature(NamedTuple):
    """One way in which something can be called."""

    params: tuple[Param, ...]
    name: str
    """Dotted name of the callable."""
    group: str
    """Signatures of one group are alternatives; a call fails when it fails in every alternative of some group."""
    path: str = ""
    line: int = 0
    module: str = ""

    @property
    def text(self) -> str:
        """The signature as people read it."""
        out: list[str] = []
        star = False
        params = self.params
        for i, p in enumerate(params):
            if p.kind == "keyword-only" and not star:
                out.append("*")
                star = True
            mark = {"*args": "*", "**kwargs": "**"}.get(p.kind, "")
            star = star or p.kind == "*args"
            text = f"{mark}{p.name}"
            if p.annotation and len(p.annotation) <= 40:
                text += f": {p.annotation}"
            if p.default is not None:
                default = p.default if len(p.default) <= 20 else "..."
                text += f" = {default}" if ":" in text else f"={default}"
            out.append(text)
            if p.kind == "positional-only" and (i + 1 == len(params) or params[i + 1].kind != "positional-only"):
                out.append("/")
        return f"{self.name.rsplit('.', 1)[-1]}({', '.join(out)})"


class Signatures(NamedTuple):
    """What is known about calling one object: alternatives in groups, or why nothing is."""

    groups: tuple[tuple[Signature, ...], ...] = ()
    why: Why | None = None
    not_callable: bool = False
    soft: bool = False
    """Only declared: what binds is grounded, what does not may still work (the callable may take more)."""


ANYTHING = (Param("args", "*args", None, None), Param("kwargs", "**kwargs", None, None))


def of(ev: Evaluator, o: Obj, depth: int = 0) -> Signatures:
    """The signatures of one object."""
    if depth > 6:
        return Signatures(why=Why(Reason.BUDGET, "signature"))
    if isinstance(o, FunctionObject):
        sigs = _of_function(ev, o)
        return sigs if o.owner is not None else _and_behind(ev, sigs, o, None, depth)
    if isinstance(o, LocalFunction):
        name = getattr(o.node, "name", "<lambda>")
        line = getattr(o.node, "lineno", 0)
        sig = Signature(params_of(o.node.args), name, "local", o.scope.file.path, line, o.scope.module.name)
        return _and_behind(ev, Signatures(((sig,),)), o, None, depth)
    if isinstance(o, BoundMethod):
        sigs = _drop_first(of(ev, o.function, depth + 1))
        me = o.receiver
        if isinstance(o.function, FunctionObject):
            sigs = _and_behind(ev, sigs, o.function, me, depth)
        if isinstance(me, Instance) and not me.exact and openness.abstract_why(ev, me.ref) is not None:
            # The object behind a protocol may accept more than the protocol asks for.
            sigs = sigs._replace(soft=True)
        return sigs
    if isinstance(o, ClassObject):
        sigs = constructor(ev, o, depth)
        return sigs if o.exact else _with_subclasses(ev, o, sigs, depth)
    if isinstance(o, (StaticObject, ClassMethodObject)):
        return Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, "descriptor"))
    if isinstance(o, PartialObject):
        return _partial(of(ev, o.callee, depth + 1), o)
    if isinstance(o, CallableObject):
        if o.like is not None:
            return of(ev, o.like, depth + 1)
        params: tuple[Param, ...] = ANYTHING
        if o.params is not None:
            params = tuple(Param(f"arg{i}", "positional-only", None, None) for i in range(len(o.params)))
        return Signatures(((Signature(params, "Callable", "declared"),),), soft=True)
    if isinstance(o, Instance):
        return _of_instance(ev, o, depth)
    if isinstance(o, ModuleObject):
        return Signatures(not_callable=True)
    return Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, type(o).__name__))


def _and_behind(
    ev: Evaluator, sigs: Signatures, o: FunctionObject | LocalFunction, receiver: Obj | None, depth: int
) -> Signatures:
    """The signatures, and those of the callee that the function hands its variable arguments on to."""
    if sigs.why is not None or not all(_takes_more(s.params) for g in sigs.groups for s in g):
        return sigs
    return sigs._replace(groups=(*sigs.groups, *forwarding.groups(ev, o, receiver, depth)))


def _takes_more(params: tuple[Param, ...]) -> bool:
    return any(p.kind in ("*args", "**kwargs") for p in params)


def _with_subclasses(ev: Evaluator, cls: ClassObject, sigs: Signatures, depth: int) -> Signatures:
    """``cls(...)`` may make an instance of a subclass, whose constructor may accept something else."""
    module = ev.module(cls.ref.module) if "<" not in cls.ref.qualname else None
    if module is None or module.origin != "workspace" or not ev.snapshot.complete:
        return sigs._replace(soft=True)
    children = hierarchy.subclasses(ev, cls.ref)
    if not children:
        return sigs
    if any(hierarchy.is_local(c) for c in children):
        return sigs._replace(soft=True)
    every = [sigs, *(constructor(ev, ClassObject(c), depth) for c in children[:30])]
    why = next((s.why for s in every if s.why is not None), None)
    if why is not None or len(children) > 30:
        return sigs._replace(soft=True) if sigs.why is None else sigs
    # One group of all alternatives: a call fails only when it fits none of them.
    return Signatures((tuple(s for e in every for g in e.groups for s in g),))


def params_of(args: ast.arguments) -> tuple[Param, ...]:
    """The rows for the parameters of a def or lambda node."""
    out: list[Param] = []
    positional = [*args.posonlyargs, *args.args]
    first_default = len(positional) - len(args.defaults)
    for i, a in enumerate(positional):
        kind = "positional-only" if i < len(args.posonlyargs) else "positional"
        default = ast.unparse(args.defaults[i - first_default])[:200] if i >= first_default else None
        out.append(Param(a.arg, kind, ast.unparse(a.annotation) if a.annotation else None, default))
    if args.vararg:
        out.append(Param(args.vararg.arg, "*args", None, None))
    for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=False):
        out.append(
            Param(
                a.arg,
                "keyword-only",
                ast.unparse(a.annotation) if a.annotation else None,
                ast.unparse(d)[:200] if d is not None else None,
            )
        )
    if args.kwarg:
        out.append(Param(args.kwarg.arg, "**kwargs", None, None))
    return tuple(out)


def _normal(params: tuple[Param, ...], stub: bool) -> tuple[Param, ...]:
    """Stub parameters named ``__x`` are positional-only (PEP 484); ``**kwargs: Unpack[TD]`` accepts what TD lists."""
    if not stub:
        return params
    out: list[Param] = []
    leading = True
    for i, p in enumerate(params):
        private = p.name.startswith("__") and not p.name.endswith("__")
        if p.kind == "positional" and leading and (private or (i == 0 and p.name in ("self", "cls"))):
            out.append(p._replace(kind="positional-only", name=p.name.lstrip("_") or p.name) if private else p)
            continue
        leading = False
        out.append(p)
    if any(p.kind == "positional-only" for p in out) and out and out[0].kind == "positional":
        out[0] = out[0]._replace(kind="positional-only")
    return tuple(out)


def _of_function(ev: Evaluator, o: FunctionObject) -> Signatures:
    rows = calls.function_faces(ev, o.ref)
    if not rows:
        return Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, o.ref.dotted))
    groups: dict[str, list[Signature]] = {}
    if not rows[0].file.path.startswith("<"):
        # A probe that saw no text signature says nothing where a stub does.
        rows = [f for f in rows if not (f.file.path.startswith("<") and _anything(f.row.params))]
    for face in rows:
        if not face.file.is_stub and calls.is_overload(face):
            continue
        group = f"{o.ref.dotted}:{'stub' if face.file.is_stub else 'source'}"
        stub = face.file.is_stub or face.file.path.startswith("<")
        groups.setdefault(group, []).append(
            Signature(_normal(face.row.params, stub), o.ref.dotted, group, face.file.path, face.line, face.module.name)
        )
    if len(groups) > 1:
        # Stub and source may disagree: what either accepts is accepted.
        merged = tuple(s for g in groups.values() for s in g)
        return Signatures((merged,))
    found = tuple(tuple(g) for g in groups.values())
    return Signatures(found) if found else Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, o.ref.dotted))


def _anything(params: tuple[Param, ...]) -> bool:
    return any(p.kind == "*args" for p in params) and any(p.kind == "**kwargs" for p in params)


def _drop_first(sigs: Signatures) -> Signatures:
    if sigs.why is not None:
        return sigs
    groups: list[tuple[Signature, ...]] = []
    for group in sigs.groups:
        out: list[Signature] = []
        for s in group:
            params = s.params
            if params and params[0].kind in ("positional", "positional-only"):
                params = params[1:]
            elif not params or params[0].kind != "*args":
                return Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, f"{s.name} takes no self"))
            out.append(s._replace(params=params))
        groups.append(tuple(out))
    return Signatures(tuple(groups), soft=sigs.soft)


def _partial(sigs: Signatures, o: PartialObject) -> Signatures:
    if sigs.why is not None:
        return sigs
    groups: list[tuple[Signature, ...]] = []
    for group in sigs.groups:
        out: list[Signature] = []
        for s in group:
            params: list[Param] = []
            skip = o.positional
            after_keyword = False
            for p in s.params:
                if skip and p.kind in ("positional", "positional-only"):
                    skip -= 1
                    continue
                if p.name in o.keywords and p.kind in ("positional", "keyword-only"):
                    # It keeps a default now, and so must be given by keyword from here on.
                    params.append(p._replace(default="..."))
                    after_keyword = True
                    continue
                params.append(p)
            del after_keyword
            out.append(s._replace(params=tuple(params)))
        groups.append(tuple(out))
    return Signatures(tuple(groups))


def _of_instance(ev: Evaluator, o: Instance, depth: int) -> Signatures:
    if is_none(o):
        return Signatures(not_callable=True)
    got = members.of(ev, o, "__call__")
    if got.why is not None:
        return Signatures(why=got.why)
    if got.found is None:
        return Signatures(not_callable=True)
    return _of_values(ev, got.found, depth)


def _of_values(ev: Evaluator, values: Values, depth: int) -> Signatures:
    if not values.complete:
        return Signatures(why=values.whys[0])
    if len(values.items) != 1:
        return Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, "several"))
    return of(ev, values.items[0], depth + 1)


def constructor(ev: Evaluator, cls: ClassObject, depth: int = 0) -> Signatures:
    """What calling a class accepts."""
    made = generated.constructor(ev, cls)
    if made is not None:
        return made
    ref = cls.ref
    order = hierarchy.mro(ev, ref)
    if order.whys:
        return Signatures(why=order.whys[0])
    for meta in order.metaclasses:
        if classes.defines_call(ev, meta):
            return Signatures(why=Why(Reason.UNKNOWN_METACLASS, meta.dotted))
        why = classes._metaclass_why(ev, order)
        if why is not None:
            return Signatures(why=why)
    groups: list[tuple[Signature, ...]] = []
    for name in ("__new__", "__init__"):
        if name == "__init__" and groups and _own_new(ev, ref):
            # What ``__new__`` gives may be of another class: then that one's ``__init__`` runs, or none.
            break
        looked = classes.find(ev, ref, name, on_class=True)
        if looked.found is None:
            if looked.why is not None and looked.why.reason is not Reason.OPEN_CLASS:
                return Signatures(why=looked.why)
            continue
        if looked.found.entry.ref == hierarchy.OBJECT:
            continue
        values = members.raw(ev, looked.found)
        values = Values(
            tuple(v.function if isinstance(v, (StaticObject, ClassMethodObject)) else v for v in values.items),
            values.whys,
        )
        sigs = _drop_first(_of_values(ev, values, depth))
        if sigs.why is not None:
            return sigs
        only = values.items[0]
        if name == "__init__" and isinstance(only, FunctionObject):
            sigs = _and_behind(ev, sigs, only, Instance(ref, cls.args, cls.exact), depth)
        for group in sigs.groups:
            groups.append(tuple(s._replace(name=ref.dotted, group=name) for s in group))
    if groups:
        return Signatures(tuple(groups))
    if cls.exact is False:
        return Signatures(why=Why(Reason.SUBCLASS, ref.dotted))
    face = next(iter(classes.faces(ev, ref)), None)
    path, line = (face.file.path, face.line) if face is not None else ("", 0)
    if face is None or any(f.file.is_stub for f in classes.faces(ev, ref)):
        return Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, ref.dotted))
    return Signatures(((Signature((), ref.dotted, "object", path, line, ref.module),),))


def _own_new(ev: Evaluator, ref: Ref) -> bool:
    looked = classes.find(ev, ref, "__new__", on_class=True)
    return looked.found is not None and any(not face.file.is_stub for face, _row in looked.found.rows)
