"""Type parameters: what they are solved to."""

from __future__ import annotations

import pytest

from callground.resolve import generics
from callground.resolve.values import (
    NONE,
    CallableObject,
    ClassObject,
    Instance,
    Ref,
    TypeOfVar,
    TypeVarObject,
    Values,
    instance,
    known,
    unknown,
)
from callground.verdict.model import Reason
from desk import Desk

T = TypeVarObject(Ref("main", "T"))
U = TypeVarObject(Ref("main", "U"), known(instance("int")))
TEXT = known(instance("str"))
OPEN = unknown(Reason.UNKNOWN_TYPE, "T")


def listed(of: Values) -> Instance:
    return instance("list", of)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (known(T), TEXT),
        (known(listed(known(T))), known(listed(TEXT))),
        (known(listed(known(listed(known(T))))), known(listed(known(listed(TEXT))))),
        (known(T, NONE), known(instance("str"), NONE)),
        (known(U), known(U)),
        (known(TypeOfVar(T)), known(ClassObject(Ref("builtins", "str"), exact=False))),
        (known(CallableObject(known(T))), known(CallableObject(TEXT))),
        (known(Instance(Ref("builtins", "tuple"), literal=(known(T),))),
         known(Instance(Ref("builtins", "tuple"), literal=(TEXT,)))),
        (TEXT, TEXT),
    ],
)  # fmt: skip
def test_substitution(given, expected):
    assert generics.substitute(given, {T.ref: TEXT}) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (known(T), OPEN),
        (known(U), Values((instance("int"),), unknown(Reason.UNKNOWN_TYPE, "U").whys)),
        (known(listed(known(T))), known(listed(OPEN))),
        (known(TypeOfVar(T)), unknown(Reason.UNKNOWN_TYPE, "type[T]")),
        (TEXT, TEXT),
    ],
)
def test_what_stays_unsolved_is_open(given, expected):
    assert generics.finish(given) == expected
    assert not generics.has_vars(generics.finish(given))


PROGRAM = """
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")

class Box(Generic[T]):
    def __init__(self, value: T) -> None: ...
    def get(self) -> T: ...

class Text(Box[str]): ...

class Closable(Protocol[T_co]):
    def close(self) -> T_co: ...

class File:
    def close(self) -> bytes: ...

class Plain: ...

def same(value: T) -> T: ...
def pair(left: T, right: K) -> tuple[K, T]: ...
def first(items: Iterable[T]) -> T: ...
def values(table: Mapping[K, T]) -> T: ...
def result(function: Callable[..., T]) -> T: ...
def made(kind: type[T]) -> T: ...
def closed(thing: Closable[T]) -> T: ...
def either(thing: "Box[T] | Iterable[T]") -> T: ...
def maybe(thing: T | None) -> T: ...
async def later() -> int: ...
def waits(thing: "Awaitable[T] | Generator[T, None, None]") -> T: ...
def function() -> bytes: ...
"""

SOLVED = {
    "same('x')": "str",
    "pair('x', 1)[0]": "int",
    "first(['x'][:])": "str?",
    "first(('x',))": "str",
    "first({'a': 1}.keys())": "str?",
    "first(open('x'))": "str",
    "values(dict([('a', 1)]))": "int?",
    "result(function)": "bytes",
    "result(lambda: 'x')": "str",
    "result(Plain)": "Plain",
    "made(Plain)": "Plain",
    "closed(File())": "bytes",
    "closed(Plain())": "?",
    "either(Box('x'))": "str",
    "either(('x',))": "str",
    "maybe(None)": "?",
    "maybe('x')": "str",
    "waits(later())": "int",
    "Box('x').get()": "str",
    "Text('x').get()": "str",
    "Box[int]('x').get()": "int",
    "next(enumerate(('x',)))[1]": "str",
    "next(zip(('x',), (1,)))[1]": "int",
    "next(map(str, (1,)))": "str",
    "next(filter(None, ('x',)))": "str",
    "sorted(('x',))[0]": "str",
    "max(('x',))": "str",
    "dict(a='x')['a']": "str",
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    with Desk(tmp_path_factory.mktemp("generics"), {"main.py": PROGRAM}, tmp_path_factory.mktemp("cache")) as made:
        yield made


@pytest.mark.parametrize("expression", SOLVED)
def test_solved_from_arguments(expression, desk):
    values = desk.value(expression)
    names = sorted({o.ref.qualname for o in values.items if isinstance(o, Instance)})
    assert "|".join(names) + ("" if values.complete and names else "?") == SOLVED[expression]
