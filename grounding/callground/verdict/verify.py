"""The judgement: one site in, one verdict out.  Pure; the terminal, the editor and the gate run this same code."""

from __future__ import annotations

import ast
import logging
from dataclasses import replace

from callground.graph.interface import NotLoaded, SnapshotLike
from callground.resolve import flow as flow_module
from callground.resolve.evaluator import Evaluator, OverBudget
from callground.resolve.scopes import Scope
from callground.resolve.values import Why
from callground.verdict import absent_packages, arity, deprecations, grounding, guards
from callground.verdict.findings import Proof, finding
from callground.verdict.model import Finding, Reason, Step, Verdict
from callground.verdict.sites import Site, Unit, plan

log = logging.getLogger(__name__)

__all__ = ["Site", "judge", "outcome_of", "plan", "verify"]


def verify(
    text: str,
    path: str,
    snapshot: SnapshotLike,
    ranges: list[tuple[int, int]] | None = None,
    *,
    evaluator: Evaluator | None = None,
) -> list[Verdict]:
    """The verdicts on the sites of one file that touch `ranges` (lines, inclusive), or on all of them.

    The snapshot must already show `text` for `path` (`Snapshot.with_overlay`).  Sites that need a module which is not
    in memory are abstained on as not loaded, and the module's name is added to ``evaluator.needs``.
    """
    ev = evaluator if evaluator is not None else Evaluator(snapshot)
    out = []
    for site in plan(text, path, snapshot):
        if ranges is None or any(a <= site.range.end_line and site.range.line <= b for a, b in ranges):
            out.append(judge(site, ev))
    return out


def judge(site: Site, ev: Evaluator) -> Verdict:
    """The verdict on one site.  Raises NotLoaded when ``ev.raise_not_loaded`` is set."""
    ev.begin()
    steps: list[Step] = []
    why = ""
    try:
        outcome = _decide(site, ev, steps)
        if isinstance(outcome, Proof):
            outcome = guarded(site, outcome, ev) or outcome
        if isinstance(outcome, Proof):
            why = absent_packages.optional(ev, site, outcome)
    except NotLoaded as missing:
        if ev.raise_not_loaded:
            raise
        ev.needs.add(missing.module)
        outcome = Why(Reason.NOT_LOADED, missing.module)
    except OverBudget:
        outcome = Why(Reason.BUDGET, "steps")
    except RecursionError:
        outcome = Why(Reason.BUDGET, "recursion")
    except Exception as error:  # a fault of ours must not become a squiggle, nor end the run
        log.exception("judging %s at %s:%s", site.callee, site.unit.path, site.range.line)
        outcome = Why(Reason.INTERNAL, f"{type(error).__name__}: {error}")
    status, reason, detail, found = "grounded", None, "", None
    if outcome is None:
        found = _hint(site, ev)
    if isinstance(outcome, Why):
        status, reason, detail = "abstained", outcome.reason, outcome.detail
    elif isinstance(outcome, Proof):
        found = finding(ev, site, outcome)
        if why:
            found = replace(found, severity="hint", message=f"{found.message}; {why}")
        status = "arity" if found.kind == "arity" else "ungrounded"
    return Verdict(
        site.range,
        found.range if found is not None else site.callee_range,
        site.kind,
        site.callee,
        status,
        reason,
        detail,
        found,
        tuple(steps),
        ev.reads(),
    )


def _hint(site: Site, ev: Evaluator) -> Finding | None:
    """What is to be said about a call that exists: that it is deprecated."""
    try:
        proof = deprecations.of_call(ev, site, scope_of(site, ev))
        return finding(ev, site, proof) if proof is not None else None
    except NotLoaded:
        if ev.raise_not_loaded:
            raise
    except (OverBudget, RecursionError):
        pass  # the verdict stands without the hint
    except Exception:  # a fault of ours must not take the verdict with it
        log.exception("looking for deprecations of %s at %s:%s", site.callee, site.unit.path, site.range.line)
    return None


def guarded(site: Site, proof: Proof, ev: Evaluator) -> Why | None:
    """Why a proved fault is silent all the same: the program expects it."""
    if site.environment:
        return Why(Reason.GUARDED, "beside a test of the environment, or in a skipped test")
    if "platform" in proof.version_guard or "os.name" in proof.version_guard:
        # Real on another platform: code for that platform is not invented.
        return Why(Reason.VERSION_GUARD, proof.version_guard)
    other = guards.another_object(ev, site, proof)
    if other is not None:
        return other
    expected = {
        "unknown-name": {"NameError", "UnboundLocalError"},
        "unknown-import": {"ImportError", "ModuleNotFoundError"},
        "unknown-member": {"AttributeError"},
        "not-callable": {"TypeError"},
    }.get(proof.code, {"TypeError"})
    hit = site.caught & expected
    if hit:
        return Why(Reason.GUARDED, f"{sorted(hit)[0]} is expected here")
    # What the workspace itself defines is the same everywhere; the rest of the world may differ there.
    if guards.outside(ev, site, proof) and any(
        guards.depends_on_environment(ev, test, site.unit.module)
        for test in site.tests
        if ev.truth_in(site.unit.module)(test) is None
    ):
        return Why(Reason.VERSION_GUARD, "under a test of the environment")
    return None


def outcome_of(site: Site, ev: Evaluator) -> Proof | Why | None:
    """What decides a site: the proof that something is wrong, why that is not certain, or None.

    For those who work on from a proof (repairs).  Lets NotLoaded and running out of steps escape.
    """
    return _decide(site, ev, [])


def scope_of(site: Site, ev: Evaluator) -> Scope | None:
    """The scope that the site's expressions are evaluated in; None in code that cannot be placed."""
    unit = site.unit
    scope = _module_scope(unit, ev)
    for node in site.chain:
        if isinstance(node, ast.ClassDef):
            inner = _class_scope(node, scope, site, ev)
            if inner is None:
                return None
            scope = inner
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scope = ev.scope_of_node(node, scope)
    return scope


def _module_scope(unit: Unit, ev: Evaluator) -> Scope:
    key = ("unit", id(unit))

    def make() -> Scope:
        scope = Scope("module", unit.module, unit.file)
        scope.flow = flow_module.analyze(unit.body, ev.truth_in(unit.module))
        return scope

    ev.keep(unit)
    return ev.memo(key, make, lambda reason: Scope("module", unit.module, unit.file), local=True)


def _class_scope(node: ast.ClassDef, outer: Scope, site: Site, ev: Evaluator) -> Scope | None:
    from callground.resolve import classes, names
    from callground.resolve.values import Ref

    def make() -> Scope | None:
        if outer.kind == "function" or any(s == "<locals>" for s in outer.qualname.split(".")):
            face = names.local_class_face(ev, node, outer) if outer.kind == "function" else None
            if outer.kind == "class" and outer.cls is not None:
                inner = classes.faces(ev, Ref(outer.cls.ref.module, f"{outer.cls.ref.qualname}.{node.name}"))
                face = inner[0] if inner else None
        else:
            qualname = f"{outer.qualname}.{node.name}" if outer.qualname else node.name
            rows = [
                (p, r)
                for p, r in ev.index(site.unit.file).class_(qualname)
                if r.line == node.lineno and site.unit.file.facts.starts[p] - 1 == site.offset
            ]
            if not rows:
                return None
            from callground.resolve.scopes import ClassFace

            piece, row = rows[-1]
            ref = Ref(site.unit.module.name, qualname)
            face = ClassFace(ref, site.unit.module, site.unit.file, piece, row, outer)
        if face is None:
            return None
        scope = Scope("class", site.unit.module, site.unit.file, outer, cls=face, qualname=face.ref.qualname)
        scope.flow = flow_module.analyze(node.body, ev.truth_in(site.unit.module))
        return scope

    return ev.memo(("class-scope", id(node), id(outer)), make, lambda reason: None, local=True)


def _decide(site: Site, ev: Evaluator, steps: list[Step]) -> Proof | Why | None:
    scope = scope_of(site, ev)
    if scope is None:
        return Why(Reason.UNSUPPORTED, "class in an unusual place")
    current: Scope | None = scope
    while current is not None:
        # Dead code of an outer body holds everything inside it.
        flow = ev.flow(current)
        if flow is not None and id(site.node) in flow.dead:
            return Why(Reason.UNREACHABLE, "")
        current = current.parent
    trace = grounding.Trace(site, steps)
    if site.role == "import":
        return grounding.import_(ev, site, trace)
    if site.role == "from":
        return grounding.import_from(ev, site, trace)
    if site.role != "call":
        return grounding.reference(ev, site, scope, trace)
    assert isinstance(site.node, ast.Call)
    result = grounding.callee(ev, site.node.func, scope, trace, called=True)
    if isinstance(result, (Proof, Why)):
        return result
    return arity.check(ev, site, site.node, result, scope, trace)
