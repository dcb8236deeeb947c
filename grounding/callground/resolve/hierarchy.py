"""Class hierarchies: bases, C3 order, metaclasses, type parameters, known subclasses."""

from __future__ import annotations

import ast
from typing import NamedTuple

from callground.resolve import (
    classes,
    expressions,
    generics,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    ClassObject,
    Ref,
    TypeVarObject,
    Values,
    Why,
    builtin,
    known,
    unknown,
)
from callground.verdict.model import Reason


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
    rows = classes.faces(ev, ref)
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
    rows = classes.faces(ev, ref)
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
                # A base that only the function around a class knows may be this one.
                hidden = is_local(child) and bool(order.whys)
                if hidden or any(e.ref == ref for e in order.entries) or ref in order.extra:
                    found[child] = None
                    pending.append(child)
        return tuple(found)

    return ev.memo(("subclasses", ref), compute, lambda reason: (), local=is_local(ref))


def neighbours(ev: Evaluator, ref: Ref) -> tuple[Ref, ...]:
    """Subclasses of an installed class that stand in its own module: what is declared as `ref` is often one."""
    module = ev.module(ref.module)
    if module is None or module.origin == "workspace" or ref == OBJECT or is_local(ref):
        return ()
    ev.read("module", ref.module)

    def compute() -> tuple[Ref, ...]:
        found: dict[Ref, None] = {}
        names = {ref.qualname.rsplit(".", 1)[-1]}
        rows = [row for file in ev.faces(module) for _piece, row in ev.index(file).classes()]
        grew = True
        while grew:
            grew = False
            for row in rows:
                child = Ref(ref.module, row.qualname)
                bases = {base.partition("[")[0].rsplit(".", 1)[-1] for base in row.bases}
                if child not in found and child != ref and bases & names:
                    order = mro(ev, child)
                    if any(e.ref == ref for e in order.entries) or ref in order.extra:
                        found[child] = None
                        names.add(row.name)
                        grew = True
        return tuple(found)

    return ev.memo(("neighbours", ref), compute, lambda reason: ())


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


_TYPING_BASES = {"Generic", "Protocol"}


OBJECT = builtin("object")


TYPE = builtin("type")


def is_local(ref: Ref) -> bool:
    """Whether the class stands in a function (its memo must not outlive this evaluator)."""
    return "<" in ref.qualname
