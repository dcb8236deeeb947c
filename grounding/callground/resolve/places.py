"""Where an expression stands: the functions and loops around it, and what its local names can be there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple, Union

from callground.resolve import constants, tables
from callground.resolve.known import Choice, Frame, Known, ModuleValue, strings

MAX_DEPTH = 4
"""How many calls a parameter is followed through."""

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]  # noqa: UP007 - also made at run time
Loop = Union[ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp]  # noqa: UP007


class Spot(NamedTuple):
    """The functions around a node, outermost first, and the loops around it in the innermost of them."""

    functions: tuple[FunctionNode, ...] = ()
    loops: tuple[Loop, ...] = ()

    def inside(self, node: ast.AST) -> Spot:
        """The spot of the children of `node`, which stands here."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return Spot((*self.functions, node))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            return Spot(self.functions, (*self.loops, node))
        return self


def walk(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, Spot]]:
    """Every node with its parent and its spot."""
    stack: list[tuple[ast.AST, ast.AST, Spot]] = [(tree, tree, Spot())]
    while stack:
        node, parent, spot = stack.pop()
        yield node, parent, spot
        inner = spot.inside(node)
        stack.extend((child, node, inner) for child in ast.iter_child_nodes(node))


def frame_at(frame: Frame, spot: Spot, given: dict[str, Known | None] | None = None) -> Frame:
    """The module's frame with the local names of a spot; `given` are some parameters of the innermost function."""
    env: dict[str, Known | None] = dict(frame.env)
    for function in spot.functions:
        last = function is spot.functions[-1]
        env.update(locals_of(frame.with_env(env), function, given if last else None))
    for loop in spot.loops:
        # The innermost loop that binds a name decides what it is in the loop's body.
        generators = [loop] if isinstance(loop, (ast.For, ast.AsyncFor)) else loop.generators
        for generator in generators:
            container = constants.value(frame.with_env(env), generator.iter)
            targets = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
            if isinstance(loop, (ast.For, ast.AsyncFor)):
                inner = ast.Module(body=loop.body, type_ignores=[])
                targets -= {
                    n.id for n in ast.walk(inner) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
                }
            made: dict[str, Known | None] = {}
            if constants.bind_one(made, generator.target, container):
                env.update({name: known for name, known in made.items() if name in targets})
    return frame.with_env(env)


def strings_at(
    frame: Frame,
    node: ast.expr,
    spot: Spot,
    given: dict[str, Known | None] | None = None,
    *,
    private: bool = False,
    depth: int = 0,
) -> frozenset[str] | None:
    """The strings that an expression can be at a spot; parameters are what the module's own calls give.

    `private`: only functions with a leading underscore are believed to be called in their own module alone.
    """
    known = strings(constants.value(frame_at(frame, spot, given), node))
    if known is not None or given is not None or depth >= MAX_DEPTH or len(spot.functions) != 1:
        return known
    function = spot.functions[0]
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or function.args.vararg:
        return None
    if private and not function.name.startswith("_"):
        return None
    callers = calls_of(frame, function.name)
    if not callers:
        return None
    found: frozenset[str] = frozenset()
    for call, around in callers:
        bound_ = _arguments(frame, function, call, around)
        more = strings_at(frame, node, spot, bound_, depth=depth + 1) if bound_ is not None else None
        if more is None:
            return None
        found |= more
    return found


def _arguments(frame: Frame, function: ast.FunctionDef, call: ast.Call, around: Spot) -> dict[str, Known | None] | None:
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    here = frame_at(frame, around)
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    given = {name: constants.value(here, arg) for name, arg in zip(names, call.args, strict=False)}
    given.update({k.arg: constants.value(here, k.value) for k in call.keywords if k.arg is not None})
    return given


def calls_of(frame: Frame, function: str) -> list[tuple[ast.Call, Spot]] | None:
    """The calls of a function in its own module; None when it is also handed on."""
    found: list[tuple[ast.Call, Spot]] = []
    for number, piece in enumerate(frame.file.facts.pieces):
        if function not in piece.mentions:
            continue
        tree = frame.ev.snapshot.tree(frame.file, number)
        if tree is None:
            return None
        for node, parent, spot in walk(tree):
            if isinstance(node, ast.Name) and node.id == function and isinstance(node.ctx, ast.Load):
                if not (isinstance(parent, ast.Call) and parent.func is node):
                    return None
                found.append((parent, spot))
    return found


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of functions and classes inside it."""
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def parameters(function: FunctionNode) -> set[str]:
    """Every name that the parameters bind."""
    args = function.args
    return {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg) if a}


def bound(function: FunctionNode, *, with_parameters: bool = True) -> list[str]:
    """Local names of a function, as often as they are bound."""
    declared: set[str] = set()
    found = list(parameters(function)) if with_parameters else []
    for node in own_nodes(function):
        if isinstance(node, ast.Global):
            declared.update(node.names)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.append(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found += [(a.asname or a.name.split(".")[0]) for a in node.names]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append(node.name)
    return [name for name in found if name not in declared]


def inside(frame: Frame, function: ast.FunctionDef | ast.AsyncFunctionDef, given: dict[str, Known | None]) -> Frame:
    """The frame inside a function, some of whose parameters are given."""
    assigned = bound(function, with_parameters=False)
    rebound = set(assigned) & parameters(function)
    given = {name: known for name, known in given.items() if name not in rebound}
    return frame.with_env({**frame.env, **locals_of(frame, function, given)})


def locals_of(
    frame: Frame,
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    given: dict[str, Known | None] | None = None,
) -> dict[str, Known | None]:
    """What the local names of a function can be, whichever statement bound them; parameters are not known."""
    env: dict[str, Known | None] = dict.fromkeys(bound(function))
    env.update(given or {})
    parameters = set(bound(function)) - set(bound(function, with_parameters=False))
    # Twice, since a loop's target may need a name that is bound above it.
    for _round in range(2):
        here = frame.with_env({**frame.env, **env})
        found: dict[str, list[Known | None]] = {}
        for node in own_nodes(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    _note(found, target, constants.value(here, node.value))
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                _note(found, node.target, constants.value(here, node.value))
            elif isinstance(node, (ast.For, ast.comprehension)):
                made: dict[str, Known | None] = {}
                if not constants.bind_one(made, node.target, constants.value(here, node.iter)):
                    _note(found, node.target, None)
                for name, known in made.items():
                    found.setdefault(name, []).append(known)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    source = "." * node.level + (node.module or "")
                    known = tables.imported(here, source, alias.name)
                    found.setdefault(alias.asname or alias.name, []).append(known)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.split(".")[0]
                    found.setdefault(alias.asname or whole, []).append(ModuleValue(whole))
        counts = bound(function, with_parameters=False)
        for name, many in found.items():
            if name in parameters or len(many) != counts.count(name) or None in many:
                continue
            if all(isinstance(k, Choice) for k in many):
                env[name] = Choice(frozenset().union(*(k.values for k in many if isinstance(k, Choice))))
            elif len(many) == 1:
                env[name] = many[0]
    return env


def _note(found: dict[str, list[Known | None]], target: ast.AST, known: Known | None) -> None:
    if isinstance(target, ast.Name):
        found.setdefault(target.id, []).append(known)
        return
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, []).append(None)
