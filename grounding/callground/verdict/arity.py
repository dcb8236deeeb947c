"""Whether the arguments of a call bind."""

from __future__ import annotations

import ast

from callground.resolve import binding, calls, signatures
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import Scope
from callground.resolve.values import Instance, Obj, Values, Why, is_none
from callground.verdict.findings import Proof
from callground.verdict.grounding import Trace, describe
from callground.verdict.model import Reason
from callground.verdict.sites import Site


def check(ev: Evaluator, site: Site, node: ast.Call, values: Values, scope: Scope, trace: Trace) -> Proof | Why | None:
    """None when the arguments bind; the proof when they bind in no alternative; else why that is not certain."""
    callees = [o for o in values.items if not is_none(o)]
    if not callees:
        if values.whys:
            return values.whys[0]
        return Why(Reason.UNKNOWN_TYPE, "only None is known" if values.items else "nothing is known")
    args = calls.CallArgs.from_node(node, scope)
    shape = binding.shape(args)
    why: Why | None = values.whys[0] if values.whys else None
    unsure: Why | None = None
    bound: list[str] = []
    worst: tuple[Obj, signatures.Signature, list[binding.Problem]] | None = None
    uncallable: Obj | None = None
    for o in callees:
        sigs = signatures.of(ev, o)
        if sigs.why is not None:
            unsure = unsure or sigs.why
            continue
        if sigs.not_callable:
            if isinstance(o, Instance) and not o.exact and o.ref.module != "builtins":
                unsure = unsure or Why(Reason.SUBCLASS, o.ref.dotted)
                continue
            uncallable = uncallable or o
            continue
        failed = _failure(sigs, shape)
        if failed is None:
            bound.append(sigs.groups[0][0].text)
        elif sigs.soft:
            unsure = unsure or Why(Reason.UNKNOWN_SIGNATURE, "the declared callable may accept more")
        elif worst is None:
            worst = (o, *failed)
    if bound:
        # Found, and the arguments bind: whether others are possible as well does not matter for that.
        if unsure is None and worst is None and uncallable is None:
            trace.step(node, f"the arguments bind to {bound[0]}")
            return None
        return None if why is None and unsure is None else (why or unsure)
    why = why or unsure
    if why is not None:
        return why
    if uncallable is not None and worst is None:
        trace.step(node.func, f"{describe(uncallable)} is not callable")
        return Proof("not-callable", site.callee, "", "", node.func, owner_object=uncallable)
    if worst is None or uncallable is not None:
        return Why(Reason.UNKNOWN_SIGNATURE, "")
    callee, sig, problems = worst
    first = problems[0]
    missing = tuple(p.name for p in problems if p.code == "missing-argument")
    trace.step(node, f"the arguments do not bind to {sig.text}")
    target: ast.AST = node.func
    if first.code in ("unknown-keyword", "positional-only-as-keyword", "duplicate-argument"):
        given = [k for k in node.keywords if k.arg is not None]
        target = given[first.argument]
    elif first.code == "too-many-arguments" and first.argument < len(node.args):
        target = node.args[first.argument]
    return Proof(
        first.code,
        first.name,
        sig.name,
        "function",
        target,
        owner_object=callee,
        signature=sig,
        maximum=first.maximum,
        given=first.given,
        parameters=missing if first.code == "missing-argument" else (first.name,),
    )


def _failure(
    sigs: signatures.Signatures, shape: binding.Shape
) -> tuple[signatures.Signature, list[binding.Problem]] | None:
    """The alternative that comes nearest in a group in which every alternative fails; None when none does."""
    for group in sigs.groups:
        best: tuple[signatures.Signature, list[binding.Problem]] | None = None
        for sig in group:
            found = binding.problems(sig.params, shape)
            if not found:
                best = None
                break
            if best is None or len(found) < len(best[1]):
                best = (sig, found)
        if best is not None:
            return best
    return None
