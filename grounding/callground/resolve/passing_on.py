"""Which calls of a function certainly happen, and what they do with its ``*args`` and ``**kwargs``.

A wrapper that hands on all it was given accepts what its callee accepts.  Here only its syntax is read; what the
callee is, and what follows for the wrapper's signature, is decided in `forwarding`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from callground.resolve import places
from callground.resolve.flow import dotted

_READING = frozenset({"get", "items", "keys", "values", "copy", "__contains__", "__len__"})
_READERS = frozenset("len dict list tuple set frozenset sorted repr str print bool isinstance id iter any all".split())
_LOGGING = frozenset("debug info warning error exception critical log format format_map".split())


class Uses(NamedTuple):
    """What happens to the dictionary of keywords besides that it is handed on."""

    taken: frozenset[str] = frozenset()
    """Names that are taken out of it: the callee does not see them."""
    given: frozenset[str] = frozenset()
    """Names that are put into it."""
    filled: bool = False
    """Names are put into it that cannot be told."""


class Handing(NamedTuple):
    """The calls of which all, or of a group at least one, certainly run, and how the keywords are used."""

    groups: tuple[tuple[ast.Call, ...], ...]
    uses: Uses


def read(node: places.FunctionNode) -> Handing | None:
    """The certain calls of a function that hand on its variable arguments; None when that cannot be told."""
    star = node.args.vararg.arg if node.args.vararg is not None else ""
    double = node.args.kwarg.arg if node.args.kwarg is not None else ""
    if not star and not double:
        return None
    body: list[ast.stmt] = [ast.Return(value=node.body)] if isinstance(node, ast.Lambda) else node.body
    names = {name for name in (star, double) if name}
    groups, _leaves = _certain(body, names)
    if not groups or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in places.own_nodes(node)):
        return None
    if star and any(
        _is(n, star) and not isinstance(n.ctx, ast.Load) for n in ast.walk(node) if isinstance(n, ast.Name)
    ):
        return None
    uses = _uses(node, double) if double else Uses()
    return Handing(tuple(groups), uses) if uses is not None else None


def hands_on(call: ast.Call, names: set[str]) -> bool:
    """Whether a call has ``*args`` or ``**kwargs`` of the function around it."""
    return any(
        isinstance(a, ast.Starred) and isinstance(a.value, ast.Name) and a.value.id in names for a in call.args
    ) or any(k.arg is None and isinstance(k.value, ast.Name) and k.value.id in names for k in call.keywords)


# -- what certainly runs


def _certain(body: list[ast.stmt], names: set[str]) -> tuple[list[tuple[ast.Call, ...]], bool]:
    """(groups of calls that a block certainly makes, whether it may end before what follows it)."""
    groups: list[tuple[ast.Call, ...]] = []
    for s in body:
        if isinstance(s, ast.If):
            groups += _in_expression(s.test, names)
            first, one = _certain(s.body, names)
            second, other = _certain(s.orelse, names)
            if _only_raises(s.body):
                groups += second
            elif _only_raises(s.orelse):
                groups += first
            elif first and second:
                groups.append((*first[0], *second[0]))
            if one or other:
                return groups, True
        elif isinstance(s, (ast.With, ast.AsyncWith)):
            if any("suppress" in (dotted(_called(i.context_expr)) or "") for i in s.items):
                return groups, True
            for item in s.items:
                groups += _in_expression(item.context_expr, names)
            more, leaves = _certain(s.body, names)
            groups += more
            if leaves:
                return groups, True
        elif isinstance(s, ast.Try):
            more, leaves = _certain(s.body, names)
            if not any(_swallows(h) for h in s.handlers):
                groups += more
            if leaves or any(_leaves(h.body) for h in s.handlers):
                return groups, True
            after, leaves = _certain([*s.orelse, *s.finalbody], names)
            groups += after
            if leaves:
                return groups, True
        elif isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and s.test.value:
            return groups + _certain(s.body, names)[0], True
        elif isinstance(s, (ast.For, ast.AsyncFor, ast.While)):
            groups += _in_expression(s.test if isinstance(s, ast.While) else s.iter, names)
            if _leaves([s]):
                return groups, True
        elif isinstance(s, ast.Return):
            if s.value is not None:
                groups += _in_expression(s.value, names)
            return groups, True
        elif isinstance(s, (ast.Raise, ast.Break, ast.Continue, ast.Match)):
            return groups, True
        elif not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for value in ast.iter_child_nodes(s):
                if isinstance(value, ast.expr):
                    groups += _in_expression(value, names)
    return groups, False


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _in_expression(root: ast.expr, names: set[str]) -> list[tuple[ast.Call, ...]]:
    """The calls that evaluating an expression certainly makes."""
    found: list[tuple[ast.Call, ...]] = []
    pending: list[ast.AST] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.BoolOp):
            pending.append(node.values[0])
        elif isinstance(node, ast.IfExp):
            pending.append(node.test)
            first, second = _in_expression(node.body, names), _in_expression(node.orelse, names)
            if first and second:
                found.append((*first[0], *second[0]))
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            if isinstance(node, ast.Call) and hands_on(node, names):
                found.append((node,))
            pending.extend(ast.iter_child_nodes(node))
    return found


def _only_raises(body: list[ast.stmt]) -> bool:
    return (
        bool(body)
        and isinstance(body[-1], ast.Raise)
        and not any(isinstance(n, ast.Return) for s in body for n in ast.walk(s))
    )


def _leaves(body: list[ast.stmt]) -> bool:
    return any(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for s in body for n in ast.walk(s))


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may keep a TypeError to itself."""
    names = (
        {
            n.attr if isinstance(n, ast.Attribute) else n.id
            for n in ast.walk(handler.type)
            if isinstance(n, (ast.Name, ast.Attribute))
        }
        if handler.type
        else {"BaseException"}
    )
    known = {"TypeError", "Exception", "BaseException"}
    if not names & known and all(name.endswith(("Error", "Exception", "Exit", "Interrupt")) for name in names):
        return False
    return not isinstance(handler.body[-1], ast.Raise)


# -- what happens to the keywords


def _uses(node: places.FunctionNode, name: str) -> Uses | None:
    """None when something may be done to the keywords that is not understood."""
    taken: set[str] = set()
    given: set[str] = set()
    filled = False
    parents = {id(child): parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}
    for use in ast.walk(node):
        if not isinstance(use, ast.Name) or use.id != name:
            continue
        if not isinstance(use.ctx, ast.Load):
            return None
        around = parents[id(use)]
        if isinstance(around, ast.keyword) and around.arg is None:
            continue
        if isinstance(around, ast.Subscript) and around.value is use:
            literal = _text(around.slice)
            if isinstance(around.ctx, ast.Load):
                continue
            if isinstance(around.ctx, ast.Del):
                if literal is None:
                    return None
                taken.add(literal)
            elif literal is None:
                filled = True
            else:
                given.add(literal)
            continue
        if isinstance(around, ast.Attribute):
            call = parents.get(id(around))
            if not isinstance(call, ast.Call) or call.func is not around:
                return None
            if around.attr in _READING:
                continue
            literal = _text(call.args[0]) if call.args else None
            if around.attr == "pop" and literal is not None:
                taken.add(literal)
            elif around.attr == "setdefault" and literal is not None:
                given.add(literal)
            elif around.attr == "update":
                given.update(k.arg for k in call.keywords if k.arg)
                filled = filled or bool(call.args) or any(k.arg is None for k in call.keywords)
            else:
                return None
            continue
        if isinstance(around, ast.Call) and around.func is not use:
            last = (dotted(around.func) or "").rpartition(".")[2]
            if last in _READERS | _LOGGING:
                continue
            return None
        if isinstance(
            around,
            (
                ast.Compare,
                ast.BoolOp,
                ast.UnaryOp,
                ast.If,
                ast.IfExp,
                ast.For,
                ast.comprehension,
                ast.FormattedValue,
                ast.Dict,
            ),
        ):
            continue
        return None
    return Uses(frozenset(taken), frozenset(given), filled)


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is(node: ast.Name, name: str) -> bool:
    return node.id == name


def calls_in(handing: Handing) -> Iterator[ast.Call]:
    """Every call of every group."""
    for group in handing.groups:
        yield from group
