"""The look into the expressions of a statement that holds a hot word.

Finds ``setattr`` and its kin, writes to namespaces, walrus, ``yield``, imports by name, and
changes of the import system.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from callground.facts import exports
from callground.facts.guards import Guard
from callground.facts.model import SUBCLASS_MADE
from callground.facts.scopes import CLASS, FUNCTION, MODULE, Scope, parameter_names

if TYPE_CHECKING:
    from callground.facts.walk import Walker

_MUTATORS = frozenset(
    {
        "__setitem__",
        "append",
        "clear",
        "extend",
        "insert",
        "pop",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
        "__ior__",
        "__iadd__",
    }
)
_DICT_WRITERS = frozenset({"__setitem__", "setdefault", "update", "__ior__"})
_CLASS_MAKERS = frozenset({"type", "new_class"})
_NAMESPACES = frozenset({"globals", "locals", "vars"})
_READING_METHODS = frozenset({"get", "keys", "values", "items", "copy", "pop", "__getitem__", "__contains__"})
_READERS = frozenset(
    {"dict", "enumerate", "eval", "filter", "frozenset", "id", "isinstance", "iter", "len", "list", "map"}
    | {"print", "repr", "set", "sorted", "str", "tuple", "type", "zip", "__import__", "exec"}
)
"""Functions that take a namespace (or ``__all__``) without changing it (``exec`` has its own mark)."""

_SYS = {
    "path": "sys-path-edit",
    "modules": "sys-modules-write",
    "meta_path": "import-hook",
    "path_hooks": "import-hook",
}
_OWN_MODULE = "setattr-module"

_Item = tuple[ast.AST, "_Lambda", ast.AST | None]
"""An expression, the lambdas around it, and the node that holds it."""


class _Lambda:
    """What the lambdas and comprehensions around an expression change about its scope."""

    __slots__ = ("in_lambda", "in_string", "names")

    def __init__(self, names: frozenset[str], in_lambda: bool, in_string: bool) -> None:
        self.names = names
        self.in_lambda = in_lambda
        self.in_string = in_string


_PLAIN = _Lambda(frozenset(), False, False)


def statement(walker: Walker, node: ast.stmt, guard: Guard, scope: Scope) -> None:
    """Look into the expressions that belong to the statement itself (not to its blocks)."""
    todo: list[_Item] = [(child, _PLAIN, node) for child in reversed(_own_expressions(node))]
    while todo:
        item, around, parent = todo.pop()
        if isinstance(item, (ast.Yield, ast.YieldFrom)):
            if not around.in_lambda:
                scope.generator = True
        elif isinstance(item, ast.NamedExpr):
            if not around.in_lambda:
                value = "" if around.in_string else walker.spans.short(item.value)
                walker.bind(scope, item.target.id, "walrus", item, guard, value)
        elif isinstance(item, ast.Call):
            _call(walker, item, node, parent, around, guard, scope)
        elif isinstance(item, ast.Name):
            _bare_name(walker, item, parent, scope)
            continue
        elif isinstance(item, ast.Attribute):
            if item.attr == "__setattr__" and not (isinstance(parent, ast.Call) and parent.func is item):
                _open_class(scope)
            elif item.attr == "global_enum":
                walker.dynamic["globals-write"] = None
        elif isinstance(item, ast.Lambda):
            names = around.names | parameter_names(item.args)
            inner = _Lambda(names, True, around.in_string)
            todo.append((item.body, inner, item))
            todo.append((item.args, around, item))
            continue
        elif isinstance(item, ast.JoinedStr):
            around = _Lambda(around.names, around.in_lambda, True)
        elif isinstance(item, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            around = _comprehension(walker, item, node, guard, scope, around)
        todo.extend([(child, around, item) for child in ast.iter_child_nodes(item)][::-1])


def _own_expressions(node: ast.stmt) -> list[ast.AST]:
    if isinstance(node, (ast.If, ast.While)):
        return [node.test]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        return [node.target, node.iter]
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return list(node.items)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        returns = [node.returns] if node.returns is not None else []
        return [*node.decorator_list, node.args, *returns]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, ast.Match):
        return [node.subject, *(case.guard for case in node.cases if case.guard is not None)]
    if hasattr(node, "handlers"):
        return []
    return list(ast.iter_child_nodes(node))


def _comprehension(
    walker: Walker,
    item: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
    node: ast.stmt,
    guard: Guard,
    scope: Scope,
    around: _Lambda,
) -> _Lambda:
    """Record attribute targets; give the names that the comprehension rebinds."""
    names: set[str] = set()
    for generator in item.generators:
        for target in ast.walk(generator.target):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                names.add(target.id)
            elif isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store):
                walker.store_attribute(target, "for", node, None, "", None, guard, scope)
    return _Lambda(around.names | names, around.in_lambda, around.in_string) if names else around


# -- calls ------------------------------------------------------------------------------------------


def _call(
    walker: Walker,
    node: ast.Call,
    stmt: ast.stmt,
    parent: ast.AST | None,
    around: _Lambda,
    guard: Guard,
    scope: Scope,
) -> None:
    func = node.func
    arguments = node.args
    if isinstance(func, ast.Name):
        name = func.id
        if name == "setattr" and len(arguments) == 3:
            _setattr(walker, arguments[0], arguments[1], arguments[2], stmt, around, guard, scope)
        elif name == "exec":
            _exec(walker, node, scope)
        elif name in ("globals", "vars", "locals") and not arguments:
            _namespace_use(walker, node, parent, scope)
        elif name in ("__import__", "import_module"):
            _import_by_name(walker, arguments)
        elif name in _CLASS_MAKERS and len(arguments) >= 2:
            _class_made(walker, arguments, stmt, scope)
        return
    if not isinstance(func, ast.Attribute):
        return
    attr = func.attr
    if attr == "new_class" and len(arguments) >= 2:
        _class_made(walker, arguments, stmt, scope)
        return
    owner = func.value
    if attr == "__setattr__":
        if len(arguments) == 3:
            _setattr(walker, arguments[0], arguments[1], arguments[2], stmt, around, guard, scope)
        elif len(arguments) == 2:
            target = _super_receiver(owner, scope)
            _setattr(walker, target or owner, arguments[0], arguments[1], stmt, around, guard, scope)
        return
    if attr == "_convert_":
        # Enum._convert_(name, __name__, ...) puts the members into the module.
        walker.dynamic["globals-write"] = None
    elif attr == "import_module":
        _import_by_name(walker, arguments)
    elif attr == "addsitedir":
        walker.dynamic["sys-path-edit"] = None
    elif attr in _MUTATORS:
        if isinstance(owner, ast.Name) and owner.id == "__all__":
            operations = exports.call(attr, arguments, guard is None) if scope.kind == MODULE else [exports.LATER]
            walker.exports.extend(operations)
            return
        mark = _sys_mark(owner)
        if mark is not None:
            if not (mark == "sys-modules-write" and attr in ("pop", "clear")):
                walker.dynamic[mark] = None
        elif attr in _DICT_WRITERS:
            holder = _dict_holder(owner)
            if holder is not None:
                _dict_update(walker, holder, attr, node, stmt, around, guard, scope)
            elif isinstance(owner, ast.Attribute) and owner.attr == "f_globals":
                walker.dynamic["globals-write"] = None


def _class_made(walker: Walker, arguments: list[ast.expr], stmt: ast.stmt, scope: Scope) -> None:
    """``type(name, bases, namespace)``: each base has a subclass that no class statement shows."""
    names = _literal_keys(arguments[2]) if len(arguments) == 3 else None
    known = (",".join(names) or "-") if names is not None else None
    for node in ast.walk(arguments[1]):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            if isinstance(node, ast.Name) and scope.klass is not None and node.id in (scope.self_name, "cls", "self"):
                scope.klass.dynamic[SUBCLASS_MADE if known is None else f"{SUBCLASS_MADE}:{known}"] = None
            else:
                walker.attr_store(node, SUBCLASS_MADE, stmt, known, scope)


def _literal_keys(node: ast.expr) -> list[str] | None:
    """The keys of ``{"a": x}`` and ``dict(a=x)``; None where others are possible."""
    if isinstance(node, ast.Dict):
        keys = [k.value for k in node.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
        return keys if len(keys) == len(node.keys) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        given = [k.arg for k in node.keywords if k.arg is not None]
        return given if len(given) == len(node.keywords) else None
    return None


def _setattr(
    walker: Walker,
    receiver: ast.expr,
    key: ast.expr,
    value: ast.expr,
    stmt: ast.stmt,
    around: _Lambda,
    guard: Guard,
    scope: Scope,
) -> None:
    """``setattr(receiver, key, value)`` in any of its spellings."""
    name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    how = None if _rebound(receiver, around) else walker.receiver_kind(receiver, scope)
    klass = scope.klass
    if how is None or klass is None:
        if _is_own_module(receiver):
            walker.dynamic[_OWN_MODULE] = None
        text = None if around.in_string else walker.spans.short(value)
        walker.attr_store(receiver, name or "*", stmt, text, scope)
        return
    if name is None:
        if isinstance(key, ast.Name) and key.id == scope.key_parameter and key.id not in around.names:
            return
        klass.dynamic["setattr"] = None
    text = "" if around.in_string else walker.spans.short(value)
    walker.self_attr(scope, how, name or "*", "setattr", stmt, guard, text)


def _super_receiver(owner: ast.expr, scope: Scope) -> ast.expr | None:
    """For ``super().__setattr__(name, value)`` the receiver that ``super()`` stands for."""
    if isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super":
        if len(owner.args) == 2:
            return owner.args[1]
        if scope.self_name is not None:
            return ast.Name(
                scope.self_name,
                ast.Load(),
                lineno=owner.lineno,
                col_offset=owner.col_offset,
                end_lineno=owner.end_lineno,
                end_col_offset=owner.end_col_offset,
            )
    return None


def _rebound(receiver: ast.expr, around: _Lambda) -> bool:
    if not around.names:
        return False
    return any(isinstance(part, ast.Name) and part.id in around.names for part in ast.walk(receiver))


def _exec(walker: Walker, node: ast.Call, scope: Scope) -> None:
    """``exec`` opens the namespace that it runs in; with a namespace of its own it opens nothing here."""
    if len(node.args) >= 2 or node.keywords:
        spaces = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        for space in spaces:
            if isinstance(space, ast.Call) and isinstance(space.func, ast.Name) and not space.args:
                if space.func.id in _NAMESPACES:
                    _mark_namespace(walker, scope, "exec", is_global=space.func.id == "globals")
        return
    _mark_namespace(walker, scope, "exec", is_global=False)


def _mark_namespace(walker: Walker, scope: Scope, mark: str, is_global: bool) -> None:
    if is_global or scope.kind == MODULE:
        walker.dynamic["globals-write" if mark == "locals-write" else mark] = None
    elif scope.kind == CLASS and scope.klass is not None:
        scope.klass.dynamic[mark] = None


def _namespace_use(walker: Walker, node: ast.Call, parent: ast.AST | None, scope: Scope) -> None:
    """``globals()`` that is neither read at once nor written at once may be written later."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if isinstance(parent, (ast.Compare, ast.FormattedValue, ast.For, ast.comprehension, ast.Return)):
        return
    if isinstance(parent, ast.Subscript):
        return  # A store is seen where its target is handled.
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod):
        return
    if isinstance(parent, ast.keyword) and parent.arg is None:
        return
    if isinstance(parent, (ast.Starred, ast.Dict)):
        return
    if isinstance(parent, ast.Attribute):
        if parent.attr in _DICT_WRITERS:
            _mark_namespace(walker, scope, "locals-write", is_global=name == "globals")
        return
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in _READERS:
        return
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and name != "globals":
        return  # "...".format_map(vars()) and the like: a copy in a function, a read elsewhere.
    _mark_namespace(walker, scope, "locals-write", is_global=name == "globals")


def _import_by_name(walker: Walker, arguments: list[ast.expr]) -> None:
    if not arguments or not isinstance(arguments[0], ast.Constant):
        return
    module = arguments[0].value
    if not isinstance(module, str) or not module.replace(".", "").isidentifier():
        return
    if module.startswith("."):
        # Relative to its second argument: this very package, or one that is named.
        anchor = arguments[1] if len(arguments) > 1 else None
        if isinstance(anchor, ast.Constant) and isinstance(anchor.value, str) and module[1:2] != ".":
            module = anchor.value + module
        elif not (isinstance(anchor, ast.Name) and anchor.id in ("__name__", "__package__")):
            return
    walker.imports[(module, ())] = None


def _dict_holder(node: ast.expr) -> ast.expr | None:
    """``x`` for ``x.__dict__`` and ``vars(x)``."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        return node.args[0] if len(node.args) == 1 else None
    return None


def _dict_update(
    walker: Walker,
    holder: ast.expr,
    method: str,
    node: ast.Call,
    stmt: ast.stmt,
    around: _Lambda,
    guard: Guard,
    scope: Scope,
) -> None:
    """``x.__dict__.update(...)`` and the like."""
    if method in ("__setitem__", "setdefault") and node.args:
        _dict_store(walker, holder, node.args[0], stmt, around, guard, scope)
        return
    if method == "update" and not node.args and all(keyword.arg for keyword in node.keywords):
        for keyword in node.keywords:
            key = ast.Constant(keyword.arg)
            _dict_store(walker, holder, key, stmt, around, guard, scope)
        return
    _dict_store(walker, holder, None, stmt, around, guard, scope)


def _dict_store(
    walker: Walker,
    holder: ast.expr,
    key: ast.expr | None,
    stmt: ast.stmt | ast.expr,
    around: _Lambda,
    guard: Guard,
    scope: Scope,
) -> None:
    """One entry (`key` None: any) written to the dictionary of `holder`."""
    name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    how = None if _rebound(holder, around) else walker.receiver_kind(holder, scope)
    klass = scope.klass
    if how is None or klass is None:
        if _is_own_module(holder):
            walker.dynamic[_OWN_MODULE] = None
        walker.attr_store(holder, name or "*", stmt, None, scope)
    elif name is not None:
        walker.self_attr(scope, how, name, "setattr", stmt, guard, None)
    elif not (isinstance(key, ast.Name) and key.id == scope.key_parameter):
        klass.dynamic["dict-write"] = None


# -- stores -----------------------------------------------------------------------------------------


def subscript_store(
    walker: Walker,
    target: ast.Subscript,
    stmt: ast.stmt | ast.expr,
    value: ast.expr | None,
    guard: Guard,
    scope: Scope,
) -> None:
    """``globals()["x"] = v``, ``self.__dict__[k] = v``, ``sys.modules[n] = m`` and their kin."""
    base = target.value
    if isinstance(base, ast.Call) and isinstance(base.func, ast.Name) and not base.args:
        name = base.func.id
        if name in _NAMESPACES and isinstance(stmt, ast.stmt) and not isinstance(stmt, ast.Delete):
            _namespace_store(walker, name, target.slice, stmt, value, guard, scope)
        return
    mark = _sys_mark(base)
    if mark is not None:
        if not (mark == "sys-modules-write" and isinstance(stmt, ast.Delete)):
            walker.dynamic[mark] = None
        return
    if isinstance(base, ast.Name) and base.id == "__all__":
        walker.exports.append(exports.LATER if scope.kind == FUNCTION else exports.OPEN)
        return
    if isinstance(base, ast.Attribute) and base.attr == "f_globals":
        walker.dynamic["globals-write"] = None
        return
    holder = _dict_holder(base)
    if holder is not None and not isinstance(stmt, ast.Delete):
        _dict_store(walker, holder, target.slice, stmt, _PLAIN, guard, scope)


def _namespace_store(
    walker: Walker,
    function: str,
    key: ast.expr,
    stmt: ast.stmt,
    value: ast.expr | None,
    guard: Guard,
    scope: Scope,
) -> None:
    if function == "globals" or scope.kind == MODULE:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            # As good as a global statement: the name is known.
            text = walker.spans.short(value) if value is not None else ""
            name = key.value
            target = Scope(FUNCTION, "")
            target.globals = frozenset((name,))
            walker.bind(target, name, "assign", stmt, guard, text)
            return
        walker.dynamic["globals-write"] = None
    else:
        _mark_namespace(walker, scope, "locals-write", is_global=False)


def store_mark(walker: Walker, target: ast.Attribute) -> None:
    """Marks for ``sys.path = ...`` and ``sys.modules[__name__].x = ...``."""
    if walker.hot_lines:
        mark = _sys_mark(target)
        if mark is not None:
            walker.dynamic[mark] = None
        elif _is_own_module(target.value):
            walker.dynamic[_OWN_MODULE] = None


def alias_mark(walker: Walker, value: ast.expr) -> None:
    """``this = sys.modules[__name__]``: what is done to it later is not followed."""
    if walker.hot_lines and _is_own_module(value):
        walker.dynamic[_OWN_MODULE] = None


def _sys_mark(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute) and node.attr in _SYS and isinstance(node.value, ast.Name):
        if node.value.id.lstrip("_") == "sys":
            return _SYS[node.attr]
    elif isinstance(node, ast.Name) and node.id in ("meta_path", "path_hooks"):
        return _SYS[node.id]
    return None


def _is_own_module(node: ast.expr) -> bool:
    """``sys.modules[...]``, unless it is another module for sure."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "modules"
        and not isinstance(node.slice, ast.Constant)
    )


# -- names that are passed on ------------------------------------------------------------------------


def _bare_name(walker: Walker, node: ast.Name, parent: ast.AST | None, scope: Scope) -> None:
    if node.id == "setattr":
        if not (isinstance(parent, ast.Call) and parent.func is node):
            _open_class(scope)
    elif node.id == "global_enum":
        walker.dynamic["globals-write"] = None
    elif node.id == "__all__" and isinstance(parent, ast.Call) and node in parent.args:
        if not (isinstance(parent.func, ast.Name) and parent.func.id in _READERS):
            walker.exports.append(exports.LATER if scope.kind == FUNCTION else exports.OPEN)


def _open_class(scope: Scope) -> None:
    """``setattr`` itself is handed on in a class: it may be used on its instances."""
    if scope.klass is not None:
        scope.klass.dynamic["setattr"] = None
