"""Attributes that a class's own methods set under names which no row shows: ``setattr(self, name, ...)``.

The facts only mark the class.  Here the statements are read: names out of a table, or out of a method that
picks from one, are exactly these; what restores an instance's state adds none; the rest leaves the class open.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from callground.resolve import class_tables, constants, expressions, hierarchy, places
from callground.resolve.evaluator import Evaluator
from callground.resolve.known import Frame, Keys, OfClass, strings
from callground.resolve.openings import Added
from callground.resolve.scopes import ClassFace, FunctionFace, Scope
from callground.resolve.values import Ref, literal_value

MARKS = frozenset({"setattr", "dict-write"})
_COPIES = frozenset({"copy", "deepcopy", "replace", "clone", "_clone", "_copy", "__copy__", "_replace"})
_HOT = re.compile(r"setattr|__dict__|\bvars\b")
_WRITING = frozenset({"update", "setdefault", "__setitem__", "__ior__"})


class _Open(Exception):
    """The class may have any attribute."""


def added(ev: Evaluator, face: ClassFace, asked: Ref) -> Added:
    """What the methods of one class statement add to instances of `asked` and to the class."""
    local = hierarchy.is_local(face.ref) or hierarchy.is_local(asked)
    return ev.memo(
        ("class-openings", face.ref, face.file.path, face.file.digest, face.piece, face.row.line, asked),
        lambda: _added(ev, face, asked),
        lambda reason: Added(why=reason.value),
        local=local,
    )


def _added(ev: Evaluator, face: ClassFace, asked: Ref) -> Added:
    names: set[str] = set()
    try:
        for method in _writing(ev, face):
            scope = ev.function_scope(method)
            if scope is None or not isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return Added(why="setattr")
            names |= _Method(ev, scope, scope.node, asked).names()
    except _Open as opened:
        return Added(why=str(opened))
    return Added(frozenset(names))


def _writing(ev: Evaluator, face: ClassFace) -> tuple[FunctionFace, ...]:
    """The methods whose text has anything to do with it."""

    def compute() -> tuple[FunctionFace, ...]:
        lines = re.split(r"\r\n|\r|\n", face.file.text)
        first = face.file.facts.starts[face.piece] - 1
        return tuple(
            method
            for method in _methods(ev, face)
            if method.row.name not in class_tables.RESTORING
            and _HOT.search("\n".join(lines[first + method.row.line - 1 : first + method.row.end_line]))
        )

    key = ("writing-methods", face.ref, face.file.path, face.file.digest, face.piece, face.row.line)
    return ev.memo(key, compute, lambda _: (), local=True)


def _methods(ev: Evaluator, face: ClassFace) -> Iterator[FunctionFace]:
    scope = ev.class_scope(face)
    seen: set[int] = set()
    for b in face.row.members:
        if b.kind != "def" or not ev.alive(b.guards):
            continue
        for piece, row in ev.index(face.file).functions(f"{face.row.qualname}.{b.name}"):
            if piece == face.piece and row.line == b.line and row.line not in seen:
                seen.add(row.line)
                ref = Ref(face.ref.module, f"{face.ref.qualname}.{b.name}")
                yield FunctionFace(ref, face.module, face.file, piece, row, scope)


class _Method:
    """One method's body."""

    def __init__(self, ev: Evaluator, scope: Scope, node: ast.FunctionDef | ast.AsyncFunctionDef, asked: Ref) -> None:
        self.ev = ev
        self.scope = scope
        self.node = node
        self.asked = asked
        self.given = class_tables.receiver(node, asked)
        self.first = next(iter(self.given), "")
        args = node.args
        parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
        self.others = {a.arg for a in parameters if a is not None} - {self.first}
        self.mine = {self.first, *self._instances(asked)} - {""}
        self.given.update({name: OfClass(asked) for name in self.mine})
        self.found: set[str] = set()
        self.spot = places.Spot()

    def names(self) -> set[str]:
        """The names that it writes."""
        for node, around, spot in places.walk(self.node):
            self.spot = spot
            if isinstance(node, ast.Call):
                self._call(node)
            elif isinstance(node, ast.Name) and node.id == "setattr":
                if not (isinstance(around, ast.Call) and around.func is node):
                    raise _Open("setattr is handed on")
            elif isinstance(node, ast.Attribute) and node.attr == "__setattr__":
                if not (isinstance(around, ast.Call) and around.func is node):
                    raise _Open("__setattr__ is handed on")
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                holder = _dictionary(node.value)
                if holder is not None and self._mine(holder):
                    self._add(node.slice)
        return self.found

    def _call(self, node: ast.Call) -> None:
        func, args = node.func, node.args
        if isinstance(func, ast.Name) and func.id == "setattr" and len(args) == 3:
            if self._mine(args[0]):
                self._add(args[1])
        elif isinstance(func, ast.Attribute) and func.attr == "__setattr__":
            if len(args) == 3 and self._mine(args[0]):
                self._add(args[1])
            elif len(args) == 2 and self._mine(func.value):
                self._add(args[0])
        elif isinstance(func, ast.Attribute) and func.attr in _WRITING:
            holder = _dictionary(func.value)
            if holder is not None and self._mine(holder):
                self._written(func.attr, node)

    def _mine(self, node: ast.expr) -> bool:
        """Whether a receiver may be this instance or class, or another one of it."""
        if isinstance(node, ast.Name):
            return node.id in self.mine
        if isinstance(node, ast.Attribute):
            return node.attr == "__class__" and self._mine(node.value)
        return isinstance(node, ast.Call) and (
            not isinstance(node.func, ast.Name) or node.func.id in ("super", "type", "cls", self.first)
        )

    def _instances(self, asked: Ref) -> Iterator[str]:
        """Local names that are bound to what is likely another instance of the class."""
        names = {
            self.first,
            asked.qualname.rpartition(".")[2],
            *(c.qualname.rpartition(".")[2] for c in self._around()),
        }
        for node in ast.walk(self.node):
            if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
                continue
            func = node.value.func
            made = (
                func.attr in _COPIES | {"__new__", "__class__"}
                if isinstance(func, ast.Attribute)
                else isinstance(func, ast.Call) or (isinstance(func, ast.Name) and func.id in names | _COPIES)
            )
            if made:
                yield from (target.id for target in node.targets if isinstance(target, ast.Name))

    def _around(self) -> Iterator[Ref]:
        owner = self.scope.owner
        if owner is not None:
            yield owner.ref

    def _written(self, method: str, node: ast.Call) -> None:
        if method in ("setdefault", "__setitem__") and node.args:
            self._add(node.args[0])
            return
        if any(k.arg is None for k in node.keywords):
            raise _Open("__dict__.update")
        self.found.update(k.arg for k in node.keywords if k.arg)
        for arg in node.args:
            source = _dictionary(arg)
            if source is not None and isinstance(source, ast.Name) and source.id == self.first:
                continue  # the attributes of one instance, given to another
            known = constants.value(self.frame, arg)
            if not isinstance(known, Keys) or not all(isinstance(v, str) for v in known.values):
                raise _Open("__dict__.update")
            self.found.update(v for v in known.values if isinstance(v, str))

    def _add(self, key: ast.expr) -> None:
        if self.node.name == "__setattr__" and isinstance(key, ast.Name) and self._untouched(key.id):
            return  # an ordinary store on its way
        known = strings(constants.value(self.frame, key))
        if known is None:
            known = self._literals(key)
        if known is None:
            known = self._checked(key)
        if known is None:
            raise _Open(f"setattr in {self.node.name}()")
        self.found |= known

    def _checked(self, key: ast.expr) -> frozenset[str] | None:
        """What a key can be that was refused unless it stands in a table, or is an attribute already."""
        if not isinstance(key, ast.Name):
            return None
        for node in ast.walk(self.node):
            if not isinstance(node, ast.If) or node.lineno >= key.lineno or not isinstance(node.body[-1], ast.Raise):
                continue
            test = node.test
            if (
                isinstance(test, ast.UnaryOp)
                and isinstance(test.op, ast.Not)
                and _asks(test.operand, "hasattr", self.first)
            ):
                if _second(test.operand) == key.id:
                    return frozenset()
            if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.NotIn):
                continue
            if not isinstance(test.left, ast.Name) or test.left.id != key.id:
                continue
            table = test.comparators[0]
            known = constants.value(self.frame, table)
            if isinstance(known, Keys) and all(isinstance(v, str) for v in known.values):
                return frozenset(v for v in known.values if isinstance(v, str))
            if isinstance(table, ast.Name) and self._reads_attributes(table.id):
                return frozenset()
        return None

    def _reads_attributes(self, name: str) -> bool:
        """Whether a local holds what another method has read from the instance: ``{k: getattr(self, k), ...}``."""
        made = [
            node.value
            for node in ast.walk(self.node)
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
        ]
        if len(made) != 1 or not isinstance(made[0], ast.Call) or not isinstance(made[0].func, ast.Attribute):
            return False
        func = made[0].func
        if not isinstance(func.value, ast.Name) or func.value.id != self.first:
            return False
        return class_tables.reads_attributes(self.ev, self.asked, func.attr)

    def _untouched(self, name: str) -> bool:
        stores = [n for n in ast.walk(self.node) if isinstance(n, ast.Name) and n.id == name]
        return name in self.others and all(isinstance(n.ctx, ast.Load) for n in stores)

    def _literals(self, key: ast.expr) -> frozenset[str] | None:
        """What declared types say: a call that gives ``Literal["index", "columns"]``."""
        values = expressions.value(self.ev, key, self.scope)
        found = [literal_value(o) for o in values.items]
        if not values.complete or not found or not all(ok and isinstance(v, str) for ok, v in found):
            return None
        return frozenset(v for _ok, v in found if isinstance(v, str))

    @property
    def frame(self) -> Frame:
        """The method's local names where the walk is, as far as they are always the same."""
        outer = Frame(self.ev, self.scope.module, self.scope.file)
        return places.frame_at(
            places.inside(outer, self.node, self.given), self.spot._replace(functions=self.spot.functions[1:])
        )


def _asks(node: ast.expr, function: str, first: str) -> bool:
    """``function(first, ...)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == function
        and len(node.args) == 2
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == first
    )


def _second(node: ast.expr) -> str:
    argument = node.args[1] if isinstance(node, ast.Call) and len(node.args) == 2 else None
    return argument.id if isinstance(argument, ast.Name) else ""


def _dictionary(node: ast.expr) -> ast.expr | None:
    """``x`` for ``x.__dict__`` and ``vars(x)``."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        return node.args[0] if len(node.args) == 1 else None
    return None
