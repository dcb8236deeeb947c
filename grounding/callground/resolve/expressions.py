"""Expressions: the set of values that an expression can have."""

from __future__ import annotations

import ast
from collections.abc import Callable

from callground.resolve import calls, containers, generics, members, names, narrowing, special_calls, type_forms
from callground.resolve import flow as flow_module
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow_model import place
from callground.resolve.scopes import Scope
from callground.resolve.values import (
    NONE,
    ClassObject,
    Instance,
    Literal,
    LocalFunction,
    Ref,
    TypeVarObject,
    Values,
    builtin,
    instance,
    is_none,
    join,
    known,
    literal_value,
    unknown,
)
from callground.verdict.model import Reason

Handler = Callable[[Evaluator, ast.expr, Scope], Values]

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
_MAX_LITERAL = 200


def value(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    """The values of an expression in a scope."""
    ev.steps += 1
    if isinstance(node, ast.Constant):
        return constant(node.value)
    if isinstance(node, ast.Name):
        return names.lookup(ev, node, scope).values
    if (
        scope.flow is None
        and scope.kind != "function"
        and isinstance(
            node,
            (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda, ast.IfExp, ast.BoolOp, ast.Call),
        )
        and _has_inner(node)
    ):
        return value(ev, node, _expression_scope(ev, node, scope))
    key = ("expr", id(node), id(scope))
    ev.keep_node(node)
    return ev.values(key, lambda: _value(ev, node, scope), local=True)


def _has_inner(node: ast.expr) -> bool:
    return any(
        isinstance(s, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Lambda, ast.NamedExpr))
        for s in ast.walk(node)
    )


def _expression_scope(ev: Evaluator, node: ast.expr, scope: Scope) -> Scope:
    """A scope with its own flow for an expression of a module or class body: its comprehensions bind names."""

    def make() -> Scope:
        inner = Scope("expression", scope.module, scope.file, scope, qualname=scope.qualname)
        inner.flow = flow_module.analyze([ast.Expr(value=node)], ev.truth_in(scope.module))
        inner.flow.locals = {k: v for k, v in inner.flow.locals.items() if v}
        return inner

    return ev.memo(("expression-scope", id(node), id(scope)), make, lambda reason: scope, local=True)


def constant(v: object) -> Values:
    """The values of a literal."""
    if v is None:
        return known(NONE)
    if v is Ellipsis:
        return known(Instance(Ref("types", "EllipsisType"), exact=True))
    name = type(v).__name__
    keep = not isinstance(v, (str, bytes)) or len(v) <= _MAX_LITERAL
    return known(instance(name, literal=Literal(name, v) if keep else None))


def _value(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    method = _HANDLERS.get(type(node))
    return method(ev, node, scope) if method is not None else unknown(Reason.UNSUPPORTED, type(node).__name__)


def _attribute(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Attribute)
    base = value(ev, node.value, scope)
    plain = members.attribute(ev, base, node.attr)
    current: Scope | None = scope
    flow = ev.flow(scope)
    while current is not None and current.kind == "expression":
        current = current.parent
    if flow is not None:
        defs = flow.uses.get(id(node))
        if defs is not None:
            text = flow_module.dotted(node) or node.attr
            return names.from_defs(ev, defs, scope, text, plain)
    return plain


def _call(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Call)
    special = special_calls.syntactic(ev, node, scope)
    if special is not None:
        return special
    callee = value(ev, node.func, scope)
    made = special_calls.renamed_factory(ev, node, callee, scope)
    if made is not None:
        return made
    return calls.call_values(ev, callee, calls.CallArgs.from_node(node, scope))


def _bool_op(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.BoolOp)
    parts: list[Values] = []
    for i, v in enumerate(node.values):
        got = value(ev, v, scope)
        if i < len(node.values) - 1:
            if isinstance(node.op, ast.Or):
                got = Values(tuple(o for o in got.items if not narrowing._certainly_false(o)), got.whys)
            else:
                got = Values(tuple(o for o in got.items if not _certainly_true(o)), got.whys)
        parts.append(got)
    return join(*parts)


def _certainly_true(o: object) -> bool:
    return not isinstance(o, Instance)


def _if_exp(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.IfExp)
    truth = ev.truth_in(scope.module)(node.test)
    if truth is True:
        return value(ev, node.body, scope)
    if truth is False:
        return value(ev, node.orelse, scope)
    return join(value(ev, node.body, scope), value(ev, node.orelse, scope))


def _elements(ev: Evaluator, nodes: list[ast.expr], scope: Scope) -> Values:
    """The elements of a mutable display: others may be added later."""
    parts = [
        containers.elements(ev, value(ev, e.value, scope)) if isinstance(e, ast.Starred) else value(ev, e, scope)
        for e in nodes[:40]
    ]
    widened = [Values(tuple(generics.widen(o) for o in p.items), p.whys) for p in parts]
    return join(*widened).opened(Reason.UNKNOWN_TYPE, "element") if widened else unknown(Reason.UNKNOWN_TYPE, "element")


def _display(name: str) -> Handler:
    def handler(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
        assert isinstance(node, (ast.List, ast.Set))
        return known(instance(name, _elements(ev, node.elts, scope)))

    return handler


def _tuple(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Tuple)
    if any(isinstance(e, ast.Starred) for e in node.elts) or len(node.elts) > 40:
        parts = [
            containers.elements(ev, value(ev, e.value, scope)) if isinstance(e, ast.Starred) else value(ev, e, scope)
            for e in node.elts[:40]
        ]
        return known(instance("tuple", join(*parts)))
    items = tuple(value(ev, e, scope) for e in node.elts)
    return known(instance("tuple", join(*items) if items else Values(), literal=items))


def _dict(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Dict)
    keys = [k for k in node.keys if k is not None]
    return known(
        instance(
            "dict",
            _elements(ev, keys, scope),
            _elements(ev, node.values, scope) if None not in node.keys else unknown(Reason.UNKNOWN_TYPE, "element"),
        )
    )


def _comprehension(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    if isinstance(node, ast.DictComp):
        k, v = value(ev, node.key, scope), value(ev, node.value, scope)
        return known(instance("dict", k, v))
    assert isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp))
    element = value(ev, node.elt, scope)
    if isinstance(node, ast.GeneratorExp):
        nothing = known(NONE)
        return known(Instance(Ref("typing", "Generator"), (element, nothing, nothing), exact=True))
    return known(instance("list" if isinstance(node, ast.ListComp) else "set", element))


def _lambda(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Lambda)
    return known(LocalFunction(node, scope))


def _await(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Await)
    return calls.awaited(ev, value(ev, node.value, scope))


def _named(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.NamedExpr)
    return value(ev, node.value, scope)


def _joined(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    return known(instance("str"))


def _compare(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Compare)
    if all(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in node.ops):
        return known(instance("bool"))
    left = value(ev, node.left, scope)
    if len(node.ops) == 1 and left.items and left.complete:
        right = value(ev, node.comparators[0], scope)
        # The reflected method of the right side may answer instead (arrays do).
        if right.complete and all(_plain(o) for o in (*left.items, *right.items)):
            return known(instance("bool"))
    return unknown(Reason.UNKNOWN_OPERATOR, "comparison")


def _plain(o: object) -> bool:
    return isinstance(o, Instance) and (o.ref.module == "builtins" or is_none(o))


def _unary(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.UnaryOp)
    if isinstance(node.op, ast.Not):
        return known(instance("bool"))
    operand = value(ev, node.operand, scope)
    name = _UNARY[type(node.op)]
    parts: list[Values] = [Values((), operand.whys)]
    for o in operand.items:
        if isinstance(o, Instance) and not is_none(o):
            parts.append(calls.call_method(ev, o, name, reason=Reason.UNKNOWN_OPERATOR))
        else:
            parts.append(unknown(Reason.UNKNOWN_OPERATOR))
    return join(*parts)


def _bin_op(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.BinOp)
    left = value(ev, node.left, scope)
    right = value(ev, node.right, scope)
    return binary(ev, left, node.op, right, scope)


def binary(ev: Evaluator, left: Values, op: ast.operator, right: Values, scope: Scope) -> Values:
    """The values of ``left op right``: the left side's method, else the right side's reflected one."""
    name = _BINARY[type(op)]
    parts: list[Values] = [Values((), left.whys)]
    if not left.items:
        return unknown(Reason.UNKNOWN_OPERATOR)
    for o in left.items:
        if isinstance(op, ast.Mod) and isinstance(o, Instance) and o.ref in (builtin("str"), builtin("bytes")):
            parts.append(known(Instance(o.ref, exact=True)))
            continue
        if isinstance(op, ast.BitOr) and (isinstance(o, (ClassObject, TypeVarObject)) or is_none(o)):
            # ``int | None`` as a value: a union type.
            parts.append(unknown(Reason.UNKNOWN_TYPE, "union type"))
            continue
        if not isinstance(o, Instance) or is_none(o):
            parts.append(unknown(Reason.UNKNOWN_OPERATOR))
            continue
        parts.append(_binary_one(ev, o, name, right))
    return join(*parts)


def _binary_one(ev: Evaluator, o: Instance, name: str, right: Values) -> Values:
    if not right.items or not right.complete:
        return unknown(Reason.UNKNOWN_OPERATOR, name)
    out: list[Values] = []
    for r in right.items:
        direct = _try_operator(ev, o, f"__{name}__", known(r))
        if direct is not None and not direct[1] and _plain(r):
            # Not certain that the left side takes it; but the right side would not take the left.
            certain = _try_operator(ev, r, f"__r{name}__", known(o)) is None  # type: ignore[arg-type]  # _plain: an Instance
            direct = (direct[0], certain)
        elif direct is None and isinstance(r, Instance) and not is_none(r):
            direct = _try_operator(ev, r, f"__r{name}__", known(o))
        if direct is None:
            out.append(unknown(Reason.UNKNOWN_OPERATOR, name))
        else:
            out.append(direct[0] if direct[1] else direct[0].opened(Reason.UNKNOWN_OPERATOR, name))
    return join(*out)


def _try_operator(ev: Evaluator, o: Instance, name: str, right: Values) -> tuple[Values, bool] | None:
    """(what the method gives, whether it certainly takes the other side); None when it does not."""
    from callground.resolve import binding
    from callground.resolve.values import BoundMethod, FunctionObject

    got = members.of(ev, o, name)
    if got.found is None:
        return None
    out: list[Values] = []
    certain = True
    for m in got.found.items:
        if not isinstance(m, BoundMethod) or not isinstance(m.function, FunctionObject):
            return None
        rows = calls.function_faces(ev, m.function.ref)
        stubs = [f for f in rows if f.file is rows[0].file]
        args = calls.CallArgs.of([right])
        fitting = binding.select(ev, stubs, args, m.receiver)
        if not fitting:
            return None
        out.append(calls.function_result(ev, m.function, args, m.receiver))
        # Else the right side's reflected method may be what runs.
        certain = certain and any(binding.certain(ev, f, args, m.receiver) for f in fitting)
    return join(*out), certain


def _starred(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    return unknown(Reason.STAR_ARGUMENTS)


def _slice(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    return known(instance("slice"))


def _subscript(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    assert isinstance(node, ast.Subscript)
    plain = containers.subscript(ev, node, scope)
    flow = ev.flow(scope)
    defs = flow.uses.get(id(node)) if flow is not None else None
    if defs is None:
        return plain
    return names.from_defs(ev, defs, scope, place(node) or "", plain)


def _yield(ev: Evaluator, node: ast.expr, scope: Scope) -> Values:
    return unknown(Reason.UNKNOWN_TYPE, "yield")


_HANDLERS = {
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_exp,
    ast.List: _display("list"),
    ast.Set: _display("set"),
    ast.Tuple: _tuple,
    ast.Dict: _dict,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Lambda: _lambda,
    ast.Await: _await,
    ast.NamedExpr: _named,
    ast.JoinedStr: _joined,
    ast.Compare: _compare,
    ast.UnaryOp: _unary,
    ast.BinOp: _bin_op,
    ast.Starred: _starred,
    ast.Slice: _slice,
    ast.Subscript: _subscript,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}

_ = (type_forms, literal_value)
