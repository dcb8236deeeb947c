"""Module ``__getattr__`` (PEP 562): what it does for one name, by running it on that name in the abstract.

Only what certainly happens counts: is the name certainly refused?  Calls of other functions are followed a
few steps, so that helpers which make or stand behind ``__getattr__`` are understood as well.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from callground.graph.interface import Module, SourceFile
from callground.resolve import constants, modules, tables
from callground.resolve.evaluator import Evaluator
from callground.resolve.known import Choice, Frame, Function, Keys, Known, ModuleValue, Named, Space, one, strings
from callground.resolve.static import parse_expression

MAX_CALLS = 5
"""How deep calls are followed."""

RAISE, RETURN, NEXT = "raise", "return", "next"


class _Ends(NamedTuple):
    """How a block can end, and what it returns where that is one known thing."""

    ways: frozenset[str]
    value: Known | None = None


_OPEN = _Ends(frozenset((RAISE, RETURN)))


class Given(NamedTuple):
    """What a module ``__getattr__`` does for one name."""

    raises: bool = False
    """It certainly raises (AttributeError or another error)."""
    value: ModuleValue | Named | None = None
    """What it certainly gives, where it gives one known thing."""


def asked(ev: Evaluator, module: Module, file: SourceFile, attr: str) -> Given:
    """What the module's ``__getattr__(attr)`` does."""
    ev.read("body", module.name, "__getattr__")
    return ev.memo(
        ("getattr-given", module.name, file.path, file.digest, attr),
        lambda: _asked(ev, module, file, attr),
        lambda _: Given(),
    )


def _asked(ev: Evaluator, module: Module, file: SourceFile, attr: str) -> Given:
    rows = [(p, b) for p, b in ev.index(file).bindings("__getattr__") if tables.runs(ev, b.guards)]
    if len(rows) != 1:
        return Given()
    run = _Run(attr, module.name)
    made = tables.table(ev, module, file, "__getattr__")
    if made is None:
        made = run.made(Frame(ev, module, file), "__getattr__")
    if not isinstance(made, Function):
        return Given()
    ends = run.call(made, [one(attr)], {})
    if ends.ways == {RAISE}:
        return Given(raises=True)
    value = ends.value
    if isinstance(value, Function) and value.name is not None:
        value = value.name
    return Given(value=value) if isinstance(value, (ModuleValue, Named)) else Given()


class _Run:
    """One abstract run."""

    def __init__(self, attr: str, asked: str) -> None:
        self.attr = attr
        self.asked = asked
        self.depth = 0
        self.changing: frozenset[str] = frozenset()
        """Local names of the function that runs which are bound more than once."""

    # -- functions

    def call(self, function: Function, positional: list[Known | None], keywords: dict[str, Known | None]) -> _Ends:
        """How calling the function ends."""
        node = function.node
        env = self._arguments(function, positional, keywords)
        if env is None or self.depth >= MAX_CALLS:
            return _OPEN
        if isinstance(node, ast.Lambda):
            fails = self._raising(function.frame.with_env({**function.frame.env, **env}), node.body)
            return _Ends(frozenset((RAISE,))) if fails else _OPEN
        if any(isinstance(sub, (ast.Yield, ast.YieldFrom)) for sub in ast.walk(node)):
            return _OPEN
        declared = {name for sub in ast.walk(node) if isinstance(sub, (ast.Global, ast.Nonlocal)) for name in sub.names}
        local: dict[str, Known | None] = {name: None for name in constants.stored(node) if name not in declared}
        frame = function.frame.with_env({**function.frame.env, **dict.fromkeys(declared), **local, **env})
        counts = Counter([*constants.stored(node), *env])
        before, self.changing = self.changing, frozenset(name for name, n in counts.items() if n > 1)
        self.depth += 1
        try:
            ends, _frame = self.block(frame, node.body)
        finally:
            self.depth -= 1
            self.changing = before
        ways = frozenset(RETURN if way == NEXT else way for way in ends.ways)
        return _Ends(ways, ends.value if NEXT not in ends.ways else None)

    def _arguments(
        self, function: Function, positional: list[Known | None], keywords: dict[str, Known | None]
    ) -> dict[str, Known | None] | None:
        args = function.node.args
        names = [a.arg for a in (*args.posonlyargs, *args.args)]
        env: dict[str, Known | None] = dict.fromkeys([*names, *(a.arg for a in args.kwonlyargs)])
        defaults = [*zip(reversed(names), reversed(args.defaults), strict=False)]
        defaults += [(a.arg, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        env.update((name, constants.value(function.frame, node)) for name, node in defaults)
        for extra in (args.vararg, args.kwarg):
            if extra is not None:
                env[extra.arg] = None
        if len(positional) > len(names) and args.vararg is None:
            return None
        env.update(zip(names, positional, strict=False))
        env.update({name: known for name, known in keywords.items() if name in env})
        return env

    # -- statements

    def block(self, frame: Frame, body: list[ast.stmt]) -> tuple[_Ends, Frame]:
        """How a block can end, and the frame where it runs on."""
        ways: set[str] = set()
        returned: list[Known | None] = []
        for stmt in body:
            ends, frame = self.statement(frame, stmt)
            ways |= ends.ways - {NEXT}
            if RETURN in ends.ways:
                returned.append(ends.value)
            if NEXT not in ends.ways:
                return _Ends(frozenset(ways), returned[0] if len(returned) == 1 else None), frame
        return _Ends(frozenset(ways | {NEXT}), returned[0] if len(returned) == 1 else None), frame

    def statement(self, frame: Frame, s: ast.stmt) -> tuple[_Ends, Frame]:
        """How one statement can end."""
        on = _Ends(frozenset((NEXT,)))
        if isinstance(s, ast.Raise):
            return _Ends(frozenset((RAISE,))), frame
        if isinstance(s, ast.Return):
            if s.value is None:
                return _Ends(frozenset((RETURN,)), one(None)), frame
            return self._returned(frame, s.value), frame
        if isinstance(s, (ast.Assign, ast.AnnAssign)):
            if s.value is None:
                return on, frame
            if self._raising(frame, s.value):
                return _Ends(frozenset((RAISE,))), frame
            targets: list[ast.expr] = s.targets if isinstance(s, ast.Assign) else [s.target]
            return on, self._assigned(frame, targets, constants.value(frame, s.value))
        if isinstance(s, ast.Expr):
            return (_Ends(frozenset((RAISE,))) if self._raising(frame, s.value) else on), frame
        if isinstance(s, ast.If):
            return self._if(frame, s)
        if isinstance(s, ast.Try):
            return self._try(frame, s)
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            return on, self._import(frame, s)
        if isinstance(s, ast.FunctionDef):
            if s.decorator_list:
                return on, frame
            # It sees what its names are when it is called: only those that never change are certain.
            inner = {name: known for name, known in frame.env.items() if name not in self.changing}
            env = dict(frame.env)
            env[s.name] = Function(s, frame.with_env({**dict.fromkeys(frame.env), **inner}))
            return on, frame.with_env(env)
        if isinstance(s, (ast.With, ast.AsyncWith)):
            return self.block(frame, s.body)
        if isinstance(s, (ast.For, ast.While)):
            ways = {NEXT, RAISE} | ({RETURN} if any(isinstance(n, ast.Return) for n in ast.walk(s)) else set())
            return _Ends(frozenset(ways)), self._forgotten(frame, s)
        if isinstance(s, (ast.Pass, ast.Global, ast.Nonlocal, ast.ClassDef)):
            return on, frame
        if isinstance(s, (ast.AugAssign, ast.Delete, ast.Assert)):
            return on, self._forgotten(frame, s)
        return _Ends(frozenset((RAISE, RETURN, NEXT))), self._forgotten(frame, s)

    def _returned(self, frame: Frame, node: ast.expr) -> _Ends:
        if self._raising(frame, node):
            return _Ends(frozenset((RAISE,)))
        if isinstance(node, ast.Call):
            ends = self._followed(frame, node)
            if ends is not None:
                return ends
        return _Ends(frozenset((RETURN,)), constants.value(frame, node))

    def _assigned(self, frame: Frame, targets: list[ast.expr], known: Known | None) -> Frame:
        env = dict(frame.env)
        for target in targets:
            if isinstance(target, ast.Name):
                env[target.id] = known
            elif isinstance(target, ast.Tuple) and _shape(known) == len(target.elts):
                constants.bind(env, target, known.values if isinstance(known, Choice) else frozenset())
            else:
                for sub in ast.walk(target):
                    if isinstance(sub, ast.Name) and isinstance(sub.ctx, ast.Store):
                        env[sub.id] = None
        return frame.with_env(env)

    def _forgotten(self, frame: Frame, node: ast.AST) -> Frame:
        return frame.with_env({**frame.env, **dict.fromkeys(constants.stored(node))})

    def _import(self, frame: Frame, s: ast.Import | ast.ImportFrom) -> Frame:
        env = dict(frame.env)
        for alias in s.names:
            if isinstance(s, ast.Import):
                whole = alias.name if alias.asname else alias.name.split(".")[0]
                env[alias.asname or whole] = ModuleValue(whole)
            else:
                source = "." * s.level + (s.module or "")
                env[alias.asname or alias.name] = self._imported(frame, source, alias.name)
        return frame.with_env(env)

    def _imported(self, frame: Frame, source: str, name: str) -> Known | None:
        known = tables.imported(frame, source, name)
        target = modules.absolute(frame.module, source)
        if target is None:
            return known
        if isinstance(known, Function):
            return replace(known, name=Named(target, name))
        return known if known is not None else Named(target, name)

    def _if(self, frame: Frame, s: ast.If) -> tuple[_Ends, Frame]:
        truth = self.truth(frame, s.test)
        if truth is not None:
            return self.block(frame, s.body if truth else s.orelse)
        first, one = self.block(frame, s.body)
        second, other = self.block(frame, s.orelse)
        value = first.value if RETURN in first.ways and RETURN not in second.ways else None
        value = second.value if RETURN in second.ways and RETURN not in first.ways else value
        return _Ends(first.ways | second.ways, value), _merged(first, one, second, other)

    def _try(self, frame: Frame, s: ast.Try) -> tuple[_Ends, Frame]:
        ends, after = self.block(frame, [*s.body, *s.orelse])
        forgotten = self._forgotten(frame, ast.Module(body=s.body, type_ignores=[]))
        ways = set(ends.ways - {RAISE})
        if not s.handlers:
            ways = set(ends.ways)
        for handler in s.handlers:
            inner, end = self.block(forgotten, handler.body)
            ways |= inner.ways
            after = _merged(ends, after, inner, end)
            ends = _Ends(ends.ways | inner.ways)
        if RAISE in ends.ways:
            # The handlers may not catch it.
            ways.add(RAISE)
        final, _frame = self.block(after, s.finalbody)
        if NEXT not in final.ways:
            return final, after
        return _Ends(frozenset(ways)), after

    # -- expressions

    def _raising(self, frame: Frame, node: ast.expr) -> bool:
        """Whether evaluating an expression certainly raises."""
        if isinstance(node, ast.Subscript):
            key = strings(constants.value(frame, node.slice))
            base = constants.value(frame, node.value)
            if key is not None and self._lacks(base, key):
                return True
            return self._raising(frame, node.value)
        if isinstance(node, ast.Attribute):
            return self._raising(frame, node.value)
        if isinstance(node, ast.Call):
            if any(self._raising(frame, part) for part in (node.func, *node.args, *(k.value for k in node.keywords))):
                return True
            if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) == 2:
                return self._no_attribute(frame, node)
            known = constants.value(frame, node)
            if isinstance(known, ModuleValue) and not frame.ev.snapshot.exists(known.name):
                return frame.ev.snapshot.import_open(known.name) is None
            ends = self._followed(frame, node)
            return ends is not None and ends.ways == {RAISE}
        if isinstance(node, (ast.Starred, ast.Await)):
            return self._raising(frame, node.value)
        return False

    def _lacks(self, base: Known | None, key: frozenset[str]) -> bool:
        if isinstance(base, Keys):
            return not key & base.values
        # ``__getattr__`` is only asked for what the namespace does not hold.
        return isinstance(base, Space) and base.module == self.asked and key == {self.attr}

    def _no_attribute(self, frame: Frame, node: ast.Call) -> bool:
        base = constants.value(frame, node.args[0])
        names = strings(constants.value(frame, node.args[1]))
        if not isinstance(base, ModuleValue) or names is None or len(names) != 1:
            return False
        ev = frame.ev
        if base.name == self.asked or not ev.snapshot.exists(base.name):
            return False
        found = modules.member(ev, base.name, next(iter(names)))
        return found.found is None and found.why is None

    def _followed(self, frame: Frame, node: ast.Call) -> _Ends | None:
        """How a call of a function that can be read ends; None for other callees."""
        callee = constants.value(frame, node.func) if isinstance(node.func, (ast.Name, ast.Attribute)) else None
        if callee is None and isinstance(node.func, ast.Name) and node.func.id not in frame.env:
            callee = self.made(frame, node.func.id)
        if not isinstance(callee, Function):
            return None
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        positional = [constants.value(frame, a) for a in node.args]
        keywords = {k.arg: constants.value(frame, k.value) for k in node.keywords if k.arg is not None}
        return self.call(callee, positional, keywords)

    def made(self, frame: Frame, name: str) -> Known | None:
        """What ``name = factory(...)`` at module level holds: the factory is run."""
        rows = frame.ev.index(frame.file).bindings(name)
        if len(rows) != 1 or rows[0][1].kind != "assign" or rows[0][1].path or not rows[0][1].value:
            return None
        node = parse_expression(rows[0][1].value)
        if not isinstance(node, ast.Call):
            return None
        ends = self._followed(Frame(frame.ev, frame.module, frame.file), node)
        return ends.value if ends is not None else None

    def truth(self, frame: Frame, test: ast.expr) -> bool | None:
        """The truth of a test; None when it is not certain."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.truth(frame, test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            parts = [self.truth(frame, v) for v in test.values]
            decisive = isinstance(test.op, ast.Or)
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compare(frame, test.left, test.ops[0], test.comparators[0])
        if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and len(test.args) == 1:
            if test.func.attr in ("startswith", "endswith", "isidentifier", "__contains__"):
                return self._method(frame, test.func, test.args[0])
        known = constants.value(frame, test)
        if isinstance(known, Choice) and len({bool(v) for v in known.values}) == 1:
            return bool(next(iter(known.values)))
        if isinstance(known, Keys) and known.exact:
            return bool(known.values)
        return frame.ev.static.truth(test)

    def _method(self, frame: Frame, func: ast.Attribute, argument: ast.expr) -> bool | None:
        base, arg = constants.value(frame, func.value), constants.value(frame, argument)
        if func.attr == "__contains__":
            return self._contains(arg, base)
        texts, given = strings(base), _single(arg)
        if texts is None or not isinstance(given, (str, tuple)):
            return None
        answers = {bool(getattr(t, func.attr)(given)) for t in texts}
        return answers.pop() if len(answers) == 1 else None

    def _compare(self, frame: Frame, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
        first, second = constants.value(frame, left), constants.value(frame, right)
        if isinstance(op, ast.In):
            return self._contains(first, second)
        if isinstance(op, ast.NotIn):
            inside = self._contains(first, second)
            return None if inside is None else not inside
        if isinstance(op, (ast.Eq, ast.Is, ast.NotEq, ast.IsNot)):
            equal = _equal(first, second)
            return equal if equal is None or isinstance(op, (ast.Eq, ast.Is)) else not equal
        return None

    def _contains(self, item: Known | None, container: Known | None) -> bool | None:
        if not isinstance(item, Choice):
            return None
        if isinstance(container, Space):
            texts = strings(item)
            return False if texts is not None and self._lacks(container, texts) else None
        if isinstance(container, Keys):
            if not item.values & container.values:
                return False
            return True if container.exact and item.values <= container.values else None
        whole, part = _single(container), _single(item)
        return part in whole if isinstance(whole, str) and isinstance(part, str) else None


def _shape(known: Known | None) -> int:
    """How many parts the one tuple has that a value is; -1 for other values."""
    only = _single(known)
    return len(only) if isinstance(only, tuple) else -1


def _single(known: Known | None) -> object:
    return next(iter(known.values)) if isinstance(known, Choice) and len(known.values) == 1 else None


def _equal(first: Known | None, second: Known | None) -> bool | None:
    if not isinstance(first, Choice) or not isinstance(second, Choice):
        # A container, a module or a function is not None.
        nothing = Choice(frozenset((None,)))
        if (first == nothing and second is not None) or (second == nothing and first is not None):
            return False
        return None
    if not first.values & second.values:
        return False
    return True if first.values == second.values and len(first.values) == 1 else None


def _merged(first: _Ends, one: Frame, second: _Ends, other: Frame) -> Frame:
    """The frame after two ways: names keep what both agree on; a way that does not go on does not count."""
    if NEXT not in first.ways:
        return other
    if NEXT not in second.ways:
        return one
    both = {name: known if other.env.get(name) == known else None for name, known in one.env.items()}
    both.update({name: None for name in other.env if name not in both})
    return one.with_env(both)
