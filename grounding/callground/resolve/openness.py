"""Why an object may have members that its class does not show: subclasses, protocols, mixins."""

from __future__ import annotations

import ast

from callground.facts.model import SUBCLASS_MADE
from callground.resolve import (
    classes,
    hierarchy,
    patches,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    Ref,
    Why,
)
from callground.verdict.model import Reason


def subclass_why(ev: Evaluator, ref: Ref, name: str, on_class: bool) -> Why | None:
    """A known subclass that has the member, or may have it."""
    if not ev.snapshot.complete:
        return Why(Reason.NOT_LOADED, "the workspace is still being indexed")
    for child in hierarchy.subclasses(ev, ref):
        looked = classes.find(ev, child, name, on_class)
        if looked.found is not None or looked.why is not None:
            return Why(Reason.SUBCLASS, child.dotted)
    for child in hierarchy.neighbours(ev, ref):
        if classes.find(ev, child, name, on_class).found is not None:
            return Why(Reason.SUBCLASS, child.dotted)
    return _made_why(ev, ref, name)


def _made_why(ev: Evaluator, ref: Ref, name: str) -> Why | None:
    """``type(name, bases, namespace)`` somewhere, with the class among the bases."""
    for entry in hierarchy.mro(ev, ref).entries:
        for mark in (mark for face in classes.faces(ev, entry.ref) for mark in face.row.dynamic):
            made, _, names = mark.partition(":")
            if made == SUBCLASS_MADE and (not names or name in names.split(",")):
                return Why(Reason.SUBCLASS, f"type() makes subclasses of {entry.ref.dotted}")
    last = ref.qualname.rsplit(".", 1)[-1].split("@")[0]
    lasts = {
        entry.ref.qualname.rsplit(".", 1)[-1]
        for entry in hierarchy.mro(ev, ref).entries
        if entry.ref.module != "builtins"
    }
    ev.read("stores", SUBCLASS_MADE)
    for where, store in ev.snapshot.stores(SUBCLASS_MADE):
        if store.value is not None and name not in store.value.split(","):
            continue
        # A variable that holds an ancestor by default may hold this class.
        held = any(patches.stands_for(ev, where, store.receiver, each) for each in lasts)
        if held or store.receiver.rsplit(".", 1)[-1] == last:
            return Why(Reason.SUBCLASS, f"type() makes subclasses of {store.receiver}")
    return None


def abstract_why(ev: Evaluator, ref: Ref) -> Why | None:
    """A declared type of which every instance is of some other class: protocols, library ABCs."""
    if ref.module == "builtins":
        return None
    for face in classes.faces(ev, ref):
        if is_protocol(ev, face):
            return Why(Reason.SUBCLASS, f"protocol {ref.dotted}")
        if face.module.origin == "workspace":
            continue
        if any(k == "metaclass" and "ABC" in v for k, v in face.row.keywords) or any(
            b.rsplit(".", 1)[-1] == "ABC" for b in face.row.bases
        ):
            return Why(Reason.SUBCLASS, f"abstract {ref.dotted}")
        scope_rows = ev.index(face.file)
        for b in face.row.members:
            if b.kind == "def" and any(
                d.rsplit(".", 1)[-1].startswith("abstract")
                for _p, f in scope_rows.functions(b.value or "")
                for d in f.decorators
            ):
                return Why(Reason.SUBCLASS, f"abstract {ref.dotted}")
    return None


def is_protocol(ev: Evaluator, face: ClassFace) -> bool:
    """Whether a class statement declares a typing protocol."""
    for text in face.row.bases:
        if "Protocol" not in text:
            continue
        node = parse_expression(text)
        inner = node.value if isinstance(node, ast.Subscript) else node
        if inner is not None and type_forms.special_name(ev, inner, face.scope) == "Protocol":
            return True
    return False


def mixin_why(ev: Evaluator, ref: Ref, name: str) -> Why | None:
    """A class that uses other attributes of ``self`` which it does not have either lives from its hosts."""
    last = ref.qualname.rsplit(".", 1)[-1].split("@")[0]
    if "mixin" in last.lower():
        return Why(Reason.SUBCLASS, f"mixin {ref.dotted}")
    if ev.memo(("cooperates", ref), lambda: _cooperates(ev, ref), lambda reason: True, local=True):
        return Why(Reason.SUBCLASS, f"{ref.dotted} hands arguments on to a base that it does not have")
    lacking = ev.memo(("lacking", ref), lambda: _lacking(ev, ref), lambda reason: frozenset(), local=True)
    others = lacking - {name}
    if others and not classes.defines(ev, ref, "__init__"):
        return Why(Reason.SUBCLASS, f"{ref.dotted} also lacks {sorted(others)[0]}")
    return None


def _cooperates(ev: Evaluator, ref: Ref) -> bool:
    """A class without bases that calls ``super().__init__`` with arguments is made to be mixed into others."""
    if any(e.ref not in (ref, hierarchy.OBJECT) for e in hierarchy.mro(ev, ref).entries):
        return False
    for face in classes.faces(ev, ref):
        node = ev.node(face.file, face.piece, face.row.line, face.row.name) if not face.file.is_stub else None
        for sub in ast.walk(node) if node is not None else ():
            if (
                isinstance(sub, ast.Call)
                and isinstance(sub.func, ast.Attribute)
                and isinstance(sub.func.value, ast.Call)
            ):
                inner = sub.func.value.func
                if isinstance(inner, ast.Name) and inner.id == "super" and (sub.args or sub.keywords):
                    if sub.func.attr not in (
                        "__setattr__",
                        "__getattribute__",
                        "__delattr__",
                        "__new__",
                        "__eq__",
                        "__ne__",
                    ):
                        return True
    return False


def _lacking(ev: Evaluator, ref: Ref) -> frozenset[str]:
    used: set[str] = set()
    for face in classes.faces(ev, ref):
        if face.file.is_stub:
            continue
        ev.read("body", ref.module, ref.qualname)
        node = ev.node(face.file, face.piece, face.row.line, face.row.name)
        if not isinstance(node, ast.ClassDef):
            continue
        for method in node.body:
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.args.args:
                me = method.args.args[0].arg
                for sub in ast.walk(method):
                    if (
                        isinstance(sub, ast.Attribute)
                        and isinstance(sub.ctx, ast.Load)
                        and isinstance(sub.value, ast.Name)
                        and sub.value.id == me
                    ):
                        used.add(sub.attr)
    out = set()
    for attr in used:
        looked = classes.find(ev, ref, attr)
        if looked.found is None and looked.why is None:
            out.add(attr)
    return frozenset(out)
