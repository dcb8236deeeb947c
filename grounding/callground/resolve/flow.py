"""Reaching definitions: which bindings of a name can be seen where it is used.

One forward pass over the statements of a function's (or a module's) body keeps, for every local name, the set
of definitions that may have been the last one.  Branches join, loops run twice, handlers start from every state
that their ``try`` block goes through.  Tests narrow: behind ``isinstance(x, C)`` the name ``x`` (or the dotted
``self.x``) holds a `Narrow` definition around what it held before.
Source of the method: the classical iterative data-flow analysis (Kildall 1973), on structured code.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from callground.resolve.flow_expressions import ExpressionFlow, inner_stores
from callground.resolve.flow_model import ATTRIBUTE, UNBOUND, Def, Env, Flow, FunctionNode, dotted, target_defs

__all__ = ["ATTRIBUTE", "UNBOUND", "Def", "Env", "Flow", "FunctionNode", "analyze", "dotted", "target_defs"]

_SUPPRESSING = ("suppress", "raises", "assertRaises", "assertRaisesRegex", "warns")


_MAX_PASSES = 10


def _widened(defs: frozenset[Def], inside: set[int]) -> frozenset[Def]:
    """The definitions without what the tests with these ids have narrowed."""
    if not any(d.kind == "narrow" for d in defs):
        return defs
    out: set[Def] = set()
    for d in defs:
        if d.kind == "narrow" and id(d.node) in inside:
            out |= _widened(d.base, inside)
        else:
            out.add(d)
    return frozenset(out)


class _Analyzer(ExpressionFlow):
    def block(self, body: list[ast.stmt], env: Env | None) -> Env | None:
        for stmt in body:
            if env is None:
                for sub in ast.walk(stmt):
                    self.flow.dead.add(id(sub))
                # Names bound in dead code are still local names.
                self.declare(stmt)
                continue
            env = self.stmt(stmt, env)
        return env

    def declare(self, stmt: ast.stmt) -> None:
        for sub in ast.walk(stmt):
            if isinstance(sub, ast.Name) and isinstance(sub.ctx, ast.Store):
                self.flow.locals.setdefault(sub.id, set())

    def stmt(self, s: ast.stmt, env: Env) -> Env | None:
        method = getattr(self, "s_" + type(s).__name__, None)
        if method is not None:
            result: Env | None = method(s, env)
            return result
        for child in ast.iter_child_nodes(s):
            self.expr(child, env)
        return env

    def s_Expr(self, s: ast.Expr, env: Env) -> Env | None:
        self.expr(s.value, env)
        return None if _never_returns(s.value) else env

    def s_Assign(self, s: ast.Assign, env: Env) -> Env:
        self.expr(s.value, env)
        for target in s.targets:
            self.bind_target(env, target, lambda path: self.make("assign", s.value, path))
        return env

    def s_AnnAssign(self, s: ast.AnnAssign, env: Env) -> Env:
        self.expr(s.annotation, env)
        self.expr(s.value, env)
        if s.value is not None:
            self.bind_target(env, s.target, lambda path: self.make("assign", s.value, path, annotation=s.annotation))
        elif isinstance(s.target, ast.Name):
            d = self.make("declared", None, annotation=s.annotation, name=s.target.id)
            self.flow.locals.setdefault(s.target.id, set()).add(d)
        return env

    def s_AugAssign(self, s: ast.AugAssign, env: Env) -> Env:
        before: frozenset[Def] = frozenset()
        text = dotted(s.target)
        if text:
            before = env.get(text, frozenset())
        if isinstance(s.target, ast.Name):
            self.use(s.target, before or frozenset((self.make("outer", None, name=s.target.id),)))
        else:
            self.expr(s.target, env)
        self.expr(s.value, env)
        self.bind_target(env, s.target, lambda path: self.make("aug", s, path).grown(before))
        return env

    def s_Return(self, s: ast.Return, env: Env) -> None:
        self.expr(s.value, env)
        self.flow.returns.append(s)

    def s_Raise(self, s: ast.Raise, env: Env) -> None:
        self.expr(s.exc, env)
        self.expr(s.cause, env)

    def s_Break(self, s: ast.Break, env: Env) -> None:
        if self.breaks:
            self.breaks[-1].append(dict(env))

    def s_Continue(self, s: ast.Continue, env: Env) -> None:
        if self.continues:
            self.continues[-1].append(dict(env))

    def s_Assert(self, s: ast.Assert, env: Env) -> Env | None:
        self.expr(s.test, env)
        self.expr(s.msg, env)
        if isinstance(s.test, ast.Constant) and not s.test.value:
            return None
        return self.narrow(s.test, env, True)

    def s_Global(self, s: ast.Global, env: Env) -> Env:
        self.flow.globals.update(s.names)
        return env

    def s_Nonlocal(self, s: ast.Nonlocal, env: Env) -> Env:
        self.flow.nonlocals.update(s.names)
        return env

    def s_Import(self, s: ast.Import, env: Env) -> Env:
        for a in s.names:
            name = a.asname or a.name.split(".")[0]
            self.define(env, name, self.make("import", s, (a.name, "as" if a.asname else "")))
        return env

    def s_ImportFrom(self, s: ast.ImportFrom, env: Env) -> Env:
        for a in s.names:
            if a.name != "*":
                self.define(env, a.asname or a.name, self.make("from", s, (a.name,)))
        return env

    def s_FunctionDef(self, s: ast.FunctionDef | ast.AsyncFunctionDef, env: Env) -> Env:
        for d in s.decorator_list:
            self.expr(d, env)
        for default in [*s.args.defaults, *s.args.kw_defaults]:
            self.expr(default, env)
        for a in [*s.args.posonlyargs, *s.args.args, *s.args.kwonlyargs, s.args.vararg, s.args.kwarg]:
            if a is not None:
                self.expr(a.annotation, env)
        self.expr(s.returns, env)
        self.define(env, s.name, self.make("def", s))
        self.share(env, s)
        return env

    def share(self, env: Env, s: ast.stmt) -> None:
        """From here on, what stands in `s` may run and bind names of this body."""
        for name in inner_stores(s) & self.flow.locals.keys():
            d = self.make("shared", None, name=name)
            self.shared.add(name)
            self.flow.locals[name].add(d)
            env[name] = env.get(name, frozenset((UNBOUND,))) | {d}

    s_AsyncFunctionDef = s_FunctionDef

    def s_ClassDef(self, s: ast.ClassDef, env: Env) -> Env:
        for d in s.decorator_list:
            self.expr(d, env)
        for b in s.bases:
            self.expr(b, env)
        for k in s.keywords:
            self.expr(k.value, env)
        self.define(env, s.name, self.make("class", s))
        self.share(env, s)
        return env

    def s_Delete(self, s: ast.Delete, env: Env) -> Env:
        for target in s.targets:
            if isinstance(target, ast.Name):
                self.define(env, target.id, UNBOUND)
            else:
                self.expr(target, env)
        return env

    def s_If(self, s: ast.If, env: Env) -> Env | None:
        self.expr(s.test, env)
        truth = self.static(s.test)
        yes: Env | None = self.narrow(s.test, env, True) if truth is not False else None
        no: Env | None = self.narrow(s.test, env, False) if truth is not True else None
        return self.join_opt(self.block(s.body, yes), self.block(s.orelse, no))

    def join_opt(self, *envs: Env | None) -> Env | None:
        live = [e for e in envs if e is not None]
        return self.join_envs(live) if live else None

    def loop(self, env: Env, head: Callable[[Env], Env | None], body: list[ast.stmt]) -> tuple[Env, list[Env]]:
        """(environment at the head after the loop has run, environments at its breaks).

        Passes go on until one brings nothing new to the head: two for a loop alone, and one for an inner loop that an
        outer one's second pass meets again.  What a test inside has narrowed goes back to the head as it was before:
        else each pass would narrow what the last one narrowed, without end.
        """
        out_breaks: list[Env] = []
        made: set[Def] = set()
        current = self.again(env, body)
        for _ in range(_MAX_PASSES):
            self.breaks.append([])
            self.continues.append([])
            self.tests.append(set())
            self.inside.append(made)
            start = head(dict(current))
            end = self.block(body, start)
            ends = [current, *self.continues.pop()]
            if end is not None:
                ends.append(end)
            out_breaks = self.breaks.pop()
            self.inside.pop()
            tests = self.tests.pop()
            joined = {name: _widened(defs, tests) for name, defs in self.join_envs(ends).items()}
            if joined == current:
                break
            current = joined
        came = {name: defs & made for name, defs in current.items()}
        self.heads[id(body)] = (
            {name: defs for name, defs in came.items() if defs},
            tuple(name for name in env if name not in current),
        )
        return current, out_breaks

    def again(self, env: Env, body: list[ast.stmt]) -> Env:
        """The environment at a loop's head, with what came round when an outer loop's last pass was here."""
        known = self.heads.get(id(body))
        if known is None:
            return env
        current = dict(env)
        for name, defs in known[0].items():
            if name in current:
                current[name] |= defs
            elif name.isidentifier():
                current[name] = defs | {UNBOUND}
        for name in known[1]:
            current.pop(name, None)
        return current

    def s_For(self, s: ast.For | ast.AsyncFor, env: Env) -> Env | None:
        self.expr(s.iter, env)
        is_async = isinstance(s, ast.AsyncFor)

        def head(inner: Env) -> Env:
            self.bind_target(inner, s.target, lambda path: self.make("for", s.iter, path, is_async=is_async))
            return inner

        after, breaks = self.loop(env, head, s.body)
        done = self.block(s.orelse, after)
        return self.join_opt(done, *breaks)

    s_AsyncFor = s_For

    def s_While(self, s: ast.While, env: Env) -> Env | None:
        def head(inner: Env) -> Env | None:
            self.expr(s.test, inner)
            return self.narrow(s.test, inner, True)

        after, breaks = self.loop(env, head, s.body)
        forever = isinstance(s.test, ast.Constant) and bool(s.test.value)
        done = None if forever else self.block(s.orelse, self.narrow(s.test, after, False))
        return self.join_opt(done, *breaks)

    def s_With(self, s: ast.With | ast.AsyncWith, env: Env) -> Env | None:
        is_async = isinstance(s, ast.AsyncWith)
        swallows = False
        for item in s.items:
            self.expr(item.context_expr, env)
            call = item.context_expr
            text = dotted(call.func) if isinstance(call, ast.Call) else None
            swallows = swallows or (text or "").split(".")[-1] in _SUPPRESSING
            if item.optional_vars is not None:
                source = item.context_expr
                self.bind_target(
                    env,
                    item.optional_vars,
                    lambda path, src=source: self.make("with", src, path, is_async=is_async),  # type: ignore[misc]  # the default binds the loop's value
                )
        before = dict(env)
        self.thrown.append({})
        end = self.block(s.body, env)
        thrown = self.thrown.pop()
        return self.join_opt(end, self.raised(before, thrown)) if swallows else end

    s_AsyncWith = s_With

    def raised(self, before: Env, thrown: dict[str, set[Def]]) -> Env:
        out = dict(before)
        for name, defs in thrown.items():
            if not name.isidentifier():
                out.pop(name, None)
            else:
                out[name] = out.get(name, frozenset((UNBOUND,))) | defs
        return out

    def s_Try(self, s: ast.Try, env: Env) -> Env | None:
        before = dict(env)
        self.thrown.append({})
        end = self.block(s.body, env)
        thrown = self.thrown.pop()
        in_handler = self.raised(before, thrown)
        end = self.block(s.orelse, end)
        ends: list[Env | None] = [end]
        kind = "except" if isinstance(s, ast.Try) else "except*"
        for h in s.handlers:
            inner = dict(in_handler)
            self.expr(h.type, inner)
            if h.name:
                self.define(inner, h.name, self.make(kind, h.type))
            done = self.block(h.body, inner)
            if done is not None and h.name:
                self.define(done, h.name, UNBOUND)
            ends.append(done)
        normal = self.join_opt(*ends)
        if not s.finalbody:
            return normal
        # The finally block is reached from every state; what follows it, from the normal ones.
        anywhere = self.join_envs([in_handler, *([normal] if normal is not None else [])])
        after = self.block(s.finalbody, anywhere)
        if normal is None or after is None:
            return None
        changed = {k: v for k, v in after.items() if anywhere.get(k) is not v and k not in normal}
        for name, defs in after.items():
            if name in normal and defs != anywhere.get(name):
                changed[name] = defs
        return {**normal, **changed}

    s_TryStar = s_Try

    def s_Match(self, s: ast.Match, env: Env) -> Env | None:
        self.expr(s.subject, env)
        subject = dotted(s.subject)
        ends: list[Env | None] = []
        exhaustive = False
        for case in s.cases:
            inner = dict(env)
            pattern = case.pattern
            if subject is not None:
                before = inner.get(subject, frozenset((self.make("outer", None, name=subject),)))
                if not subject.isidentifier() and subject not in inner:
                    before = frozenset((ATTRIBUTE,))
                inner[subject] = frozenset((self.make("narrow", pattern, base=before, name=subject),))
            self.pattern(pattern, s.subject, inner, top=True)
            if case.guard is not None:
                self.expr(case.guard, inner)
                inner = self.narrow(case.guard, inner, True)
            elif isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
                exhaustive = True
            ends.append(self.block(case.body, inner))
        if not exhaustive:
            ends.append(env)
        return self.join_opt(*ends)

    def pattern(self, p: ast.pattern, subject: ast.expr, env: Env, top: bool = False) -> None:
        if isinstance(p, ast.MatchAs):
            if p.pattern is not None:
                self.pattern(p.pattern, subject, env, top)
            if p.name:
                node: ast.AST | None = None
                if isinstance(p.pattern, ast.MatchClass):
                    node = p.pattern
                elif top and p.pattern is None:
                    self.define(env, p.name, self.make("assign", subject))
                    return
                self.define(env, p.name, self.make("match", node))
            return
        if isinstance(p, ast.MatchStar) and p.name:
            self.define(env, p.name, self.make("match", None))
        if isinstance(p, ast.MatchMapping) and p.rest:
            self.define(env, p.rest, self.make("match", None))
        for child in ast.iter_child_nodes(p):
            if isinstance(child, ast.pattern):
                self.pattern(child, subject, env)
            elif isinstance(child, ast.expr):
                self.expr(child, env)


def _never_returns(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return dotted(node.func) in ("sys.exit", "os._exit", "os.abort", "exit", "quit", "pytest.fail", "pytest.skip")


def analyze(body: list[ast.stmt], static: Callable[[ast.expr], bool | None], args: ast.arguments | None = None) -> Flow:
    """Reaching definitions of one body.  `static` says what a version, platform or TYPE_CHECKING test is, or None."""
    a = _Analyzer(static)
    env: Env = {}
    if args is not None:
        for name, d in a.params(args):
            a.define(env, name, d)
    for name in _bound_names(body):
        a.flow.locals.setdefault(name, set())
        if name not in env:
            env[name] = frozenset((UNBOUND,))
    end = a.block(body, env)
    for name in a.flow.globals | a.flow.nonlocals:
        a.flow.locals.pop(name, None)
    a.flow.falls_through = end is not None
    a.flow.keep.extend(body)
    return a.flow


def _bound_names(body: list[ast.stmt]) -> set[str]:
    """Names that the body binds itself (not in nested functions, classes, lambdas or comprehensions' targets)."""
    names: set[str] = set()
    outer: set[str] = set()
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
            stack.extend(node.decorator_list)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            for sub in ast.walk(node):
                if isinstance(sub, ast.NamedExpr) and isinstance(sub.target, ast.Name):
                    names.add(sub.target.id)
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((a.asname or a.name.split(".")[0]) for a in node.names if a.name != "*")
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            outer.update(node.names)
        elif (isinstance(node, ast.ExceptHandler) and node.name) or (
            isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name
        ):
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
        stack.extend(ast.iter_child_nodes(node))
    return names - outer
