"""Results of calls: declared returns with type parameters solved, and returns inferred from bodies."""

from __future__ import annotations

import ast

from callground.resolve import binding, calls, expressions, generics, type_forms
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.scopes import FunctionFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    NONE,
    CallableObject,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    Obj,
    Ref,
    Values,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

MAX_CONTEXT = 3
"""How many calls deep unannotated parameters are followed to their arguments."""


def of_row(ev: Evaluator, face: FunctionFace, o: FunctionObject, args: calls.CallArgs, receiver: Obj | None) -> Values:
    """What calling one row of a function gives (type parameters may be left unsolved)."""
    row = face.row
    if row.returns is None:
        return _inferred(ev, face, args, receiver)
    declared = declared_return(ev, face)
    if not face.file.is_stub and any(_vague(d) for d in declared.items):
        # ``-> Callable`` says too little: the body may give the very function that came in.
        inferred = _inferred(ev, face, args, receiver)
        if inferred.complete and inferred.items and not row.is_async:
            return inferred
    if generics.has_vars(declared):
        solution = calls.receiver_solution(ev, o, receiver)
        solve_row(ev, face, args, receiver, solution)
        declared = generics.substitute(declared, solution)
    if row.is_async and not row.is_generator:
        return calls.coroutine(generics.finish(declared))
    return declared


def _vague(o: Obj) -> bool:
    """A callable of which nothing but the result is declared."""
    return isinstance(o, CallableObject) and o.like is None and o.params is None


def _says_little(annotation: ast.expr | None) -> bool:
    """No annotation, or a bare ``Callable``: the argument says more."""
    return annotation is None or (dotted(annotation) or "").rsplit(".", 1)[-1] == "Callable"


def declared_return(ev: Evaluator, face: FunctionFace) -> Values:
    """The values that the return annotation allows."""
    key = ("returns", face.ref, face.file.path, face.file.digest, face.row.line, face.piece)

    def compute() -> Values:
        node = parse_expression(face.row.returns or "")
        if node is None:
            return unknown(Reason.UNSUPPORTED, "annotation")
        scope = face.scope.at(face.line) if face.scope.kind == "class" else face.scope
        return type_forms.instances(ev, node, scope)

    return ev.values(key, compute, local="<" in face.ref.qualname)


def param_values(ev: Evaluator, face: FunctionFace, name: str, annotation: str) -> Values:
    """The values that a parameter's annotation allows."""
    key = ("param", face.ref, face.file.path, face.file.digest, face.piece, face.row.line, name)

    def compute() -> Values:
        node = parse_expression(annotation)
        if node is None:
            return unknown(Reason.UNSUPPORTED, "annotation")
        scope = face.scope.at(face.line) if face.scope.kind == "class" else face.scope
        return type_forms.instances(ev, node, scope)

    return ev.values(key, compute, local="<" in face.ref.qualname)


def solve_row(
    ev: Evaluator, face: FunctionFace, args: calls.CallArgs, receiver: Obj | None, solution: generics.Solution
) -> None:
    """Solve the type parameters of one row from the arguments of a call."""
    params = list(face.row.params)
    if receiver is not None and params and params[0].kind in ("positional", "positional-only"):
        first = params.pop(0)
        # A receiver that has its own parameters open (under construction) says nothing about them.
        if first.annotation is not None and not generics.has_vars(known(receiver)):
            generics.solve(ev, param_values(ev, face, first.name, first.annotation), known(receiver), solution)
    for param, values in binding.assign(ev, params, args):
        if param.annotation is None:
            continue
        declared = param_values(ev, face, param.name, param.annotation)
        if generics.has_vars(declared):
            generics.solve(ev, declared, values, solution)


def _inferred(ev: Evaluator, face: FunctionFace, args: calls.CallArgs, receiver: Obj | None) -> Values:
    if face.file.is_stub or face.file.path.startswith("<"):
        return unknown(Reason.UNKNOWN_RETURN, face.ref.dotted)
    row = face.row
    if row.body in ("empty", "raises") and not row.is_generator:
        exact = receiver is None or bool(getattr(receiver, "exact", False))
        abstract = any("abstract" in d for d in row.decorators)
        if abstract or not exact or row.body == "raises":
            return unknown(Reason.UNKNOWN_RETURN, f"{face.ref.dotted} is abstract")
    scope = ev.function_scope(face)
    if scope is None:
        return unknown(Reason.UNKNOWN_RETURN, face.ref.dotted)
    # The type of self stays symbolic: one inference serves every receiver.
    key = ("return", face.ref, face.file.path, face.file.digest, face.piece, row.line)
    free = ev.values(key, lambda: body_result(ev, scope), local="<" in face.ref.qualname)
    if free.complete and free.items and not any(_vague(o) for o in free.items) and not _is_closure(free):
        return _receiver_type(ev, free, face, receiver)
    return with_context(ev, scope, free, args, receiver)


def _is_closure(values: Values) -> bool:
    """Whether a function is given that sees the parameters of the one that makes it."""
    return any(isinstance(o, LocalFunction) for o in values.items)


def _receiver_type(ev: Evaluator, values: Values, face: FunctionFace, receiver: Obj | None) -> Values:
    """``return self`` gives the receiver back, ``return cls`` the class that was asked."""
    owner = face.scope.cls
    if owner is None or not isinstance(receiver, (Instance, ClassObject)):
        return values
    out: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if isinstance(receiver, Instance):
            same = isinstance(o, Instance) and o.is_self and o.ref == owner.ref
        else:
            same = isinstance(o, ClassObject) and not o.exact and o.ref == owner.ref
        out.append(known(receiver if same else o))
    return join(*out)


def with_context(ev: Evaluator, scope: Scope, free: Values, args: calls.CallArgs, receiver: Obj | None) -> Values:
    """The result with unannotated parameters bound to this call's arguments."""
    node = scope.node
    depth = ev.context_depth
    if node is None or isinstance(node, ast.Module) or depth >= MAX_CONTEXT:
        return free
    names_ = [*node.args.posonlyargs, *node.args.args]
    if receiver is not None and names_:
        names_ = names_[1:]
    given: dict[str, Values] = {}
    for i, arg in enumerate(args.positional):
        if isinstance(arg, ast.Starred) or i >= len(names_):
            break
        if _says_little(names_[i].annotation):
            given[names_[i].arg] = args.value(ev, arg)
    free_names = {a.arg for a in [*names_, *node.args.kwonlyargs] if _says_little(a.annotation)}
    for keyword, arg in args.keywords:
        if keyword in free_names and keyword is not None:
            given[keyword] = args.value(ev, arg)
    starred = any(isinstance(a, ast.Starred) for a in args.positional) or any(k is None for k, _a in args.keywords)
    if not starred:
        defaults = dict(_defaults(node))
        for name in free_names - set(given):
            if name in defaults and scope.parent is not None:
                given[name] = expressions.value(ev, defaults[name], scope.parent)
    given = {k: v for k, v in given.items() if v.items}
    if not given:
        return free
    key = ("return-with", id(node), id(scope), tuple(sorted(given.items())))

    def compute() -> Values:
        inner = Scope(
            "function",
            scope.module,
            scope.file,
            scope.parent,
            owner=scope.owner,
            node=node,
            qualname=scope.qualname,
            face=scope.face,
        )
        inner.flow = ev.flow(scope)
        inner.extra["args"] = given
        ev.keep(inner)
        ev.context_depth += 1
        try:
            return body_result(ev, inner)
        finally:
            ev.context_depth -= 1

    ev.keep(scope)
    return ev.values(key, compute, local=True)


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[tuple[str, ast.expr]]:
    positional = [*node.args.posonlyargs, *node.args.args]
    out = list(
        zip([a.arg for a in positional[len(positional) - len(node.args.defaults) :]], node.args.defaults, strict=False)
    )
    for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=False):
        if d is not None:
            out.append((a.arg, d))
    return out


def body_result(ev: Evaluator, scope: Scope) -> Values:
    """What a function's body returns, over all its return statements."""
    node = scope.node
    flow = ev.flow(scope)
    if flow is None or node is None or isinstance(node, ast.Module):
        return unknown(Reason.UNKNOWN_RETURN)
    if isinstance(node, ast.Lambda):
        return expressions.value(ev, node.body, scope)
    parts: list[Values] = []
    for r in flow.returns:
        parts.append(expressions.value(ev, r.value, scope) if r.value is not None else known(NONE))
    if flow.falls_through:
        parts.append(known(NONE))
    result = join(*parts) if parts else Values()
    is_async = isinstance(node, ast.AsyncFunctionDef)
    if flow.yields:
        yielded: list[Values] = []
        for y in flow.yields:
            if isinstance(y, ast.YieldFrom):
                from callground.resolve import containers

                yielded.append(containers.elements(ev, expressions.value(ev, y.value, scope)))
            else:
                yielded.append(expressions.value(ev, y.value, scope) if y.value is not None else known(NONE))
        nothing = unknown(Reason.UNKNOWN_TYPE, "sent value")
        name = "AsyncGenerator" if is_async else "Generator"
        args = (join(*yielded), nothing) if is_async else (join(*yielded), nothing, result)
        return known(Instance(Ref("typing", name), args, exact=True))
    if not result.items and result.complete:
        return Values()
    return calls.coroutine(result) if is_async else result


def of_local(ev: Evaluator, o: LocalFunction, args: calls.CallArgs, receiver: Obj | None) -> Values:
    """What calling a function or lambda that stands inside a function gives."""
    scope = ev.scope_of_node(o.node, o.scope)
    node = o.node
    if not isinstance(node, ast.Lambda) and node.returns is not None:
        declared = type_forms.instances(ev, node.returns, o.scope)
        declared = generics.finish(declared)
        flow = ev.flow(scope)
        yields = flow is not None and bool(flow.yields)
        return calls.coroutine(declared) if isinstance(node, ast.AsyncFunctionDef) and not yields else declared
    ev.keep(scope)
    free = ev.values(("local-return", id(node), id(scope)), lambda: body_result(ev, scope), local=True)
    if free.complete and free.items and not _is_closure(free):
        return free
    return with_context(ev, scope, free, args, receiver)
