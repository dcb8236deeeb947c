"""Calls whose result their declared types do not say: ``super``, ``type``, ``cast``, ``partial``, class factories."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable

from callground.facts.extract import extract_module as extract
from callground.graph.interface import SourceFile
from callground.resolve import calls, expressions, members, type_forms
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.scopes import ClassFace, Scope
from callground.resolve.values import (
    BoundMethod,
    CallableObject,
    ClassMethodObject,
    ClassObject,
    FunctionObject,
    Instance,
    Obj,
    PartialObject,
    PropertyObject,
    Ref,
    StaticObject,
    SuperObject,
    TypeVarObject,
    Values,
    instance,
    is_none,
    join,
    known,
    literal_value,
    unknown,
)
from callground.verdict.model import Reason

_ENUMS = frozenset({"Enum", "IntEnum", "StrEnum", "Flag"})
_FACTORIES = _ENUMS | {"namedtuple", "NamedTuple", "TypedDict", "NewType", "TypeVar", "ParamSpec", "TypeVarTuple"}
_FACTORY_MODULES = frozenset({"collections", "typing", "typing_extensions", "enum"})

Handler = Callable[[Evaluator, "calls.CallArgs"], "Values | None"]


def syntactic(ev: Evaluator, node: ast.Call, scope: Scope) -> Values | None:
    """Calls that depend on where they stand: ``super()`` and the factories that are given their own name."""
    name = dotted(node.func)
    if name == "super" and _is_builtin(ev, node, scope):
        return _super(ev, node, scope)
    if name is None:
        return None
    last = name.rsplit(".", 1)[-1]
    if last in _FACTORIES:
        where = type_forms.origin(ev, name, scope)
        return _factory(ev, node, scope, last) if where is not None and where[0] in _FACTORY_MODULES else None
    if last == "cast" and len(node.args) == 2:
        callee = expressions.value(ev, node.func, scope)
        if any(isinstance(o, FunctionObject) and o.ref.module in ("typing", "typing_extensions") for o in callee.items):
            return type_forms.instances(ev, node.args[0], scope)
    return None


def renamed_factory(ev: Evaluator, node: ast.Call, callee: Values, scope: Scope) -> Values | None:
    """What a factory of classes makes that goes by another name (``from collections import namedtuple as nt``)."""
    names = {_factory_name(o) for o in callee.items}
    if not any(names) or not node.args:
        return None
    [*others, name] = names
    if others or name is None or not callee.complete:
        return unknown(Reason.UNKNOWN_TYPE, "class factory")
    made = None if name in _ENUMS and len(node.args) < 2 and not node.keywords else _factory(ev, node, scope, name)
    # A member of an enumeration by its value, `Color(1)`, is no factory.
    return made if made is not None or name in _ENUMS else unknown(Reason.UNKNOWN_TYPE, name)


def _factory_name(o: Obj) -> str | None:
    ref = o.ref if isinstance(o, (ClassObject, FunctionObject)) else None
    return ref.qualname if ref is not None and ref.module in _FACTORY_MODULES and ref.qualname in _FACTORIES else None


def _is_builtin(ev: Evaluator, node: ast.Call, scope: Scope) -> bool:
    values = expressions.value(ev, node.func, scope)
    return values.items == (ClassObject(Ref("builtins", "super")),)


def _super(ev: Evaluator, node: ast.Call, scope: Scope) -> Values:
    if len(node.args) == 2:
        start = expressions.value(ev, node.args[0], scope)
        receivers = expressions.value(ev, node.args[1], scope)
        out = [
            SuperObject(s.ref, r)
            for s in start.items
            if isinstance(s, ClassObject)
            for r in receivers.items
            if isinstance(r, (Instance, ClassObject))
        ]
        return Values(tuple(out), (*start.whys, *receivers.whys)) if out else unknown(Reason.UNKNOWN_TYPE, "super")
    current: Scope | None = scope
    while current is not None and current.owner is None:
        current = current.parent
    if current is None or current.owner is None or node.args:
        return unknown(Reason.UNKNOWN_TYPE, "super")
    owner = current.owner
    fn = current.node
    if not isinstance(fn, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return unknown(Reason.UNKNOWN_TYPE, "super")
    from callground.resolve import parameters

    kind = parameters.method_kind(fn)
    if kind == "static":
        return unknown(Reason.UNKNOWN_TYPE, "super")
    given = current.extra.get("args")
    first = [*fn.args.posonlyargs, *fn.args.args][:1]
    if isinstance(given, dict) and first and first[0].arg in given:
        # The method of a receiver that is known.
        receivers = given[first[0].arg]
    else:
        receivers = parameters.receiver(ev, current, kind)
    out2 = tuple(SuperObject(owner.ref, r) for r in receivers.items)
    return Values(out2, receivers.whys)


def _factory(ev: Evaluator, node: ast.Call, scope: Scope, last: str) -> Values | None:
    if not node.args:
        return None
    if last in ("TypeVar", "ParamSpec", "TypeVarTuple"):
        return _type_var(ev, node, scope)
    if last == "NewType" and len(node.args) == 2:
        base = type_forms.instances(ev, node.args[1], scope)
        made = tuple(ClassObject(o.ref, o.args) for o in base.items if isinstance(o, Instance))
        if len(made) == 1 and base.complete:
            # A NewType is called like a function of one argument.
            return known(CallableObject(base, params=(base,), declares=True))
        return unknown(Reason.UNKNOWN_TYPE, "NewType")
    if any(isinstance(a, ast.Starred) for a in node.args):
        return unknown(Reason.UNKNOWN_TYPE, last)
    name = node.args[0]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str) or not name.value.isidentifier():
        return unknown(Reason.UNKNOWN_TYPE, last)
    text = _class_text(ev, node, name.value, last, scope)
    if text is None:
        return unknown(Reason.UNKNOWN_TYPE, last)
    return synthetic(ev, text, name.value, scope, "enum" if last in _ENUMS else "typing")


def _type_var(ev: Evaluator, node: ast.Call, scope: Scope) -> Values:
    name = node.args[0]
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return unknown(Reason.UNKNOWN_TYPE, "TypeVar")
    bound: Values | None = None
    for keyword in node.keywords:
        if keyword.arg == "bound":
            bound = type_forms.instances(ev, keyword.value, scope)
    if len(node.args) > 2:
        bound = join(*(type_forms.instances(ev, a, scope) for a in node.args[1:]))
    return known(TypeVarObject(Ref(scope.module.name, name.value), bound))


def _field_names(node: ast.expr) -> list[str] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace(",", " ").split()
    if isinstance(node, (ast.List, ast.Tuple)):
        out: list[str] = []
        for e in node.elts:
            if isinstance(e, (ast.Tuple, ast.List)) and e.elts:
                e = e.elts[0]
            if not isinstance(e, ast.Constant) or not isinstance(e.value, str):
                return None
            out.append(e.value)
        return out
    if isinstance(node, ast.Dict):
        keys: list[str] = []
        for k in node.keys:
            if not isinstance(k, ast.Constant) or not isinstance(k.value, str):
                return None
            keys.append(k.value)
        return keys
    return None


def _class_text(ev: Evaluator, node: ast.Call, name: str, last: str, scope: Scope) -> str | None:
    keywords = {k.arg: k.value for k in node.keywords}
    if None in keywords:
        return None
    if last == "TypedDict":
        return f"class {name}(TypedDict):\n    pass\n"
    source = node.args[1] if len(node.args) > 1 else keywords.get("field_names") or keywords.get("names")
    if source is None:
        return None
    fields = _field_names(source)
    if fields is None:
        return None
    if last in _ENUMS:
        if set(keywords) - {"module", "qualname", "names"}:
            return None
        body = "".join(f"    {f} = {i}\n" for i, f in enumerate(fields, 1) if f.isidentifier())
        return f"class {name}({last}):\n{body or '    pass'}\n"
    if "rename" in keywords:
        return None
    defaults = 0
    given = keywords.get("defaults")
    if given is not None:
        if not isinstance(given, (ast.Tuple, ast.List)):
            if isinstance(given, ast.BinOp):
                defaults = len(fields)
            else:
                return None
        else:
            defaults = len(given.elts)
    first = len(fields) - defaults
    body = "".join(f"    {f}: Any{' = None' if i >= first else ''}\n" for i, f in enumerate(fields) if f.isidentifier())
    return f"class {name}(NamedTuple):\n{body or '    pass'}\n"


def synthetic(ev: Evaluator, text: str, name: str, scope: Scope, home: str) -> Values:
    """A class that a factory call makes, from the class statement that it stands for."""
    digest = hashlib.blake2b(f"{scope.module.name}:{text}".encode(), digest_size=6).hexdigest()
    ref = Ref(scope.module.name, f"{name}@<{digest}>")
    if ref not in ev.local_classes:
        module = ev.module(home)
        file = module.stub or module.source if module is not None else None
        if module is None or file is None:
            return unknown(Reason.UNKNOWN_TYPE, name)
        facts = extract(text)
        row = facts.pieces[0].classes[0]
        made = SourceFile(f"<{home}:{name}>", text, facts, digest)
        ev.local_classes[ref] = ClassFace(ref, scope.module, made, 0, row, ev.module_scope(module, file))
    return known(ClassObject(ref))


def result(ev: Evaluator, callee: Obj, args: calls.CallArgs) -> Values | None:
    """The result of calls that are understood by what is called; None for all others."""
    ref = _ref(callee)
    if ref is None:
        return None
    handler = _HANDLERS.get(ref)
    return handler(ev, args) if handler is not None else None


def _ref(callee: Obj) -> Ref | None:
    if isinstance(callee, (ClassObject, FunctionObject)):
        return callee.ref
    if isinstance(callee, BoundMethod) and isinstance(callee.function, FunctionObject):
        return callee.function.ref
    return None


def _type(ev: Evaluator, args: calls.CallArgs) -> Values | None:
    if len(args.positional) != 1:
        return unknown(Reason.UNKNOWN_TYPE, "type()")
    values = args.value(ev, args.positional[0])
    out = tuple(ClassObject(o.ref, o.args, o.exact) for o in values.items if isinstance(o, Instance) and not is_none(o))
    if len(out) != len(values.items):
        return Values(out).opened(Reason.UNKNOWN_TYPE, "type()")
    return Values(out, values.whys)


def _partial(ev: Evaluator, args: calls.CallArgs) -> Values | None:
    if not args.positional or any(isinstance(a, ast.Starred) for a in args.positional):
        return unknown(Reason.STAR_ARGUMENTS, "partial")
    if any(k is None for k, _v in args.keywords):
        return unknown(Reason.STAR_ARGUMENTS, "partial")
    callee = args.value(ev, args.positional[0])
    names = tuple(k for k, _v in args.keywords if k is not None)
    out = tuple(PartialObject(o, len(args.positional) - 1, names) for o in callee.items)
    return Values(out, callee.whys)


def _getattr(ev: Evaluator, args: calls.CallArgs) -> Values | None:
    if len(args.positional) != 2:
        return unknown(Reason.UNKNOWN_ATTRIBUTE, "getattr()")
    name = args.value(ev, args.positional[1])
    if len(name.items) != 1:
        return unknown(Reason.UNKNOWN_ATTRIBUTE, "getattr()")
    is_constant, text = literal_value(name.items[0])
    if not is_constant or not isinstance(text, str):
        return unknown(Reason.UNKNOWN_ATTRIBUTE, "getattr()")
    return members.attribute(ev, args.value(ev, args.positional[0]), text)


def _import_module(ev: Evaluator, args: calls.CallArgs) -> Values | None:
    return unknown(Reason.UNKNOWN_IMPORT, "import_module()")


def _wraps(ev: Evaluator, args: calls.CallArgs) -> Values | None:
    return known(CallableObject(unknown(Reason.UNKNOWN_DECORATOR, "wraps")))


def _open_dict(ev: Evaluator, args: calls.CallArgs) -> Values | None:
    return known(instance("dict", known(instance("str")), unknown(Reason.UNKNOWN_TYPE, "globals()")))


def _identity(ev: Evaluator, args: calls.CallArgs) -> Values | None:
    if len(args.positional) != 1 or isinstance(args.positional[0], ast.Starred):
        return None
    return args.value(ev, args.positional[0])


def _wrapping(make: type[ClassMethodObject] | type[StaticObject] | type[PropertyObject]) -> Handler:
    def handler(ev: Evaluator, args: calls.CallArgs) -> Values | None:
        function: calls.Argument | None = args.positional[0] if args.positional else None
        for keyword, value in args.keywords:
            if keyword in ("fget", "function"):
                function = value
        if function is None:
            return None
        got = args.value(ev, function)
        return Values(tuple(make(o) for o in got.items), got.whys) if got.items else None

    return handler


_HANDLERS: dict[Ref, Handler] = {
    Ref("builtins", "type"): _type,
    Ref("builtins", "getattr"): _getattr,
    Ref("builtins", "classmethod"): _wrapping(ClassMethodObject),
    Ref("builtins", "staticmethod"): _wrapping(StaticObject),
    Ref("builtins", "property"): _wrapping(PropertyObject),
    Ref("functools", "partial"): _partial,
    Ref("functools", "wraps"): _wraps,
    Ref("importlib", "import_module"): _import_module,
    Ref("builtins", "vars"): _open_dict,
    Ref("builtins", "globals"): _open_dict,
    Ref("builtins", "locals"): _open_dict,
    Ref("copy", "copy"): _identity,
    Ref("copy", "deepcopy"): _identity,
}
