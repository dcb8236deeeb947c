"""Annotations: from the expression that declares a type to the values that it allows."""

from __future__ import annotations

import ast

from callground.graph.interface import Module
from callground.resolve import expressions, flow, generics, modules, names
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import Scope
from callground.resolve.static import parse_expression
from callground.resolve.values import (
    NONE,
    CallableObject,
    ClassObject,
    Instance,
    Literal,
    ModuleObject,
    Ref,
    TypeOfVar,
    TypeVarObject,
    Values,
    builtin,
    instance,
    is_none,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

_TYPING = ("typing", "typing_extensions", "_typeshed", "mypy_extensions")
_ALIASES = {
    "List": builtin("list"),
    "Dict": builtin("dict"),
    "Set": builtin("set"),
    "FrozenSet": builtin("frozenset"),
    "Tuple": builtin("tuple"),
    "Type": builtin("type"),
    "DefaultDict": Ref("collections", "defaultdict"),
    "OrderedDict": Ref("collections", "OrderedDict"),
    "Counter": Ref("collections", "Counter"),
    "ChainMap": Ref("collections", "ChainMap"),
    "Deque": Ref("collections", "deque"),
    "Text": builtin("str"),
}
_OPAQUE = (builtin("type"), Ref("typing", "Any"), Ref("typing_extensions", "Any"))
_WRAPPERS = {"Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar", "Unpack"}
_SPECIAL = (
    {"Any", "Optional", "Union", "Callable", "Literal", "Self", "NoReturn", "Never", "TypeAlias", "Generic", "Protocol"}
    | {"TypeGuard", "TypeIs", "Concatenate", "LiteralString", "AnyStr", "NamedTuple", "TypedDict", "Incomplete"}
    | _WRAPPERS
    | set(_ALIASES)
)


def special_name(ev: Evaluator, node: ast.expr, scope: Scope) -> str | None:
    """The name of a ``typing`` special form that a name or dotted name stands for, else None."""
    text = flow.dotted(node)
    if text is None:
        return None
    last = text.rsplit(".", 1)[-1]
    if last not in _SPECIAL and scope.module.name not in _TYPING and not _maybe_renamed(ev, text, scope):
        return None
    where = origin(ev, text, scope)
    if where is None:
        return None
    module, name = where
    if module == "dataclasses" and name == "InitVar":
        return name
    if module == "collections.abc" and name == "Callable":
        return name
    return name if module in _TYPING and name in _SPECIAL else None


def _maybe_renamed(ev: Evaluator, text: str, scope: Scope) -> bool:
    head = text.split(".", 1)[0]
    rows = ev.index(scope.file).bindings(head)
    return any(b.kind == "from" and b.path in _SPECIAL for _p, b in rows)


def origin(ev: Evaluator, text: str, scope: Scope, depth: int = 0) -> tuple[str, str] | None:
    """(module, name) where a module-level dotted name was first bound, imports followed."""
    head, _, rest = text.partition(".")
    module, file = scope.module, scope.file
    if module.name in _TYPING and not rest:
        if any(b.kind not in ("from", "import") for _piece, b in ev.index(file).bindings(head)):
            return module.name, head
    current: Scope | None = scope
    while current is not None and current.kind != "module":
        local = ev.flow(current) if current.kind == "function" else None
        if local is not None and local.locals.get(head):
            return _local_origin(ev, local.locals[head], text, module, depth)
        current = current.parent
    rows = modules.reaching(ev, file, head, None)
    if rows is None:
        for _piece, b in ev.index(file).star_imports():
            target = modules.absolute(module, b.value or "")
            if target in _TYPING and not rest:
                return target, head
        return None
    for _piece, b in reversed(rows):
        if b.kind == "from":
            target = modules.absolute(module, b.value or "")
            if target is None:
                return None
            if not rest:
                return _follow(ev, target, b.path, depth)
            sub = f"{target}.{b.path}"
            return _follow(ev, sub, rest, depth) if ev.snapshot.exists(sub) and "." not in rest else None
        if b.kind == "import" and rest:
            full = b.value or ""
            prefix = full if b.path == "as" else head
            if b.path == "as":
                parts = rest.rsplit(".", 1)
                base = prefix if len(parts) == 1 else f"{prefix}.{parts[0]}"
                return _follow(ev, base, parts[-1], depth)
            parts = text.rsplit(".", 1)
            return _follow(ev, parts[0], parts[1], depth)
        if b.kind in ("def", "class", "assign", "annassign") and not rest:
            return module.name, head
    return None


def _local_origin(ev: Evaluator, defs: set[flow.Def], text: str, module: Module, depth: int) -> tuple[str, str] | None:
    """`origin` for a name that a function imports."""
    _head, _, rest = text.partition(".")
    for d in defs:
        if d.kind == "from" and isinstance(d.node, ast.ImportFrom):
            target = modules.absolute(module, "." * d.node.level + (d.node.module or ""))
            if target is None:
                return None
            return _follow(ev, f"{target}.{d.path[0]}" if rest else target, rest or str(d.path[0]), depth)
        if d.kind == "import" and rest:
            base = str(d.path[0]) if d.path[1] == "as" else text.rsplit(".", 1)[0]
            return _follow(ev, base, text.rsplit(".", 1)[-1], depth)
    return None


def _follow(ev: Evaluator, target: str, name: str, depth: int) -> tuple[str, str] | None:
    if target in _TYPING or target in ("collections.abc", "dataclasses") or depth > 5:
        return target, name
    if not ev.snapshot.exists(target):
        return target, name
    module = ev.module(target)
    if module is None:
        return target, name
    for file in ev.faces(module):
        rows = modules.reaching(ev, file, name, None)
        if rows is None:
            continue
        if rows[-1][1].kind in ("from", "import"):
            deeper = origin(ev, name, ev.module_scope(module, file), depth + 1)
            if deeper is not None:
                return deeper
        return target, name
    return target, name


def is_alias_marker(ev: Evaluator, node: ast.expr, scope: Scope) -> bool:
    """Whether an annotation says that the value is a type alias, or nothing about the type."""
    name = special_name(ev, node, scope)
    return name in ("TypeAlias", "Final", "ClassVar")


def special_base(ev: Evaluator, node: ast.expr, scope: Scope) -> Ref | None:
    """The class that a special form stands for when it is subclassed (``NamedTuple``, ``TypedDict``)."""
    inner = node.value if isinstance(node, ast.Subscript) else node
    name = special_name(ev, inner, scope)
    if name == "NamedTuple":
        return Ref("typing", "NamedTuple")
    if name == "TypedDict":
        return Ref("typing", "_TypedDict")
    return None


def type_vars(ev: Evaluator, node: ast.expr, scope: Scope) -> list[TypeVarObject]:
    """The type variables that occur in an annotation, in order."""
    found: dict[TypeVarObject, None] = {}
    stack = [node]
    while stack:
        sub = stack.pop(0)
        if isinstance(sub, (ast.Name, ast.Attribute)):
            for o in expressions.value(ev, sub, scope).items:
                if isinstance(o, TypeVarObject):
                    found[o] = None
        elif isinstance(sub, ast.Constant) and isinstance(sub.value, str):
            inner = parse_expression(sub.value)
            if inner is not None:
                stack.insert(0, inner)
        else:
            stack = [c for c in ast.iter_child_nodes(sub) if isinstance(c, ast.expr)] + stack
    return list(found)


def instances(ev: Evaluator, node: ast.expr, scope: Scope, depth: int = 0) -> Values:
    """The values that an annotation allows."""
    ev.steps += 1
    if depth > 12:
        return unknown(Reason.BUDGET, "annotation")
    if isinstance(node, ast.Constant):
        if node.value is None:
            return known(NONE)
        if isinstance(node.value, str):
            inner = parse_expression(node.value.strip())
            return instances(ev, inner, scope, depth + 1) if inner is not None else unknown(Reason.UNSUPPORTED)
        return unknown(Reason.UNKNOWN_TYPE, "annotation")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return join(instances(ev, node.left, scope, depth + 1), instances(ev, node.right, scope, depth + 1))
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _named(ev, node, scope, depth)
    if isinstance(node, ast.Subscript):
        return _subscript(ev, node, scope, depth)
    if isinstance(node, ast.Starred):
        return unknown(Reason.UNKNOWN_TYPE, "unpacked annotation")
    return unknown(Reason.UNKNOWN_TYPE, "annotation")


def _named(ev: Evaluator, node: ast.expr, scope: Scope, depth: int) -> Values:
    special = special_name(ev, node, scope)
    if special is not None:
        if special in _ALIASES:
            ref = _ALIASES[special]
            return unknown(Reason.ANY, special) if special == "Type" else known(Instance(ref))
        if special == "Self":
            return known(TypeVarObject(generics.SELF))
        if special == "LiteralString":
            return known(instance("str", exact=False))
        if special in ("NoReturn", "Never"):
            return Values()
        if special == "Callable":
            return known(CallableObject(unknown(Reason.UNKNOWN_RETURN, "Callable")))
        if special == "NamedTuple":
            return known(Instance(Ref("typing", "NamedTuple")))
        if special == "AnyStr":
            return known(
                TypeVarObject(
                    Ref("typing", "AnyStr"), known(instance("str", exact=False), instance("bytes", exact=False))
                )
            )
        return unknown(Reason.ANY, special)
    values = expressions.value(ev, node, scope)
    converted = of_class_values(ev, values)
    if converted.complete:
        return converted
    alias = _alias(ev, node, scope, depth)
    return alias if alias is not None else converted


def _alias(ev: Evaluator, node: ast.expr, scope: Scope, depth: int) -> Values | None:
    """A module-level alias (``X = Union[int, str]``, ``type X = ...``) read as an annotation."""
    text = flow.dotted(node)
    where = origin(ev, text, scope) if text else None
    if where is None:
        return None
    module_name, name = where
    if not ev.snapshot.exists(module_name):
        return None
    module = ev.module(module_name)
    if module is None:
        return None
    for file in ev.faces(module):
        rows = modules.reaching(ev, file, name, None)
        if rows is None:
            continue
        parts: list[Values] = []
        for _piece, b in rows:
            if b.kind not in ("assign", "annassign", "type") or b.path or not b.value:
                return None
            value = parse_expression(b.value)
            if value is None or not isinstance(
                value, (ast.Subscript, ast.BinOp, ast.Name, ast.Attribute, ast.Constant)
            ):
                return None
            if isinstance(value, ast.Constant) and not isinstance(value.value, str):
                return None
            key = ("alias", module_name, file.path, file.digest, name, b.line)
            inner_scope = ev.module_scope(module, file)
            parts.append(
                ev.values(key, lambda v=value, s=inner_scope: instances(ev, v, s, depth + 1))  # type: ignore[misc]  # defaults bind the loop's values
            )
        return join(*parts) if parts else None
    return None


def of_class_values(ev: Evaluator, values: Values) -> Values:
    """Instances of the classes that an expression names."""
    out: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if isinstance(o, ClassObject):
            if o.ref in _OPAQUE and not o.args:
                out.append(unknown(Reason.ANY, o.ref.qualname))
            elif o.ref == builtin("tuple") and o.args:
                out.append(known(Instance(o.ref, o.args)))
            else:
                out.append(known(Instance(o.ref, o.args)))
        elif isinstance(o, TypeVarObject):
            out.append(known(o))
        elif is_none(o):
            out.append(known(NONE))
        elif isinstance(o, CallableObject) and o.declares:
            out.append(o.result)
        elif isinstance(o, Instance) and o.ref == builtin("tuple") and o.items is not None:
            # isinstance(x, (A, B)) and except (A, B)
            out.extend(of_class_values(ev, item) for item in o.items)
        elif isinstance(o, ModuleObject):
            out.append(unknown(Reason.UNKNOWN_TYPE, f"module {o.name}"))
        else:
            out.append(unknown(Reason.UNKNOWN_TYPE, "annotation"))
    return join(*out)


def _subscript(ev: Evaluator, node: ast.Subscript, scope: Scope, depth: int) -> Values:
    special = special_name(ev, node.value, scope)
    args = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if special == "Optional":
        return join(instances(ev, args[0], scope, depth + 1), known(NONE))
    if special == "Union":
        return join(*(instances(ev, a, scope, depth + 1) for a in args))
    if special in _WRAPPERS and special != "Unpack":
        return instances(ev, args[0], scope, depth + 1)
    if special == "Literal":
        return _literals(ev, args, scope)
    if special == "Callable":
        return known(_callable(ev, args, scope, depth))
    if special in ("TypeGuard", "TypeIs"):
        return known(instance("bool", exact=False))
    if special == "Type":
        return _type_of(instances(ev, args[0], scope, depth + 1))
    if special is not None and special not in _ALIASES:
        return unknown(Reason.ANY, special)
    if special is not None:
        base = known(ClassObject(_ALIASES[special]))
    else:
        base = expressions.value(ev, node.value, scope)
    out: list[Values] = [Values((), base.whys)]
    for o in base.items:
        if not isinstance(o, ClassObject):
            alias = _alias(ev, node.value, scope, depth)
            out.append(
                _filled(ev, alias, args, scope, depth)
                if alias is not None
                else unknown(Reason.UNKNOWN_TYPE, "annotation")
            )
            continue
        if o.ref == builtin("type"):
            out.append(_type_of(instances(ev, args[0], scope, depth + 1)))
        elif o.ref == builtin("tuple"):
            out.append(known(_tuple(ev, args, scope, depth)))
        else:
            out.append(known(Instance(o.ref, tuple(_argument(ev, a, scope, depth) for a in args))))
    if not base.items:
        alias = _alias(ev, node.value, scope, depth)
        if alias is not None:
            return _filled(ev, alias, args, scope, depth)
    return join(*out)


def _filled(ev: Evaluator, alias: Values, args: list[ast.expr], scope: Scope, depth: int) -> Values:
    """A generic alias with arguments for its type parameters, in the order in which it names them."""
    params = list(dict.fromkeys(generics.vars_in(alias)))
    given = tuple(_argument(ev, a, scope, depth) for a in args)
    return generics.substitute(alias, generics.mapping(params, given))


def _argument(ev: Evaluator, node: ast.expr, scope: Scope, depth: int) -> Values:
    if isinstance(node, ast.List) or (isinstance(node, ast.Constant) and node.value is Ellipsis):
        return unknown(Reason.UNKNOWN_TYPE, "type argument")
    return instances(ev, node, scope, depth + 1)


def _tuple(ev: Evaluator, args: list[ast.expr], scope: Scope, depth: int) -> Instance:
    if len(args) == 2 and isinstance(args[1], ast.Constant) and args[1].value is Ellipsis:
        return Instance(builtin("tuple"), (instances(ev, args[0], scope, depth + 1),))
    if len(args) == 1 and isinstance(args[0], ast.Tuple) and not args[0].elts:
        return Instance(builtin("tuple"), (Values(),), literal=())
    if any(isinstance(a, ast.Starred) for a in args):
        return Instance(builtin("tuple"), (unknown(Reason.UNKNOWN_TYPE, "tuple"),))
    items = tuple(instances(ev, a, scope, depth + 1) for a in args)
    return Instance(builtin("tuple"), (join(*items) if items else Values(),), literal=items)


def _callable(ev: Evaluator, args: list[ast.expr], scope: Scope, depth: int) -> CallableObject:
    result = instances(ev, args[-1], scope, depth + 1) if len(args) > 1 else unknown(Reason.UNKNOWN_RETURN, "Callable")
    like = None
    params: tuple[Values, ...] | None = None
    if len(args) > 1 and isinstance(args[0], ast.List) and not any(isinstance(a, ast.Starred) for a in args[0].elts):
        params = tuple(instances(ev, a, scope, depth + 1) for a in args[0].elts)
    if len(args) > 1 and isinstance(args[0], (ast.Name, ast.Attribute)):
        found = expressions.value(ev, args[0], scope)
        if len(found.items) == 1 and isinstance(found.items[0], TypeVarObject):
            like = found.items[0]
    return CallableObject(result, like, params)


def _type_of(values: Values) -> Values:
    """``type[X]`` for the values of X."""
    out: list[Values] = [Values((), values.whys)]
    for o in values.items:
        if isinstance(o, Instance) and not is_none(o):
            out.append(known(ClassObject(o.ref, o.args, exact=False)))
        elif isinstance(o, TypeVarObject):
            out.append(known(TypeOfVar(o)))
        else:
            out.append(unknown(Reason.UNKNOWN_TYPE, "type"))
    return join(*out)


def _literals(ev: Evaluator, args: list[ast.expr], scope: Scope) -> Values:
    out: list[Values] = []
    for a in args:
        if isinstance(a, ast.Constant):
            if a.value is None:
                out.append(known(NONE))
            else:
                name = type(a.value).__name__
                out.append(known(instance(name, literal=Literal(name, a.value))))
        elif isinstance(a, ast.UnaryOp):
            out.append(known(instance("int")))
        else:
            out.append(expressions.value(ev, a, scope))
    return join(*out) if out else unknown(Reason.UNKNOWN_TYPE, "Literal")


GROUP = instance("BaseExceptionGroup", exact=False)
"""What ``except* TYPE as name`` binds, whatever the type."""


def exceptions(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    """What ``except TYPE as name`` binds: instances of the class or of each class of the tuple."""
    return of_class_values(ev, expressions.value(ev, node, scope))


_ = names
