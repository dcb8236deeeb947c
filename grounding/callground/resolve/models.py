"""Constructors of pydantic 2 models: their fields by keyword, whatever else they are given."""

from __future__ import annotations

import ast

from callground.facts.model import Binding, Param
from callground.resolve import classes, generated, hierarchy, signatures, type_forms
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import ClassObject, Ref, Why
from callground.verdict.model import Reason

MODEL = Ref("pydantic.main", "BaseModel")
META = Ref("pydantic._internal._model_construction", "ModelMetaclass")
_METAS = (META, Ref("abc", "ABCMeta"))
# Options that change by which names fields are given, or who gives them.
_NAMING = ("alias", "by_name", "by_alias", "settings", "init")
_FILLING = ("model_validator", "root_validator", "validator")


def is_model(ev: Evaluator, ref: Ref) -> bool:
    """Whether the class is a model of pydantic 2, made by its own metaclass."""
    if ref == MODEL or ref.module == "builtins":
        return False
    order = hierarchy.mro(ev, ref)
    return (
        any(e.ref == MODEL for e in order.entries)
        and META in order.metaclasses
        and all(meta in _METAS for meta in order.metaclasses)
    )


def constructor(ev: Evaluator, cls: ClassObject) -> signatures.Signatures | None:
    """What a model accepts; None when one of its classes has a constructor of its own."""
    order = hierarchy.mro(ev, cls.ref)
    if order.whys:
        return signatures.Signatures(why=order.whys[0])
    fields: dict[str, Param] = {}
    first: ClassFace | None = None
    for entry in reversed(order.entries):
        if entry.ref in (MODEL, hierarchy.OBJECT):
            continue
        for face in classes.faces(ev, entry.ref):
            if {"__init__", "__new__"} & {b.name for b in face.row.members}:
                return None
            why = _odd(ev, face)
            for b in face.row.members if why is None else ():
                got = _field(ev, b, ev.class_scope(face))
                if isinstance(got, Why):
                    why = got
                elif got is not None:
                    fields.pop(b.name, None)
                    fields[b.name] = got
            if why is not None:
                return signatures.Signatures(why=why)
            first = face
    if first is None:
        return None
    params = (*fields.values(), Param("data", "**kwargs", None, None))
    sig = signatures.Signature(params, cls.ref.dotted, "generated", first.file.path, first.line, cls.ref.module)
    return signatures.Signatures(((sig,),))


def _odd(ev: Evaluator, face: ClassFace) -> Why | None:
    """What in a model's class may change its constructor in ways that are not followed."""
    if any(keyword != "extra" for keyword, _value in face.row.keywords):
        return Why(Reason.UNKNOWN_SIGNATURE, f"{face.ref.dotted}: options of the model")
    if face.row.decorators:
        return Why(Reason.UNKNOWN_DECORATOR, face.row.decorators[0])
    for b in face.row.members:
        text = b.value or ""
        if b.name in ("Config", "model_config"):
            if b.name == "Config" or b.value is None or any(word in text for word in _NAMING):
                return Why(Reason.UNKNOWN_SIGNATURE, f"{face.ref.dotted}.{b.name}")
            if "(" in text and "ConfigDict(" not in text:
                return Why(Reason.UNKNOWN_SIGNATURE, f"{face.ref.dotted}.{b.name}")
        if b.kind == "def":
            for _piece, row in ev.index(face.file).functions(f"{face.row.qualname}.{b.name}"):
                if any(d.split("(")[0].rsplit(".", 1)[-1] in _FILLING for d in row.decorators):
                    return Why(Reason.UNKNOWN_SIGNATURE, f"{face.ref.dotted}.{b.name} may fill fields")
    return None


def _field(ev: Evaluator, b: Binding, scope: Scope) -> Param | Why | None:
    if b.annotation is None or b.name.startswith("_") or b.name == "model_config" or not ev.alive(b.guards):
        return None
    if b.guards:
        return Why(Reason.UNKNOWN_SIGNATURE, f"{b.name} is conditional")
    annotation = parse_expression(b.annotation)
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = parse_expression(annotation.value)
    if annotation is None:
        return Why(Reason.UNSUPPORTED, "annotation")
    outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    if type_forms.special_name(ev, outer, scope) == "ClassVar":
        return None
    name, default = b.name, bool(b.value) or b.value is None
    value = parse_expression(b.value) if b.value else None
    if isinstance(value, ast.Call) and (dotted(value.func) or "").rsplit(".", 1)[-1] == "Field":
        given = {k.arg: k.value for k in value.keywords}
        if None in given or "init" in given or "validation_alias" in given:
            return Why(Reason.UNKNOWN_SIGNATURE, f"{b.name} = Field(...)")
        first = value.args[0] if value.args else given.get("default")
        required = first is None or (isinstance(first, ast.Constant) and first.value is Ellipsis)
        default = not required or "default_factory" in given
        alias = given.get("alias")
        if alias is not None:
            if not isinstance(alias, ast.Constant) or not isinstance(alias.value, str):
                return Why(Reason.UNKNOWN_SIGNATURE, f"{b.name} = Field(alias=...)")
            name = alias.value
    elif isinstance(value, ast.Call) and generated.may_be_field(ev, value, scope):
        return Why(Reason.UNKNOWN_SIGNATURE, f"{b.name} = {dotted(value.func)}(...)")
    # ``Annotated[int, Field(default=1)]``, under its own name or another: a default that is not looked for.
    default = default or _annotated(ev, annotation, scope)
    return Param(name, "keyword-only", None, "..." if default else None)


def _annotated(ev: Evaluator, annotation: ast.expr, scope: Scope) -> bool:
    for node in ast.walk(annotation):
        text = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if text is None:
            continue
        if text.rsplit(".", 1)[-1] == "Annotated":
            return True
        where = type_forms.origin(ev, text, scope.top)
        if where is None or not ev.snapshot.exists(where[0]):
            continue
        module = ev.module(where[0])
        rows = [
            row
            for file in (ev.faces(module) if module is not None else ())
            for row in ev.index(file).bindings(where[1])
        ]
        if any("Annotated" in (b.value or "Annotated") for _p, b in rows if b.kind in ("assign", "annassign", "type")):
            return True
    return False
