"""Attributes of values: existence with its proof, and what binding makes of them."""

from __future__ import annotations

from callground.facts.model import Binding, SelfAttr
from callground.resolve import (
    calls,
    class_openings,
    classes,
    decorators,
    generated,
    generics,
    hierarchy,
    modules,
    names,
    openness,
    patches,
    self_attributes,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace
from callground.resolve.values import (
    MISSING,
    BoundMethod,
    CallableObject,
    ClassMethodObject,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    Member,
    ModuleObject,
    Obj,
    PartialObject,
    PropertyObject,
    Ref,
    StaticObject,
    SuperObject,
    TypeOfVar,
    TypeVarObject,
    Values,
    Why,
    builtin,
    is_none,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

_FUNCTION = Ref("types", "FunctionType")
_SPECIAL_FORM = Ref("typing", "_SpecialForm")
_METHOD = Ref("types", "MethodType")
# What a class body holds until the class is made: the decorator replaces it.
_FIELDS = (Ref("attr._make", "_CountingAttr"), Ref("dataclasses", "Field"))
_BUILTIN_DESCRIPTORS = (builtin("property"), builtin("staticmethod"), builtin("classmethod"))
MAX_OVERRIDES = 60


def attribute(ev: Evaluator, values: Values, name: str) -> Values:
    """The values of ``x.name``; alternatives that lack it add nothing (they raise)."""
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        got = of(ev, o, name)
        if got.found is not None:
            parts.append(got.found)
        elif got.why is not None:
            parts.append(unknown(*got.why))
    result = join(*parts)
    if not result.items and result.complete:
        return unknown(Reason.UNKNOWN_ATTRIBUTE, name)
    return result


def of(ev: Evaluator, o: Obj, name: str) -> Member:
    """The attribute `name` of one object."""
    return ev.memo(("attr", o, name), lambda: _of(ev, o, name), lambda reason: Member(why=Why(reason)), local=True)


def _of(ev: Evaluator, o: Obj, name: str) -> Member:
    if isinstance(o, ModuleObject):
        return modules.member(ev, o.name, name)
    if isinstance(o, Instance):
        return _of_instance(ev, o, name)
    if isinstance(o, ClassObject):
        return _of_class(ev, o, name)
    if isinstance(o, SuperObject):
        return _of_super(ev, o, name)
    if isinstance(o, (FunctionObject, LocalFunction, BoundMethod)):
        return _of_function(ev, o, name)
    if isinstance(o, PartialObject):
        return _of_instance(ev, Instance(Ref("functools", "partial"), exact=True), name)
    if isinstance(o, PropertyObject):
        return _of_instance(ev, Instance(builtin("property"), exact=True), name)
    if isinstance(o, TypeVarObject):
        if o.bound is not None and o.bound.complete:
            parts = [of(ev, b, name) for b in o.bound.items]
            found = [p.found for p in parts if p.found is not None]
            if found:
                return Member(join(*found))
            why = next((p.why for p in parts if p.why is not None), None)
            return Member(why=why) if why else (MISSING if parts else Member(why=Why(Reason.UNKNOWN_TYPE)))
        return Member(why=Why(Reason.UNKNOWN_TYPE, o.ref.qualname))
    if isinstance(o, TypeOfVar):
        return Member(why=Why(Reason.UNKNOWN_TYPE, o.var.ref.qualname))
    if isinstance(o, CallableObject):
        return Member(why=Why(Reason.UNKNOWN_TYPE, "callable"))
    return Member(why=Why(Reason.UNSUPPORTED, type(o).__name__))


def _of_function(ev: Evaluator, o: Obj, name: str) -> Member:
    ref = _METHOD if isinstance(o, BoundMethod) else _FUNCTION
    looked = classes.find(ev, ref, name)
    if looked.found is None and isinstance(o, BoundMethod):
        looked = classes.find(ev, _FUNCTION, name)
    if looked.found is not None:
        return Member(_bind(ev, looked.found, Instance(ref, exact=True), name, False))
    if looked.why is not None and looked.why.reason is not Reason.OPEN_CLASS:
        return Member(why=looked.why)
    function = o.function if isinstance(o, BoundMethod) else o
    if not isinstance(function, FunctionObject):
        return Member(why=Why(Reason.UNKNOWN_TYPE, "function attribute"))
    # Functions take any attribute: from a store, from `functools.wraps`, from whatever they are handed to.
    why = patches.patch_reason(ev, function.ref.dotted, name, function.ref.module)
    if why is None and any(
        decorators.copies_attributes(ev, text, ev.module_scope(face.module, face.file))
        for face in calls.function_faces(ev, function.ref)
        for text in face.row.decorators
    ):
        why = Why(Reason.UNKNOWN_DECORATOR, "wraps")
    if why is None:
        why = patches.handed_over(ev, function.ref)
    return Member(why=why) if why is not None else MISSING


def _of_super(ev: Evaluator, o: SuperObject, name: str) -> Member:
    receiver = o.receiver
    if not isinstance(receiver, (Instance, ClassObject)):
        return Member(why=Why(Reason.UNKNOWN_TYPE, "super"))
    looked = classes.find(ev, receiver.ref, name, isinstance(receiver, ClassObject), o.start)
    if looked.found is not None:
        values = _bind(ev, looked.found, receiver, name, isinstance(receiver, ClassObject))
        if looked.found.entry.ref == hierarchy.OBJECT and not receiver.exact:
            # What follows in the MRO of a class that inherits this one: object comes last in each.
            children = hierarchy.subclasses(ev, receiver.ref)
            if not children:
                values = values.opened(Reason.SUBCLASS, "super() of a class without bases")
            for child in children[:MAX_OVERRIDES]:
                other = classes.find(ev, child, name, False, o.start)
                if other.found is None or other.why is not None:
                    values = values.opened(Reason.SUBCLASS, child.dotted)
                elif hierarchy.is_local(child):
                    # Its methods see the names of the function around them, which is not at hand here.
                    values = values.opened(Reason.SUBCLASS, child.dotted)
                elif other.found.entry.ref != hierarchy.OBJECT:
                    values = join(values, _bind(ev, other.found, Instance(child), name, False))
        return Member(_opened(values, looked.why))
    if looked.why is not None:
        return Member(why=looked.why)
    if not receiver.exact:
        # In another subclass's MRO something else may follow.
        for child in hierarchy.subclasses(ev, receiver.ref):
            other = classes.find(ev, child, name, False, o.start)
            if other.found is not None or other.why is not None:
                return Member(why=Why(Reason.SUBCLASS, child.dotted))
        why = openness.mixin_why(ev, receiver.ref, name)
        if why is not None:
            return Member(why=why)
        order = hierarchy.mro(ev, receiver.ref)
        if len([e for e in order.entries if e.ref != hierarchy.OBJECT]) == 1:
            return Member(why=Why(Reason.SUBCLASS, "super() of a class without bases"))
    return Member(guarded=looked.guarded)


def of_called(ev: Evaluator, o: Obj, name: str) -> Member:
    """The attribute `name` of one object, to be called: what could only be data is missing then."""
    got = of(ev, o, name)
    if got.why is None or got.why.reason is not Reason.OPEN_CLASS or not isinstance(o, Instance):
        return got
    return _of_instance(ev, o, name, called=True)


def _of_instance(ev: Evaluator, o: Instance, name: str, called: bool = False) -> Member:
    if o.ref == hierarchy.OBJECT and not o.exact:
        looked = classes.find(ev, o.ref, name)
        if looked.found is not None:
            return Member(_bind(ev, looked.found, o, name, False))
        return Member(why=Why(Reason.ANY, "object"))
    if o.ref == _SPECIAL_FORM:
        # `collections.abc.Callable` is a class, which the stubs declare like `typing.Callable`.
        return Member(why=Why(Reason.UNKNOWN_TYPE, "special form"))
    special = generated.member(ev, o, name)
    if special is not None:
        return special
    looked = classes.find(ev, o.ref, name, called=called)
    if looked.found is not None:
        values = _opened(_bind(ev, looked.found, o, name, False), looked.why)
        return Member(values if o.exact else _with_overrides(ev, values, o, name, looked.found))
    if looked.why is not None:
        return Member(why=looked.why)
    if is_none(o):
        return MISSING
    if o.ref != hierarchy.TYPE and any(e.ref == hierarchy.TYPE for e in hierarchy.mro(ev, o.ref).entries):
        return Member(why=Why(Reason.UNKNOWN_METACLASS, f"a class made by {o.ref.dotted}"))
    if not o.exact:
        why = openness.subclass_why(ev, o.ref, name, False)
        if why is None and o.is_self:
            why = openness.mixin_why(ev, o.ref, name)
        if why is None:
            why = openness.abstract_why(ev, o.ref)
        if why is not None:
            return Member(why=why)
    return Member(guarded=looked.guarded)


def _opened(values: Values, why: Why | None) -> Values:
    return values if why is None else values.opened(*why)


def _with_overrides(ev: Evaluator, values: Values, o: Instance, name: str, found: classes.Found) -> Values:
    """The attribute of something that may be a subclass: what the known subclasses make of it comes in."""
    if name.startswith("__") and name.endswith("__"):
        return values
    children = hierarchy.subclasses(ev, o.ref)
    if not children:
        return values
    parts = [values]
    rows = {id(row) for _face, row in found.rows}
    count = 0
    for child in children:
        looked = classes.find(ev, child, name)
        if looked.found is None or all(id(row) in rows for _face, row in looked.found.rows):
            continue
        count += 1
        if count > MAX_OVERRIDES:
            return join(*parts).opened(Reason.SUBCLASS, name)
        if hierarchy.is_local(child):
            return join(*parts).opened(Reason.SUBCLASS, child.dotted)
        parts.append(_bind(ev, looked.found, Instance(child, (), exact=False), name, False))
    return join(*parts)


def _of_class(ev: Evaluator, o: ClassObject, name: str) -> Member:
    special = generated.class_member(ev, o, name)
    if special is not None:
        return special
    looked = classes.find(ev, o.ref, name, on_class=True)
    if looked.found is not None:
        return Member(_opened(_bind(ev, looked.found, o, name, True), looked.why))
    meta, on_meta = hierarchy.TYPE, classes.Lookup()
    for meta in hierarchy.metaclasses(ev, o.ref):
        on_meta = classes.find(ev, meta, name)
        if on_meta.found is not None or on_meta.why is not None:
            break
    if on_meta.found is not None:
        return Member(_opened(_bind(ev, on_meta.found, Instance(meta, exact=True), name, False), looked.why))
    if looked.why is not None:
        return Member(why=looked.why)
    if on_meta.why is not None:
        return Member(why=on_meta.why)
    if not o.exact:
        why = (
            openness.subclass_why(ev, o.ref, name, True)
            or openness.mixin_why(ev, o.ref, name)
            or openness.abstract_why(ev, o.ref)
        )
        if why is not None:
            return Member(why=why)
    return Member(guarded=looked.guarded)


# -- binding


def _bind(ev: Evaluator, found: classes.Found, receiver: Instance | ClassObject, name: str, on_class: bool) -> Values:
    """The values of a member that was found, as read through `receiver`."""
    rows = found.rows
    # The rows of the face with the better types; the others only prove that the member exists.
    chosen = [r for r in rows if r[0].file is rows[0][0].file]
    declared = [r for r in chosen if r[1].annotation and r[1].kind in ("annassign", "assign")]
    beside: list[Values] = []
    if declared:
        # The annotation says what there is; what the code stores all the same is possible too.
        for face, row in chosen:
            if isinstance(row, SelfAttr) and not row.annotation and not face.file.is_stub:
                beside.append(Values(self_attributes.self_attribute(ev, face, row).items))
        chosen = declared
    class_rows = [r for r in chosen if isinstance(r[1], Binding)]
    parts: list[Values] = []
    own: list[Values] = []
    seen_defs: set[tuple[Ref, str]] = set()
    last_plain: dict[int, Binding] = {}
    for face, row in class_rows:
        if isinstance(row, Binding) and not row.guards:
            last_plain[id(face.row)] = row
    for face, row in chosen:
        if isinstance(row, Binding):
            plain = last_plain.get(id(face.row))
            if plain is not None and row is not plain and not row.guards and row.kind != "augassign":
                if not (row.kind == "def" and plain.kind == "def"):
                    continue
            if row.kind == "def":
                key = (face.ref, row.value or row.name)
                if key in seen_defs:
                    continue
                seen_defs.add(key)
            parts.append(_class_level(ev, face, row))
        else:
            own.append(self_attributes.self_attribute(ev, face, row))
    # What instances store is read as it is; only what the class holds goes through the descriptor protocol.
    own += beside
    only_values = all(not (isinstance(r, Binding) and r.kind in ("def", "class")) for _f, r in chosen)
    if only_values and not declared:
        own += _inherited(ev, found, receiver, name, on_class)
    stored = join(*own) if own else None
    values = join(*parts) if parts else (Values() if own else unknown(Reason.UNKNOWN_ATTRIBUTE, name))
    if only_values and not declared:
        for _module, store in ev.snapshot.stores(name):
            if store.receiver not in ("self", "cls"):
                values = values.opened(Reason.UNKNOWN_ATTRIBUTE, f"{store.receiver}.{name} is stored elsewhere")
                break
        ev.read("stores", name)
        if isinstance(receiver, Instance) and _by_name(ev, receiver.ref, name):
            values = values.opened(Reason.UNKNOWN_ATTRIBUTE, "the class sets attributes by name")
        if own and _set_by_name(ev):
            stored = stored.opened(Reason.UNKNOWN_ATTRIBUTE, "setattr() with a computed name") if stored else stored
    elif only_values and isinstance(receiver, Instance) and _by_name(ev, receiver.ref, name):
        values = values.opened(Reason.UNKNOWN_ATTRIBUTE, "the class sets attributes by name")
    elif declared and any(r.value == "None" for _f, r in declared) and _set_by_name(ev):
        # Declared late (`x: T = None`) where something sets attributes by name: the declaration is a wish.
        values = values.opened(Reason.UNKNOWN_ATTRIBUTE, "setattr() with a computed name")
    elif _replaced(ev, face_of(rows), name):
        values = values.opened(Reason.MONKEY_PATCHED, name)
    params = hierarchy.type_params(ev, receiver.ref)
    outer = generics.mapping(params, receiver.args) if params else {}
    entry_args = generics.substitute_all(found.entry.args, outer)
    solution = generics.mapping(hierarchy.type_params(ev, found.entry.ref), entry_args)
    me: Obj = receiver if isinstance(receiver, Instance) else Instance(receiver.ref, receiver.args, receiver.exact)
    solution[generics.SELF] = known(me)
    read = bound(ev, generics.substitute(values, solution), receiver, on_class, solution)
    return read if stored is None else join(read, generics.substitute(stored, solution))


def _by_name(ev: Evaluator, ref: Ref, name: str) -> bool:
    """Whether some class of the hierarchy may set that attribute on its instances under a computed name."""

    def compute() -> bool:
        return any(
            mark in class_openings.MARKS and classes.written(ev, face, ref, name, mark)
            for entry in hierarchy.mro(ev, ref).entries
            if entry.ref.module != "builtins" and not generated.getattr_closed(ev, entry.ref, ref, "name")
            for face in classes.faces(ev, entry.ref)
            if face.module.origin != "stdlib"
            for mark in face.row.dynamic
        )

    return ev.memo(("by-name", ref, name), compute, lambda reason: True, local=True)


def _set_by_name(ev: Evaluator) -> bool:
    """Whether the workspace sets attributes of computed names on objects of whatever kind."""
    ev.read("stores", "*")
    return any(store.receiver not in ("self", "cls") for _module, store in ev.snapshot.stores("*"))


def _inherited(
    ev: Evaluator, found: classes.Found, receiver: Instance | ClassObject, name: str, on_class: bool
) -> list[Values]:
    """What the bases declare the attribute to be, or store in it: an own value without a type does not end that."""
    out: list[Values] = []
    entry = found.entry
    for _step in range(MAX_OVERRIDES):
        looked = classes.find(ev, receiver.ref, name, on_class, entry.ref)
        if looked.found is None or looked.found.entry.ref == entry.ref:
            break
        entry = looked.found.entry
        outer = generics.mapping(hierarchy.type_params(ev, entry.ref), entry.args)
        for face, row in looked.found.rows:
            if isinstance(row, SelfAttr):
                got = self_attributes.self_attribute(ev, face, row)
            elif row.annotation and row.kind in ("annassign", "assign"):
                got = _class_level(ev, face, row)
            else:
                continue
            out.append(generics.substitute(got, outer))
    return out


def face_of(rows: tuple[tuple[ClassFace, Binding | SelfAttr], ...]) -> ClassFace:
    """The class that a found member stands in."""
    return rows[0][0]


def _replaced(ev: Evaluator, face: ClassFace, name: str) -> bool:
    """Whether the workspace stores something else under that name on the class."""
    ev.read("stores", name)
    last = face.ref.qualname.rsplit(".", 1)[-1]
    return any(store.receiver.rsplit(".", 1)[-1] == last for _module, store in ev.snapshot.stores(name))


def raw(ev: Evaluator, found: classes.Found) -> Values:
    """The class-level values of a member, nothing bound."""
    rows = [(f, r) for f, r in found.rows if isinstance(r, Binding)]
    chosen = [r for r in rows if r[0].file is rows[0][0].file]
    return join(*(_class_level(ev, f, r) for f, r in chosen)) if chosen else unknown(Reason.UNKNOWN_ATTRIBUTE)


def _class_level(ev: Evaluator, face: ClassFace, b: Binding) -> Values:
    key = ("class-level", face.ref, face.file.path, face.file.digest, b)
    scope = ev.class_scope(face)
    return ev.values(
        key,
        lambda: names.evaluate_binding(ev, face.module, face.file, face.piece, b, scope),
        local=hierarchy.is_local(face.ref),
    )


def bound(
    ev: Evaluator, values: Values, receiver: Obj, on_class: bool, solution: dict[Ref, Values] | None = None
) -> Values:
    """What reading class-level values through an instance (or the class) makes of them: the descriptor protocol."""
    parts: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if isinstance(o, PropertyObject):
            if on_class:
                parts.append(known(o))
            else:
                parts.append(calls.call(ev, BoundMethod(o.function, receiver), calls.CallArgs.nothing()))
        elif isinstance(o, StaticObject):
            parts.append(known(o.function))
        elif isinstance(o, ClassMethodObject):
            cls = receiver
            if isinstance(receiver, Instance):
                cls = ClassObject(receiver.ref, receiver.args, receiver.exact)
            parts.append(known(BoundMethod(o.function, cls)))
        elif isinstance(o, FunctionObject) and o.ref.qualname.rsplit(".", 1)[-1] == "__new__":
            parts.append(known(o))
        elif isinstance(o, (FunctionObject, LocalFunction)):
            implicit = isinstance(o, FunctionObject) and o.ref.qualname.rsplit(".", 1)[-1] in (
                "__init_subclass__",
                "__class_getitem__",
            )
            if implicit or (not on_class and _is_method(ev, o)):
                parts.append(known(BoundMethod(o, receiver)))
            else:
                parts.append(known(o))
        elif isinstance(o, CallableObject) and not on_class and isinstance(o.like, (FunctionObject, LocalFunction)):
            parts.append(known(BoundMethod(o, receiver)))
        elif isinstance(o, Instance) and (o.ref in _FIELDS or (o.ref in _BUILTIN_DESCRIPTORS and not on_class)):
            parts.append(unknown(Reason.UNKNOWN_ATTRIBUTE, o.ref.qualname))
        elif isinstance(o, Instance) and not is_none(o) and o.ref.module != "builtins":
            parts.append(_descriptor(ev, o, receiver, on_class))
        else:
            parts.append(known(o))
    return join(*parts)


def _is_method(ev: Evaluator, o: FunctionObject | LocalFunction) -> bool:
    """Whether reading it from a class through an instance binds it: functions of C modules do not."""
    if isinstance(o, LocalFunction) or o.owner is not None:
        return True
    module = ev.module(o.ref.module)
    return module is not None and module.source is not None


def _descriptor(ev: Evaluator, o: Instance, receiver: Obj, on_class: bool) -> Values:
    looked = classes.find(ev, o.ref, "__get__")
    if looked.found is None:
        return known(o)
    if not isinstance(receiver, (Instance, ClassObject)):
        return unknown(Reason.UNKNOWN_ATTRIBUTE, "descriptor")
    from callground.resolve.values import NONE

    if on_class:
        first, second = NONE, receiver
    else:
        first = receiver if isinstance(receiver, Instance) else NONE
        second = ClassObject(receiver.ref, receiver.args, receiver.exact)
    return calls.call_method(ev, o, "__get__", [known(first), known(second)])
