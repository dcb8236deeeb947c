"""What a module's global names hold at run time: constants, tables and how statements add to them."""

from __future__ import annotations

import ast

from callground.facts.model import Binding
from callground.graph.interface import Module, SourceFile
from callground.resolve import constants, modules, places
from callground.resolve.evaluator import Evaluator
from callground.resolve.known import (
    ANYTHING,
    AttributeName,
    Attributes,
    Builtin,
    Choice,
    Frame,
    Function,
    Keys,
    Known,
    ModuleValue,
    Space,
    elements,
    one,
)
from callground.resolve.static import parse_expression
from callground.resolve.values import Ref

MAX_HOPS = 8
"""How many modules a name is followed through."""


def runs(ev: Evaluator, guards: tuple[str, ...]) -> bool:
    """Whether a binding under these guards can run; what only type checkers see does not."""
    return all(_guard(ev, guard) is not False for guard in guards)


def _certain(ev: Evaluator, guards: tuple[str, ...]) -> bool:
    return all(_guard(ev, guard) is True for guard in guards)


def _guard(ev: Evaluator, guard: str) -> bool | None:
    """The truth of one guard at run time; None when it is not certain."""
    kind, _, test = guard.partition(":")
    if kind not in ("if", "else"):
        return True if guard in ("with", "try-else", "finally") else None
    negated = test.startswith("not ")
    if test.removeprefix("not ").rpartition(".")[2] == "TYPE_CHECKING":
        truth: bool | None = negated
    else:
        truth = ev.static.text(test)
    return truth if truth is None or kind == "if" else not truth


def table(ev: Evaluator, module: Module, file: SourceFile, name: str) -> Known | None:
    """What a module's global name is when the module has run."""
    ev.read("symbol", module.name, name)
    return ev.memo(
        ("constant", module.name, file.path, file.digest, name),
        lambda: _table(ev, module, file, name),
        lambda _: None,
        local=True,
    )


def _table(ev: Evaluator, module: Module, file: SourceFile, name: str) -> Known | None:
    if name == "__name__":
        return one(module.name)
    if name == "__package__":
        return one(module.name if module.is_package else module.name.rpartition(".")[0])
    rows = [(p, b) for p, b in ev.index(file).bindings(name) if runs(ev, b.guards)]
    frame = Frame(ev, module, file)
    current: Known | None = None
    immutable = True
    for piece, b in rows:
        if b.kind == "del":
            continue
        made, fixed = _row(frame, piece, b)
        if made is None:
            return None
        immutable = immutable and fixed
        if b.kind == "augassign":
            current = constants.union(current, made, exact=_certain(ev, b.guards))
        elif current is not None:
            # Who reads it in between sees the first one.
            current = constants.union(current, made, exact=False)
        else:
            current = made if _certain(ev, b.guards) else _loosened(made)
    if not isinstance(current, Keys) or immutable:
        return current
    more = _mutations(frame, name)
    if more is None:
        return None
    if more - current.values:
        return Keys(current.values | more, False, current.mapping)
    return current._replace(held=()) if more else current


def _row(frame: Frame, piece: int, b: Binding) -> tuple[Known | None, bool]:
    """(what one row binds, whether nobody can change it afterwards)."""
    if b.kind == "import":
        whole = b.value or ""
        return ModuleValue(whole if b.path == "as" else whole.split(".")[0]), True
    if b.kind == "from":
        return imported(frame, b.value or "", b.path), True
    if b.kind == "def":
        node = _statement(frame, piece, b, (ast.FunctionDef,))
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
        return (Function(node, frame), True) if plain and isinstance(node, ast.FunctionDef) else (None, True)
    if b.kind not in ("assign", "annassign", "for", "augassign") or b.path.startswith("async:"):
        return None, True
    node = parse_expression(b.value) if b.value else None
    if b.value is None:
        statement = _statement(frame, piece, b, (ast.Assign, ast.AnnAssign, ast.AugAssign))
        node = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) else None
    if node is None or (b.kind == "augassign" and b.path not in ("+=", "|=")):
        return None, True
    found = constants.value(frame, node)
    if b.kind == "for":
        if isinstance(found, (Attributes, Space)):
            first = b.path in ("", "0")
            return (AttributeName(found.module) if first else None), True
        elements_ = elements(found)
        return (_at_path(elements_, b.path), True) if elements_ is not None else (None, True)
    if b.path and b.kind != "augassign":
        return None, True
    fixed = isinstance(node, (ast.Tuple, ast.Constant)) or not isinstance(found, Keys)
    return found, fixed


def _at_path(found: frozenset[object], path: str) -> Known | None:
    for part in path.split(".") if path else ():
        if not part.isdigit():
            return None
        index = int(part)
        if not all(isinstance(v, tuple) and index < len(v) for v in found):
            return None
        found = frozenset(v[index] for v in found if isinstance(v, tuple))
    return Choice(found) if ANYTHING not in found else None


def _statement(frame: Frame, piece: int, b: Binding, kinds: tuple[type[ast.stmt], ...]) -> ast.AST | None:
    tree = frame.ev.snapshot.tree(frame.file, piece)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, kinds) and node.lineno == b.line and getattr(node, "name", b.name) == b.name:
            return node
    return None


def imported(frame: Frame, source: str, name: str) -> Known | None:
    """What ``from source import name`` gives."""
    ev = frame.ev
    target = modules.absolute(frame.module, source)
    if target == "importlib" and name == "import_module":
        return Builtin("importlib.import_module")
    if target is None or not ev.snapshot.exists(target):
        return None
    module = ev.module(target)
    if target == frame.module.name and ev.snapshot.exists(f"{target}.{name}"):
        return ModuleValue(f"{target}.{name}")
    if module is not None and module.source is not None:
        found = table(ev, module, module.source, name)
        if found is not None or any(b.kind != "del" for _p, b in ev.index(module.source).bindings(name)):
            return found
        for _piece, star in ev.index(module.source).star_imports():
            inner = Frame(ev, module, module.source)
            deeper = modules.absolute(module, star.value or "")
            if deeper is not None and deeper != frame.module.name:
                found = imported(inner, star.value or "", name)
                if found is not None:
                    return found
    sub = f"{target}.{name}"
    return ModuleValue(sub) if ev.snapshot.exists(sub) else None


def runtime_class(ev: Evaluator, name: str, attr: str, depth: int = 0) -> Ref | None:
    """The class that a module's name is at run time, by its source and what was probed, stubs left aside."""
    if depth > MAX_HOPS or not ev.snapshot.exists(name):
        return None
    module = ev.module(name)
    file = module.source or module.probed if module is not None else None
    if module is None or file is None:
        return None
    ev.read("symbol", name, attr)
    index = ev.index(file)
    found: set[Ref | None] = set()
    for _piece, b in index.bindings(attr):
        if not runs(ev, b.guards):
            continue
        target = modules.absolute(module, b.value or "") if b.kind == "from" else None
        if b.kind == "class":
            found.add(Ref(name, attr))
        elif target is not None:
            found.add(runtime_class(ev, target, b.path, depth + 1))
        else:
            found.add(None)
    if not found:
        for _piece, b in index.star_imports():
            target = modules.absolute(module, b.value or "")
            if target is None or target == name or not ev.snapshot.exists(target):
                continue
            listed, is_open = modules.exports(ev, target)
            if not is_open and (attr not in listed if listed is not None else attr.startswith("_")):
                continue
            again = runtime_class(ev, target, attr, depth + 1)
            if again is not None:
                found.add(again)
    return found.pop() if len(found) == 1 else None


def _loosened(known: Known) -> Known:
    return known._replace(exact=False) if isinstance(known, Keys) else known


_READING = frozenset(
    "get keys values items copy index count __contains__ union intersection difference issubset"
    " issuperset isdisjoint".split()
)
_BUILTIN_READERS = frozenset(
    "len sorted list tuple set frozenset dict iter enumerate zip map filter any all sum min max str repr"
    " print isinstance bool reversed".split()
)


def _mutations(frame: Frame, name: str) -> frozenset[object] | None:
    """What the module's statements add to a container after it was made; None when it may be anything."""
    ev, file = frame.ev, frame.file
    added: frozenset[object] = frozenset()
    for number, piece in enumerate(file.facts.pieces):
        if name not in piece.mentions:
            continue
        tree = ev.snapshot.tree(file, number)
        if tree is None:
            return None
        for node, parent, spot in places.walk(tree):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                more = _use(frame, parent, node, tree, spot)
                if more is None:
                    return None
                added |= more
    return added


LOOKED_AT = (
    ast.Compare,
    ast.For,
    ast.comprehension,
    ast.Starred,
    ast.BinOp,
    ast.BoolOp,
    ast.UnaryOp,
    ast.If,
    ast.IfExp,
    ast.FormattedValue,
    ast.Dict,
    ast.keyword,
    ast.Expr,
    ast.Assert,
    ast.While,
)
"""Where a container stands that is only looked at."""


def _use(frame: Frame, parent: ast.AST, node: ast.Name, tree: ast.AST, spot: places.Spot) -> frozenset[object] | None:
    """What one use of a container adds to it."""
    nothing: frozenset[object] = frozenset()
    if isinstance(parent, LOOKED_AT):
        # `f(**table)` and `{**table}` copy; `f(all=table)` hands it on, mostly to be looked at.
        return nothing
    if isinstance(parent, ast.Subscript) and parent.value is node:
        if isinstance(parent.ctx, ast.Load):
            return nothing
        return places.strings_at(frame, parent.slice, spot) if isinstance(parent.ctx, ast.Store) else nothing
    if isinstance(parent, ast.Call):
        return nothing if isinstance(parent.func, ast.Name) and parent.func.id in _BUILTIN_READERS else None
    if isinstance(parent, (ast.Assign, ast.AnnAssign)):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        return nothing if all(isinstance(t, ast.Name) and t.id == "__all__" for t in targets) else None
    if not isinstance(parent, ast.Attribute):
        return None
    if parent.attr in _READING:
        return nothing
    call = next((c for c in ast.walk(tree) if isinstance(c, ast.Call) and c.func is parent), None)
    if call is None:
        return None
    if parent.attr in ("append", "add", "setdefault", "insert") and call.args:
        return places.strings_at(frame, call.args[1 if parent.attr == "insert" else 0], spot)
    if parent.attr in ("extend", "update") and len(call.args) <= 1 and all(k.arg for k in call.keywords):
        more = elements(constants.value(places.frame_at(frame, spot), call.args[0])) if call.args else nothing
        return more | {k.arg for k in call.keywords} if more is not None else None
    return nothing if parent.attr in ("sort", "reverse", "remove", "discard", "pop") else None
