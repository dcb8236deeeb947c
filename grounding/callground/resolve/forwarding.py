"""The signature behind ``*args`` and ``**kwargs``: what a function hands on has to fit the callee as well."""

from __future__ import annotations

import ast

from callground.facts.model import Param
from callground.resolve import calls, expressions, passing_on, signatures
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import Scope
from callground.resolve.values import (
    BoundMethod,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    Obj,
    known,
)

MAX_DEPTH = 4


def groups(
    ev: Evaluator, o: FunctionObject | LocalFunction, receiver: Obj | None, depth: int
) -> tuple[tuple[signatures.Signature, ...], ...]:
    """Further groups that a call has to fit; with a receiver its parameter is left out.  None when nothing is sure."""
    if depth >= MAX_DEPTH:
        return ()
    return ev.memo(("forwarded", o, receiver, depth), lambda: _groups(ev, o, receiver, depth), lambda _: (), local=True)


def _groups(
    ev: Evaluator, o: FunctionObject | LocalFunction, receiver: Obj | None, depth: int
) -> tuple[tuple[signatures.Signature, ...], ...]:
    scope = _scope(ev, o)
    node = scope.node if scope is not None else None
    if scope is None or node is None or isinstance(node, ast.Module):
        return ()
    handing = passing_on.read(node)
    if handing is None:
        return ()
    own = signatures.params_of(node.args)
    first = own[0].name if own and own[0].kind in ("positional", "positional-only") else ""
    if receiver is not None:
        if not first:
            return ()
        own = own[1:]
        scope = _with_receiver(ev, scope, first, receiver)
    out: list[tuple[signatures.Signature, ...]] = []
    for alternatives in handing.groups:
        group: list[signatures.Signature] = []
        for call in alternatives:
            behind = _behind(ev, call, scope, first, receiver, depth)
            if behind is None:
                break
            for sig in behind:
                made = _composed(own, call, sig, handing.uses, node)
                if made is None:
                    break
                group.append(made)
            else:
                continue
            break
        else:
            out.append(tuple(group))
    return tuple(out)


def _scope(ev: Evaluator, o: FunctionObject | LocalFunction) -> Scope | None:
    if isinstance(o, LocalFunction):
        return ev.scope_of_node(o.node, o.scope)
    rows = calls.function_faces(ev, o.ref)
    if len(rows) != 1 or rows[0].file.is_stub or not any(p.kind in ("*args", "**kwargs") for p in rows[0].row.params):
        return None
    return ev.function_scope(rows[0])


def _with_receiver(ev: Evaluator, scope: Scope, first: str, receiver: Obj) -> Scope:
    inner = Scope(
        "function",
        scope.module,
        scope.file,
        scope.parent,
        owner=scope.owner,
        node=scope.node,
        qualname=scope.qualname,
        face=scope.face,
    )
    inner.flow = ev.flow(scope)
    inner.extra = {**scope.extra, "args": {first: known(receiver)}}
    ev.keep(inner)
    return inner


def _behind(
    ev: Evaluator, call: ast.Call, scope: Scope, first: str, receiver: Obj | None, depth: int
) -> tuple[signatures.Signature, ...] | None:
    """The alternatives of the callee; None when it is not certain what is called."""
    if _through(call.func, first) and not (isinstance(receiver, (Instance, ClassObject)) and receiver.exact):
        return None  # A subclass may have another method there.
    values = expressions.value(ev, call.func, scope)
    if not values.complete or len(values.items) != 1:
        return None
    callee = values.items[0]
    owner = callee.receiver if isinstance(callee, BoundMethod) else callee
    if isinstance(owner, (Instance, ClassObject)) and not owner.exact:
        return None
    sigs = signatures.of(ev, callee, depth + 1)
    if sigs.why is not None or sigs.not_callable or sigs.soft or not sigs.groups:
        return None
    # Of several groups the last is what stands deepest.
    return sigs.groups[-1]


def _through(func: ast.expr, first: str) -> bool:
    """Whether a callee is looked up on the receiver, or after it (``super()``)."""
    node = func
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ("super", "type"):
                return True
            node = node.func
        else:
            node = node.value
    return isinstance(node, ast.Name) and node.id == first and bool(first)


def _composed(
    own: tuple[Param, ...],
    call: ast.Call,
    behind: signatures.Signature,
    uses: passing_on.Uses,
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
) -> signatures.Signature | None:
    """What the function accepts, as its own parameters and those that are left of its callee's."""
    star = node.args.vararg.arg if node.args.vararg is not None else ""
    double = node.args.kwarg.arg if node.args.kwarg is not None else ""
    explicit = [a for a in call.args if not isinstance(a, ast.Starred)]
    starred = [a for a in call.args if isinstance(a, ast.Starred)]
    if any(not isinstance(a.value, ast.Name) or a.value.id != star for a in starred) or len(starred) > 1:
        return None
    if starred and call.args[-1] is not starred[0]:
        return None
    by_star = bool(starred)
    spread = [k.value for k in call.keywords if k.arg is None]
    by_name = any(isinstance(v, ast.Name) and v.id == double for v in spread) and bool(double)
    filled = uses.filled or len(spread) > by_name
    slots = [p for p in behind.params if p.kind in ("positional", "positional-only")]
    if len(explicit) > len(slots) and not any(p.kind == "*args" for p in behind.params):
        return None
    consumed = {p.name for p in slots[: len(explicit)]} | {k.arg for k in call.keywords if k.arg is not None}
    named = {p.name for p in own if p.kind not in ("*args", "**kwargs")}
    left = [p for p in behind.params if p.name not in consumed and p.name not in named]
    optional = uses.given | uses.taken
    out = [p for p in own if p.kind in ("positional", "positional-only")]
    keywords = [p for p in own if p.kind == "keyword-only"]
    for p in left:
        if p.kind in ("*args", "**kwargs"):
            continue
        if filled or p.name in optional:
            p = p._replace(default="...")
        if p.kind == "keyword-only" or not by_star:
            if not by_name:
                continue
            if p.kind == "positional-only":
                return None
            keywords.append(p._replace(kind="keyword-only"))
        else:
            out.append(p if by_name else p._replace(kind="positional-only"))
    if star and (not by_star or any(p.kind == "*args" for p in behind.params)):
        out.append(Param(star, "*args", None, None))
    keywords += [
        Param(name, "keyword-only", None, "...")
        for name in sorted(uses.taken)
        if name not in named and all(p.name != name for p in (*out, *keywords))
    ]
    out += keywords
    if double and (not by_name or any(p.kind == "**kwargs" for p in behind.params)):
        out.append(Param(double, "**kwargs", None, None))
    return behind._replace(params=tuple(out), group="forwarded")
