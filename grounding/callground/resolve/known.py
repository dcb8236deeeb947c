"""What is known of a constant: the kinds of values that `constants` tells apart."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Union

from callground.graph.interface import Module, SourceFile
from callground.resolve.evaluator import Evaluator
from callground.resolve.values import Ref

MAX_VALUES = 20_000
"""Larger sets are not followed."""
ANYTHING = object()
"""The part of a tuple that is not known."""


class Choice(NamedTuple):
    """One of these constants."""

    values: frozenset[object]


class Keys(NamedTuple):
    """A container with these elements, or a mapping with these keys."""

    values: frozenset[object]
    exact: bool = True
    """False: some of them may not be in it."""
    mapping: bool = False
    """What it holds under the keys is another matter."""
    held: tuple[tuple[object, object], ...] = ()
    """For a mapping that is written out: what is under each key (a `Known` or None)."""


class Attributes(NamedTuple):
    """A container with names of what a module has: all of them, or only some."""

    module: str


class AttributeName(NamedTuple):
    """The name of something that a module has."""

    module: str


class Space(NamedTuple):
    """The namespace (``__dict__``) of a module."""

    module: str


class ModuleValue(NamedTuple):
    """A module object."""

    name: str


class OfClass(NamedTuple):
    """An instance of a class, or the class itself: what its attributes are stands in the class."""

    ref: Ref


class Named(NamedTuple):
    """Whatever a module has under a name."""

    module: str
    name: str


class Builtin(NamedTuple):
    """A function of the standard library that is known here, by its dotted name."""

    name: str


@dataclass(frozen=True, eq=False)
class Function:
    """A function, with the values that the scope around it has."""

    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    name: Named | None = None
    """Where it comes from."""


Known = Union[Choice, Keys, Attributes, AttributeName, Space, ModuleValue, OfClass, Named, Builtin, Function]  # noqa: UP007 - a name defined below


@dataclass(frozen=True, eq=False)
class Frame:
    """Where an expression stands: its module, and what local names are."""

    ev: Evaluator
    module: Module
    file: SourceFile
    env: dict[str, Known | None] = field(default_factory=dict)
    """Local names; None: not known.  Other names are those of the module."""

    def with_env(self, env: dict[str, Known | None]) -> Frame:
        """The same place with other local names."""
        return replace(self, env=env)


def one(value: object) -> Choice:
    """Exactly this constant."""
    return Choice(frozenset((value,)))


def strings(known: Known | None) -> frozenset[str] | None:
    """The strings that a value can be; None when it may be anything else."""
    if not isinstance(known, Choice):
        return None
    found = frozenset(v for v in known.values if isinstance(v, str))
    return found if len(found) == len(known.values) else None


def elements(known: Known | None) -> frozenset[object] | None:
    """What iterating over a value can give."""
    return known.values if isinstance(known, Keys) else None
