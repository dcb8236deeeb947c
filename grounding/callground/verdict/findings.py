"""From a proof to a finding: owner, message, evidence, candidates."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from callground import rules
from callground.graph.interface import Module
from callground.resolve import calls, classes, hierarchy, modules, signatures
from callground.resolve.evaluator import Evaluator
from callground.resolve.values import (
    BoundMethod,
    ClassObject,
    FunctionObject,
    Instance,
    ModuleObject,
    Obj,
    Ref,
    SuperObject,
)
from callground.verdict.model import Finding, Range
from callground.verdict.sites import Site, last_name


@dataclass(frozen=True, eq=False)
class Proof:
    """That something does not exist, or that arguments do not bind."""

    code: str
    name: str
    owner: str
    owner_kind: str
    node: ast.AST
    """Where it stands: the callee, the argument, the keyword, the import."""
    owner_object: Obj | None = None
    signature: signatures.Signature | None = None
    maximum: int = 0
    given: int = 0
    parameters: tuple[str, ...] = ()
    version_guard: str = ""
    """The name does exist, under a version or platform guard that this environment does not meet."""
    detail: str = ""
    """A deprecation's own words."""


def finding(ev: Evaluator, site: Site, proof: Proof) -> Finding:
    """The finding that a proof makes."""
    owner, owner_kind, module = _owner(ev, site, proof)
    rule = rules.RULES[proof.code]
    kind = rule.kind
    third = module is not None and module.origin != "workspace"
    distribution = module.distribution if module is not None and third else None
    version = module.version if module is not None and third else None
    if module is not None and module.origin == "stdlib":
        distribution, version = "Python", ".".join(map(str, ev.snapshot.python_version))
    sig = proof.signature
    message = rules.message(
        proof.code,
        name=proof.name,
        owner=owner,
        owner_kind=owner_kind,
        callee=site.callee,
        signature=sig.text if sig is not None else "",
        maximum=proof.maximum,
        given=proof.given,
        parameter=proof.parameters,
        version=version,
        distribution=distribution,
        detail=f"it exists only where `{proof.version_guard.partition(':')[2]}`"
        if proof.version_guard
        else proof.detail,
    )
    evidence, location = _evidence(ev, proof, module)
    return Finding(
        proof.code,
        kind,
        rule.severity,
        _range(site, proof),
        site.callee,
        owner,
        third,
        message,
        evidence,
        location,
        proof.name,
        _candidates(ev, site, proof),
    )


def clean(ref: Ref) -> str:
    """Dotted name of a class as people write it."""
    name = ".".join(part.split("@")[0] for part in ref.qualname.split("."))
    return f"{ref.module}.{name}"


def _owner(ev: Evaluator, site: Site, proof: Proof) -> tuple[str, str, Module | None]:
    o = proof.owner_object
    here: Module | None = site.unit.module
    if proof.signature is not None:
        module = ev.module(proof.signature.module) if proof.signature.module else here
        return _strip(proof.signature.name), "function", module
    if isinstance(o, ModuleObject):
        return o.name, "module", ev.module(o.name)
    ref: Ref | None = None
    if isinstance(o, (Instance, ClassObject)):
        ref = o.ref
    elif isinstance(o, SuperObject):
        ref = _next(ev, o)
    elif isinstance(o, FunctionObject):
        return o.ref.dotted, "function", ev.module(o.ref.module)
    elif isinstance(o, BoundMethod) and isinstance(o.function, FunctionObject):
        return o.function.ref.dotted, "function", ev.module(o.function.ref.module)
    if ref is not None:
        local = ev.local_classes.get(ref)
        return clean(ref), "class", local.module if local is not None else ev.module(ref.module)
    if proof.code == "unknown-import":
        top = proof.name.split(".")[0]
        parent = proof.name.rpartition(".")[0]
        module = ev.module(parent) if parent and ev.snapshot.exists(parent) else None
        if module is None and top == site.unit.module.name.split(".")[0]:
            module = here
        return proof.name, "module", module if module is not None else _outside(proof.name)
    return proof.owner or site.unit.module.name, proof.owner_kind, here


def _next(ev: Evaluator, o: SuperObject) -> Ref:
    """The class that ``super()`` asks first."""
    receiver = o.receiver.ref if isinstance(o.receiver, (Instance, ClassObject)) else o.start
    entries = [e.ref for e in hierarchy.mro(ev, receiver).entries]
    position = entries.index(o.start) if o.start in entries else -1
    return entries[position + 1] if 0 <= position < len(entries) - 1 else o.start


def _outside(name: str) -> Module:
    return Module(name, "third-party", False)


def _strip(name: str) -> str:
    return ".".join(part.split("@")[0] for part in name.split("."))


def _range(site: Site, proof: Proof) -> Range:
    unit, node = site.unit, proof.node
    if site.alias is not None:
        full = site.range
        if proof.code == "unknown-import" and site.role == "from" and proof.owner_object is None:
            return full
        # Without the ``as`` part.
        length = len(site.alias.name)
        return Range(full.line, full.column, full.line, full.column + length)
    if isinstance(node, ast.keyword):
        full = unit.range_of(node, site.offset)
        return Range(full.line, full.column, full.line, full.column + len(node.arg or "**"))
    if isinstance(node, ast.Attribute) and proof.code in (
        "unknown-member",
        "not-callable",
        "missing-argument",
        "deprecated-call",
    ):
        return last_name(unit, node, site.offset)
    return unit.range_of(node, site.offset)


def _evidence(ev: Evaluator, proof: Proof, module: Module | None) -> tuple[tuple[str, ...], tuple[str, int] | None]:
    sig = proof.signature
    if sig is not None:
        if not sig.path:
            return (), None
        return (f"{sig.text} is defined at {sig.path}:{sig.line}",), (sig.path, sig.line)
    o = proof.owner_object
    if isinstance(o, ModuleObject):
        file = None
        if module is not None:
            file = module.source or module.stub or module.probed
        return ((f"module {o.name} is {file.path}",), (file.path, 1)) if file is not None else ((), None)
    function = o.function if isinstance(o, BoundMethod) else o
    if isinstance(function, FunctionObject):
        found = calls.function_faces(ev, function.ref)
        face = next((f for f in found if not f.file.is_stub), found[0] if found else None)
        if face is not None:
            path = face.file.path.split("#")[0]
            return (f"{_strip(function.ref.dotted)} is defined at {path}:{face.line}",), (path, face.line)
    ref = o.ref if isinstance(o, (Instance, ClassObject)) else _next(ev, o) if isinstance(o, SuperObject) else None
    if ref is not None:
        rows = classes.faces(ev, ref)
        source = next((f for f in rows if not f.file.is_stub), rows[0] if rows else None)
        if source is not None:
            path = source.file.path.split("#")[0]
            return (f"class {_strip(ref.dotted)} is defined at {path}:{source.line}",), (path, source.line)
    return (), None


def _candidates(ev: Evaluator, site: Site, proof: Proof) -> tuple[str, ...]:
    if proof.code == "deprecated-call":
        return ()
    if proof.signature is not None:
        return tuple(p.name for p in proof.signature.params if p.kind in ("positional", "keyword-only"))
    o = proof.owner_object
    if isinstance(o, ModuleObject):
        return modules.all_names(ev, o.name)
    if isinstance(o, (Instance, ClassObject)):
        return classes.member_names(ev, o.ref)
    if isinstance(o, SuperObject):
        return classes.member_names(ev, o.start)
    if proof.code == "unknown-name":
        return tuple(sorted(ev.index(site.unit.file).names()))
    return ()
