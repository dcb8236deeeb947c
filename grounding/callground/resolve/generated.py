"""Members and constructors that Python generates: dataclasses, attrs, named tuples, enums, typed dicts, models."""

from __future__ import annotations

import ast
from typing import NamedTuple

from callground.facts.model import Binding, Function, Param
from callground.resolve import (
    classes,
    decorators,
    expressions,
    hierarchy,
    members,
    models,
    names,
    signatures,
    type_forms,
)
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    ClassObject,
    FunctionObject,
    Instance,
    LocalFunction,
    Member,
    PropertyObject,
    Ref,
    Why,
    builtin,
    known,
)
from callground.verdict.model import Reason

ENUM = Ref("enum", "Enum")
NAMED_TUPLE = Ref("typing", "NamedTuple")
TYPED_DICT = Ref("typing", "_TypedDict")
_ATTRS = {("attr", n) for n in ("s", "attrs", "attributes", "dataclass", "define", "frozen", "mutable")} | {
    ("attrs", n) for n in ("define", "frozen", "mutable")
}
_DATACLASS = ("dataclasses", "dataclass")


class GeneratedField(NamedTuple):
    """One field of a generated constructor."""

    name: str
    default: bool
    keyword_only: bool
    init: bool


def _in_mro(ev: Evaluator, ref: Ref, base: Ref) -> bool:
    return any(e.ref == base for e in hierarchy.mro(ev, ref).entries)


def is_enum(ev: Evaluator, ref: Ref) -> bool:
    """Whether the class is an enumeration."""
    return ref != ENUM and _in_mro(ev, ref, ENUM)


def is_enum_member(ev: Evaluator, face: ClassFace, b: Binding) -> bool:
    """Whether a row of an enum's body makes a member."""
    if b.kind not in ("assign",) or (b.name.startswith("_") and b.name.endswith("_")):
        return False
    if b.annotation is not None and not b.value:
        return False
    values = names.evaluate_binding(ev, face.module, face.file, face.piece, b, ev.class_scope(face))
    return not any(isinstance(o, (FunctionObject, LocalFunction, PropertyObject)) for o in values.items)


_MARKS = {"__dataclass_fields__", "__dataclass_params__", "__match_args__", "__attrs_attrs__", "__slots__"}


def class_member(ev: Evaluator, o: ClassObject, name: str) -> Member | None:
    """Members of classes that are not what their body says: enum members, what decorators leave on the class."""
    if name in _MARKS:
        return Member(why=Why(Reason.OPEN_CLASS, name))
    if not is_enum(ev, o.ref):
        return None
    looked = classes.find(ev, o.ref, name, on_class=True)
    if looked.found is None:
        return None
    for face, row in looked.found.rows:
        if isinstance(row, Binding) and is_enum(ev, face.ref) and is_enum_member(ev, face, row):
            return Member(known(Instance(o.ref, exact=True)))
    return None


def member(ev: Evaluator, o: Instance, name: str) -> Member | None:
    """Members of instances that are not what the class's body says."""
    if o.ref.module == "builtins":
        return None
    if name in _MARKS:
        return Member(why=Why(Reason.OPEN_CLASS, name))
    if _in_mro(ev, o.ref, TYPED_DICT):
        return members.of(ev, Instance(builtin("dict"), exact=True), name)
    if is_enum(ev, o.ref):
        return class_member(ev, ClassObject(o.ref), name)
    return None


def makes(ev: Evaluator, own: list[ClassFace], name: str) -> bool:
    """Whether a class gets an ``__init__`` (a ``__new__``, for named tuples) that its body does not show."""
    for face in own:
        for text in face.row.decorators if name == "__init__" else ():
            node = parse_expression(text)
            source = decorators.where(ev, node, face.scope) if node is not None else None
            if source == _DATACLASS or source in _ATTRS:
                return True
            if source not in decorators._SAFE_CLASS and not (
                node is not None and decorators.gives_back(ev, node, face.scope)
            ):
                return True
        if name == "__new__" and any(b.rsplit(".", 1)[-1].split("[")[0] == "NamedTuple" for b in face.row.bases):
            return True
    return False


_ENUM_METAS = (Ref("enum", "EnumMeta"), Ref("enum", "EnumType"))


def getattr_closed(ev: Evaluator, holder: Ref, asked: Ref, name: str) -> bool:
    """Whether the ``__getattr__`` of a known base, and what it writes to instances, give nothing for this name.

    A pydantic 2 model looks there for private attributes and, where its config allows them, for extra fields;
    the names that it writes are those of declared fields.
    """
    if holder in _ENUM_METAS:
        return True  # it only looks among the members
    if name.startswith("_") or holder not in (models.MODEL, models.META):
        return False
    if holder == models.META:
        return True  # it only looks among private attributes
    for entry in hierarchy.mro(ev, asked).entries:
        for face in classes.faces(ev, entry.ref):
            if face.ref in (models.MODEL, hierarchy.OBJECT):
                continue
            if any(k == "extra" for k, _v in face.row.keywords):
                return False
            for b in face.row.members:
                if b.name in ("model_config", "Config", "__getattr__", "__getattribute__"):
                    text = b.value or ""
                    if (
                        b.name != "model_config"
                        or b.value is None
                        or "extra" in text
                        or ("(" in text and "ConfigDict(" not in text)
                    ):
                        return False
    return True


def namedtuple_fields(ev: Evaluator, ref: Ref) -> list[tuple[str, bool]] | None:
    """(field, has a default) of a named tuple class, in order; None for other classes."""
    if ref.module == "builtins" or not _in_mro(ev, ref, NAMED_TUPLE):
        return None
    for entry in hierarchy.mro(ev, ref).entries:
        for face in classes.faces(ev, entry.ref):
            direct = any("NamedTuple" in b.rsplit(".", 1)[-1] for b in face.row.bases)
            if direct and entry.ref != NAMED_TUPLE:
                return [
                    (b.name, bool(b.value))
                    for b in face.row.members
                    if b.annotation is not None and b.kind in ("annassign", "assign")
                ]
    return None


def constructor(ev: Evaluator, cls: ClassObject) -> signatures.Signatures | None:
    """The generated constructor of a class; None when its own ``__init__`` or ``__new__`` counts."""
    ref = cls.ref
    if ref == ENUM or is_enum(ev, ref):
        return _enum_call(ev, ref)
    if ref == NAMED_TUPLE:
        return signatures.Signatures(((signatures.Signature(_NAMED_TUPLE_CALL, ref.dotted, "generated"),),))
    if ref.module != "builtins" and _in_mro(ev, ref, TYPED_DICT):
        return signatures.Signatures(why=Why(Reason.UNKNOWN_SIGNATURE, "TypedDict"))
    if models.is_model(ev, ref):
        return models.constructor(ev, cls)
    for entry in hierarchy.mro(ev, ref).entries:
        if entry.ref == hierarchy.OBJECT:
            return None
        for face in classes.faces(ev, entry.ref):
            own = {b.name for b in face.row.members if b.kind == "def" and ev.alive(b.guards)}
            if own & {"__init__", "__new__"}:
                return None
            if face.row.decorators:
                got = _decorated(ev, cls, face)
                if got is not None:
                    return got
            if any(b.rsplit(".", 1)[-1].split("[")[0] == "NamedTuple" for b in face.row.bases):
                fields = namedtuple_fields(ev, entry.ref)
                if fields is not None and entry.ref != NAMED_TUPLE:
                    params = tuple(Param(n, "positional", None, "..." if d else None) for n, d in fields)
                    return _one(ref, face, params)
    return None


_ENUM_OPTIONS = ("module", "qualname", "type", "start", "boundary")
_ENUM_CALL = (
    Param("value", "positional", None, "..."),
    Param("names", "positional", None, "..."),
    Param("values", "*args", None, None),
    *(Param(name, "keyword-only", None, "...") for name in _ENUM_OPTIONS),
)
_NAMED_TUPLE_CALL = (
    Param("typename", "positional-only", None, None),
    Param("fields", "positional-only", None, "..."),
    Param("kwargs", "**kwargs", None, None),
)


def _enum_call(ev: Evaluator, ref: Ref) -> signatures.Signatures:
    """Calling an enumeration looks a member up by its value, or makes a new enumeration."""
    for meta in hierarchy.mro(ev, ref).metaclasses:
        if meta not in (*_ENUM_METAS, Ref("abc", "ABCMeta")):
            return signatures.Signatures(why=Why(Reason.UNKNOWN_METACLASS, meta.dotted))
    return signatures.Signatures(((signatures.Signature(_ENUM_CALL, ref.dotted, "generated"),),))


def _one(ref: Ref, face: ClassFace, params: tuple[Param, ...]) -> signatures.Signatures:
    name = Ref(ref.module, ref.qualname.split("@")[0]).dotted
    sig = signatures.Signature(params, name, "generated", face.file.path, face.line, ref.module)
    return signatures.Signatures(((sig,),))


def _decorated(ev: Evaluator, cls: ClassObject, face: ClassFace) -> signatures.Signatures | None:
    for text in face.row.decorators:
        node = parse_expression(text)
        source = decorators.where(ev, node, face.scope) if node is not None else None
        if node is None or source not in decorators._SAFE_CLASS:
            if node is not None and decorators.gives_back(ev, node, face.scope):
                continue
            return signatures.Signatures(why=Why(Reason.UNKNOWN_DECORATOR, text))
        if source == _DATACLASS:
            return _dataclass(ev, cls, face, node)
        if source in _ATTRS:
            return _attrs(ev, cls, face, node, source)
        if source == ("typing", "dataclass_transform"):
            return signatures.Signatures(why=Why(Reason.UNKNOWN_DECORATOR, text))
    return None


def _option(node: ast.expr, name: str) -> bool | None:
    """The constant given for a decorator's option; None when it is not given or not a constant."""
    if isinstance(node, ast.Call):
        for k in node.keywords:
            if k.arg == name and isinstance(k.value, ast.Constant):
                return bool(k.value.value)
    return None


def _dataclass(ev: Evaluator, cls: ClassObject, face: ClassFace, node: ast.expr) -> signatures.Signatures | None:
    if _option(node, "init") is False:
        return None
    if isinstance(node, ast.Call) and any(k.arg is None for k in node.keywords):
        return signatures.Signatures(why=Why(Reason.UNKNOWN_DECORATOR, "dataclass(**)"))
    fields: dict[str, GeneratedField] = {}
    order = hierarchy.mro(ev, face.ref)
    if order.whys:
        return signatures.Signatures(why=order.whys[0])
    for entry in reversed(order.entries):
        for own in classes.faces(ev, entry.ref):
            marker = _decorator(ev, own, {_DATACLASS})
            if marker is None:
                continue
            got = _dataclass_fields(ev, own, bool(_option(marker, "kw_only")))
            if isinstance(got, Why):
                return signatures.Signatures(why=got)
            for name, f in got.items():
                fields[name] = f
            break
    return _one(cls.ref, face, _params(list(fields.values())))


def _params(fields: list[GeneratedField]) -> tuple[Param, ...]:
    usable = [f for f in fields if f.init]
    out = [Param(f.name, "positional", None, "..." if f.default else None) for f in usable if not f.keyword_only]
    out += [Param(f.name, "keyword-only", None, "..." if f.default else None) for f in usable if f.keyword_only]
    return tuple(out)


def _decorator(ev: Evaluator, face: ClassFace, wanted: set[tuple[str, str]]) -> ast.expr | None:
    for text in face.row.decorators:
        node = parse_expression(text)
        if node is not None and decorators.where(ev, node, face.scope) in wanted:
            return node
    return None


def _dataclass_fields(ev: Evaluator, face: ClassFace, kw_only: bool) -> dict[str, GeneratedField] | Why:
    out: dict[str, GeneratedField] = {}
    scope = ev.class_scope(face)
    for b in face.row.members:
        if b.annotation is None or b.kind not in ("annassign", "assign") or not ev.alive(b.guards):
            continue
        if b.guards:
            return Why(Reason.UNKNOWN_SIGNATURE, f"{b.name} is conditional")
        node = parse_expression(b.annotation)
        if node is None:
            return Why(Reason.UNSUPPORTED, "annotation")
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = parse_expression(node.value) or node
        special = type_forms.special_name(ev, node.value if isinstance(node, ast.Subscript) else node, scope)
        if special == "ClassVar":
            continue
        if (dotted(node) or "").rsplit(".", 1)[-1] == "KW_ONLY":
            kw_only = True
            continue
        default, init, keyword = bool(b.value) or b.value is None, True, kw_only
        value = parse_expression(b.value) if b.value else None
        if isinstance(value, ast.Call):
            text = dotted(value.func)
            where = type_forms.origin(ev, text, scope.top) if text else None
            if where == ("dataclasses", "field"):
                given = {k.arg: k.value for k in value.keywords}
                if None in given:
                    return Why(Reason.UNKNOWN_SIGNATURE, "field(**)")
                default = "default" in given or "default_factory" in given
                init_node, kw_node = given.get("init"), given.get("kw_only")
                if init_node is not None:
                    if not isinstance(init_node, ast.Constant):
                        return Why(Reason.UNKNOWN_SIGNATURE, "field(init=...)")
                    init = bool(init_node.value)
                if kw_node is not None:
                    if not isinstance(kw_node, ast.Constant):
                        return Why(Reason.UNKNOWN_SIGNATURE, "field(kw_only=...)")
                    keyword = bool(kw_node.value)
            elif may_be_field(ev, value, scope):
                return Why(Reason.UNKNOWN_SIGNATURE, f"{b.name} = {text}(...)")
        out.pop(b.name, None)
        out[b.name] = GeneratedField(b.name, default, keyword, init)
    return out


def may_be_field(ev: Evaluator, call: ast.expr, scope: Scope) -> bool:
    """Whether a value in a class body may be a field's description that some helper makes."""
    values = expressions.value(ev, call, scope)
    if not values.complete:
        return True
    return any(
        isinstance(o, Instance) and o.ref.qualname in ("Field", "FieldInfo", "_CountingAttr") for o in values.items
    )


def _attrs(
    ev: Evaluator, cls: ClassObject, face: ClassFace, node: ast.expr, source: tuple[str, str]
) -> signatures.Signatures | None:
    if _option(node, "init") is False:
        return None
    if isinstance(node, ast.Call) and any(
        k.arg in (None, "these", "field_transformer", "auto_detect", "collect_by_mro") for k in node.keywords
    ):
        return signatures.Signatures(why=Why(Reason.UNKNOWN_DECORATOR, "attrs options"))
    order = hierarchy.mro(ev, face.ref)
    if order.whys:
        return signatures.Signatures(why=order.whys[0])
    fields: dict[str, GeneratedField] = {}
    for entry in reversed(order.entries):
        for own in classes.faces(ev, entry.ref):
            marker = _decorator(ev, own, _ATTRS)
            if marker is None:
                continue
            where = decorators.where(ev, marker, own.scope)
            classic = where is not None and where[0] == "attr" and where[1] in ("s", "attrs", "attributes")
            auto = _option(marker, "auto_attribs")
            kw_only = bool(_option(marker, "kw_only"))
            got = _attrs_fields(ev, own, classic, auto, kw_only)
            if isinstance(got, Why):
                return signatures.Signatures(why=got)
            fields.update(got)
            break
    return _one(cls.ref, face, _params(list(fields.values())))


def _attrs_fields(
    ev: Evaluator, face: ClassFace, classic: bool, auto: bool | None, kw_only: bool
) -> dict[str, GeneratedField] | Why:
    scope = ev.class_scope(face)
    rows: list[tuple[Binding, ast.Call | None]] = []
    unannotated = False
    for b in face.row.members:
        if b.kind not in ("annassign", "assign") or not ev.alive(b.guards):
            continue
        value = parse_expression(b.value) if b.value else None
        call = value if isinstance(value, ast.Call) else None
        where = (
            type_forms.origin(ev, dotted(call.func) or "", scope.top)
            if call is not None and dotted(call.func)
            else None
        )
        is_field = (
            where is not None
            and where[0].split(".")[0] in ("attr", "attrs")
            and where[1] in ("ib", "attrib", "field", "attr")
        )
        if is_field and b.annotation is None:
            unannotated = True
        if is_field or b.annotation is not None:
            if call is not None and not is_field and may_be_field(ev, call, scope):
                return Why(Reason.UNKNOWN_SIGNATURE, f"{b.name} = {dotted(call.func)}(...)")
            rows.append((b, call if is_field else None))
    if auto is None:
        auto = not classic and not unannotated
    out: dict[str, GeneratedField] = {}
    for b, call in rows:
        if call is None and not auto:
            continue
        if b.annotation is not None:
            node = parse_expression(b.annotation)
            inner = node.value if isinstance(node, ast.Subscript) else node
            if inner is not None and type_forms.special_name(ev, inner, scope) == "ClassVar":
                continue
        default, init, keyword, name = bool(b.value) and call is None, True, kw_only, b.name.lstrip("_") or b.name
        if call is not None:
            given = {k.arg: k.value for k in call.keywords}
            if None in given:
                return Why(Reason.UNKNOWN_SIGNATURE, "field(**)")
            default = "default" in given or "factory" in given or bool(call.args)
            for option in ("init", "kw_only", "alias"):
                got = given.get(option)
                if got is not None and not isinstance(got, ast.Constant):
                    return Why(Reason.UNKNOWN_SIGNATURE, f"field({option}=...)")
            init_node, kw_node, alias = given.get("init"), given.get("kw_only"), given.get("alias")
            init = not (isinstance(init_node, ast.Constant) and init_node.value is False)
            if isinstance(kw_node, ast.Constant):
                keyword = bool(kw_node.value)
            if isinstance(alias, ast.Constant) and isinstance(alias.value, str):
                name = alias.value
            # ``@name.default`` gives a default later in the body.
            default = default or any(f"{b.name}.default" in f.decorators for _p, f in _methods(ev, face))
        out.pop(b.name, None)
        out[b.name] = GeneratedField(name, default, keyword, init)
    return out


def _methods(ev: Evaluator, face: ClassFace) -> list[tuple[int, Function]]:
    index = ev.index(face.file)
    out: list[tuple[int, Function]] = []
    for b in face.row.members:
        if b.kind == "def":
            out.extend(index.functions(f"{face.row.qualname}.{b.name}"))
    return out
