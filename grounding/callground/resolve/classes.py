"""Classes: their rows in stub and source, bases, MRO, and the look-up of a member with the proof of its absence."""

from __future__ import annotations

from typing import NamedTuple

from callground.facts.model import SUBCLASS_MADE, Binding, SelfAttr
from callground.graph.interface import Module, SourceFile
from callground.resolve import (
    calls,
    class_openings,
    decorators,
    generated,
    hierarchy,
    item_access,
    modules,
    names,
    patches,
    tables,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    ClassObject,
    Instance,
    Member,
    Ref,
    Values,
    Why,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

_QUIET_METACLASSES = {"builtins", "abc", "enum", "typing", "typing_extensions", "_typeshed", "_ctypes"}
_TRANSFORMS = {("typing", "dataclass_transform"), ("typing_extensions", "dataclass_transform")}


class Found(NamedTuple):
    """Where a member is: the class and its rows."""

    entry: hierarchy.Entry
    rows: tuple[tuple[ClassFace, Binding | SelfAttr], ...]


class Lookup(NamedTuple):
    """Found, or a reason why it may exist all the same, or neither (proved missing)."""

    found: Found | None = None
    why: Why | None = None
    guarded: str = ""


def faces(ev: Evaluator, ref: Ref) -> list[ClassFace]:
    """The rows of a class that can run in this environment, stub rows first."""
    local = ev.local_classes.get(ref)
    if local is not None:
        return [local]
    if "@" in ref.qualname and "." in ref.qualname.rsplit("<locals>.", 1)[-1]:
        return _nested_local(ev, ref)
    ev.read("class", ref.module, ref.qualname)

    def compute() -> list[ClassFace]:
        module = ev.module(ref.module)
        if module is None:
            return []
        out: list[ClassFace] = []
        for file in ev.faces(module):
            index = ev.index(file)
            guards = {(p, b.line): b.guards for p, b in _binding_rows(ev, file, ref.qualname) if b.kind == "class"}
            scope = _scope_around(ev, module, file, ref.qualname)
            for piece, row in index.class_(ref.qualname):
                if ev.alive(guards.get((piece, row.line), ())):
                    out.append(ClassFace(ref, module, file, piece, row, scope))
        return out

    return ev.memo(("faces", ref), compute, lambda reason: [], local=True)


def _nested_local(ev: Evaluator, ref: Ref) -> list[ClassFace]:
    outer_name, _, _last = ref.qualname.rpartition(".")
    outer = ev.local_classes.get(Ref(ref.module, outer_name))
    if outer is None:
        return []
    inner = outer.row.qualname + "." + ref.qualname[len(outer_name) + 1 :]
    scope = ev.class_scope(outer)
    return [
        ClassFace(ref, outer.module, outer.file, piece, row, scope) for piece, row in ev.index(outer.file).class_(inner)
    ]


def _binding_rows(ev: Evaluator, file: SourceFile, qualname: str) -> list[tuple[int, Binding]]:
    index = ev.index(file)
    head, _, last = qualname.rpartition(".")
    if not head:
        return list(index.bindings(last))
    return [(p, b) for p, row in index.class_(head) for b in row.members if b.name == last]


def _scope_around(ev: Evaluator, module: Module, file: SourceFile, qualname: str) -> Scope:
    scope = ev.module_scope(module, file)
    parts = qualname.split(".")
    for i in range(1, len(parts)):
        outer_name = ".".join(parts[:i])
        rows = ev.index(file).class_(outer_name)
        if rows:
            piece, row = rows[-1]
            scope = ev.class_scope(ClassFace(Ref(module.name, outer_name), module, file, piece, row, scope))
    return scope


def class_value(ev: Evaluator, ref: Ref) -> Values:
    """The value of a class statement's name: the class, opened when a decorator may have replaced it."""
    rows = faces(ev, ref)
    if not rows:
        return unknown(Reason.UNKNOWN_TYPE, ref.dotted)
    value = known(ClassObject(ref))
    for face in rows:
        if face.row.decorators:
            result = _decorated(ev, face)
            if result is not None:
                return result
    return value


def _decorated(ev: Evaluator, face: ClassFace) -> Values | None:
    """None when the decorators give the class back."""
    key = ("class-decorated", face.ref, face.file.path, face.row.line)
    plain = known(ClassObject(face.ref))

    def compute() -> Values:
        nodes = [parse_expression(d) for d in face.row.decorators]
        values = plain
        for node in reversed(nodes):
            if node is None:
                return plain.opened(Reason.UNKNOWN_DECORATOR)
            values = calls.class_decorated(ev, values, node, face.scope.at(face.line))
        return values

    result = ev.values(key, compute, local=hierarchy.is_local(face.ref))
    return None if result == plain else result


def decorator_why(ev: Evaluator, face: ClassFace) -> Why | None:
    """Why a decorated class may not be the class that stands there."""
    result = _decorated(ev, face) if face.row.decorators else None
    if result is None:
        return None
    return result.whys[0] if result.whys else Why(Reason.UNKNOWN_DECORATOR, face.ref.dotted)


def body_name(ev: Evaluator, face: ClassFace, name: str, before: int | None) -> Values | None:
    """A name that the class body itself binds, as seen in that body; None when it binds no such name."""
    start = face.file.facts.starts[face.piece]
    rows = [b for b in face.row.members if b.name == name and ev.alive(b.guards)]
    if before is not None:
        rows = [b for b in rows if start + b.line - 1 < before]
    if not rows:
        return None
    ev.read("class", face.ref.module, face.ref.qualname)
    scope = ev.class_scope(face)
    last = rows[-1]
    if not last.guards:
        rows = [last]
    return join(*(names.evaluate_binding(ev, face.module, face.file, face.piece, b, scope) for b in rows))


def find(
    ev: Evaluator, ref: Ref, name: str, on_class: bool = False, after: Ref | None = None, called: bool = False
) -> Lookup:
    """Where a member of the class is.

    `on_class` leaves out what only instances have; `after` is where ``super()`` starts; `called`: the member is to
    be called, so that it does not count when it could only be data.
    """
    return ev.memo(
        ("find", ref, name, on_class, after, called),
        lambda: _find(ev, ref, name, on_class, after, called),
        lambda reason: Lookup(why=Why(reason)),
        local=hierarchy.is_local(ref) or (after is not None and hierarchy.is_local(after)),
    )


def _find(ev: Evaluator, ref: Ref, name: str, on_class: bool, after: Ref | None, called: bool) -> Lookup:
    order = hierarchy.mro(ev, ref)
    why: Why | None = None
    entries = list(order.entries)
    if after is not None:
        position = next((i for i, e in enumerate(entries) if e.ref == after), None)
        if position is None:
            return Lookup(why=Why(Reason.UNKNOWN_BASE, "super"))
        entries = entries[position + 1 :]
    guarded = ""
    blind: Why | None = None
    for entry in [*entries, *(hierarchy.Entry(r, ()) for r in order.extra)]:
        own = faces(ev, entry.ref)
        rows = _own_rows(ev, own, name, on_class)
        if rows:
            # A base that is not known stands before this class and may have its own.
            before = (order.whys[0] if order.whys else blind) if entry.ref != ref else None
            if before is not None and entry.ref == hierarchy.OBJECT:
                return Lookup(why=before)
            found = Found(entry, rows)
            return Lookup(_declared_by_base(ev, entries, found, own, name) or found, before)
        if name in ("__init__", "__new__") and entry.ref != hierarchy.OBJECT and generated.makes(ev, own, name):
            return Lookup(why=Why(Reason.UNKNOWN_SIGNATURE, f"{entry.ref.dotted}.{name} is generated"))
        for face in own:
            if any(b.name == name for b in face.row.members):
                guarded = guarded or next(
                    (g for b in face.row.members if b.name == name for g in b.guards if not ev.alive((g,))), ""
                )
            why = why or _face_why(ev, entry, face, on_class, ref, name, called)
        if not own and entry.ref != hierarchy.OBJECT:
            blind = blind or Why(Reason.UNKNOWN_TYPE, entry.ref.dotted)
            why = why or blind
    if order.whys:
        why = why or order.whys[0]
    if why is None:
        covered: set[Ref] = set()
        for entry in entries:
            if entry.ref in covered:
                continue
            why = why or _absence_why(ev, entry.ref, name, generated.getattr_closed(ev, entry.ref, ref, name))
            if _only_in_stub(ev, entry.ref):
                # Its run-time twin has been asked, with the twin's bases: the stub's own need none.
                covered.update(e.ref for e in hierarchy.mro(ev, entry.ref).entries)
    if why is None:
        why = _metaclass_why(ev, order)
    return Lookup(why=why, guarded=guarded)


def _declared_by_base(
    ev: Evaluator, entries: list[hierarchy.Entry], found: Found, own: list[ClassFace], name: str
) -> Found | None:
    """The stub's declaration in a base of a method that the class's own stub leaves to that base."""
    if name in ("__init__", "__new__") or not any(_declares(face) for face in own):
        return None
    if any(_declares(face) for face, _row in found.rows):
        return None
    position = next((i for i, e in enumerate(entries) if e.ref == found.entry.ref), len(entries))
    for entry in entries[position + 1 :]:
        if entry.ref == hierarchy.OBJECT:
            return None
        rows = _own_rows(ev, [f for f in faces(ev, entry.ref) if _declares(f)], name, False)
        if rows:
            return Found(entry, rows) if all(isinstance(row, Binding) for _face, row in rows) else None
    return None


def _declares(face: ClassFace) -> bool:
    """Whether the class statement stands in a stub (and not in what a probe saw)."""
    return face.file.is_stub and not face.file.path.startswith("<")


def _own_rows(
    ev: Evaluator, own: list[ClassFace], name: str, on_class: bool
) -> tuple[tuple[ClassFace, Binding | SelfAttr], ...]:
    rows: list[tuple[ClassFace, Binding | SelfAttr]] = []
    for face in own:
        if name in ("__init__", "__new__") and face.file.path.startswith("<probe") and face is not own[0]:
            # A probe writes the constructor's signature as ``__init__``, whichever it is.
            continue
        for b in face.row.members:
            if b.name == name and b.kind != "del" and ev.alive(b.guards):
                rows.append((face, b))
        for a in face.row.self_attrs:
            if a.name == name and a.kind != "del" and (not on_class or a.receiver == "class"):
                rows.append((face, a))
    return tuple(rows)


def _face_why(
    ev: Evaluator, entry: hierarchy.Entry, face: ClassFace, on_class: bool, asked: Ref, name: str, called: bool
) -> Why | None:
    """Why this class may have a member that its row does not show."""
    row = face.row
    if entry.ref in (hierarchy.OBJECT, hierarchy.TYPE):
        return None
    checked = face.module.origin == "stdlib" and face.module.stub is not None and not name.startswith("_")
    closed = generated.getattr_closed(ev, entry.ref, asked, name)
    for mark in row.dynamic if not closed and (face.file.is_stub or not checked) else ():
        # What is written to an instance is not on the class.
        if on_class and mark in ("setattr", "dict-write", "class-write"):
            continue
        if mark.startswith(SUBCLASS_MADE):
            continue
        if generated.getattr_closed(ev, entry.ref, asked, name):
            continue
        how = written(ev, face, asked, name, mark)
        if how:
            return Why(Reason.OPEN_CLASS, f"{entry.ref.dotted}: {how}")
    if on_class and any(a.name == "*" and a.receiver == "class" for a in row.self_attrs):
        how = written(ev, face, asked, name, "setattr")
        if how:
            return Why(Reason.OPEN_CLASS, f"{entry.ref.dotted}: {how}")
    if checked and not face.file.is_stub:
        # A look-up of names that the stub does not admit to gives the names that the stub shows.
        return None
    for b in row.members:
        if on_class:
            break
        if b.name in ("__getattr__", "__getattribute__") and ev.alive(b.guards):
            if closed:
                continue
            if called and b.name == "__getattr__" and item_access.holds_no_callables(ev, face, asked):
                continue
            return Why(Reason.OPEN_CLASS, f"{entry.ref.dotted}.{b.name}")
        if b.kind == "star":
            return Why(Reason.STAR_IMPORT, entry.ref.dotted)
    if any(b.name == "__slots__" and b.value and f"'{name}'" in b.value.replace('"', "'") for b in row.members):
        return Why(Reason.UNKNOWN_ATTRIBUTE, f"{name} is a slot that nothing here fills")
    if row.decorators and entry.ref == face.ref:
        why = calls.decorator_adds(ev, face, name)
        if why is not None:
            return why
    if face.file.facts.error is not None or face.file.facts.pieces[face.piece].masked:
        return Why(Reason.SYNTAX_ERROR, face.file.path)
    return None


def written(ev: Evaluator, face: ClassFace, asked: Ref, name: str, mark: str) -> str:
    """How the class's methods may set that name; empty when the names that they set can be told without it."""
    if mark not in class_openings.MARKS:
        return mark
    written = class_openings.added(ev, face, asked)
    return written.why or (mark if name in written.names else "")


def _absence_why(ev: Evaluator, ref: Ref, name: str, closed: bool = False) -> Why | None:
    """Why the rows at hand do not prove that the class has no such member.

    `closed`: what the class's own module sets by name are known to be other names.
    """
    if hierarchy.is_local(ref) or ref == hierarchy.OBJECT:
        return (
            patches.patch_reason(ev, ref.qualname.rsplit(".", 1)[-1], name, ref.module)
            if ref != hierarchy.OBJECT
            else None
        )
    module = ev.module(ref.module)
    if module is None:
        return Why(Reason.UNKNOWN_TYPE, ref.dotted)
    if module.origin == "stdlib" and name.startswith("_") and not name.endswith("__"):
        # Stubs of the standard library are complete for public names only.
        rows = faces(ev, ref)
        if not any(not f.file.is_stub or f.file.path.startswith("<probe") for f in rows):
            abstract = Ref("_collections_abc", ref.qualname)
            if ref.module != "typing" or not ev.snapshot.exists(abstract.module) or not faces(ev, abstract):
                return Why(Reason.STUB_ONLY, ref.dotted)
            looked = find(ev, abstract, name)
            if looked.found is not None or looked.why is not None:
                return looked.why or Why(Reason.STUB_ONLY, abstract.dotted)
    if _only_in_stub(ev, ref):
        twin = runtime_twin(ev, ref)
        if twin is None:
            return Why(Reason.COMPILED if module.compiled else Reason.STUB_ONLY, ref.dotted)
        looked = find(ev, twin, name)
        if looked.found is not None:
            return Why(Reason.STUB_ONLY, f"{twin.dotted} has it")
        if looked.why is not None:
            return looked.why
    why = patches.patch_reason(ev, ref.dotted, name, "" if closed else ref.module)
    if why is None and module.origin != "workspace" and ref.module != "builtins":
        why = modules.library_patch(ev, ref.dotted, name, registered=module.origin == "third-party")
    return why


def _only_in_stub(ev: Evaluator, ref: Ref) -> bool:
    """Whether a class outside the standard library is known by a stub alone."""
    module = ev.module(ref.module) if not hierarchy.is_local(ref) and ref != hierarchy.OBJECT else None
    if module is None or module.origin in ("stdlib", "workspace") or module.probed is not None:
        return False
    return all(f.file.is_stub for f in faces(ev, ref))


def runtime_twin(ev: Evaluator, ref: Ref) -> Ref | None:
    """The class that is there at run time under a name for which only the stub has a class statement."""
    if "." in ref.qualname:
        return None
    found = tables.runtime_class(ev, ref.module, ref.qualname)
    return found if found != ref else None


def _metaclass_why(ev: Evaluator, order: hierarchy.Mro) -> Why | None:
    for meta in order.metaclasses:
        if meta.module in _QUIET_METACLASSES or _transforms(ev, meta):
            continue
        for entry in hierarchy.mro(ev, meta).entries:
            if entry.ref.module in _QUIET_METACLASSES:
                continue
            for face in faces(ev, entry.ref):
                made = {b.name for b in face.row.members}
                if made & {"__new__", "__init__", "__prepare__", "__getattr__", "__getattribute__", "__call__"}:
                    return Why(Reason.UNKNOWN_METACLASS, meta.dotted)
    return None


def _transforms(ev: Evaluator, meta: Ref) -> bool:
    """Whether PEP 681 declares that the metaclass makes no other members than the class body shows.

    One that takes attributes later (``__setattr__``) may also be given some by name, as relations between models are.
    """
    stored = find(ev, meta, "__setattr__")
    if stored.found is not None and stored.found.entry.ref not in (hierarchy.OBJECT, hierarchy.TYPE):
        return False
    return any(
        decorators.where(ev, node, face.scope) in _TRANSFORMS
        for face in faces(ev, meta)
        for text in face.row.decorators
        if (node := parse_expression(text)) is not None
    )


def defines(ev: Evaluator, ref: Ref, name: str) -> bool:
    """Whether the class or a base other than object has a row for `name`."""
    looked = find(ev, ref, name)
    return looked.found is not None and looked.found.entry.ref != hierarchy.OBJECT


def defines_call(ev: Evaluator, meta: Ref) -> bool:
    """Whether a hierarchy.metaclass changes what calling its classes does."""
    looked = find(ev, meta, "__call__")
    return looked.found is not None and looked.found.entry.ref.module not in _QUIET_METACLASSES


def instance_member(ev: Evaluator, ref: Ref, name: str) -> Member:
    """The member as found on the class, without a receiver: enough to know that it exists."""
    looked = find(ev, ref, name)
    if looked.found is not None:
        return Member(unknown(Reason.UNKNOWN_TYPE))
    return Member(why=looked.why)


def member_names(ev: Evaluator, ref: Ref) -> tuple[str, ...]:
    """Every known member name, nearest class first: raw material for suggestions."""
    out: dict[str, None] = {}
    order = hierarchy.mro(ev, ref)
    for entry in order.entries:
        if entry.ref == hierarchy.OBJECT:
            continue
        for face in faces(ev, entry.ref):
            out.update(dict.fromkeys(b.name for b in face.row.members if ev.alive(b.guards)))
            out.update(dict.fromkeys(a.name for a in face.row.self_attrs if a.name != "*"))
    return tuple(out)


def instance_of(values: Values) -> tuple[Instance, ...]:
    """The instances among the alternatives."""
    return tuple(o for o in values.items if isinstance(o, Instance))
