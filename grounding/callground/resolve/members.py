"""Attributes of values: existence with its proof, and what binding makes of them."""

from __future__ import annotations

import ast

from callground.facts.model import Binding, SelfAttr
from callground.resolve import (
    calls,
    classes,
    containers,
    expressions,
    generated,
    generics,
    modules,
    names,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.modules import MISSING, Member
from callground.resolve.scopes import ClassFace, FunctionFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    BoundMethod,
    CallableObject,
    ClassMethodObject,
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
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
    # Functions take any attribute; only the workspace's own stores are known.
    why = modules.patch_reason(ev, "function", name)
    if why is not None:
        return Member(why=why)
    plain = isinstance(o, FunctionObject) or (isinstance(o, BoundMethod) and isinstance(o.function, FunctionObject))
    if plain:
        return MISSING
    return Member(why=Why(Reason.UNKNOWN_TYPE, "function attribute"))


def _of_super(ev: Evaluator, o: SuperObject, name: str) -> Member:
    receiver = o.receiver
    if not isinstance(receiver, (Instance, ClassObject)):
        return Member(why=Why(Reason.UNKNOWN_TYPE, "super"))
    looked = classes.find(ev, receiver.ref, name, isinstance(receiver, ClassObject), o.start)
    if looked.found is not None:
        values = _bind(ev, looked.found, receiver, name, isinstance(receiver, ClassObject))
        return Member(_opened(values, looked.why))
    if looked.why is not None:
        return Member(why=looked.why)
    if not receiver.exact:
        # In another subclass's MRO something else may follow.
        for child in classes.subclasses(ev, receiver.ref):
            other = classes.find(ev, child, name, False, o.start)
            if other.found is not None or other.why is not None:
                return Member(why=Why(Reason.SUBCLASS, child.dotted))
        why = mixin_why(ev, receiver.ref, name)
        if why is not None:
            return Member(why=why)
        order = classes.mro(ev, receiver.ref)
        if len([e for e in order.entries if e.ref != classes.OBJECT]) == 1:
            return Member(why=Why(Reason.SUBCLASS, "super() of a class without bases"))
    return Member(guarded=looked.guarded)


def _of_instance(ev: Evaluator, o: Instance, name: str) -> Member:
    if o.ref == classes.OBJECT and not o.exact:
        looked = classes.find(ev, o.ref, name)
        if looked.found is not None:
            return Member(_bind(ev, looked.found, o, name, False))
        return Member(why=Why(Reason.ANY, "object"))
    special = generated.member(ev, o, name)
    if special is not None:
        return special
    looked = classes.find(ev, o.ref, name)
    if looked.found is not None:
        values = _opened(_bind(ev, looked.found, o, name, False), looked.why)
        return Member(values if o.exact else _with_overrides(ev, values, o, name, looked.found))
    if looked.why is not None:
        return Member(why=looked.why)
    if is_none(o):
        return MISSING
    if o.ref != classes.TYPE and any(e.ref == classes.TYPE for e in classes.mro(ev, o.ref).entries):
        return Member(why=Why(Reason.UNKNOWN_METACLASS, f"a class made by {o.ref.dotted}"))
    if not o.exact:
        why = subclass_why(ev, o.ref, name, False)
        if why is None and o.is_self:
            why = mixin_why(ev, o.ref, name)
        if why is None:
            why = abstract_why(ev, o.ref)
        if why is not None:
            return Member(why=why)
    return Member(guarded=looked.guarded)


def _opened(values: Values, why: Why | None) -> Values:
    return values if why is None else values.opened(*why)


def _with_overrides(ev: Evaluator, values: Values, o: Instance, name: str, found: classes.Found) -> Values:
    """The attribute of something that may be a subclass: what the known subclasses make of it comes in."""
    if name.startswith("__") and name.endswith("__"):
        return values
    children = classes.subclasses(ev, o.ref)
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
        parts.append(_bind(ev, looked.found, Instance(child, (), exact=False), name, False))
    return join(*parts)


def _of_class(ev: Evaluator, o: ClassObject, name: str) -> Member:
    special = generated.class_member(ev, o, name)
    if special is not None:
        return special
    looked = classes.find(ev, o.ref, name, on_class=True)
    if looked.found is not None:
        return Member(_opened(_bind(ev, looked.found, o, name, True), looked.why))
    for meta in classes.metaclasses(ev, o.ref):
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
        why = subclass_why(ev, o.ref, name, True) or mixin_why(ev, o.ref, name) or abstract_why(ev, o.ref)
        if why is not None:
            return Member(why=why)
    return Member(guarded=looked.guarded)


def subclass_why(ev: Evaluator, ref: Ref, name: str, on_class: bool) -> Why | None:
    """A known subclass that has the member, or may have it."""
    if not ev.snapshot.complete:
        return Why(Reason.NOT_LOADED, "the workspace is still being indexed")
    for child in classes.subclasses(ev, ref):
        looked = classes.find(ev, child, name, on_class)
        if looked.found is not None or looked.why is not None:
            return Why(Reason.SUBCLASS, child.dotted)
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
    if any(e.ref not in (ref, classes.OBJECT) for e in classes.mro(ev, ref).entries):
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
                beside.append(Values(self_attribute(ev, face, row).items))
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
            own.append(self_attribute(ev, face, row))
    # What instances store is read as it is; only what the class holds goes through the descriptor protocol.
    own += beside
    stored = join(*own) if own else None
    values = join(*parts) if parts else (Values() if own else unknown(Reason.UNKNOWN_ATTRIBUTE, name))
    only_values = all(not (isinstance(r, Binding) and r.kind in ("def", "class")) for _f, r in chosen)
    if only_values and not declared:
        for _module, store in ev.snapshot.stores(name):
            if store.receiver not in ("self", "cls"):
                values = values.opened(Reason.UNKNOWN_ATTRIBUTE, f"{store.receiver}.{name} is stored elsewhere")
                break
        ev.read("stores", name)
        if own and _set_by_name(ev):
            stored = stored.opened(Reason.UNKNOWN_ATTRIBUTE, "setattr() with a computed name") if stored else stored
    elif declared and any(r.value == "None" for _f, r in declared) and _set_by_name(ev):
        # Declared late (`x: T = None`) where something sets attributes by name: the declaration is a wish.
        values = values.opened(Reason.UNKNOWN_ATTRIBUTE, "setattr() with a computed name")
    elif _replaced(ev, face_of(rows), name):
        values = values.opened(Reason.MONKEY_PATCHED, name)
    params = classes.type_params(ev, receiver.ref)
    outer = generics.mapping(params, receiver.args) if params else {}
    entry_args = generics.substitute_all(found.entry.args, outer)
    solution = generics.mapping(classes.type_params(ev, found.entry.ref), entry_args)
    me: Obj = receiver if isinstance(receiver, Instance) else Instance(receiver.ref, receiver.args, receiver.exact)
    solution[generics.SELF] = known(me)
    read = bound(ev, generics.substitute(values, solution), receiver, on_class, solution)
    return read if stored is None else join(read, generics.substitute(stored, solution))


def _set_by_name(ev: Evaluator) -> bool:
    """Whether the workspace sets attributes of computed names on objects of whatever kind."""
    ev.read("stores", "*")
    return any(store.receiver not in ("self", "cls") for _module, store in ev.snapshot.stores("*"))


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
        local=classes.is_local(face.ref),
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
        return known(o) if looked.why is None or o.exact else known(o)
    if not isinstance(receiver, (Instance, ClassObject)):
        return unknown(Reason.UNKNOWN_ATTRIBUTE, "descriptor")
    from callground.resolve.values import NONE

    if on_class:
        first, second = NONE, receiver
    else:
        first = receiver if isinstance(receiver, Instance) else NONE
        second = ClassObject(receiver.ref, receiver.args, receiver.exact)
    return calls.call_method(ev, o, "__get__", [known(first), known(second)])


def self_attribute(ev: Evaluator, face: ClassFace, a: SelfAttr) -> Values:
    """The values that one store through ``self`` gives to the attribute."""
    key = ("self-attr", face.ref, face.file.path, face.file.digest, a)
    return ev.values(key, lambda: _self_attribute(ev, face, a), local=classes.is_local(face.ref))


def _self_attribute(ev: Evaluator, face: ClassFace, a: SelfAttr) -> Values:
    if a.annotation is not None:
        node = parse_expression(a.annotation)
        if node is not None:
            return type_forms.instances(ev, node, face.scope)
    if a.kind in ("augassign", "setattr", "del") and a.kind != "setattr":
        return Values() if a.kind == "augassign" else unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
    if a.value is not None and a.kind == "assign" and not a.path:
        quick = parse_expression(a.value)
        if isinstance(quick, ast.Constant):
            return expressions.value(ev, quick, face.scope)
    method = _method_face(ev, face, a)
    if method is None:
        return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
    scope = ev.function_scope(method)
    if scope is None or scope.node is None:
        return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
    for stmt in ast.walk(scope.node):
        if getattr(stmt, "lineno", None) != a.line or not isinstance(stmt, (ast.stmt, ast.NamedExpr)):
            continue
        if isinstance(stmt, ast.stmt) and stmt.col_offset != a.col and a.kind in ("assign", "annassign"):
            continue
        inner = _inner_scope(ev, scope, stmt)
        if inner is None:
            return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)
        path = names._path(a.path.removeprefix("async:"))
        if isinstance(stmt, ast.Assign):
            return containers.unpack(ev, expressions.value(ev, stmt.value, inner), path)
        if isinstance(stmt, ast.AnnAssign) and stmt.value is not None:
            return expressions.value(ev, stmt.value, inner)
        if isinstance(stmt, (ast.For, ast.AsyncFor)):
            return containers.unpack(ev, containers.iterate(ev, stmt.iter, inner, isinstance(stmt, ast.AsyncFor)), path)
        if isinstance(stmt, (ast.With, ast.AsyncWith)):
            for item in stmt.items:
                if item.optional_vars is not None:
                    return calls.enter(
                        ev, expressions.value(ev, item.context_expr, inner), isinstance(stmt, ast.AsyncWith)
                    )
    return unknown(Reason.UNKNOWN_ATTRIBUTE, a.name)


def _inner_scope(ev: Evaluator, scope: Scope, stmt: ast.AST) -> Scope | None:
    """The scope that a statement stands in: the method itself, or nothing when a nested function holds it."""
    node = scope.node
    if node is None:
        return None
    for sub in ast.walk(node):
        if sub is not node and isinstance(sub, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if any(s is stmt for s in ast.walk(sub)):
                return None
    return scope


def _method_face(ev: Evaluator, face: ClassFace, a: SelfAttr) -> FunctionFace | None:
    for piece, row in ev.index(face.file).functions(a.method):
        if piece == face.piece and row.line <= a.line <= row.end_line:
            return FunctionFace(
                Ref(face.module.name, a.method), face.module, face.file, piece, row, ev.class_scope(face)
            )
    return None
