"""Whether a candidate is what the call treats it as: callable, of the right kind, with room for the arguments."""

from __future__ import annotations

import ast
from typing import NamedTuple

from callground.repairs.asked import Asked
from callground.repairs.model import Candidate
from callground.resolve import binding, calls, classes, members, modules, names, signatures
from callground.resolve.scopes import Scope
from callground.resolve.values import (
    BoundMethod,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    Member,
    ModuleObject,
    Obj,
    Values,
    is_none,
)


class Fit(NamedTuple):
    """What is known about using a candidate in the wrong name's place."""

    binds: bool | None = None
    """The arguments bind; None where nothing is called or it is not known."""
    kind: str = ""
    signature: str = ""
    doc: str = ""
    path: str = ""
    line: int = 0
    exists: bool = True
    types: bool | None = None
    """The arguments are of the declared types; None where that is not known."""


def of(asked: Asked, candidate: Candidate, receiver: bool = False) -> Fit:
    """How a candidate fits; `receiver` puts the object that was asked before the arguments."""
    if candidate.source in ("parameter", "accessor"):
        return Fit()
    found = asked.source.ask(lambda: _of(asked, candidate, receiver))
    return found if found is not None else Fit()


def values_of(asked: Asked, candidate: Candidate) -> Values | None:
    """What the candidate is; None when it turns out not to exist.  Lets NotLoaded escape."""
    ev = asked.source.evaluator
    if candidate.wanted is not None:
        wanted = candidate.wanted
        if not wanted.name:
            return Values((ModuleObject(wanted.module),)) if ev.snapshot.exists(wanted.module) else None
        return _member_values(modules.import_from(ev, wanted.module, wanted.name))
    if candidate.source in ("module", "submodule", "used-by", "function", "text"):
        return _member_values(modules.import_from(ev, candidate.owner, candidate.name))
    if candidate.source == "member" and asked.proof.owner_object is not None:
        return _member_values(members.of(ev, asked.proof.owner_object, candidate.name))
    if candidate.source == "builtin":
        return _member_values(modules.member(ev, "builtins", candidate.name))
    if candidate.source == "self" and asked.scope is not None:
        around = asked.scope.enclosing_class()
        if around is not None:
            return _member_values(members.of(ev, Instance(around.ref, is_self=True), candidate.name))
    if candidate.source == "scope" and asked.scope is not None:
        return _scope_values(asked, candidate.name, asked.scope)
    if candidate.source == "module-name":
        return Values((ModuleObject(candidate.text),))
    return None


def _member_values(found: Member) -> Values | None:
    return found.found if found.found is not None else (Values((), (found.why,)) if found.why else None)


def _scope_values(asked: Asked, name: str, scope: Scope) -> Values | None:
    ev = asked.source.evaluator
    flow = ev.flow(scope)
    if flow is not None and scope.kind == "function" and name in flow.locals:
        return names.from_defs(ev, frozenset(flow.locals[name]), scope, name)
    looked = names.outer(ev, name, scope)
    return None if looked.missing else looked.values


def _of(asked: Asked, candidate: Candidate, receiver: bool) -> Fit:
    ev = asked.source.evaluator
    values = values_of(asked, candidate)
    if values is None:
        return Fit(exists=False)
    real = [o for o in values.items if not is_none(o)]
    if not real:
        return Fit()
    fit = describe(asked, real[0])
    call = asked.calls_it
    scope = asked.scope
    if call is None or scope is None:
        return fit._replace(binds=_has_next(asked, real))
    args = calls.CallArgs.from_node(call, scope)
    if receiver and isinstance(call.func, ast.Attribute):
        args = calls.CallArgs((call.func.value, *args.positional), args.keywords, scope)
    shape = binding.shape(args)
    results: list[bool | None] = []
    types: bool | None = None
    for o in real:
        sigs = signatures.of(ev, o)
        if sigs.why is not None:
            results.append(None)
            continue
        if sigs.not_callable:
            results.append(False)
            continue
        binds = [s for group in sigs.groups for s in group if not binding.problems(s.params, shape)]
        all_groups = all(any(not binding.problems(s.params, shape) for s in group) for group in sigs.groups)
        results.append(True if all_groups else (None if sigs.soft else False))
        if binds and isinstance(o, (FunctionObject, BoundMethod)):
            types = _types(asked, o, args, real)
    if any(r is True for r in results):
        verdict: bool | None = True
    elif results and all(r is False for r in results) and values.complete:
        verdict = False
    else:
        verdict = None
    return fit._replace(binds=verdict, types=types)


def _types(asked: Asked, o: Obj, args: calls.CallArgs, real: list[Obj]) -> bool | None:
    """Whether the arguments are of the types that the parameters declare."""
    ev = asked.source.evaluator
    receiver = o.receiver if isinstance(o, BoundMethod) else None
    function = o.function if isinstance(o, BoundMethod) else o
    if len(real) != 1 or not isinstance(function, FunctionObject) or args.scope is None:
        return None
    faces = calls.function_faces(ev, function.ref)
    if not faces:
        return None
    return bool(binding.select(ev, list(faces), args, receiver))


def _has_next(asked: Asked, real: list[Obj]) -> bool | None:
    """For a wrong name that is not called itself (``jsn.loads(x)``): whether what is asked of it is there."""
    ev = asked.source.evaluator
    callee = asked.call.func if asked.call is not None else asked.site.node
    node = asked.proof.node
    while isinstance(callee, ast.Attribute):
        if callee.value is node:
            results = [members.of(ev, o, callee.attr) for o in real]
            if any(r.found is not None for r in results):
                return True
            return False if all(r.why is None for r in results) else None
        callee = callee.value
    return None


def describe(asked: Asked, o: Obj) -> Fit:
    """Kind, signature and the first line of the docstring of an object."""
    ev = asked.source.evaluator
    if isinstance(o, ModuleObject):
        module = ev.module(o.name)
        file = (module.source or module.stub or module.probed) if module is not None else None
        return Fit(kind="module", path=file.path if file else "", line=1)
    function = o.function if isinstance(o, BoundMethod) else o
    kind = "function" if isinstance(function, (FunctionObject, LocalFunction)) else "variable"
    doc, path, line = "", "", 0
    if isinstance(function, FunctionObject):
        faces = calls.function_faces(ev, function.ref)
        # The source has the docstring, the stub the types.
        doc = next((f.row.doc for f in faces if f.row.doc), "")
        real = next((f for f in faces if not f.file.is_stub), faces[0] if faces else None)
        if real is not None:
            path, line = real.file.path, real.line
    elif isinstance(o, ClassObject):
        kind = "class"
        rows = classes.faces(ev, o.ref)
        doc = next((f.row.doc for f in rows if f.row.doc), "")
        made = next((f for f in rows if not f.file.is_stub), rows[0] if rows else None)
        if made is not None:
            path, line = made.file.path, made.line
    elif isinstance(o, Instance):
        if members.of(ev, o, "__call__").found is None:
            return Fit(kind="variable")
        kind = "function"
    sigs = signatures.of(ev, o)
    text = sigs.groups[0][0].text if sigs.why is None and sigs.groups and sigs.groups[0] else ""
    return Fit(kind=kind, signature=text, doc=doc, path=path, line=line)
