"""Abstract objects and sets of them.

A `Values` is a set of abstract objects plus the reasons why the set may not be complete.  Joining with
something unknown keeps the members (good for repairs and completion) and adds the reason (so no finding).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from callground.verdict.model import Reason

if TYPE_CHECKING:
    import ast

    from callground.resolve.scopes import Scope

MAX_ALTERNATIVES = 120
"""More alternatives than this are cut off: the set is then open (reason ``budget``)."""


class Ref(NamedTuple):
    """Identity of a class or function: the module that defines it and its dotted name there."""

    module: str
    qualname: str

    @property
    def dotted(self) -> str:
        """``module.qualname``, without the module for builtins."""
        return self.qualname if self.module == "builtins" else f"{self.module}.{self.qualname}"


class Why(NamedTuple):
    """One reason why something is not certain, with a word about where it came from."""

    reason: Reason
    detail: str = ""


@dataclass(frozen=True)
class ModuleObject:
    """A module."""

    name: str


@dataclass(frozen=True)
class ClassObject:
    """A class itself; `args` are the values of its type parameters, where they are known."""

    ref: Ref
    args: tuple[Values, ...] = ()
    exact: bool = True
    """False when it may be a subclass (``cls``, ``type[X]``)."""


@dataclass(frozen=True)
class Instance:
    """An instance of a class."""

    ref: Ref
    args: tuple[Values, ...] = ()
    exact: bool = False
    """False when it may be an instance of a subclass (annotations, ``self``)."""
    literal: object = None
    """For constants: ``(type name, value)``; for tuples of known shape: a tuple of Values."""
    is_self: bool = False
    """The first parameter of a method: its class may be a mixin."""

    @property
    def items(self) -> tuple[Values, ...] | None:
        """The elements of a tuple whose shape is known."""
        if isinstance(self.literal, tuple) and (not self.literal or isinstance(self.literal[0], Values)):
            return self.literal
        return None


@dataclass(frozen=True)
class FunctionObject:
    """A function or method that stands in some module's facts (all rows of that qualname are alternatives)."""

    ref: Ref
    owner: Ref | None = None
    """The class in whose body it stands."""


@dataclass(frozen=True, eq=False)
class LocalFunction:
    """A function or lambda defined inside a function: known by its node and the scope around it."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    scope: Scope


@dataclass(frozen=True)
class BoundMethod:
    """A callable with its first parameter taken."""

    function: Obj
    receiver: Obj


@dataclass(frozen=True)
class PropertyObject:
    """What ``property`` makes of a function: reading the attribute calls it."""

    function: Obj


@dataclass(frozen=True)
class StaticObject:
    """What ``staticmethod`` makes of a function."""

    function: Obj


@dataclass(frozen=True)
class ClassMethodObject:
    """What ``classmethod`` makes of a function."""

    function: Obj


@dataclass(frozen=True)
class SuperObject:
    """``super()``: look-up starts after `start` in the MRO of the receiver."""

    start: Ref
    receiver: Obj


@dataclass(frozen=True)
class PartialObject:
    """``functools.partial(callee, *args, **kwargs)``."""

    callee: Obj
    positional: int
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class TypeVarObject:
    """A type parameter that has not been given a value yet (a ParamSpec too)."""

    ref: Ref
    bound: Values | None = None
    """What its bound or constraints allow; None without them."""


@dataclass(frozen=True)
class TypeOfVar:
    """``type[T]``: the class that a type parameter stands for."""

    var: TypeVarObject


@dataclass(frozen=True)
class CallableObject:
    """Something callable of which the result is known (``Callable[..., R]``)."""

    result: Values
    like: Obj | None = None
    """The callable whose signature it has (``Callable[P, R]`` with a known ``P``), or the unsolved ``P``."""
    params: tuple[Values, ...] | None = None
    """Its declared positional parameters (``Callable[[A, B], R]``); None for ``Callable[..., R]``."""
    declares: bool = False
    """Made by ``NewType``: as an annotation it stands for its result."""


Obj = (
    ModuleObject
    | ClassObject
    | Instance
    | FunctionObject
    | LocalFunction
    | BoundMethod
    | PropertyObject
    | StaticObject
    | ClassMethodObject
    | SuperObject
    | PartialObject
    | CallableObject
    | TypeVarObject
    | TypeOfVar
)


@dataclass(frozen=True)
class Values:
    """A set of alternatives; complete when there is no reason against it."""

    items: tuple[Obj, ...] = ()
    whys: tuple[Why, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing else is possible."""
        return not self.whys

    def opened(self, reason: Reason, detail: str = "") -> Values:
        """The same alternatives, with one more reason why others are possible."""
        why = Why(reason, detail)
        return self if why in self.whys else Values(self.items, (*self.whys, why)[:4])

    def without_none(self) -> Values:
        """The alternatives that are not None."""
        return Values(tuple(o for o in self.items if not is_none(o)), self.whys)


NEVER = Values()


class Member(NamedTuple):
    """The outcome of a member look-up: found values, a reason why it is open, or neither (proved missing)."""

    found: Values | None = None
    why: Why | None = None
    guarded: str = ""
    """The name exists, but only under a version or platform guard that this environment does not meet."""


MISSING = Member()


def unknown(reason: Reason, detail: str = "") -> Values:
    """Nothing is known, for this reason."""
    return Values((), (Why(reason, detail),))


def known(*objects: Obj) -> Values:
    """A complete set of these objects."""
    return Values(tuple(dict.fromkeys(objects)))


def join(*many: Values) -> Values:
    """The union; complete when every part is."""
    if len(many) == 1:
        return many[0]
    items: dict[Obj, None] = {}
    whys: dict[Why, None] = {}
    for v in many:
        items.update(dict.fromkeys(v.items))
        whys.update(dict.fromkeys(v.whys))
    if len(items) > MAX_ALTERNATIVES:
        whys[Why(Reason.BUDGET, "too many alternatives")] = None
    return Values(tuple(items)[:MAX_ALTERNATIVES], tuple(whys)[:4])


NONE_REF = Ref("types", "NoneType")


def builtin(name: str) -> Ref:
    """The builtin class of that name."""
    return Ref("builtins", name)


NONE = Instance(NONE_REF, exact=True)


def is_none(o: Obj) -> bool:
    """Whether the object is None."""
    return isinstance(o, Instance) and o.ref == NONE_REF


def instance(name: str, *args: Values, exact: bool = True, literal: object = None) -> Instance:
    """An instance of a builtin class."""
    return Instance(builtin(name), args, exact, literal)


def literal_value(o: Obj) -> tuple[bool, object]:
    """(whether the object is a constant, its value)."""
    if isinstance(o, Instance):
        if is_none(o):
            return True, None
        if isinstance(o.literal, Literal):
            return True, o.literal.value
    return False, None


class Literal(NamedTuple):
    """A constant's value with its type's name, so that ``True`` and ``1`` stay apart."""

    type: str
    value: object
