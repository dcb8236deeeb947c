"""What the walker knows about the scope whose statements it visits."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from callground.facts.model import Binding, SelfAttr

MODULE, CLASS, FUNCTION = 0, 1, 2
"""Kinds of scope.  A class inside a function counts as FUNCTION: it has no row of its own."""

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef

_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


class ClassBuilder:
    """A class row in the making."""

    __slots__ = ("dynamic", "members", "node", "qualname", "self_attrs")

    def __init__(self, node: ast.ClassDef, qualname: str) -> None:
        self.node = node
        self.qualname = qualname
        self.members: list[Binding] = []
        self.self_attrs: list[SelfAttr] = []
        self.dynamic: dict[str, None] = {}


class Scope:
    """One module, class or function body."""

    __slots__ = (
        "around",
        "generator",
        "globals",
        "instances",
        "key_parameter",
        "kind",
        "klass",
        "qualname",
        "receiver",
        "self_name",
    )

    def __init__(self, kind: int, qualname: str, klass: ClassBuilder | None = None) -> None:
        self.kind = kind
        self.qualname = qualname
        """Of the innermost row that encloses the scope."""
        self.klass = klass
        """The class whose body this is, or whose method this is (or is nested in)."""
        self.self_name: str | None = None
        """The method's first parameter, while that name still means it."""
        self.receiver = "instance"
        self.globals: frozenset[str] = frozenset()
        self.instances: set[str] = set()
        """Local names that were given a new instance of the method's class (see `makes_instance`)."""
        self.around: Scope | None = None
        """Of the body of a class inside a function: the function's scope."""
        self.generator = False
        self.key_parameter: str | None = None
        """In ``__setattr__(self, name, value)``: ``name``, whose pass-through adds no attribute by itself."""

    def member_name(self, name: str) -> str:
        """Qualname of a definition in this module or class body."""
        return f"{self.qualname}.{name}" if self.qualname else name


class PendingFunction:
    """A function row that waits for its body to be walked (is it a generator?)."""

    __slots__ = ("node", "qualname", "scope")

    def __init__(self, node: FunctionNode, qualname: str, scope: Scope) -> None:
        self.node = node
        self.qualname = qualname
        self.scope = scope


def method_scope(node: FunctionNode, qualname: str, klass: ClassBuilder) -> Scope:
    """The scope of a method: which name its receiver has, and what the receiver is."""
    scope = Scope(FUNCTION, qualname, klass)
    arguments = node.args.posonlyargs + node.args.args
    decorators = {_last_name(decorator) for decorator in node.decorator_list}
    if not arguments or "staticmethod" in decorators:
        return scope
    scope.self_name = arguments[0].arg
    if (
        node.name in _CLASS_METHODS
        or any("classmethod" in decorator for decorator in decorators)
        or (scope.self_name == "cls" and not _looks_like_metaclass(klass.node))
    ):
        scope.receiver = "class"
    if node.name == "__setattr__" and len(arguments) > 1:
        key = arguments[1].arg
        if not stores_name(node.body, key):
            scope.key_parameter = key
    return scope


def local_method_scope(node: FunctionNode, qualname: str, klass: ClassBuilder, around: Scope) -> Scope:
    """The scope of a method of a class inside a function: it may also see the receiver of the method around it."""
    scope = method_scope(node, qualname, klass)
    if around.self_name is None or scope.self_name == around.self_name:
        return scope
    # One of two receivers can be followed; what the class itself stores is not known then.
    klass.dynamic["setattr"] = None
    return nested_scope(node, around)


def nested_scope(node: FunctionNode, outer: Scope) -> Scope:
    """The scope of a function inside a function: it sees the method's receiver unless it rebinds the name."""
    scope = Scope(FUNCTION, outer.qualname, outer.klass)
    scope.receiver = outer.receiver
    scope.instances = outer.instances - parameter_names(node.args) if outer.instances else set()
    name = outer.self_name
    if name is not None and name not in parameter_names(node.args) and not stores_name(node.body, name):
        scope.self_name = name
    key = outer.key_parameter
    if key is not None and key not in parameter_names(node.args) and not stores_name(node.body, key):
        scope.key_parameter = key
    return scope


_COPIES = frozenset({"copy", "deepcopy", "replace", "clone", "_clone", "_copy", "__copy__", "_replace"})


def makes_instance(call: ast.Call, scope: Scope) -> bool:
    """Whether a call in a method is likely to give another instance of the method's class.

    ``cls(...)``, ``super().__new__(cls)``, ``type(self)(...)``, ``copy.copy(self)``, ``self.copy()``
    and the class by its name.  A wrong yes only adds attributes that the class need not have.
    """
    func = call.func
    if isinstance(func, ast.Attribute):
        owner = func.value
        if func.attr == "__new__" or (isinstance(owner, ast.Call) and _is_name(owner.func, "super")):
            return True
        if func.attr == "__class__":
            return _is_name(owner, scope.self_name)
        if func.attr not in _COPIES:
            return False
        return _is_name(owner, scope.self_name) or any(_is_name(part, scope.self_name) for part in call.args)
    if isinstance(func, ast.Call):
        return _is_name(func.func, "type") and any(_is_name(part, scope.self_name) for part in func.args)
    if isinstance(func, ast.Name):
        if func.id in _COPIES:
            return any(_is_name(part, scope.self_name) for part in call.args)
        if scope.receiver == "class" and func.id == scope.self_name:
            return True
        return scope.klass is not None and func.id == scope.klass.node.name
    return False


def _is_name(node: ast.expr, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def parameter_names(arguments: ast.arguments) -> set[str]:
    """Every name that the parameters bind."""
    names = {argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    if arguments.vararg is not None:
        names.add(arguments.vararg.arg)
    if arguments.kwarg is not None:
        names.add(arguments.kwarg.arg)
    return names


def stores_name(body: Iterable[ast.AST], name: str) -> bool:
    """Whether any statement below stores to the plain name `name`."""
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name):
            if node.id == name and not isinstance(node.ctx, ast.Load):
                return True
            continue
        todo.extend(ast.iter_child_nodes(node))
    return False


def global_names(body: list[ast.stmt]) -> frozenset[str]:
    """Names declared ``global`` in one function or class body (not in nested ones)."""
    names: set[str] = set()
    todo: list[ast.AST] = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Global):
            names.update(node.names)
        elif not isinstance(node, (ast.expr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
    return frozenset(names)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _looks_like_metaclass(node: ast.ClassDef) -> bool:
    return any(
        name == "type" or name.endswith(("Meta", "MetaClass", "Metaclass", "Type"))
        for name in map(_last_name, node.bases)
    )
