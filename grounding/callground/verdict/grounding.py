"""Whether a callee, step by step, exists."""

from __future__ import annotations

import ast

from callground.resolve import expressions, members, modules, names
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.scopes import Scope
from callground.resolve.values import (
    BoundMethod,
    ClassObject,
    FunctionObject,
    Instance,
    ModuleObject,
    Obj,
    PartialObject,
    Ref,
    SuperObject,
    TypeVarObject,
    Values,
    Why,
    is_none,
)
from callground.verdict.findings import Proof
from callground.verdict.model import Reason, Step
from callground.verdict.sites import Site

PARTIAL = Instance(Ref("functools", "partial"), exact=True)


class Trace:
    """Collects the steps of a decision, for ``--explain``."""

    def __init__(self, site: Site, steps: list[Step]) -> None:
        self.site = site
        self.steps = steps

    def step(self, node: ast.AST, text: str) -> None:
        """One step about a node."""
        self.steps.append(Step(self.site.unit.range_of(node, self.site.offset), text))


def describe(o: Obj) -> str:
    """One object in words."""
    if isinstance(o, ModuleObject):
        return f"module {o.name}"
    if isinstance(o, ClassObject):
        return f"class {shown(o.ref.dotted)}"
    if isinstance(o, Instance):
        return "None" if is_none(o) else f"an instance of {shown(o.ref.dotted)}"
    if isinstance(o, FunctionObject):
        return f"function {o.ref.dotted}"
    if isinstance(o, BoundMethod):
        return f"bound {describe(o.function)}"
    if isinstance(o, SuperObject):
        return f"super() of {shown(o.start.dotted)}"
    return {"LocalFunction": "a local function", "CallableObject": "a callable"}.get(type(o).__name__, type(o).__name__)


def shown(name: str) -> str:
    """A dotted name without the marks of local and generated classes."""
    return ".".join(part.split("@")[0] for part in name.split("."))


def in_words(values: Values) -> str:
    """A set of values in words."""
    if not values.items:
        return f"unknown ({values.whys[0].reason.value})" if values.whys else "nothing"
    text = " or ".join(describe(o) for o in values.items[:3])
    if len(values.items) > 3:
        text += " or ..."
    return (
        text if values.complete else f"{text}, perhaps others ({values.whys[0].reason.value} {values.whys[0].detail})"
    )


def callee(ev: Evaluator, node: ast.expr, scope: Scope, trace: Trace, called: bool = False) -> Values | Proof | Why:
    """The values of a callee, or the proof that some part of it does not exist, or why that is not certain.

    `called`: the whole expression is called; what could only be data is then as good as missing.
    """
    if isinstance(node, ast.Name):
        return _name(ev, node, scope, trace)
    if isinstance(node, ast.Attribute):
        return _attribute(ev, node, scope, trace, called)
    values = expressions.value(ev, node, scope)
    trace.step(node, f"is {in_words(values)}")
    return values


def _name(ev: Evaluator, node: ast.Name, scope: Scope, trace: Trace) -> Values | Proof | Why:
    found = names.lookup(ev, node, scope)
    if found.missing:
        trace.step(node, f"`{node.id}` is bound in no scope, no star import and no builtin")
        return Proof("unknown-name", node.id, scope.module.name, "scope", node)
    trace.step(node, f"`{node.id}` is {in_words(found.values)}")
    return found.values


def _attribute(
    ev: Evaluator, node: ast.Attribute, scope: Scope, trace: Trace, called: bool = False
) -> Values | Proof | Why:
    base = (
        callee(ev, node.value, scope, trace)
        if isinstance(node.value, (ast.Name, ast.Attribute))
        else expressions.value(ev, node.value, scope)
    )
    if isinstance(base, Proof):
        return base
    if isinstance(node.value, (ast.Name, ast.Attribute)):
        # Narrowing of the whole dotted name counts, not only that of its parts.
        values = expressions.value(ev, node.value, scope)
        if isinstance(base, Why) and not values.items:
            return base
        base = values
    elif isinstance(base, Why):
        return base
    else:
        trace.step(node.value, f"is {in_words(base)}")
    lacking: list[Obj] = []
    # A ``hasattr`` test of another name says nothing about this one.
    whys = [w for w in base.whys if not (w.detail.startswith("hasattr('") and w.detail != f"hasattr({node.attr!r})")]
    why: Why | None = whys[0] if whys else None
    found = False
    guard = ""
    for o in base.items:
        got = members.of_called(ev, o, node.attr) if called else members.of(ev, o, node.attr)
        if got.found is not None:
            found = True
        elif got.why is not None:
            why = why or got.why
        else:
            lacking.extend(_asked(o))
            guard = guard or got.guarded
    if found:
        values = expressions.value(ev, node, scope)
        trace.step(node, f"`.{node.attr}` is {in_words(values)}")
        return values
    if why is not None:
        return why
    real = [o for o in lacking if not is_none(o)]
    if not real:
        return Why(Reason.UNKNOWN_TYPE, "only None is known" if lacking else "nothing is known")
    if any(
        not isinstance(o, (ModuleObject, ClassObject, Instance, SuperObject, FunctionObject, BoundMethod)) for o in real
    ):
        return Why(Reason.UNKNOWN_ATTRIBUTE, node.attr)
    trace.step(node, f"{describe(real[0])} has no `{node.attr}`")
    return Proof("unknown-member", node.attr, "", "", node, owner_object=real[0], version_guard=guard)


def _asked(o: Obj) -> tuple[Obj, ...]:
    """Whose members were looked through for an object: its bound for a type variable."""
    if isinstance(o, TypeVarObject) and o.bound is not None:
        return o.bound.items
    return (PARTIAL,) if isinstance(o, PartialObject) else (o,)


def import_(ev: Evaluator, site: Site, trace: Trace) -> Proof | Why | None:
    """``import a.b.c``: every part must exist."""
    assert site.alias is not None
    parts = site.alias.name.split(".")
    for i in range(1, len(parts) + 1):
        name = ".".join(parts[:i])
        ev.read("module", name)
        if not ev.snapshot.exists(name):
            return _absent(ev, name, site, trace)
    trace.step(site.node, f"module {site.alias.name} exists")
    return None


def _absent(ev: Evaluator, name: str, site: Site, trace: Trace) -> Proof | Why:
    parent, _, _last = name.rpartition(".")
    known = ev.module(parent) if parent and ev.snapshot.exists(parent) else None
    why = ev.snapshot.import_open(name)
    if why is not None and (known is None or known.origin != "stdlib" or known.also):
        return Why(Reason.UNKNOWN_IMPORT, why)
    if not parent and any("sys-path-edit" in ev.index(file).dynamic for file in ev.faces(site.unit.module)):
        return Why(Reason.UNKNOWN_IMPORT, "sys.path is edited here")
    if parent:
        ev.read("module", parent)
        module = ev.module(parent)
        if module is not None and not module.is_package and not module.is_namespace and module.compiled:
            return Why(Reason.COMPILED, parent)
        if module is not None:
            for file in ev.faces(module) if module.origin != "stdlib" else []:
                index = ev.index(file)
                # A package may extend its own path, or put modules into sys.modules.
                if index.bindings("__path__") or "sys-modules-write" in index.dynamic or "import-hook" in index.dynamic:
                    return Why(Reason.OPEN_MODULE, parent)
    trace.step(site.node, f"no module {name} in the environment or the workspace")
    return Proof("unknown-import", name, name, "module", site.node)


def import_from(ev: Evaluator, site: Site, trace: Trace) -> Proof | Why | None:
    """``from m import name``: the module, then the name."""
    node = site.node
    assert isinstance(node, ast.ImportFrom)
    assert site.alias is not None
    source = "." * node.level + (node.module or "")
    target = modules.absolute(site.unit.module, source)
    if target is None:
        return Why(Reason.UNKNOWN_IMPORT, "relative import above the top package")
    if source == "__future__":
        return None
    parts = target.split(".")
    for i in range(1, len(parts) + 1):
        name = ".".join(parts[:i])
        ev.read("module", name)
        if not ev.snapshot.exists(name):
            return _absent(ev, name, site, trace)
    if site.alias.name == "*":
        return None
    if target == site.unit.module.name and not site.unit.module.is_package:
        return None
    got = modules.import_from(ev, target, site.alias.name)
    if target == site.unit.module.name and got.found is not None and _only_itself(ev, site, target):
        trace.step(node, f"package {target} has no submodule `{site.alias.name}`")
        return Proof("unknown-import", site.alias.name, target, "module", node, owner_object=ModuleObject(target))
    if got.found is not None:
        trace.step(node, f"{target}.{site.alias.name} exists")
        return None
    if got.why is not None:
        return got.why
    why = ev.snapshot.import_open(f"{target}.{site.alias.name}")
    if why is not None:
        return Why(Reason.UNKNOWN_IMPORT, why)
    trace.step(node, f"module {target} has no name and no submodule `{site.alias.name}`")
    return Proof(
        "unknown-import",
        site.alias.name,
        target,
        "module",
        node,
        owner_object=ModuleObject(target),
        version_guard=got.guarded,
    )


def _only_itself(ev: Evaluator, site: Site, target: str) -> bool:
    """Whether nothing but this import of the package from itself binds the name."""
    assert site.alias is not None
    name = site.alias.name
    module = site.unit.module
    if name in module.submodules or ev.snapshot.exists(f"{target}.{name}"):
        return False
    for file in ev.faces(module):
        if modules.open_reason(ev, module, file, name) is not None or ev.index(file).star_imports():
            return False
        for _piece, b in ev.index(file).bindings(name):
            if not (b.kind == "from" and b.path == name and modules.absolute(module, b.value or "") == target):
                return False
    return True


def reference(ev: Evaluator, site: Site, scope: Scope, trace: Trace) -> Proof | Why | None:
    """A class or function that is named without being called."""
    node = site.node
    assert isinstance(node, (ast.Name, ast.Attribute))
    if site.role == "argument" and isinstance(node, ast.Attribute):
        text = dotted(node.value)
        base = expressions.value(ev, node.value, scope)
        if text is None or not base.items or not all(isinstance(o, (ModuleObject, ClassObject)) for o in base.items):
            return Why(Reason.UNKNOWN_ATTRIBUTE, "an attribute that is read")
    got = callee(ev, node, scope, trace)
    if isinstance(got, (Proof, Why)):
        return got
    if not got.items:
        return got.whys[0] if got.whys else None
    return None
