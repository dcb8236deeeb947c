"""What a parameter can be inside its function."""

from __future__ import annotations

import ast
import re

from callground.resolve import expressions, hierarchy, type_forms
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.scopes import Scope
from callground.resolve.values import ClassObject, Instance, Ref, Values, instance, join, known, unknown
from callground.verdict.model import Reason

# By convention; a first parameter of another name belongs to a function that happens to stand in a class body.
_RECEIVERS = ("self", "cls", "mcs", "mcl", "meta", "this", "klass", "class_", "slf", "zelf", "inst")
_IMPLICIT_CLASS = ("__new__", "__init_subclass__", "__class_getitem__")


def method_kind(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> str:
    """``static``, ``class`` or ``instance`` for a function in a class body."""
    if isinstance(node, ast.Lambda):
        return "instance"
    for d in node.decorator_list:
        last = (dotted(d.func if isinstance(d, ast.Call) else d) or "").rsplit(".", 1)[-1]
        if last in ("staticmethod", "abstractstaticmethod"):
            return "static"
        if last in ("classmethod", "abstractclassmethod", "validator", "root_validator"):
            return "class"
    return "class" if node.name in _IMPLICIT_CLASS else "instance"


def value(ev: Evaluator, arg: ast.arg, scope: Scope, path: tuple[int | str, ...]) -> Values:
    """The values of one parameter of the function of `scope`."""
    node = scope.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        return unknown(Reason.UNKNOWN_PARAMETER, arg.arg)
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    if arg not in positional and arg not in args.kwonlyargs and arg is not args.vararg and arg is not args.kwarg:
        return unknown(Reason.UNKNOWN_PARAMETER, arg.arg)
    given = scope.extra.get("args")
    if isinstance(given, dict) and arg.arg in given:
        bound: Values = given[arg.arg]
        return bound
    outer = scope.parent if scope.parent is not None else scope
    if scope.owner is not None and positional and arg is positional[0] and arg.annotation is None:
        kind = method_kind(node)
        if kind != "static":
            return receiver(ev, scope, kind)
    if path == ("*",):
        inner = (
            type_forms.instances(ev, arg.annotation, outer)
            if arg.annotation
            else unknown(Reason.UNKNOWN_PARAMETER, arg.arg)
        )
        return known(instance("tuple", inner))
    if path == ("**",):
        inner = (
            type_forms.instances(ev, arg.annotation, outer)
            if arg.annotation
            else unknown(Reason.UNKNOWN_PARAMETER, arg.arg)
        )
        return known(instance("dict", known(instance("str")), inner))
    default = _default(args, arg)
    if arg.annotation is not None:
        declared = type_forms.instances(
            ev, arg.annotation, outer.at(getattr(node, "lineno", None)) if outer.kind == "class" else outer
        )
        if default is not None and not scope.file.is_stub:
            return join(declared, _default_values(ev, default, outer))
        return declared
    if default is not None:
        return _default_values(ev, default, outer).opened(Reason.UNKNOWN_PARAMETER, arg.arg)
    return unknown(Reason.UNKNOWN_PARAMETER, arg.arg)


def _default_values(ev: Evaluator, default: ast.expr, outer: Scope) -> Values:
    if isinstance(default, ast.Constant) and default.value is Ellipsis:
        return Values()
    found = expressions.value(ev, default, outer)
    # A default only adds to what the annotation allows: where it is unknown it takes nothing away.
    return Values(found.items)


def _default(args: ast.arguments, arg: ast.arg) -> ast.expr | None:
    positional = [*args.posonlyargs, *args.args]
    if arg in positional:
        offset = positional.index(arg) - (len(positional) - len(args.defaults))
        return args.defaults[offset] if offset >= 0 else None
    if arg in args.kwonlyargs:
        return args.kw_defaults[args.kwonlyargs.index(arg)]
    return None


def receiver(ev: Evaluator, scope: Scope, kind: str) -> Values:
    """``self`` or ``cls`` of a method."""
    owner = scope.owner
    if owner is None:
        return unknown(Reason.UNKNOWN_PARAMETER, "self")
    if _used_as_function(scope):
        return unknown(Reason.UNKNOWN_PARAMETER, "a function that its class body hands on")
    params = tuple(known(p) for p in hierarchy.type_params(ev, owner.ref))
    if kind == "class" or _is_metaclass(ev, owner.ref):
        if kind != "class":
            return unknown(Reason.UNKNOWN_METACLASS, owner.ref.dotted)
        return known(ClassObject(owner.ref, params, exact=False))
    return known(Instance(owner.ref, params, exact=False, is_self=True))


def _used_as_function(scope: Scope) -> bool:
    """Whether the first parameter may be no instance: the class body hands the function on, or names it so."""
    owner, node = scope.owner, scope.node
    if owner is None or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    first = [*node.args.posonlyargs, *node.args.args][0].arg
    if not any(part in first.lower() for part in _RECEIVERS):
        return True
    word = re.compile(rf"(?<![\w.]){re.escape(node.name)}(?!\w)")
    for b in owner.row.members:
        if b.kind in ("assign", "annassign") and b.value and node.name in b.value and word.search(b.value):
            if not re.match(r"[\w.]*(property|classmethod|staticmethod|Property)\(", b.value) and b.value != node.name:
                return True
    return False


def _is_metaclass(ev: Evaluator, ref: Ref) -> bool:
    return any(e.ref == hierarchy.TYPE for e in hierarchy.mro(ev, ref).entries)
