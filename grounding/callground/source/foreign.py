"""Trees that a newer Python made of a text: its answer as JSON (`tree_dump`) becomes nodes of this one's ``ast``.

Classes that this Python has not stand here under their own names, so that whoever knows them by name (a newer server
has them in ``ast``) knows these as well.
"""

from __future__ import annotations

import ast
from typing import Any

from callground.source.tree_dump import POSITIONS


class TypeAlias(ast.stmt):
    """``type X[T] = value`` (3.12)."""

    _fields = ("name", "type_params", "value")


class _TypeParameter(ast.AST):
    _fields = ("name", "bound", "default_value")
    _attributes = POSITIONS


class TypeVar(_TypeParameter):
    """``T`` in ``class C[T]`` (3.12)."""


class ParamSpec(_TypeParameter):
    """``**P`` in ``def f[**P]()`` (3.12)."""


class TypeVarTuple(_TypeParameter):
    """``*Ts`` in ``class C[*Ts]`` (3.12)."""


class TemplateStr(ast.expr):
    """``t"..."`` (3.14)."""

    _fields = ("values",)


class Interpolation(ast.expr):
    """``{value}`` in a ``t"..."`` (3.14)."""

    _fields = ("value", "str", "conversion", "format_spec")


STAND_INS: dict[str, type[ast.AST]] = {
    made.__name__: made for made in (TypeAlias, TypeVar, ParamSpec, TypeVarTuple, TemplateStr, Interpolation)
}
_SAME = {"TryStar": "Try"}
"""Classes that have the fields of an older one, for Pythons without them."""
_NAMES = {"None": None, "True": True, "False": False, "Ellipsis": Ellipsis}


class Unreadable(Exception):
    """The answer is none that this module understands."""


def tree_of(answer: Any) -> ast.Module:
    """The module of an answer's ``tree``.  Raises Unreadable."""
    try:
        made = _built(answer)
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    if not isinstance(made, ast.Module):
        raise Unreadable("no module")
    return made


def _built(value: Any) -> Any:
    if isinstance(value, dict):
        return [_built(each) for each in value["list"]]
    if value[0] == "=":
        return _constant(value[1], value[2])
    name, fields, positions = value
    cls = getattr(ast, name, None) or getattr(ast, _SAME.get(name, ""), None) or STAND_INS.get(name)
    if cls is None:
        raise Unreadable(f"nodes of the class {name} are not known")
    node = cls()
    for field in cls._fields:
        # What the dump leaves out is None or empty.
        if not hasattr(node, field):
            setattr(node, field, [] if field in _LISTS else None)
    for field, each in fields.items():
        setattr(node, field, _built(each))
    for attribute, number in zip(POSITIONS, positions, strict=True):
        if number is not None:
            setattr(node, attribute, number)
    return node


_LISTS = frozenset(
    "args argtypes bases body cases comparators decorator_list defaults dims elts finalbody generators handlers ifs "
    "items keys keywords kwd_attrs kwd_patterns kwonlyargs kw_defaults names ops orelse patterns posonlyargs targets "
    "type_ignores type_params values".split()
)


def _constant(kind: str, text: str) -> Any:
    if kind == "name":
        return _NAMES[text]
    if kind == "str":
        return text
    if kind == "bytes":
        return text.encode("latin-1")
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "complex":
        return complex(text)
    raise Unreadable(f"constants of the type {kind} are not known")
