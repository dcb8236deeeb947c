"""Constants that stand in classes: tables in a class body, and what methods give that only pick from them."""

from __future__ import annotations

import ast

from callground.facts.model import Binding, SelfAttr
from callground.resolve import classes, constants, places
from callground.resolve.evaluator import Evaluator
from callground.resolve.known import Choice, Frame, Keys, Known, OfClass
from callground.resolve.scopes import ClassFace
from callground.resolve.static import parse_expression
from callground.resolve.values import Ref

RESTORING = frozenset({"__setstate__", "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__replace__"})
"""Methods that give an instance only attributes which another instance of the class had."""


def constant(ev: Evaluator, ref: Ref, name: str) -> Known | None:
    """What a class attribute is, as the class and its bases bind it; instances have none of their own."""
    return ev.memo(("class-constant", ref, name), lambda: _constant(ev, ref, name), lambda _: None, local=True)


def _constant(ev: Evaluator, ref: Ref, name: str) -> Known | None:
    looked = classes.find(ev, ref, name, on_class=True)
    if looked.found is None or looked.why is not None:
        return None
    everywhere = classes.find(ev, ref, name)
    for _face, row in everywhere.found.rows if everywhere.found is not None else ():
        if isinstance(row, SelfAttr) and row.method.rpartition(".")[2] not in RESTORING:
            return None
    rows = [(f, r) for f, r in looked.found.rows if not f.file.is_stub and isinstance(r, Binding) and r.value != ""]
    made: Known | None = None
    for position, (face, row) in enumerate(rows):
        node = parse_expression(row.value) if isinstance(row, Binding) and row.value else None
        if node is None or row.kind not in ("assign", "annassign") or row.path:
            return None
        found = constants.value(_frame(ev, face, row.line, ref, node), node)
        if found is None:
            return None
        made = found if position == 0 or made is None else constants.union(made, found, exact=False)
    return made


def _frame(ev: Evaluator, face: ClassFace, line: int, ref: Ref, node: ast.expr) -> Frame:
    """The class body above a line, for an expression there: the body's own names are local."""
    frame = Frame(ev, face.module, face.file)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    names = {b.name for b in face.row.members if b.name in used and b.line < line}
    return frame.with_env({name: constant(ev, ref, name) for name in names}) if names else frame


def result(ev: Evaluator, ref: Ref, name: str) -> Known | None:
    """What calling a method can give, whatever its arguments are."""
    return ev.memo(("method-constant", ref, name), lambda: _result(ev, ref, name), lambda _: None, local=True)


def _result(ev: Evaluator, ref: Ref, name: str) -> Known | None:
    looked = classes.find(ev, ref, name, on_class=True)
    if looked.found is None or looked.why is not None:
        return None
    rows = [(f, r) for f, r in looked.found.rows if not f.file.is_stub]
    if len(rows) != 1 or rows[0][1].kind != "def":
        return None
    face, row = rows[0]
    node = ev.node(face.file, face.piece, row.line, name)
    ev.read("body", face.ref.module, f"{face.ref.qualname}.{name}")
    if not isinstance(node, ast.FunctionDef) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node)):
        return None
    frame = places.inside(Frame(ev, face.module, face.file), node, receiver(node, ref))
    made: Known | None = None
    for n in places.own_nodes(node):
        if isinstance(n, ast.Return):
            found = constants.value(frame, n.value) if n.value is not None else None
            if not isinstance(found, (Choice, Keys)):
                return None
            made = found if made is None else constants.union(made, found, exact=False)
            if made is None:
                return None
    return made


def reads_attributes(ev: Evaluator, ref: Ref, name: str) -> bool:
    """Whether a method returns a mapping of attributes that it has just read: ``out[k] = getattr(self, k)``."""
    looked = classes.find(ev, ref, name, on_class=True)
    rows = [(f, r) for f, r in looked.found.rows if not f.file.is_stub] if looked.found is not None else []
    if len(rows) != 1 or rows[0][1].kind != "def":
        return False
    face, row = rows[0]
    node = ev.node(face.file, face.piece, row.line, name)
    ev.read("body", face.ref.module, f"{face.ref.qualname}.{name}")
    if not isinstance(node, ast.FunctionDef) or not node.args.args:
        return False
    first = node.args.args[0].arg
    read = {
        sub.args[1].id
        for sub in ast.walk(node)
        if isinstance(sub, ast.Call)
        and isinstance(sub.func, ast.Name)
        and sub.func.id == "getattr"
        and len(sub.args) == 2
        and isinstance(sub.args[0], ast.Name)
        and sub.args[0].id == first
        and isinstance(sub.args[1], ast.Name)
    }
    stored = [s for s in ast.walk(node) if isinstance(s, ast.Subscript) and isinstance(s.ctx, ast.Store)]
    return bool(read and stored) and all(isinstance(s.slice, ast.Name) and s.slice.id in read for s in stored)


def receiver(node: ast.FunctionDef | ast.AsyncFunctionDef, ref: Ref) -> dict[str, Known | None]:
    """The first parameter of a method stands for the class."""
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    first = [*node.args.posonlyargs, *node.args.args]
    return {first[0].arg: OfClass(ref)} if first and not static else {}
