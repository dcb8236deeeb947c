"""The evaluator: one object per snapshot that answers questions about expressions, on demand.

It does no I/O.  A module that exists and is not in memory makes the snapshot raise `NotLoaded`; the driver loads it
and asks the same question again.  Work is counted in steps, never in time, so that an answer does not depend on the
machine or on the order of questions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from callground.facts.index import ModuleIndex, index_of
from callground.graph.interface import Module, SnapshotLike, SourceFile
from callground.resolve import flow as flow_module
from callground.resolve.memo import Memo
from callground.resolve.scopes import ClassFace, FunctionFace, Scope
from callground.resolve.static import StaticTests, parse_expression
from callground.resolve.values import Ref, Values, unknown
from callground.verdict.model import Key, Reason

T = TypeVar("T")

MAX_STEPS = 25_000
"""Steps that one call site may cost before it is abstained on (reason ``budget``)."""
MAX_DEPTH = 70
"""How many memoised questions may be nested."""
_CLEAN = 1 << 30


class OverBudget(Exception):
    """The question has cost more steps than it may."""


class Evaluator:
    """Answers over one snapshot; see the modules beside this one for the questions."""

    def __init__(self, snapshot: SnapshotLike, memo: Memo | None = None) -> None:
        self.snapshot = snapshot
        self.memo_table = memo if memo is not None else Memo()
        self._tracking = self.memo_table.tracking
        self.local_table = Memo(tracking=self._tracking)
        """Results about nodes of trees: keyed by identity, so they live no longer than this evaluator."""
        self.static = StaticTests(snapshot.python_version, snapshot.platform)
        self.steps = 0
        self.raise_not_loaded = False
        """Whether `judge` lets NotLoaded escape (a driver loads and asks again) instead of abstaining."""
        self.needs: set[str] = set()
        """Modules that were asked for and are not in memory."""
        self.local_classes: dict[Ref, ClassFace] = self.memo_table.classes
        self.local_names: dict[int, tuple[Ref, Scope]] = {}
        """By ``id`` of a class statement in a function: its Ref and the scope it was made in."""
        self.context_depth = 0
        self._kept: list[object] = []
        self._nodes_kept: dict[int, ast.AST] = {}
        self._active: dict[Hashable, int] = {}
        self._reads: set[Key] = set()
        self._taint = _CLEAN
        self._provisional: dict[Hashable, tuple[Any, frozenset[Key], int, int]] = {}
        """What was computed inside a cycle: (value, reads, depth of the cycle's head, the head's serial number)."""
        self._serials: list[int] = []
        self._serial = 0
        self._modules: dict[str, Module | None] = {}
        self._nodes: dict[tuple[str, str, int], dict[tuple[int, str], ast.AST]] = {}
        self._scopes: dict[tuple[object, ...], Scope] = {}

    # -- bookkeeping

    def begin(self) -> None:
        """Start a new question: its steps and reads are counted from here."""
        self.steps = 0
        self._reads = set()
        self._taint = _CLEAN
        self._active.clear()
        self._serials.clear()
        self._provisional.clear()

    def reads(self) -> frozenset[Key]:
        """What the question since `begin` has read."""
        return frozenset(self._reads)

    def read(self, *key: str) -> None:
        """Record that the answer depends on `key`."""
        if self._tracking:
            self._reads.add(key)

    def memo(self, key: Hashable, compute: Callable[[], T], cut: Callable[[Reason], T], *, local: bool = False) -> T:
        """`compute()`, remembered.  `cut(reason)` is the answer for recursion and for spent budgets.

        `local` keys hold identities of tree nodes: they are not shared with other evaluators.
        """
        table = self.local_table if local else self.memo_table
        entry = table.get(key)
        if entry is not None:
            self._reads |= entry[1]
            value: T = entry[0]
            return value
        depth = len(self._active)
        active = self._active.get(key)
        if active is not None:
            self._taint = min(self._taint, active)
            return cut(Reason.RECURSION)
        provisional = self._provisional.get(key)
        if provisional is not None:
            value, reads, head, serial = provisional
            if head < 0 or (head < depth and self._serials[head] == serial):
                # Still inside the cycle that it was computed in.
                self._taint = min(self._taint, head)
                self._reads |= reads
                return value
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise OverBudget
        if depth >= MAX_DEPTH:
            self._taint = -1
            return cut(Reason.BUDGET)
        outer, outer_taint = self._reads, self._taint
        self._reads, self._taint = set(), _CLEAN
        self._active[key] = depth
        self._serial += 1
        self._serials.append(self._serial)
        try:
            value = compute()
        finally:
            self._active.pop(key, None)
            self._serials.pop()
            mine = self._reads
            self._reads = outer
            outer |= mine
        taint = self._taint
        if taint >= depth:
            taint = _CLEAN
            table.put(key, value, frozenset(mine))
        else:
            serial = self._serials[taint] if taint >= 0 else 0
            self._provisional[key] = (value, frozenset(mine), taint, serial)
        self._taint = min(outer_taint, taint)
        return value

    def values(self, key: Hashable, compute: Callable[[], Values], *, local: bool = False) -> Values:
        """`memo` for Values: a cut is an unknown value."""
        return self.memo(key, compute, lambda reason: unknown(reason), local=local)

    def keep(self, thing: object) -> None:
        """Keep an object alive whose identity stands in a key."""
        self._kept.append(thing)

    def keep_node(self, node: ast.AST) -> None:
        """Keep a tree node alive whose identity stands in a key."""
        self._nodes_kept[id(node)] = node

    # -- modules

    def module(self, name: str) -> Module | None:
        """The module, or None when there is none; raises NotLoaded."""
        self.read("module", name)
        if name not in self._modules:
            self._modules[name] = self.snapshot.module(name)
        return self._modules[name]

    def faces(self, module: Module) -> list[SourceFile]:
        """Its files, the one with the better types first."""
        return [f for f in (module.stub, module.source, module.probed) if f is not None]

    def index(self, file: SourceFile) -> ModuleIndex:
        """Look-ups over a file's facts."""
        return index_of(file.facts)

    def module_scope(self, module: Module, file: SourceFile) -> Scope:
        """The scope of a module's top level after it has run."""
        key = ("module", module.name, file.digest, file.path)
        scope = self._scopes.get(key)
        if scope is None:
            scope = self._scopes[key] = Scope("module", module, file)
        return scope

    def class_scope(self, face: ClassFace) -> Scope:
        """The scope of a class body after it has run."""
        key = ("class", face.ref, face.file.digest, face.file.path, face.piece, face.row.line)
        scope = self._scopes.get(key)
        if scope is None:
            scope = self._scopes[key] = Scope(
                "class", face.module, face.file, face.scope, cls=face, qualname=face.row.qualname
            )
        return scope

    def function_scope(self, face: FunctionFace) -> Scope | None:
        """The scope inside a function of the facts, its body parsed on demand; None when it cannot be had."""
        key = ("function", face.ref, face.file.digest, face.file.path, face.piece, face.row.line)
        scope = self._scopes.get(key)
        if scope is None:
            node = self.node(face.file, face.piece, face.row.line, face.row.name)
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return None
            scope = self.scope_of_node(node, face.scope, face)
            self._scopes[key] = scope
        self.read("body", face.ref.module, face.ref.qualname)
        return scope

    def scope_of_node(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, outer: Scope, face: FunctionFace | None = None
    ) -> Scope:
        """The scope inside a function node that stands in `outer`."""
        key: tuple[object, ...] = ("node", id(node))
        scope = self._scopes.get(key)
        flow = None
        if scope is not None and scope.node is node:
            if "args" not in outer.extra or scope.parent is outer:
                return scope
            # A function that was made by a call with these very arguments.
            flow = scope.flow
            key = ("node", id(node), id(outer))
            scope = self._scopes.get(key)
            if scope is not None and scope.node is node and scope.parent is outer:
                return scope
        name = getattr(node, "name", "<lambda>")
        prefix = outer.qualname + ("." if outer.kind == "class" else ".<locals>.") if outer.qualname else ""
        scope = Scope(
            "function",
            outer.module,
            outer.file,
            outer,
            owner=outer.cls if outer.kind == "class" else None,
            node=node,
            qualname=prefix + name,
            face=face,
            flow=flow,
        )
        self._scopes[key] = scope
        return scope

    def flow(self, scope: Scope) -> flow_module.Flow | None:
        """Reaching definitions of a function scope (computed once)."""
        if scope.flow is None and isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            body: list[ast.stmt]
            if isinstance(scope.node, ast.Lambda):
                body = [ast.Return(value=scope.node.body)]
            else:
                body = scope.node.body
            scope.flow = flow_module.analyze(body, self.truth_in(scope.module), scope.node.args)
        return scope.flow

    def node(self, file: SourceFile, piece: int, line: int, name: str) -> ast.AST | None:
        """The def or class statement that begins at a piece-relative line."""
        key = (file.path, file.digest, piece)
        table = self._nodes.get(key)
        if table is None:
            tree = self.snapshot.tree(file, piece)
            table = {}
            if tree is not None:
                stack: list[ast.AST] = [tree]
                while stack:
                    node = stack.pop()
                    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                        table[node.lineno, node.name] = node
                    if isinstance(node, ast.stmt) or not isinstance(node, ast.expr):
                        stack.extend(c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.expr))
            if len(self._nodes) > 512:
                self._nodes.clear()
            self._nodes[key] = table
        return table.get((line, name))

    # -- guards

    def truth_in(self, module: Module) -> Callable[[ast.expr], bool | None]:
        """The truth of tests in a module's code, its flags (``PY3 = sys.version_info[0] == 3``) followed."""
        return lambda test: self.static.truth(test, lambda name: self._flag(module, name, 0))

    def _flag(self, module: Module, name: str, depth: int) -> bool | None:
        """The truth of a module-level name that is bound once, to a test of the environment."""
        file = module.source
        if file is None or depth > 3:
            return None
        rows = self.index(file).bindings(name)
        if len(rows) != 1:
            return None
        b = rows[0][1]
        if b.guards:
            return None
        self.read("symbol", module.name, name)
        if b.kind in ("assign", "annassign") and not b.path and b.value:
            node = parse_expression(b.value)
            if node is None or isinstance(node, ast.Constant):
                # A constant flag is a setting, not a fact about the environment.
                return None
            return self.static.truth(node, lambda inner: self._flag(module, inner, depth + 1))
        if b.kind == "from":
            from callground.resolve import modules

            target = modules.absolute(module, b.value or "")
            if target is None or not self.snapshot.exists(target):
                return None
            other = self.module(target)
            return self._flag(other, b.path, depth + 1) if other is not None and other.origin == module.origin else None
        return None

    def alive(self, guards: tuple[str, ...]) -> bool:
        """Whether a binding under these guards can run in this environment."""
        for guard in guards:
            if guard.startswith("if:"):
                if self.static.text(guard[3:]) is False:
                    return False
            elif guard.startswith("else:") and self.static.text(guard[5:]) is True:
                return False
        return True
