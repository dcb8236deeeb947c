"""Narrowing: what a test says about the values of the name that it tests."""

from __future__ import annotations

import ast

from callground.resolve import expressions, hierarchy, names, type_forms
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import Def, dotted
from callground.resolve.flow_model import place
from callground.resolve.scopes import Scope
from callground.resolve.values import (
    NONE,
    ClassObject,
    Instance,
    ModuleObject,
    Obj,
    TypeVarObject,
    Values,
    is_none,
    join,
    known,
    literal_value,
)
from callground.verdict.model import Reason

_HARMLESS_CALLS = {"len", "bool", "str", "int", "any", "all", "print", "id", "repr", "sorted", "set", "list", "getattr"}


def narrowed(ev: Evaluator, d: Def, scope: Scope, name: str, plain: Values | None) -> Values:
    """The values of a narrow definition."""
    base = names.from_defs(ev, d.base, scope, name, plain)
    test = d.node
    if isinstance(test, ast.pattern):
        return _pattern(ev, test, base, scope)
    if not isinstance(test, ast.expr):
        return base
    return _test(ev, test, base, d.positive, name, scope)


def _is(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.NamedExpr):
        node = node.target
    return place(node) == name


def _test(ev: Evaluator, test: ast.expr, base: Values, positive: bool, name: str, scope: Scope) -> Values:
    if _is(test, name):
        if positive:
            return Values(tuple(o for o in base.items if not _certainly_false(o)), base.whys)
        return base
    if isinstance(test, ast.Call) and test.args:
        return _call(ev, test, base, positive, name, scope)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compare(ev, test, base, positive, name, scope)
    return base


def _certainly_false(o: Obj) -> bool:
    if is_none(o):
        return True
    is_constant, value = literal_value(o)
    return is_constant and value is False


def _call(ev: Evaluator, test: ast.Call, base: Values, positive: bool, name: str, scope: Scope) -> Values:
    function = dotted(test.func) or ""
    if not _is(test.args[0], name):
        if any(isinstance(o, Instance) and o.is_self for o in base.items):
            return base
        if positive and any(_is(a, name) for a in test.args) and function.rsplit(".", 1)[-1] not in _HARMLESS_CALLS:
            return base.opened(Reason.GUARDED, f"{function}()")
        if positive and function == "isinstance" and isinstance(test.args[0], ast.Subscript):
            # Whoever tests an element does not trust what the container is declared to hold.
            return base.opened(Reason.GUARDED, "isinstance() of an element") if _is(test.args[0].value, name) else base
        return base
    if function == "isinstance" and len(test.args) == 2:
        targets = type_forms.of_class_values(ev, expressions.value(ev, test.args[1], scope))
        return by_instance(ev, base, targets, positive)
    if function == "issubclass" and len(test.args) == 2:
        if not positive:
            return base
        targets = type_forms.of_class_values(ev, expressions.value(ev, test.args[1], scope))
        classes_ = tuple(ClassObject(o.ref, o.args, exact=False) for o in targets.items if isinstance(o, Instance))
        kept = tuple(
            o
            for o in base.items
            if isinstance(o, ClassObject)
            and any(hierarchy.is_subclass(ev, o.ref, c.ref) is not False for c in classes_)
        )
        if not targets.complete:
            return base.opened(Reason.GUARDED, "issubclass")
        return Values(tuple(dict.fromkeys((*kept, *(() if kept and base.complete else classes_)))))
    if function == "hasattr" and len(test.args) == 2 and isinstance(test.args[1], ast.Constant):
        if positive:
            return base.opened(Reason.GUARDED, f"hasattr({test.args[1].value!r})")
        # Where a library lacks one name, it is another version of it, and has others.
        foreign = any(_is_foreign(ev, o) for o in base.items)
        return base.opened(Reason.GUARDED, f"not hasattr({test.args[1].value!r})") if foreign else base
    if function in ("hasattr", "callable", "getattr"):
        return base.opened(Reason.GUARDED, f"{function}()") if positive or function == "getattr" else base
    last = function.rsplit(".", 1)[-1]
    if last in _HARMLESS_CALLS or any(isinstance(o, Instance) and o.is_self for o in base.items):
        return base
    # Some other predicate (a type guard, inspect.isclass): behind it the value may be something special.
    return base.opened(Reason.GUARDED, f"{function}()") if positive or not base.complete else base


def _is_foreign(ev: Evaluator, o: Obj) -> bool:
    """A module or class from outside the workspace."""
    if not isinstance(o, (ModuleObject, ClassObject)):
        return False
    module = ev.module(o.name if isinstance(o, ModuleObject) else o.ref.module)
    return module is None or module.origin != "workspace"


def _compare(ev: Evaluator, test: ast.Compare, base: Values, positive: bool, name: str, scope: Scope) -> Values:
    left, op, right = test.left, test.ops[0], test.comparators[0]
    if _is(right, name) and not _is(left, name):
        left, right = right, left
    if isinstance(op, (ast.IsNot, ast.NotEq)):
        positive = not positive
    elif isinstance(op, (ast.NotIn,)):
        return base
    elif isinstance(op, ast.In):
        needle = test.left
        if (
            _is(test.comparators[0], name)
            and isinstance(needle, ast.Constant)
            and isinstance(needle.value, (str, bytes))
        ):
            text = type(needle.value).__name__
            texts = any(isinstance(o, Instance) and o.ref.qualname == text for o in base.items)
            # Searched like a text where no text is declared: the declaration is not the whole truth.
            return base if texts or not base.complete else base.opened(Reason.GUARDED, "in")
        return base
    elif not isinstance(op, (ast.Is, ast.Eq)):
        return base
    if _is(left, name):
        if isinstance(right, ast.Constant) and right.value is None:
            if positive:
                return known(NONE)
            return base.without_none()
        if isinstance(op, (ast.Is, ast.IsNot)) and not positive:
            other = expressions.value(ev, right, scope)
            if len(other.items) == 1 and other.complete:
                return Values(tuple(o for o in base.items if o != other.items[0]), base.whys)
        if positive and isinstance(op, (ast.Eq, ast.NotEq, ast.Is, ast.IsNot)):
            # Equal to a constant that is not None: it is not None.
            if isinstance(right, ast.Constant):
                return base.without_none()
            if isinstance(op, (ast.Is, ast.IsNot)):
                other = expressions.value(ev, right, scope)
                if other.complete and len(other.items) == 1 and isinstance(other.items[0], ClassObject):
                    return known(other.items[0])
                return base.opened(Reason.GUARDED, "is")
        return base
    inner = left
    if isinstance(inner, ast.Call) and inner.args and _is(inner.args[0], name) and dotted(inner.func) == "type":
        return _exact_type(ev, right, base, positive, scope)
    if isinstance(inner, ast.Attribute) and inner.attr == "__class__" and _is(inner.value, name):
        return _exact_type(ev, right, base, positive, scope)
    return (
        base.opened(Reason.GUARDED, "compare")
        if isinstance(inner, ast.Call) and dotted(inner.func) == "getattr"
        else base
    )


def _exact_type(ev: Evaluator, right: ast.expr, base: Values, positive: bool, scope: Scope) -> Values:
    targets = type_forms.of_class_values(ev, expressions.value(ev, right, scope))
    if positive:
        return by_instance(ev, base, targets, True)
    return base


def by_instance(ev: Evaluator, base: Values, targets: Values, positive: bool) -> Values:
    """``isinstance(x, targets)``: keep what is one of the targets (or what is not)."""
    wanted = [o for o in targets.items if isinstance(o, Instance)]
    if not positive:
        kept = [
            o
            for o in base.items
            if not (isinstance(o, Instance) and any(hierarchy.is_subclass(ev, o.ref, t.ref) for t in wanted))
        ]
        return Values(tuple(kept), base.whys)
    if not targets.complete or not wanted:
        return base.opened(Reason.GUARDED, "isinstance")
    out: dict[Obj, None] = {}
    for t in wanted:
        hit = False
        for o in base.items:
            if isinstance(o, TypeVarObject) and o.bound is not None:
                continue
            if not isinstance(o, Instance) or (is_none(o) and not is_none(t)):
                continue
            if hierarchy.is_subclass(ev, o.ref, t.ref) is not False:
                out[o] = None
                hit = True
        if not hit or not base.complete:
            out[Instance(t.ref, t.args)] = None
    return Values(tuple(out))


def _pattern(ev: Evaluator, pattern: ast.pattern, base: Values, scope: Scope) -> Values:
    if isinstance(pattern, ast.MatchClass):
        targets = type_forms.of_class_values(ev, expressions.value(ev, pattern.cls, scope))
        return by_instance(ev, base, targets, True)
    if isinstance(pattern, ast.MatchSingleton):
        return known(NONE) if pattern.value is None else base.without_none()
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return _pattern(ev, pattern.pattern, base, scope)
    if isinstance(pattern, ast.MatchOr):
        return join(*(_pattern(ev, p, base, scope) for p in pattern.patterns))
    if isinstance(pattern, (ast.MatchValue, ast.MatchSequence, ast.MatchMapping)):
        return base.without_none()
    return base
