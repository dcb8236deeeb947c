"""Classes: their rows in stub and source, bases, MRO, and the look-up of a member with the proof of its absence."""

from __future__ import annotations

import ast
from typing import NamedTuple

from callground.facts.model import Binding, SelfAttr
from callground.graph.interface import Module, SourceFile
from callground.resolve import (
    calls,
    decorators,
    expressions,
    generated,
    generics,
    modules,
    names,
    tables,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.modules import Member
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    ClassObject,
    Instance,
    Ref,
    TypeVarObject,
    Values,
    Why,
    builtin,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

OBJECT = builtin("object")
TYPE = builtin("type")
_QUIET_METACLASSES = {"builtins", "abc", "enum", "typing", "typing_extensions", "_typeshed", "_ctypes"}
_TYPING_BASES = {"Generic", "Protocol"}
_TRANSFORMS = {("typing", "dataclass_transform"), ("typing_extensions", "dataclass_transform")}


class Entry(NamedTuple):
    """One class in an MRO, its type arguments in terms of the first class's parameters."""

    ref: Ref
    args: tuple[Values, ...]


class Mro(NamedTuple):
    """The order in which members are looked up."""

    entries: tuple[Entry, ...]
    whys: tuple[Why, ...]
    """Why further classes may be in it."""
    extra: tuple[Ref, ...] = ()
    """Ancestors that only one of stub and source names: a member there exists too."""
    metaclasses: tuple[Ref, ...] = ()


class Found(NamedTuple):
    """Where a member is: the class and its rows."""

    entry: Entry
    rows: tuple[tuple[ClassFace, Binding | SelfAttr], ...]


class Lookup(NamedTuple):
    """Found, or a reason why it may exist all the same, or neither (proved missing)."""

    found: Found | None = None
    why: Why | None = None
    guarded: str = ""


def is_local(ref: Ref) -> bool:
    """Whether the class stands in a function (its memo must not outlive this evaluator)."""
    return "<" in ref.qualname


def faces(ev: Evaluator, ref: Ref) -> list[ClassFace]:
    """The rows of a class that can run in this environment, stub rows first."""
    local = ev.local_classes.get(ref)
    if local is not None:
        return [local]
    if "<locals>" in ref.qualname and "." in ref.qualname.rsplit("<locals>.", 1)[-1]:
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

    result = ev.values(key, compute, local=is_local(face.ref))
    return None if result == plain else result


def decorator_why(ev: Evaluator, face: ClassFace) -> Why | None:
    """Why a decorated class may not be the class that stands there."""
    result = _decorated(ev, face) if face.row.decorators else None
    if result is None:
        return None
    return result.whys[0] if result.whys else Why(Reason.UNKNOWN_DECORATOR, face.ref.dotted)


def bases(ev: Evaluator, face: ClassFace) -> tuple[list[Entry], list[Why], list[Ref]]:
    """(base classes with arguments, why more are possible, metaclasses named)."""
    out: list[Entry] = []
    whys: list[Why] = []
    metas: list[Ref] = []
    here = face.scope.at(face.line)
    for text in face.row.bases:
        if text.startswith("*"):
            whys.append(Why(Reason.UNKNOWN_BASE, text))
            continue
        node = parse_expression(text)
        if node is None:
            whys.append(Why(Reason.UNKNOWN_BASE, text))
            continue
        if _is_generic_marker(ev, node, here):
            if type_forms.special_name(ev, node.value if isinstance(node, ast.Subscript) else node, here) == "Protocol":
                metas.append(Ref("abc", "ABCMeta"))
            continue
        values = expressions.value(ev, node, here)
        classes_ = [o for o in values.items if isinstance(o, ClassObject)]
        special = type_forms.special_base(ev, node, here)
        if special is not None:
            out.append(Entry(special, ()))
            continue
        for o in classes_:
            out.append(Entry(o.ref, o.args))
        if not values.complete or len(classes_) != len(values.items) or len(classes_) > 1:
            why = values.whys[0] if values.whys else Why(Reason.UNKNOWN_BASE, text)
            whys.append(Why(Reason.UNKNOWN_BASE, f"{text} ({why.reason.value})"))
    for keyword, text in face.row.keywords:
        if keyword == "metaclass":
            node = parse_expression(text)
            values = expressions.value(ev, node, here) if node is not None else unknown(Reason.UNKNOWN_METACLASS)
            found = [o for o in values.items if isinstance(o, ClassObject)]
            metas.extend(o.ref for o in found)
            if not values.complete or not found:
                whys.append(Why(Reason.UNKNOWN_METACLASS, text))
        elif keyword == "**":
            whys.append(Why(Reason.UNKNOWN_METACLASS, "**"))
    return out, whys, metas


def _is_generic_marker(ev: Evaluator, node: ast.expr, scope: Scope) -> bool:
    inner = node.value if isinstance(node, ast.Subscript) else node
    name = type_forms.special_name(ev, inner, scope)
    return name in _TYPING_BASES


def mro(ev: Evaluator, ref: Ref) -> Mro:
    """C3 linearisation (Barrett et al. 1996) of a class, object included."""
    ev.read("class", ref.module, ref.qualname)
    return ev.memo(
        ("mro", ref),
        lambda: _mro(ev, ref),
        lambda reason: Mro((Entry(ref, ()),), (Why(reason, ref.dotted),)),
        local=is_local(ref),
    )


def _mro(ev: Evaluator, ref: Ref) -> Mro:
    rows = faces(ev, ref)
    params = tuple(known(p) for p in type_params(ev, ref))
    first = Entry(ref, params)
    if ref == OBJECT:
        return Mro((first,), ())
    if not rows:
        return Mro((first, Entry(OBJECT, ())), (Why(Reason.UNKNOWN_TYPE, ref.dotted),))
    primary = rows[0]
    same = [f for f in rows if f.file is primary.file]
    whys: list[Why] = []
    extra: dict[Ref, None] = {}
    metas: list[Ref] = []
    base_entries, base_whys, base_metas = bases(ev, same[-1])
    whys += base_whys
    metas += base_metas
    for other in rows:
        if other is same[-1]:
            continue
        more, more_whys, more_metas = bases(ev, other)
        whys += more_whys
        metas += more_metas
        for e in more:
            extra[e.ref] = None
    if any(f.row.bases != same[-1].row.bases for f in same[:-1]):
        whys.append(Why(Reason.UNKNOWN_BASE, f"{ref.dotted} is defined more than once"))
    sequences: list[list[Entry]] = []
    for base in base_entries:
        if base.ref == ref:
            continue
        sub = mro(ev, base.ref)
        whys += sub.whys
        metas += sub.metaclasses
        extra.update(dict.fromkeys(sub.extra))
        mapping = generics.mapping(type_params(ev, base.ref), base.args)
        sequences.append([Entry(e.ref, generics.substitute_all(e.args, mapping)) for e in sub.entries])
    sequences.append([b for b in base_entries if b.ref != ref])
    merged = _merge([s for s in sequences if s])
    if merged is None:
        whys.append(Why(Reason.UNKNOWN_BASE, "inconsistent bases"))
        merged = list({e.ref: e for s in sequences for e in s}.values())
    entries = [first, *merged]
    if not any(e.ref == OBJECT for e in entries):
        entries.append(Entry(OBJECT, ()))
    present = {e.ref for e in entries}
    return Mro(
        tuple(entries),
        tuple(dict.fromkeys(whys))[:6],
        tuple(e for e in extra if e not in present),
        tuple(dict.fromkeys(metas)),
    )


def _merge(sequences: list[list[Entry]]) -> list[Entry] | None:
    out: list[Entry] = []
    pending = [list(s) for s in sequences]
    while any(pending):
        pending = [s for s in pending if s]
        for s in pending:
            head = s[0]
            if not any(head.ref == e.ref for other in pending for e in other[1:]):
                break
        else:
            return None
        out.append(head)
        for s in pending:
            if s[0].ref == head.ref:
                del s[0]
    return out


def type_params(ev: Evaluator, ref: Ref) -> tuple[TypeVarObject, ...]:
    """The type parameters of a class, in order."""
    return ev.memo(("params", ref), lambda: _type_params(ev, ref), lambda reason: (), local=is_local(ref))


def _type_params(ev: Evaluator, ref: Ref) -> tuple[TypeVarObject, ...]:
    rows = faces(ev, ref)
    if not rows:
        return ()
    face = rows[0]
    if face.row.type_params:
        return tuple(
            TypeVarObject(Ref(f"{ref.module}.{ref.qualname}", p.split(":")[0].split("=")[0].strip(" *")))
            for p in face.row.type_params
        )
    here = face.scope.at(face.line)
    collected: dict[TypeVarObject, None] = {}
    for text in face.row.bases:
        node = parse_expression(text)
        if not isinstance(node, ast.Subscript):
            continue
        found = type_forms.type_vars(ev, node.slice, here)
        if _is_generic_marker(ev, node, here) and found:
            return tuple(found)
        collected.update(dict.fromkeys(found))
    return tuple(collected)


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


def find(ev: Evaluator, ref: Ref, name: str, on_class: bool = False, after: Ref | None = None) -> Lookup:
    """Where a member of the class is; `on_class` leaves out what only instances have; `after` is ``super()``'s start."""
    return ev.memo(
        ("find", ref, name, on_class, after),
        lambda: _find(ev, ref, name, on_class, after),
        lambda reason: Lookup(why=Why(reason)),
        local=is_local(ref) or (after is not None and is_local(after)),
    )


def _find(ev: Evaluator, ref: Ref, name: str, on_class: bool, after: Ref | None) -> Lookup:
    order = mro(ev, ref)
    why: Why | None = None
    entries = list(order.entries)
    if after is not None:
        position = next((i for i, e in enumerate(entries) if e.ref == after), None)
        if position is None:
            return Lookup(why=Why(Reason.UNKNOWN_BASE, "super"))
        entries = entries[position + 1 :]
    guarded = ""
    blind: Why | None = None
    for entry in [*entries, *(Entry(r, ()) for r in order.extra)]:
        own = faces(ev, entry.ref)
        rows = _own_rows(ev, own, name, on_class)
        if rows:
            # A base that is not known stands before this class and may have its own.
            before = (order.whys[0] if order.whys else blind) if entry.ref != ref else None
            if before is not None and entry.ref == OBJECT:
                return Lookup(why=before)
            return Lookup(Found(entry, rows), before)
        if name in ("__init__", "__new__") and entry.ref != OBJECT and generated.makes(ev, own, name):
            return Lookup(why=Why(Reason.UNKNOWN_SIGNATURE, f"{entry.ref.dotted}.{name} is generated"))
        for face in own:
            if any(b.name == name for b in face.row.members):
                guarded = guarded or next(
                    (g for b in face.row.members if b.name == name for g in b.guards if not ev.alive((g,))), ""
                )
            why = why or _face_why(ev, entry, face, on_class, ref, name)
        if not own and entry.ref != OBJECT:
            blind = blind or Why(Reason.UNKNOWN_TYPE, entry.ref.dotted)
            why = why or blind
    if order.whys:
        why = why or order.whys[0]
    if why is None:
        covered: set[Ref] = set()
        for entry in entries:
            if entry.ref in covered:
                continue
            why = why or _absence_why(ev, entry.ref, name)
            if _only_in_stub(ev, entry.ref):
                # Its run-time twin has been asked, with the twin's bases: the stub's own bases need none.
                covered.update(e.ref for e in mro(ev, entry.ref).entries)
    if why is None:
        why = _metaclass_why(ev, order)
    return Lookup(why=why, guarded=guarded)


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


def _face_why(ev: Evaluator, entry: Entry, face: ClassFace, on_class: bool, asked: Ref, name: str) -> Why | None:
    """Why this class may have a member that its row does not show."""
    row = face.row
    if entry.ref in (OBJECT, TYPE):
        return None
    checked = face.module.origin == "stdlib" and face.module.stub is not None and not name.startswith("_")
    for mark in row.dynamic if face.file.is_stub or not checked else ():
        # What is written to an instance is not on the class.
        if not on_class or mark not in ("setattr", "dict-write", "class-write"):
            return Why(Reason.OPEN_CLASS, f"{entry.ref.dotted}: {mark}")
    if on_class and any(a.name == "*" and a.receiver == "class" for a in row.self_attrs):
        return Why(Reason.OPEN_CLASS, f"{entry.ref.dotted}: setattr")
    for b in row.members:
        if on_class:
            break
        if b.name in ("__getattr__", "__getattribute__") and ev.alive(b.guards):
            if generated.getattr_closed(ev, entry.ref, asked, name):
                continue
            return Why(Reason.OPEN_CLASS, f"{entry.ref.dotted}.{b.name}")
        if b.kind == "star":
            return Why(Reason.STAR_IMPORT, entry.ref.dotted)
    if row.decorators and entry.ref == face.ref:
        why = calls.decorator_adds(ev, face, name)
        if why is not None:
            return why
    if face.file.facts.error is not None or face.file.facts.pieces[face.piece].masked:
        return Why(Reason.SYNTAX_ERROR, face.file.path)
    return None


def _absence_why(ev: Evaluator, ref: Ref, name: str) -> Why | None:
    """Why the rows at hand do not prove that the class has no such member."""
    if is_local(ref) or ref == OBJECT:
        return modules.patch_reason(ev, ref.qualname.rsplit(".", 1)[-1], name) if ref != OBJECT else None
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
    return modules.patch_reason(ev, ref.dotted, name)


def _only_in_stub(ev: Evaluator, ref: Ref) -> bool:
    """Whether a class outside the standard library is known by a stub alone."""
    module = ev.module(ref.module) if not is_local(ref) and ref != OBJECT else None
    if module is None or module.origin in ("stdlib", "workspace") or module.probed is not None:
        return False
    return all(f.file.is_stub for f in faces(ev, ref))


def runtime_twin(ev: Evaluator, ref: Ref) -> Ref | None:
    """The class that is there at run time under a name for which only the stub has a class statement."""
    if "." in ref.qualname:
        return None
    found = tables.runtime_class(ev, ref.module, ref.qualname)
    return found if found != ref else None


def _metaclass_why(ev: Evaluator, order: Mro) -> Why | None:
    for meta in order.metaclasses:
        if meta.module in _QUIET_METACLASSES or _transforms(ev, meta):
            continue
        for entry in mro(ev, meta).entries:
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
    if defines(ev, meta, "__setattr__"):
        return False
    return any(
        decorators.where(ev, node, face.scope) in _TRANSFORMS
        for face in faces(ev, meta)
        for text in face.row.decorators
        if (node := parse_expression(text)) is not None
    )


def metaclasses(ev: Evaluator, ref: Ref) -> tuple[Ref, ...]:
    """The classes that a class is an instance of, the most derived first, ``type`` last.

    Stubs make builtin classes nominal children of protocols: for these ``ABCMeta`` is only a manner of speaking.
    """
    found = list(mro(ev, ref).metaclasses)
    found.sort(key=lambda m: (m == Ref("abc", "ABCMeta"), -len(mro(ev, m).entries)))
    return (*found, TYPE)


def metaclass(ev: Evaluator, ref: Ref) -> Ref:
    """The class of a class."""
    return metaclasses(ev, ref)[0]


def defines(ev: Evaluator, ref: Ref, name: str) -> bool:
    """Whether the class or a base other than object has a row for `name`."""
    looked = find(ev, ref, name)
    return looked.found is not None and looked.found.entry.ref != OBJECT


def defines_call(ev: Evaluator, meta: Ref) -> bool:
    """Whether a metaclass changes what calling its classes does."""
    looked = find(ev, meta, "__call__")
    return looked.found is not None and looked.found.entry.ref.module not in _QUIET_METACLASSES


def instance_member(ev: Evaluator, ref: Ref, name: str) -> Member:
    """The member as found on the class, without a receiver: enough to know that it exists."""
    looked = find(ev, ref, name)
    if looked.found is not None:
        return Member(unknown(Reason.UNKNOWN_TYPE))
    return Member(why=looked.why)


def subclasses(ev: Evaluator, ref: Ref) -> tuple[Ref, ...]:
    """Known workspace classes that have `ref` in their MRO (itself left out)."""

    def compute() -> tuple[Ref, ...]:
        found: dict[Ref, None] = {}
        pending = [ref]
        seen = {ref}
        while pending:
            current = pending.pop()
            short = current.qualname.rsplit(".", 1)[-1].split("@")[0]
            ev.read("bases", short)
            for module, qualname in ev.snapshot.classes_with_base(short):
                child = Ref(module, qualname)
                if child in seen:
                    continue
                seen.add(child)
                order = mro(ev, child)
                if any(e.ref == ref for e in order.entries) or ref in order.extra:
                    found[child] = None
                    pending.append(child)
        return tuple(found)

    return ev.memo(("subclasses", ref), compute, lambda reason: (), local=is_local(ref))


def is_subclass(ev: Evaluator, child: Ref, parent: Ref) -> bool | None:
    """Whether `child` derives from `parent`; None when an unknown base leaves it open."""
    if child == parent or parent == OBJECT:
        return True
    order = mro(ev, child)
    if any(e.ref == parent for e in order.entries) or parent in order.extra:
        return True
    if _virtual(parent, child):
        return None
    return None if order.whys else False


def _virtual(parent: Ref, child: Ref) -> bool:
    """Abstract base classes of the standard library accept classes that only have the methods."""
    return parent.module in ("typing", "collections.abc", "_collections_abc", "numbers", "abc", "os")


def member_names(ev: Evaluator, ref: Ref) -> tuple[str, ...]:
    """Every known member name, nearest class first: raw material for suggestions."""
    out: dict[str, None] = {}
    order = mro(ev, ref)
    for entry in order.entries:
        if entry.ref == OBJECT:
            continue
        for face in faces(ev, entry.ref):
            out.update(dict.fromkeys(b.name for b in face.row.members if ev.alive(b.guards)))
            out.update(dict.fromkeys(a.name for a in face.row.self_attrs if a.name != "*"))
    return tuple(out)


def instance_of(values: Values) -> tuple[Instance, ...]:
    """The instances among the alternatives."""
    return tuple(o for o in values.items if isinstance(o, Instance))
