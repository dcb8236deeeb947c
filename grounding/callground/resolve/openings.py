"""Names that a module writes into its own namespace while it runs: ``globals()[...] = ...`` and its kin.

The facts only mark the statements that do it.  Here they are read: a loop over known names adds exactly
these, a module ``__getattr__`` that stores what it gives adds none, and what cannot be told leaves the
module open.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from callground.graph.interface import Module, SourceFile
from callground.resolve import constants, modules, places
from callground.resolve.evaluator import Evaluator
from callground.resolve.known import AttributeName, Attributes, Frame, Keys, ModuleValue, Space
from callground.resolve.places import Spot

MARKS = frozenset({"globals-write", "exec", "setattr-module", "sys-modules-write"})
_SPACE, _OWN, _OTHER = "space", "own", "other"
_WRITING = frozenset({"update", "setdefault", "__setitem__", "__ior__"})
_READERS = frozenset(
    "dict enumerate eval filter frozenset id isinstance iter len list map print repr set sorted str tuple"
    " type zip getattr hasattr dir vars exec __import__ delattr callable issubclass".split()
)
_LOOKED_AT = (
    ast.Compare,
    ast.FormattedValue,
    ast.For,
    ast.comprehension,
    ast.Return,
    ast.Starred,
    ast.Dict,
    ast.BinOp,
    ast.UnaryOp,
    ast.Expr,
    ast.Assert,
    ast.If,
    ast.While,
    ast.Delete,
)


class Added(NamedTuple):
    """Names that may be there, or why there may be any."""

    names: frozenset[str] = frozenset()
    why: str = ""
    like: frozenset[str] = frozenset()
    """Modules whose names may be there too."""


class _Open(Exception):
    """The module may have any name."""


def added(ev: Evaluator, module: Module, file: SourceFile) -> Added:
    """What the module's own statements add to its namespace beyond the rows of its facts."""
    if not MARKS.intersection(ev.index(file).dynamic):
        return Added()
    ev.read("module", module.name)
    return ev.memo(
        ("openings", module.name, file.path, file.digest),
        lambda: _added(ev, module, file),
        lambda reason: Added(why=reason.value),
    )


def _added(ev: Evaluator, module: Module, file: SourceFile) -> Added:
    walk = _Walk(ev, module, file)
    try:
        walk.run()
    except _Open as opened:
        return Added(why=str(opened))
    return Added(frozenset(walk.names), "", frozenset(walk.like))


def why(ev: Evaluator, module: Module, file: SourceFile, attr: str = "") -> str:
    """How the module's own statements may have given it the name (any, without one); empty when they have not."""
    written = added(ev, module, file)
    if written.why:
        return written.why
    if (written.names or written.like) and (not attr or attr in written.names):
        return f"writes {attr or 'names'} into its namespace"
    for other in written.like:
        if other != module.name:
            found = modules.member(ev, other, attr)
            if found.found is not None or found.why is not None:
                return f"takes over what {other} has"
    return ""


class _Place(NamedTuple):
    """Where a node stands, with the aliases that hold there."""

    spot: Spot
    aliases: dict[str, str]
    in_class: bool = False


class _Walk:
    def __init__(self, ev: Evaluator, module: Module, file: SourceFile) -> None:
        self.ev = ev
        self.module = module
        self.file = file
        self.names: set[str] = set()
        self.like: set[str] = set()
        self.frame = Frame(ev, module, file)

    def run(self) -> None:
        """Look at every statement that is marked, and at all that use a name for the namespace."""
        marked: list[ast.Module] = []
        for number, piece in enumerate(self.file.facts.pieces):
            if "exec" in piece.dynamic:
                raise _Open("exec")
            if MARKS.intersection(piece.dynamic):
                tree = self.ev.snapshot.tree(self.file, number)
                if tree is None:
                    raise _Open("not parsed")
                marked.append(tree)
        aliases: dict[str, str] = {}
        top = _Place(Spot(), aliases)
        for tree in marked:
            aliases.update(self._aliases(tree, top))
        trees = list(marked)
        for number, piece in enumerate(self.file.facts.pieces):
            if aliases.keys() & piece.mentions and not MARKS.intersection(piece.dynamic):
                tree = self.ev.snapshot.tree(self.file, number)
                if tree is None:
                    raise _Open("not parsed")
                trees.append(tree)
        for tree in trees:
            self._visit(tree, tree, top)

    # -- who is who

    def _aliases(self, scope: ast.AST, place: _Place) -> dict[str, str]:
        """Names of one scope that stand for the namespace or for the module itself."""
        found: dict[str, str] = {}
        for node in places.own_nodes(scope):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                role = self._role(node.value, place._replace(aliases={**place.aliases, **found}))
                for target in targets:
                    if role is not None and isinstance(target, ast.Name):
                        found[target.id] = role
        return found

    def _role(self, node: ast.AST, place: _Place) -> str | None:
        """``space``, ``own`` (this module), ``other`` (some module, perhaps this one), or None."""
        if isinstance(node, ast.Name):
            return place.aliases.get(node.id)
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name == "globals" and not node.args:
                return _SPACE
            if name in ("locals", "vars") and not node.args:
                return _SPACE if not place.spot.functions and not place.in_class else None
            if name == "vars" and len(node.args) == 1:
                return self._dictionary(node.args[0], place)
            if name == "import_module" or (isinstance(node.func, ast.Attribute) and node.func.attr == "import_module"):
                known = constants.value(self._frame(place), node)
                return _OWN if known == ModuleValue(self.module.name) else None
            return None
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return self._dictionary(node.value, place)
        if isinstance(node, ast.Attribute) and node.attr == "f_globals":
            return _SPACE
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "modules":
            known = constants.value(self._frame(place), node)
            if known is None:
                return _OTHER
            return _OWN if known == ModuleValue(self.module.name) else None
        return None

    def _dictionary(self, node: ast.AST, place: _Place) -> str | None:
        role = self._role(node, place)
        return _SPACE if role == _OWN else role if role == _OTHER else None

    def _frame(self, place: _Place) -> Frame:
        """The place with what its local names are, as far as they are always the same."""
        return places.frame_at(self.frame, place.spot)

    # -- the walk

    def _visit(self, node: ast.AST, parent: ast.AST, place: _Place) -> None:
        stack: list[tuple[ast.AST, ast.AST, _Place]] = [(node, parent, place)]
        while stack:
            node, parent, place = stack.pop()
            role = self._role(node, place)
            if role is not None:
                self._use(node, parent, role, place)
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                self._module_table(node, place)
            inner = place._replace(spot=place.spot.inside(node))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                hidden = set(places.bound(node))
                inner = _Place(inner.spot, {k: v for k, v in place.aliases.items() if k not in hidden})
                inner = inner._replace(aliases={**inner.aliases, **self._aliases(node, inner)})
            elif isinstance(node, ast.ClassDef):
                inner = inner._replace(in_class=True)
            stack.extend((child, node, inner) for child in ast.iter_child_nodes(node))

    def _module_table(self, node: ast.Subscript, place: _Place) -> None:
        """``sys.modules[name] = other``: the module itself may be replaced."""
        if isinstance(node.value, ast.Attribute) and node.value.attr == "modules" and isinstance(node.ctx, ast.Store):
            if constants.value(self._frame(place), node) == ModuleValue(self.module.name):
                raise _Open("sys.modules[__name__] is replaced")

    def _use(self, node: ast.AST, parent: ast.AST, role: str, place: _Place) -> None:
        """What one use of the namespace or of the module adds."""
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            return
        if isinstance(parent, ast.Subscript) and parent.value is node:
            if isinstance(parent.ctx, ast.Store) and role != _OWN:
                self._add(parent.slice, place)
        elif isinstance(parent, ast.Attribute) and parent.value is node:
            self._attribute(parent, role, place)
        elif isinstance(parent, ast.Call):
            self._argument(node, parent, role, place)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if role != _OTHER and not all(isinstance(t, ast.Name) for t in targets):
                raise _Open("the namespace is handed on")
        elif isinstance(parent, ast.keyword):
            if parent.arg is not None and role != _OTHER:
                raise _Open("the namespace is handed on")
        elif role != _OTHER and not isinstance(parent, _LOOKED_AT):
            raise _Open("the namespace is handed on")

    def _attribute(self, node: ast.Attribute, role: str, place: _Place) -> None:
        if role == _SPACE or (role == _OTHER and node.attr in _WRITING):
            if node.attr in _WRITING:
                self._written(node, place)
            return
        if isinstance(node.ctx, ast.Store):
            if node.attr == "__class__":
                raise _Open("the module's class is changed")
            self.names.add(node.attr)
        elif node.attr == "__setattr__":
            raise _Open("__setattr__")

    def _written(self, node: ast.Attribute, place: _Place) -> None:
        call = self._call_of(node)
        if call is None or any(k.arg is None for k in call.keywords):
            raise _Open(f"globals().{node.attr}")
        if node.attr in ("setdefault", "__setitem__") and call.args:
            self._add(call.args[0], place)
            return
        self.names.update(k.arg for k in call.keywords if k.arg)
        for arg in call.args:
            known = constants.value(self._frame(place), arg)
            if isinstance(known, (Space, Attributes)):
                self.like.add(known.module)
                continue
            if not isinstance(known, Keys) or not all(isinstance(v, str) for v in known.values):
                raise _Open(f"globals().{node.attr}")
            self.names.update(v for v in known.values if isinstance(v, str))

    def _call_of(self, func: ast.Attribute) -> ast.Call | None:
        for number, piece in enumerate(self.file.facts.pieces):
            if func.attr in piece.mentions:
                tree = self.ev.snapshot.tree(self.file, number)
                for node in ast.walk(tree) if tree is not None else ():
                    if isinstance(node, ast.Call) and node.func is func:
                        return node
        return None

    def _argument(self, node: ast.AST, call: ast.Call, role: str, place: _Place) -> None:
        if call.func is node:
            return
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        last = call.func.attr if isinstance(call.func, ast.Attribute) else name
        if last in ("setattr", "__setattr__") and role != _SPACE and len(call.args) == 3:
            if call.args[0] is node:
                self._add(call.args[1], place)
            return
        if name in _READERS or role == _OTHER or last == "getmembers":
            return
        if role == _SPACE and last != name and isinstance(node, ast.Call) and not _is_globals(node):
            return  # "...".format_map(vars()) and the like
        raise _Open(f"{last}({'globals()' if role == _SPACE else 'the module'})")

    def _add(self, key: ast.expr, place: _Place) -> None:
        if self._given_back(key, place.spot):
            return
        known = places.strings_at(self.frame, key, place.spot, private=True)
        if known is not None:
            self.names |= known
            return
        name = constants.value(self._frame(place), key)
        if not isinstance(name, AttributeName):
            raise _Open("globals-write")
        self.like.add(name.module)

    def _given_back(self, key: ast.expr, spot: Spot) -> bool:
        """A module ``__getattr__`` that stores what it gives: the name was decided before."""
        if len(spot.functions) != 1 or not isinstance(key, ast.Name):
            return False
        function = spot.functions[0]
        if not isinstance(function, ast.FunctionDef):
            return False
        if key.id not in places.parameters(function) or key.id in places.bound(function, with_parameters=False):
            return False
        if function.name == "__getattr__":
            return True
        callers = places.calls_of(self.frame, function.name) if function.name.startswith("_") else None
        position = [a.arg for a in (*function.args.posonlyargs, *function.args.args)].index(key.id)
        return bool(callers) and all(
            position < len(call.args) and self._given_back(call.args[position], around)
            for call, around in callers or ()
            if around.functions[:1] != spot.functions
        )


def _is_globals(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "globals"
