"""The call sites and references of a file, each with the scope and the guards that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import cast

from callground.graph.interface import Module, SnapshotLike, SourceFile
from callground.resolve.flow import dotted
from callground.resolve.static import environment_test
from callground.verdict.model import Range

_CAUGHT = {"AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "UnboundLocalError", "TypeError"}
_EXPECTING = {"raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"}


@dataclass(eq=False)
class Unit:
    """One file that is judged: its pieces' trees under one roof."""

    path: str
    module: Module
    file: SourceFile
    body: list[ast.stmt] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    """For each statement of `body`: what is added to its lines to make them absolute."""
    lines: list[bytes] = field(default_factory=list)

    def range_of(self, node: ast.AST, offset: int) -> Range:
        """The absolute range of a node, columns in code points."""
        line: int = getattr(node, "lineno", 1)
        end: int = getattr(node, "end_lineno", None) or line
        return Range(
            line + offset,
            self.column(line + offset, getattr(node, "col_offset", 0)),
            end + offset,
            self.column(end + offset, getattr(node, "end_col_offset", None) or 0),
        )

    def column(self, line: int, byte: int) -> int:
        """UTF-8 byte column to code points."""
        if not 0 < line <= len(self.lines):
            return byte
        raw = self.lines[line - 1][:byte]
        return byte if raw.isascii() else len(raw.decode("utf-8", "replace"))


@dataclass(eq=False)
class Site:
    """One call expression or reference, ready to be judged."""

    kind: str
    """``call`` or ``reference``."""
    role: str
    """``call``, ``import``, ``from``, ``decorator``, ``base``, ``raise`` or ``argument``."""
    node: ast.AST
    unit: Unit
    chain: tuple[ast.AST, ...]
    """The classes and functions around it, outermost first."""
    offset: int
    """What is added to its lines to make them absolute."""
    range: Range
    callee_range: Range
    callee: str
    caught: frozenset[str] = frozenset()
    """Exceptions that are expected around it."""
    environment: bool = False
    """Beside a test of the environment in one expression, or in a test that is skipped or expected to fail."""
    tests: tuple[ast.expr, ...] = ()
    """The conditions around it, outermost first."""
    alias: ast.alias | None = None


def plan(text: str, path: str, snapshot: SnapshotLike, pieces: Collection[int] | None = None) -> list[Site]:
    """Every site of a file, or of some of its pieces, in source order.

    Raises NotLoaded when the file itself is not in memory.
    """
    name = snapshot.module_of_path(path) or path
    module = snapshot.module(name)
    if module is not None:
        faces = [f for f in (module.source, module.stub) if f is not None and f.path == path]
        if not faces:
            module = snapshot.module(path)
    if module is None:
        return []
    file = next((f for f in (module.source, module.stub) if f is not None and f.path == path), None)
    if file is None:
        return []
    unit = Unit(path, module, file)
    # The same line ends as Python's tokenizer: a form feed or U+2028 ends no line.
    normal = file.text.replace("\r\n", "\n").replace("\r", "\n")
    unit.lines = normal.encode("utf-8", "surrogatepass").split(b"\n")
    walker = _Walker(unit)
    for number in range(len(file.facts.pieces)):
        tree = snapshot.tree(file, number)
        if tree is None:
            continue
        walker.offset = file.facts.starts[number] - 1
        for stmt in tree.body:
            unit.body.append(stmt)
            unit.offsets.append(walker.offset)
            if pieces is None or number in pieces:
                walker.statement(stmt)
    walker.sites.sort(key=lambda s: (s.range.line, s.range.column, -s.range.end_line, -s.range.end_column))
    return walker.sites


class _Walker:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.sites: list[Site] = []
        self.chain: tuple[ast.AST, ...] = ()
        self.caught: frozenset[str] = frozenset()
        self.environment = False
        self.tests: tuple[ast.expr, ...] = ()
        self.offset = 0

    # -- sites

    def add(self, kind: str, role: str, node: ast.AST, callee: ast.AST, alias: ast.alias | None = None) -> None:
        unit, offset = self.unit, self.offset
        full = unit.range_of(alias if alias is not None else node, offset)
        text = alias.name if alias is not None else (dotted(callee) or _short(callee))
        self.sites.append(
            Site(
                kind,
                role,
                node,
                unit,
                self.chain,
                offset,
                full,
                full if alias is not None else last_name(unit, callee, offset),
                text,
                self.caught,
                self.environment,
                self.tests,
                alias,
            )
        )

    # -- walking, with an explicit stack only where depth can grow

    def statement(self, s: ast.stmt) -> None:
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.function(s)
        elif isinstance(s, ast.ClassDef):
            self.class_(s)
        elif isinstance(s, ast.Try) or type(s).__name__ == "TryStar":
            self.try_(cast(ast.Try, s))
        elif isinstance(s, (ast.With, ast.AsyncWith)):
            self.with_(s)
        elif isinstance(s, (ast.If, ast.While)):
            self.expression(s.test)
            tests = self.tests
            self.tests = (*tests, s.test)
            self.block(s.body)
            self.block(s.orelse)
            self.tests = tests
        elif isinstance(s, ast.Import):
            for alias in s.names:
                self.add("reference", "import", s, s, alias)
        elif isinstance(s, ast.ImportFrom):
            for alias in s.names:
                self.add("reference", "from", s, s, alias)
        elif isinstance(s, ast.Raise):
            for part in (s.exc, s.cause):
                if isinstance(part, (ast.Name, ast.Attribute)):
                    self.add("reference", "raise", part, part)
                elif part is not None:
                    self.expression(part)
        elif isinstance(s, ast.AnnAssign):
            self.expression(s.target)
            if s.value is not None:
                self.expression(s.value)
        else:
            for name, value in ast.iter_fields(s):
                del name
                self.any(value)

    def any(self, value: object) -> None:
        if isinstance(value, list):
            for item in value:
                self.any(item)
        elif isinstance(value, ast.stmt):
            self.statement(value)
        elif isinstance(value, ast.expr):
            self.expression(value)
        elif isinstance(value, ast.AST):
            for _name, inner in ast.iter_fields(value):
                self.any(inner)

    def block(self, body: list[ast.stmt]) -> None:
        for s in body:
            self.statement(s)

    def expression(self, root: ast.expr) -> None:
        stack: list[ast.AST] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call):
                self.add("call", "call", node, node.func)
                for arg in node.args:
                    self.argument(arg)
                for keyword in node.keywords:
                    self.argument(keyword.value)
            elif isinstance(node, ast.BoolOp) and any(environment_test(v) for v in node.values[:-1]):
                # Decided or not: what follows the test in the expression may never run here.
                before = self.environment
                for operand in node.values:
                    self.expression(operand)
                    self.environment = self.environment or environment_test(operand)
                self.environment = before
                continue
            elif isinstance(node, ast.IfExp) and environment_test(node.test):
                before = self.environment
                self.environment = True
                self.expression(node.body)
                self.expression(node.orelse)
                self.environment = before
                continue
            stack.extend(c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.expr_context))

    def argument(self, arg: ast.expr) -> None:
        if isinstance(arg, (ast.Name, ast.Attribute)) and dotted(arg) is not None:
            self.add("reference", "argument", arg, arg)

    def decorators(self, nodes: list[ast.expr]) -> bool:
        guarded = False
        for d in nodes:
            if isinstance(d, (ast.Name, ast.Attribute)):
                self.add("reference", "decorator", d, d)
            else:
                self.expression(d)
                guarded = guarded or environment_test(d)
            text = dotted(d.func if isinstance(d, ast.Call) else d) or ""
            if text.rsplit(".", 1)[-1] in ("xfail", "skip", "skipif", "skipIf", "skipUnless", "expectedFailure"):
                guarded = True
        return guarded

    def function(self, s: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        guarded = self.decorators(s.decorator_list)
        for default in [*s.args.defaults, *s.args.kw_defaults]:
            if default is not None:
                self.expression(default)
        outer, caught, environment = self.chain, self.caught, self.environment
        # A function defined under a try runs later, outside of it; a version test still holds.
        expected = {"AttributeError"} if s.name in ("__getattr__", "__getattribute__") else set()
        self.chain, self.caught = (*outer, s), frozenset(expected)
        self.environment = environment or guarded
        self.block(s.body)
        self.chain, self.caught, self.environment = outer, caught, environment

    def class_(self, s: ast.ClassDef) -> None:
        guarded = self.decorators(s.decorator_list)
        for base in s.bases:
            if isinstance(base, (ast.Name, ast.Attribute)):
                self.add("reference", "base", base, base)
            else:
                self.expression(base)
        for keyword in s.keywords:
            self.expression(keyword.value)
        outer, environment = self.chain, self.environment
        self.chain = (*outer, s)
        self.environment = environment or guarded
        self.block(s.body)
        self.chain, self.environment = outer, environment

    def try_(self, s: ast.Try) -> None:
        names: set[str] = set()
        for h in s.handlers:
            names |= _exception_names(h.type)
        before = self.caught
        self.caught = before | (names & _CAUGHT)
        self.block(s.body)
        self.caught = before
        for h in s.handlers:
            if h.type is not None:
                self.expression(h.type)
                if isinstance(h.type, (ast.Name, ast.Attribute)):
                    self.add("reference", "raise", h.type, h.type)
            # The handler of a failed import works around an old or new version; that of a failed operation,
            # around a value that is not what it was declared to be.
            mine = _exception_names(h.type)
            around = {"ImportError"} if names & {"ImportError", "ModuleNotFoundError"} else set()
            if mine & {"AttributeError", "TypeError"}:
                around.add("AttributeError")
            self.caught = before | around
            self.block(h.body)
            self.caught = before
        tests = self.tests
        if names & {"ImportError", "ModuleNotFoundError"}:
            # Reached only where the import went well.
            self.tests = (*tests, ast.Name("ImportError", ast.Load()))
        self.block(s.orelse)
        self.tests = tests
        self.block(s.finalbody)

    def with_(self, s: ast.With | ast.AsyncWith) -> None:
        names: set[str] = set()
        for item in s.items:
            self.expression(item.context_expr)
            if item.optional_vars is not None:
                self.expression(item.optional_vars)
            call = item.context_expr
            if not isinstance(call, ast.Call):
                continue
            last = (dotted(call.func) or "").rsplit(".", 1)[-1]
            if last in _EXPECTING or last == "suppress":
                for arg in [*call.args, *(k.value for k in call.keywords if k.arg == "expected_exception")]:
                    found = _exception_names(arg)
                    if last in _EXPECTING and (found & {"Exception", "BaseException"} or not found):
                        found = set(_CAUGHT)
                    names |= found
        before = self.caught
        self.caught = before | (names & _CAUGHT)
        self.block(s.body)
        self.caught = before


def _exception_names(node: ast.expr | None) -> set[str]:
    if node is None:
        return set()
    if isinstance(node, (ast.Tuple, ast.List)):
        return set().union(*(_exception_names(e) for e in node.elts)) if node.elts else set()
    text = dotted(node)
    return {text.rsplit(".", 1)[-1]} if text else set()


def last_name(unit: Unit, callee: ast.AST, offset: int) -> Range:
    """The range of the last name of a callee expression."""
    full = unit.range_of(callee, offset)
    if isinstance(callee, ast.Attribute):
        end_line, end_byte = (callee.end_lineno or 1) + offset, callee.end_col_offset or 0
        start = end_byte - len(callee.attr.encode("utf-8", "surrogatepass"))
        return Range(end_line, unit.column(end_line, max(start, 0)), end_line, full.end_column)
    return full


def _short(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_short(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call):
        return f"{_short(node.func)}()"
    if isinstance(node, ast.Subscript):
        return f"{_short(node.value)}[]"
    if isinstance(node, ast.Constant):
        return repr(node.value)[:20]
    return "<expression>"
