"""Constants that a module computes while it is imported: which strings an expression can be.

Lazy modules, loops over names and ``__all__`` are made of these.  The answers are about run time, so what
stands under ``TYPE_CHECKING`` does not count.  None always means: not known.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator

from callground.resolve import class_tables, modules, tables
from callground.resolve.evaluator import Evaluator
from callground.resolve.known import (
    ANYTHING,
    MAX_VALUES,
    AttributeName,
    Attributes,
    Builtin,
    Choice,
    Frame,
    Function,
    Keys,
    Known,
    ModuleValue,
    Named,
    OfClass,
    Space,
    elements,
    one,
    strings,
)


def lookup(frame: Frame, name: str) -> Known | None:
    """What a name is."""
    if name in frame.env:
        return frame.env[name]
    return tables.table(frame.ev, frame.module, frame.file, name)


def union(first: Known | None, second: Known, *, exact: bool) -> Known | None:
    """Either of two values."""
    if isinstance(first, Keys) and isinstance(second, Keys):
        mapping = first.mapping or second.mapping
        return Keys(first.values | second.values, first.exact and second.exact and exact, mapping)
    if isinstance(first, Choice) and isinstance(second, Choice):
        return Choice(first.values | second.values)
    return first if first == second else None


def value(frame: Frame, node: ast.expr) -> Known | None:
    """What an expression is."""
    frame.ev.steps += 1
    found = _value(frame, node)
    if isinstance(found, (Choice, Keys)) and len(found.values) > MAX_VALUES:
        return None
    return found


def _value(frame: Frame, node: ast.expr) -> Known | None:
    if isinstance(node, ast.Constant):
        return one(node.value)
    if isinstance(node, ast.Name):
        return lookup(frame, node.id)
    if isinstance(node, ast.JoinedStr):
        return _joined(frame, node)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return _display(frame, node.elts)
    if isinstance(node, ast.Dict):
        return _mapping(frame, node)
    if isinstance(node, ast.BinOp):
        return _binary(frame, node)
    if isinstance(node, ast.Attribute):
        return _attribute(frame, node)
    if isinstance(node, ast.Call):
        return _call(frame, node)
    if isinstance(node, ast.Subscript):
        return _subscript(frame, node)
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
        return _comprehension(frame, node)
    if isinstance(node, ast.IfExp):
        return _either(value(frame, node.body), value(frame, node.orelse))
    if isinstance(node, ast.Lambda):
        return Function(node, frame)
    return None


def _either(first: Known | None, second: Known | None) -> Known | None:
    if first is None or second is None:
        return None
    return union(first, second, exact=first == second)


def _joined(frame: Frame, node: ast.JoinedStr) -> Known | None:
    parts: list[Iterable[str]] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            if part.format_spec is not None or part.conversion not in (-1, 115):
                return None
            part = part.value
        found = strings(value(frame, part))
        if found is None:
            return None
        parts.append(found)
    return _product(parts, "".join)


def _product(parts: list[Iterable[str]], make: object) -> Known | None:
    out: set[object] = set()
    for combination in itertools.product(*parts):
        out.add(make(combination))  # type: ignore[operator]  # one of the two callables below
        if len(out) > MAX_VALUES:
            return None
    return Choice(frozenset(out))


def _display(frame: Frame, items: list[ast.expr]) -> Known | None:
    found: set[object] = set()
    exact = True
    for item in items:
        if isinstance(item, ast.Starred):
            inner = value(frame, item.value)
            if not isinstance(inner, Keys):
                return None
            found |= inner.values
            exact = exact and inner.exact
            continue
        element = _element(frame, item)
        if element is None:
            return None
        found |= element
        exact = exact and len(element) == 1
    return Keys(frozenset(found), exact)


def _element(frame: Frame, node: ast.expr) -> frozenset[object] | None:
    """What one element of a display can be; tuples keep their shape."""
    if isinstance(node, ast.Tuple):
        parts: list[object] = []
        for item in node.elts:
            inner = _element(frame, item)
            parts.append(next(iter(inner)) if inner is not None and len(inner) == 1 else ANYTHING)
        return frozenset((tuple(parts),))
    known = value(frame, node)
    return known.values if isinstance(known, Choice) else None


def _mapping(frame: Frame, node: ast.Dict) -> Known | None:
    found: set[object] = set()
    held: dict[object, object] = {}
    exact = True
    for key, item in zip(node.keys, node.values, strict=True):
        known = value(frame, item if key is None else key)
        if key is None and isinstance(known, Keys):
            exact = exact and known.exact
            held.update(known.held)
        elif key is not None and isinstance(known, Choice):
            exact = exact and len(known.values) == 1
            held.update(dict.fromkeys(known.values, _held(frame, item)))
        else:
            return None
        found |= known.values
    return Keys(frozenset(found), exact, True, tuple(held.items()) if exact and len(held) == len(found) else ())


def _held(frame: Frame, node: ast.expr) -> Known | None:
    """What stands under a key; tuples keep their shape."""
    if isinstance(node, ast.Tuple):
        shape = _element(frame, node)
        return Choice(shape) if shape is not None else None
    return value(frame, node)


def _under(container: Keys, known: Known | None) -> Known | None:
    """What a mapping has under a key."""
    if not isinstance(known, Choice) or len(known.values) != 1 or not container.exact:
        return None
    found = dict(container.held).get(next(iter(known.values)))
    kinds = (Choice, Keys, Attributes, AttributeName, Space, ModuleValue, OfClass, Named, Builtin, Function)
    return found if isinstance(found, kinds) else None


def _binary(frame: Frame, node: ast.BinOp) -> Known | None:
    left, right = value(frame, node.left), value(frame, node.right)
    if isinstance(node.op, ast.BitAnd) and (left is None or right is None):
        only = left or right
        return Keys(only.values, False) if isinstance(only, Keys) else None
    if left is None:
        return None
    if isinstance(left, Keys) and isinstance(right, Keys):
        if isinstance(node.op, (ast.Add, ast.BitOr)):
            return union(left, right, exact=True)
        if isinstance(node.op, ast.Sub):
            return Keys(left.values - right.values if right.exact else left.values, left.exact and right.exact)
        if isinstance(node.op, ast.BitAnd):
            return Keys(left.values & right.values, left.exact and right.exact)
    if isinstance(node.op, ast.Sub) and isinstance(left, Keys):
        return Keys(left.values, False)
    first, second = strings(left), strings(right)
    if first is not None and second is not None:
        if isinstance(node.op, ast.Add):
            return _product([first, second], "".join)
        if isinstance(node.op, ast.Mod):
            return _formatted(first, second)
    return None


def _formatted(patterns: frozenset[str], arguments: frozenset[str]) -> Known | None:
    try:
        return Choice(frozenset(p % a for p in patterns for a in arguments))
    except (TypeError, ValueError):
        return None


def _attribute(frame: Frame, node: ast.Attribute) -> Known | None:
    ev = frame.ev
    if node.attr == "parent" and isinstance(node.value, ast.Name) and node.value.id == "__spec__":
        return tables.table(ev, frame.module, frame.file, "__package__")
    base = value(frame, node.value)
    if isinstance(base, OfClass):
        return base if node.attr == "__class__" else class_tables.constant(ev, base.ref, node.attr)
    if not isinstance(base, ModuleValue):
        return None
    if node.attr == "__dict__":
        return Space(base.name)
    if node.attr == "__name__":
        return one(base.name)
    module = ev.module(base.name) if ev.snapshot.exists(base.name) else None
    if module is None or module.source is None:
        return None
    if node.attr == "__all__":
        return exported(ev, base.name) or Attributes(base.name)
    return tables.imported(frame, base.name, node.attr)


def exported(ev: Evaluator, name: str) -> Keys | None:
    """What ``__all__`` of a module holds."""
    listed, is_open = modules.exports(ev, name)
    return Keys(frozenset(listed)) if listed is not None and not is_open else None


_PURE = frozenset(
    "lower upper title capitalize strip lstrip rstrip removeprefix removesuffix replace casefold swapcase".split()
)
_COPIES = frozenset("set frozenset list tuple sorted dict iter reversed".split())


def _call(frame: Frame, node: ast.Call) -> Known | None:
    func = node.func
    if isinstance(func, ast.Name) and isinstance(lookup(frame, func.id), Builtin):
        return _import_call(frame, node)
    if isinstance(func, ast.Name) and func.id not in frame.env:
        if func.id == "globals" and not node.args:
            return Space(frame.module.name)
        if func.id == "dir" and not node.args and not frame.env:
            return Attributes(frame.module.name)
        if func.id == "dir" and len(node.args) == 1:
            inner = value(frame, node.args[0])
            return Attributes(inner.name) if isinstance(inner, ModuleValue) else None
        if func.id in _COPIES and len(node.args) <= 1 and all(k.arg == "key" for k in node.keywords):
            inner = value(frame, node.args[0]) if node.args else Keys(frozenset())
            if isinstance(inner, Space):
                return Attributes(inner.module)
            if isinstance(inner, Attributes):
                return inner
            return inner._replace(mapping=func.id == "dict") if isinstance(inner, Keys) else None
        if func.id == "type" and len(node.args) == 1:
            inner = value(frame, node.args[0])
            return inner if isinstance(inner, OfClass) else None
        if func.id == "dict" and not node.args and all(k.arg for k in node.keywords):
            return Keys(frozenset(k.arg for k in node.keywords), True, True)
        if func.id == "vars" and len(node.args) == 1:
            inner = value(frame, node.args[0])
            return Space(inner.name) if isinstance(inner, ModuleValue) else None
        if func.id == "getattr" and len(node.args) == 2:
            inner, names = value(frame, node.args[0]), strings(value(frame, node.args[1]))
            if isinstance(inner, ModuleValue) and names is not None and len(names) == 1:
                name = next(iter(names))
                if name == "__all__":
                    return exported(frame.ev, inner.name) or Attributes(inner.name)
                return Named(inner.name, name)
            return None
        if func.id == "str" and len(node.args) == 1:
            return value(frame, node.args[0])
        return None
    if not isinstance(func, ast.Attribute):
        return None
    if func.attr in ("import_module", "__import__"):
        return _import_call(frame, node)
    base = value(frame, func.value)
    if isinstance(base, Keys):
        return _container_method(frame, base, func.attr, node)
    if isinstance(base, Space) and func.attr in ("keys", "items", "copy") and not node.args:
        return Attributes(base.module) if func.attr == "keys" else base
    if isinstance(base, OfClass):
        return class_tables.result(frame.ev, base.ref, func.attr)
    texts = strings(base)
    arguments = [strings(value(frame, a)) for a in node.args]
    if texts is None or node.keywords or any(a is None or len(a) != 1 for a in arguments):
        return None
    given = [next(iter(a)) for a in arguments if a]
    try:
        if func.attr == "split" and len(texts) == 1:
            return Keys(frozenset(next(iter(texts)).split(given[0] if given else None)))
        if func.attr in _PURE:
            return Choice(frozenset(getattr(t, func.attr)(*given) for t in texts))
        if func.attr == "format" and given:
            return Choice(frozenset(t.format(*given) for t in texts))
    except (TypeError, ValueError, IndexError, KeyError, AttributeError):
        return None
    return None


def _import_call(frame: Frame, node: ast.Call) -> Known | None:
    """The module that ``import_module(name, package)`` gives."""
    names = strings(value(frame, node.args[0])) if node.args else None
    if names is None or len(names) != 1:
        return None
    name = next(iter(names))
    if name.startswith("."):
        package = (
            node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "package"), None)
        )
        packages = strings(value(frame, package)) if package is not None else None
        if packages is None or len(packages) != 1:
            return None
        parts = next(iter(packages)).split(".")
        dots = len(name) - len(name.lstrip("."))
        if dots > len(parts):
            return None
        name = ".".join([*parts[: len(parts) - dots + 1], name.lstrip(".")]).rstrip(".")
    return ModuleValue(name)


def _container_method(frame: Frame, base: Keys, method: str, node: ast.Call) -> Known | None:
    if method in ("keys", "copy") and not node.args:
        return base._replace(mapping=base.mapping and method == "copy")
    if method == "items" and not node.args:
        return Keys(frozenset((k, ANYTHING) for k in base.values), base.exact)
    if method == "get" and node.args:
        names = strings(value(frame, node.args[0]))
        if names is not None and not names & base.values:
            return value(frame, node.args[1]) if len(node.args) > 1 else one(None)
        return _under(base, value(frame, node.args[0]))
    if method in ("union", "difference", "intersection") and len(node.args) == 1:
        other = value(frame, node.args[0])
        op = {"union": ast.BitOr(), "difference": ast.Sub(), "intersection": ast.BitAnd()}[method]
        if isinstance(other, Keys):
            made = ast.BinOp(left=node, op=op, right=node)
            inner = frame.with_env({"a": base, "b": other})
            made.left, made.right = ast.Name("a", ast.Load()), ast.Name("b", ast.Load())
            return _binary(inner, made)
    return None


def _subscript(frame: Frame, node: ast.Subscript) -> Known | None:
    """``sys.modules[name]``, what a mapping holds, and one of the elements of a sequence."""
    container = value(frame, node.value)
    if isinstance(container, Keys) and container.mapping:
        return _under(container, value(frame, node.slice))
    if isinstance(container, Keys) and not container.mapping and not isinstance(node.slice, ast.Slice):
        known = not any(v is ANYTHING or isinstance(v, tuple) for v in container.values)
        return Choice(container.values) if known and container.values else None
    if not isinstance(node.value, ast.Attribute) or node.value.attr != "modules":
        return None
    names = strings(value(frame, node.slice))
    return ModuleValue(next(iter(names))) if names is not None and len(names) == 1 else None


def _comprehension(frame: Frame, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Known | None:
    env = dict(frame.env)
    exact = True
    for generator in node.generators:
        inner = value(frame.with_env(env), generator.iter)
        if isinstance(inner, (Attributes, Space)):
            return _picked(frame, node, inner)
        found = elements(inner)
        if found is None or not isinstance(inner, Keys) or not bind(env, generator.target, found):
            return None
        exact = exact and inner.exact and not generator.ifs
    if len(node.generators) != 1:
        exact = False
    made = value(frame.with_env(env), node.key if isinstance(node, ast.DictComp) else node.elt)
    return Keys(made.values, exact, isinstance(node, ast.DictComp)) if isinstance(made, Choice) else None


def _picked(
    frame: Frame,
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
    container: Attributes | Space,
) -> Known | None:
    """``[name for name in dir(module) if ...]``."""
    env: dict[str, Known | None] = dict(frame.env)
    if len(node.generators) != 1 or not bind_one(env, node.generators[0].target, container):
        return None
    made = value(frame.with_env(env), node.key if isinstance(node, ast.DictComp) else node.elt)
    return Attributes(made.module) if isinstance(made, AttributeName) else None


def bind_one(env: dict[str, Known | None], target: ast.expr, container: Known | None) -> bool:
    """Let a loop's target stand for one element of a container; False when it cannot be told."""
    if isinstance(container, Attributes) and isinstance(target, ast.Name):
        env[target.id] = AttributeName(container.module)
        return True
    if isinstance(container, Space):
        if isinstance(target, ast.Tuple) and all(isinstance(e, ast.Name) for e in target.elts):
            env.update({e.id: None for e in target.elts if isinstance(e, ast.Name)})
            first = target.elts[0]
            if isinstance(first, ast.Name):
                env[first.id] = AttributeName(container.module)
            return True
        if isinstance(target, ast.Name):
            env[target.id] = AttributeName(container.module)
            return True
    return isinstance(container, Keys) and bind(env, target, container.values)


def bind(env: dict[str, Known | None], target: ast.expr, found: frozenset[object]) -> bool:
    """Let a loop's target stand for these elements; False when it cannot be told."""
    if isinstance(target, ast.Name):
        env[target.id] = Choice(found) if not any(_vague(v) for v in found) else None
        return True
    if isinstance(target, (ast.Tuple, ast.List)):
        for i, inner in enumerate(target.elts):
            if isinstance(inner, ast.Starred):
                return False
            parts = [v[i] if isinstance(v, tuple) and i < len(v) else ANYTHING for v in found]
            if not bind(env, inner, frozenset(parts)):
                return False
        return True
    return False


def _vague(element: object) -> bool:
    return element is ANYTHING or (isinstance(element, tuple) and any(_vague(part) for part in element))


def stored(node: ast.AST) -> Iterator[str]:
    """Every local name that a function's body binds (nested functions' own names included)."""
    for sub in ast.walk(node):
        if isinstance(sub, ast.Name) and not isinstance(sub.ctx, ast.Load):
            yield sub.id
        elif isinstance(sub, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and sub is not node:
            yield sub.name
        elif isinstance(sub, (ast.Import, ast.ImportFrom)):
            yield from ((a.asname or a.name.split(".")[0]) for a in sub.names)
        elif isinstance(sub, ast.ExceptHandler) and sub.name:
            yield sub.name
