"""The uses of names in expressions, and what tests say about names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from callground.resolve.flow_model import ATTRIBUTE, UNBOUND, Def, Env, Flow, dotted, place, target_defs


class ExpressionFlow:
    """Walks expressions in evaluation order over an environment of definitions."""

    def __init__(self, static: Callable[[ast.expr], bool | None]) -> None:
        self.made: dict[tuple[object, ...], Def] = {}
        self.flow = Flow()
        self.static = static
        self.breaks: list[list[Env]] = []
        self.continues: list[list[Env]] = []
        self.thrown: list[dict[str, set[Def]]] = []
        self.scopes: list[ast.AST] = []
        self.tests: list[set[int]] = []
        """For each loop that is being walked: the tests inside that narrow something."""
        self.inside: list[set[Def]] = []
        """For each loop that is being walked: the definitions that stand in it."""
        self.heads: dict[int, tuple[Env, tuple[str, ...]]] = {}
        """For each loop that was walked (by the ``id`` of its body): what its own definitions brought to its head, and
        the dotted names that did not survive it."""
        self.shared: set[str] = set()
        """Names that a function defined inside this body binds too (``nonlocal``, ``global``)."""

    def make(self, kind: str, node: ast.AST | None, path: tuple[int | str, ...] = (), **more: Any) -> Def:
        """The definition with these parts, made once: a loop's second pass meets the same ones."""
        if kind == "narrow":
            for tests in self.tests:
                tests.add(id(node))
        key = (kind, id(node), path, *more.values())
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = Def(kind, node, path, **more)
        if kind not in ("narrow", "outer"):
            for made in self.inside:
                made.add(found)
        return found

    def define(self, env: Env, name: str, d: Def) -> None:
        """The name has this definition from here on."""
        env[name] = frozenset((d, self.make("shared", None, name=name)) if name in self.shared else (d,))
        if name.isidentifier():
            self.flow.locals.setdefault(name, set()).add(d)
        for key in [k for k in env if k.startswith((name + ".", name + "["))]:
            del env[key]
        for acc in self.thrown:
            acc.setdefault(name, set()).add(d)

    def bind_target(self, env: Env, target: ast.expr, make: Callable[[tuple[int | str, ...]], Def]) -> None:
        """Every simple target of an assignment gets its definition."""
        for sub in ast.walk(target):
            if isinstance(sub, (ast.Attribute, ast.Subscript)):
                for child in ast.iter_child_nodes(sub):
                    if isinstance(child, ast.expr):
                        self.expr(child, env)
        for name, d, _node in target_defs(target, make):
            self.define(env, name, d)
        if isinstance(target, ast.Attribute) and target.attr == "__class__" and isinstance(target.value, ast.Name):
            # It is an instance of another class from here on.
            self.define(env, target.value.id, self.make("class-assigned", target.value))

    def expr(self, node: ast.AST | None, env: Env) -> None:
        """Record the uses in an expression, in evaluation order."""
        if node is None:
            return
        flow = self.flow
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                found = env.get(node.id)
                if found is not None:
                    self.use(node, found)
            return
        if isinstance(node, ast.Constant):
            return
        if isinstance(node, ast.Attribute):
            self.expr(node.value, env)
            self.use_place(node, env)
            return
        if isinstance(node, ast.Subscript):
            self.expr(node.value, env)
            self.expr(node.slice, env)
            self.use_place(node, env)
            return
        if isinstance(node, ast.BoolOp):
            self.bool_op(node, env)
        elif isinstance(node, ast.IfExp):
            self.expr(node.test, env)
            yes = self.narrow(node.test, env, True)
            no = self.narrow(node.test, env, False)
            self.expr(node.body, yes)
            self.expr(node.orelse, no)
            self.merge_into(env, yes, no)
        elif isinstance(node, ast.NamedExpr):
            self.expr(node.value, env)
            self.bind_target(env, node.target, lambda path: self.make("walrus", node.value, path))
        elif isinstance(node, ast.Lambda):
            for default in [*node.args.defaults, *node.args.kw_defaults]:
                self.expr(default, env)
            self.inner_scope(node, env, lambda inner: self.expr(node.body, inner), self.params(node.args))
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            self.comprehension(node, env)
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            if not self.scopes:
                flow.yields.append(node)
            self.expr(node.value, env)
        elif isinstance(node, ast.Call):
            self.expr(node.func, env)
            for arg in node.args:
                self.expr(arg, env)
            for kw in node.keywords:
                self.expr(kw.value, env)
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in ("exec", "eval") or (name == "locals"):
                flow.dynamic = flow.dynamic or name == "exec"
        else:
            for child in ast.iter_child_nodes(node):
                self.expr(child, env)

    def use_place(self, node: ast.expr, env: Env) -> None:
        """A dotted name or constant subscript that is loaded sees what tests have said about it."""
        text = place(node)
        found = env.get(text) if text is not None else None
        if found is not None:
            self.use(node, found)

    def use(self, node: ast.expr, found: frozenset[Def]) -> None:
        """A name (or dotted name) that is loaded sees these definitions."""
        before = self.flow.uses.get(id(node))
        self.flow.uses[id(node)] = found if before is None else before | found
        if self.scopes:
            self.flow.inner[id(node)] = self.scopes[-1]

    def bool_op(self, node: ast.BoolOp, env: Env) -> None:
        """Each operand is seen where those before it came out so that it counts."""
        positive = isinstance(node.op, ast.And)
        current = env
        for value in node.values:
            self.expr(value, current)
            current = self.narrow(value, current, positive)
        for name, defs in current.items():
            if name.isidentifier() and name not in env:
                env[name] = defs | {UNBOUND}

    def inner_scope(
        self, node: ast.AST, env: Env, run: Callable[[Env], None], params: Iterable[tuple[str, Def]]
    ) -> None:
        """Run over a lambda's body, whose parameters hide what the names were."""
        inner = dict(env)
        for name, d in params:
            inner[name] = frozenset((d,))
            for key in [k for k in inner if k.startswith((name + ".", name + "["))]:
                del inner[key]
        self.scopes.append(node)
        run(inner)
        self.scopes.pop()

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env) -> None:
        """The targets are names of the comprehension alone."""
        inner = dict(env)
        for i, gen in enumerate(node.generators):
            self.expr(gen.iter, env if i == 0 else inner)
            is_async = bool(gen.is_async)
            source = gen.iter
            for name, d, _target in target_defs(
                gen.target,
                lambda path, s=source, a=is_async: self.make("for", s, path, is_async=a),  # type: ignore[misc]  # defaults bind the loop's values
            ):
                inner[name] = frozenset((d,))
                for key in [k for k in inner if k.startswith((name + ".", name + "["))]:
                    del inner[key]
            for test in gen.ifs:
                self.expr(test, inner)
                inner = self.narrow(test, inner, True)
        if isinstance(node, ast.DictComp):
            self.expr(node.key, inner)
            self.expr(node.value, inner)
        else:
            self.expr(node.elt, inner)

    def params(self, args: ast.arguments) -> list[tuple[str, Def]]:
        """The definitions that a function's parameters make."""
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        out = [(a.arg, self.make("param", a, name=a.arg)) for a in every]
        if args.vararg:
            out.append((args.vararg.arg, self.make("param", args.vararg, ("*",), name=args.vararg.arg)))
        if args.kwarg:
            out.append((args.kwarg.arg, self.make("param", args.kwarg, ("**",), name=args.kwarg.arg)))
        return out

    def narrow(self, test: ast.expr, env: Env, positive: bool) -> Env:
        """The environment in which `test` came out as `positive`."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.narrow(test.operand, env, not positive)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == positive:
                for value in test.values:
                    env = self.narrow(value, env, positive)
                return env
            branches: list[Env] = []
            current = env
            for value in test.values:
                branches.append(self.narrow(value, current, positive))
                current = self.narrow(value, current, not positive)
            return self.join_envs(branches)
        out = dict(env)
        for subject in _subjects(test):
            before = env.get(subject)
            if before is None:
                if subject.isidentifier():
                    before = frozenset((self.make("outer", None, name=subject),))
                else:
                    before = frozenset((ATTRIBUTE,))
            # The same test again (a loop's second pass) narrows what it narrowed before.
            before = frozenset().union(*(d.base if d.kind == "narrow" and d.node is test else {d} for d in before))
            out[subject] = frozenset((self.make("narrow", test, base=before, positive=positive, name=subject),))
        return out

    def join_envs(self, envs: list[Env]) -> Env:
        """What may be in each name where several ways meet."""
        if not envs:
            return {}
        if len(envs) == 1:
            return dict(envs[0])
        out: Env = {}
        names: set[str] = set()
        for env in envs:
            names.update(env)
        for name in names:
            defs: frozenset[Def] = frozenset()
            skip = False
            for env in envs:
                found = env.get(name)
                if found is None:
                    if not name.isidentifier():
                        skip = True
                        break
                    if name in self.flow.locals:
                        defs |= {UNBOUND}
                    else:
                        defs |= {self.make("outer", None, name=name)}
                else:
                    defs |= found
            if not skip:
                out[name] = _settled(defs)
        return out

    def merge_into(self, env: Env, *others: Env) -> None:
        """Replace an environment by the join of others."""
        joined = self.join_envs(list(others))
        env.clear()
        env.update(joined)


def _settled(defs: frozenset[Def]) -> frozenset[Def]:
    """Where a test came out either way, it says nothing any more: the name holds what it held before.

    But for ``hasattr``: who asks whether an attribute is there may see to it that it is.
    """
    while True:
        pair = next(
            (
                (d, other)
                for d in defs
                if d.kind == "narrow" and d.positive
                for other in defs
                if not other.positive and other.node is d.node and other.base == d.base and not _asks_attribute(d.node)
            ),
            None,
        )
        if pair is None:
            return defs
        defs = (defs - set(pair)) | pair[0].base


def _asks_attribute(test: ast.AST | None) -> bool:
    return test is None or any(isinstance(n, ast.Name) and n.id in ("hasattr", "getattr") for n in ast.walk(test))


def inner_stores(node: ast.AST) -> set[str]:
    """The names of outer scopes that a function or class binds: what its ``nonlocal`` and ``global`` say."""
    found: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        sub = stack.pop()
        if isinstance(sub, (ast.Nonlocal, ast.Global)):
            found.update(sub.names)
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(sub, field, None)
            if isinstance(inner, list):
                stack.extend(inner)
    return found


def _subjects(test: ast.expr) -> list[str]:
    """What a test says something about: names and dotted names."""
    found: list[str] = []

    def add(node: ast.AST) -> None:
        if isinstance(node, ast.NamedExpr):
            node = node.target
        text = place(node)
        if text and text not in found:
            found.append(text)

    if isinstance(test, (ast.Name, ast.Attribute, ast.Subscript, ast.NamedExpr)):
        add(test)
    elif isinstance(test, ast.Call) and test.args:
        name = dotted(test.func) or ""
        for arg in test.args[: 1 if name in ("isinstance", "issubclass", "hasattr", "callable") else 3]:
            add(arg)
            if name == "isinstance" and isinstance(arg, ast.Subscript):
                add(arg.value)
    elif isinstance(test, ast.Compare):
        for side in [test.left, *test.comparators]:
            if isinstance(side, ast.Call) and dotted(side.func) in ("type", "len", "getattr") and side.args:
                add(side.args[0])
            elif isinstance(side, ast.Attribute) and side.attr in ("__class__", "__name__"):
                add(side.value)
            add(side)
    return found
