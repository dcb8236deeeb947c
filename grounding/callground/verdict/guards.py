"""Tests around a site that ask for the environment: read only when a fault has been proved."""

from __future__ import annotations

import ast
import re

from callground.graph.interface import Module, SourceFile
from callground.resolve import hierarchy, modules
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.static import environment_test, parse_expression
from callground.resolve.values import ClassObject, Instance, ModuleObject, Ref, SuperObject, Why
from callground.verdict.findings import Proof
from callground.verdict.model import Reason
from callground.verdict.sites import Site

_DEPTH = 4
_MANGLED = re.compile(r"_[^\W_]\w*?__\w*[^\W_]\w*?_?")
"""``_Class__name``, as Python writes ``__name`` in a class body."""


Seen = dict[tuple[str, str], int]
"""(module, name) of the flags that were looked at, and how deep that was."""


def depends_on_environment(
    ev: Evaluator, test: ast.expr, module: Module, depth: int = 0, seen: Seen | None = None
) -> bool:
    """Whether a test asks for the version, the platform or an optional import, through named flags too.

    A flag is a module's name (``PY_312``, ``HAS_TRIO``, ``compat.WIN``) that is bound to such a test, or that is bound
    differently where an import failed.
    """
    if environment_test(test):
        return True
    if depth > _DEPTH:
        return False
    seen = {} if seen is None else seen
    for sub in ast.walk(test):
        if isinstance(sub, (ast.Name, ast.Attribute)):
            text = dotted(sub)
            if text is not None and _flag(ev, text, module, depth, seen):
                return True
    return False


def another_object(ev: Evaluator, site: Site, proof: Proof) -> Why | None:
    """Why the object may have the missing member all the same: it is asked in a way that only its real class allows."""
    if proof.code != "unknown-member":
        return None
    name, o = proof.name, proof.owner_object
    around = [n for n in site.chain if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if proof.version_guard and isinstance(o, SuperObject) and around and around[-1].name == name:
        # Who overrides what only another version has is called by that version.
        return Why(Reason.VERSION_GUARD, proof.version_guard)
    if _MANGLED.fullmatch(name):
        return Why(Reason.UNKNOWN_ATTRIBUTE, "private name of some class")
    if not isinstance(o, Instance) or o.is_self:
        return None
    in_class = any(isinstance(n, ast.ClassDef) for n in site.chain)
    if in_class and name.startswith("__") and not name.endswith("__"):
        # Only methods of the class around it get at such a name, so the object is one of that class.
        return Why(Reason.UNKNOWN_ATTRIBUTE, "private name of the class around")
    return None if o.exact else _imported_subclass(ev, site, o, name)


def _imported_subclass(ev: Evaluator, site: Site, o: Instance, name: str) -> Why | None:
    """A subclass in a library module that the file imports, which has the member."""
    module = ev.module(o.ref.module) if ev.snapshot.exists(o.ref.module) else None
    if module is None or module.origin == "workspace":
        return None
    here = site.unit.module
    for piece in site.unit.file.facts.pieces:
        for source, names in piece.imports:
            target = modules.absolute(here, source)
            if target is None:
                continue
            for imported in (target, *(f"{target}.{n}" for n in names if n != "*")):
                found = _subclass_with(ev, imported, o, name)
                if found is not None:
                    return found
    return None


def _subclass_with(ev: Evaluator, imported: str, o: Instance, name: str) -> Why | None:
    ev.read("module", imported)
    module = ev.module(imported) if ev.snapshot.exists(imported) else None
    if module is None or module.origin == "workspace":
        return None
    for file in ev.faces(module):
        for _piece, row in ev.index(file).classes():
            if any(b.name == name for b in row.members) or any(a.name == name for a in row.self_attrs):
                ref = Ref(imported, row.qualname)
                if ref != o.ref and hierarchy.is_subclass(ev, ref, o.ref) is not False:
                    return Why(Reason.SUBCLASS, ref.dotted)
    return None


def outside(ev: Evaluator, site: Site, proof: Proof) -> bool:
    """Whether what is missing would stand outside the workspace (or nobody knows where)."""
    if proof.code in ("unknown-import", "unknown-name"):
        return True
    o = proof.owner_object
    if proof.signature is not None:
        name = proof.signature.module
    elif isinstance(o, ModuleObject):
        name = o.name
    elif isinstance(o, (Instance, ClassObject)):
        name = o.ref.module
    elif isinstance(o, SuperObject):
        name = o.start.module
    else:
        return True
    module = ev.module(name) if name and ev.snapshot.exists(name) else None
    return module is None or module.origin != "workspace"


def _new(seen: Seen, module: Module, name: str, depth: int) -> bool:
    """Whether a flag was not looked at yet (or only so deep that less of it was seen)."""
    before = seen.get((module.name, name))
    if before is not None and before <= depth:
        return False
    seen[module.name, name] = depth
    return True


def _flag(ev: Evaluator, text: str, module: Module, depth: int, seen: Seen) -> bool:
    if not _new(seen, module, text, depth):
        return False
    head, _, rest = text.partition(".")
    for file in ev.faces(module):
        for _piece, b in ev.index(file).bindings(head):
            if rest:
                target = _module_of(ev, module, b.kind, b.value, b.path)
                if target is not None and "." not in rest and _bound_so(ev, target, rest, depth + 1, seen):
                    return True
            elif b.kind == "from":
                source = modules.absolute(module, b.value or "")
                inner = ev.module(source) if source and ev.snapshot.exists(source) else None
                if inner is not None and _bound_so(ev, inner, b.path, depth + 1, seen):
                    return True
            elif _binding_asks(ev, module, file, head, depth, seen):
                return True
    return False


def _module_of(ev: Evaluator, module: Module, kind: str, value: str | None, path: str) -> Module | None:
    if kind == "import":
        name = value or ""
    elif kind == "from":
        source = modules.absolute(module, value or "")
        name = f"{source}.{path}" if source else ""
    else:
        return None
    return ev.module(name) if name and ev.snapshot.exists(name) else None


def _bound_so(ev: Evaluator, module: Module, name: str, depth: int, seen: Seen) -> bool:
    if depth > _DEPTH or not _new(seen, module, f"={name}", depth):
        return False
    for file in ev.faces(module):
        if _binding_asks(ev, module, file, name, depth, seen):
            return True
        for _piece, b in ev.index(file).bindings(name):
            if b.kind == "from":
                source = modules.absolute(module, b.value or "")
                inner = ev.module(source) if source and ev.snapshot.exists(source) else None
                if inner is not None and inner is not module and _bound_so(ev, inner, b.path, depth + 1, seen):
                    return True
    return False


def _binding_asks(ev: Evaluator, module: Module, file: SourceFile, name: str, depth: int, seen: Seen) -> bool:
    for _piece, b in ev.index(file).bindings(name):
        if any(
            g.startswith("except:") and ("Import" in g or "ModuleNotFound" in g or "Attribute" in g) for g in b.guards
        ):
            return True
        for guard in b.guards:
            test = parse_expression(guard.partition(":")[2]) if guard.startswith(("if:", "else:")) else None
            if test is not None and environment_test(test):
                return True
        if b.kind in ("assign", "annassign") and b.value:
            value = parse_expression(b.value)
            if value is not None and depth <= _DEPTH:
                if depends_on_environment(ev, value, module, depth + 1, seen):
                    return True
                if _finds_a_module(value):
                    return True
    return False


def _finds_a_module(value: ast.expr) -> bool:
    """``importlib.util.find_spec("x") is not None`` and its kin."""
    for sub in ast.walk(value):
        if isinstance(sub, ast.Call) and (dotted(sub.func) or "").rsplit(".", 1)[-1] in ("find_spec", "find_loader"):
            return True
    return False
