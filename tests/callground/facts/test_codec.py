"""Facts to bytes and back."""

from __future__ import annotations

import json
import zlib

import pytest

from callground.facts.codec import LARGEST_DECODED, decode, encode
from callground.facts.extract import extract_module
from callground.facts.model import ModuleFacts, Piece

TEXT = '''\
"""Doc é."""
import a.b as c
from .d import *
__all__ = ["x"] + c.__all__

@dec(1)
class C(Base, metaclass=M):
    x: int = 1
    if a:
        y, (z, *w) = f()

    def m(self, p, /, q=1, *args, r: "int" = 2, **kw) -> None:
        """Doc."""
        self.v: int = 1
        setattr(self, q, r)
        a.b.c = 1
        yield

X = [{long}]
exec(b)
foo(
'''.replace("{long}", "1, " * 1_000)


@pytest.mark.parametrize(
    "facts",
    [
        extract_module(TEXT),
        extract_module(""),
        extract_module("\0"),
        extract_module("'\\ud800'; x = 'lone \\x00'"),
    ],
    ids=["everything", "empty", "error", "strange"],
)
def test_facts_come_back_equal_and_of_the_same_types(facts: ModuleFacts) -> None:
    again = decode(encode(facts))
    assert again == facts
    assert _types(again) == _types(facts)
    assert encode(again) == encode(facts)


def _types(value: object) -> object:
    if isinstance(value, frozenset):
        return "frozenset"
    if isinstance(value, tuple):
        return (type(value).__name__, [_types(part) for part in value])
    return type(value).__name__


def _packed(value: object) -> bytes:
    return zlib.compress(json.dumps(value).encode())


GOOD_PIECE = list(Piece("d", 1, (), (), (), (), (), (), frozenset(), ()))
GOOD_PIECE[8] = []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not zlib",
        encode(extract_module(TEXT))[:-9],
        zlib.compress(b"not json"),
        zlib.compress(b"\xff\xfe"),
        _packed({}),
        _packed([]),
        _packed([1, 2, 3, 4]),
        _packed([[], [], "utf-8"]),
        _packed([[], [], 8, None]),
        _packed([[], [1], "utf-8", None]),
        _packed([[[1]], [1], "utf-8", None]),
        _packed([[["d", "1", *GOOD_PIECE[2:]]], [1], "utf-8", None]),
        _packed([[[*GOOD_PIECE[:2], [[1]], *GOOD_PIECE[3:]]], [1], "utf-8", None]),
        _packed([[[*GOOD_PIECE[:3], [["f"]], *GOOD_PIECE[4:]]], [1], "utf-8", None]),
        _packed([[[*GOOD_PIECE[:4], [["C"]], *GOOD_PIECE[5:]]], [1], "utf-8", None]),
        _packed([[GOOD_PIECE], ["1"], "utf-8", None]),
        zlib.compress(b"[" * 100_000),
        zlib.compress(b" " * (LARGEST_DECODED + 1)),
    ],
    ids=range(19),
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode(data)


def test_the_smallest_piece_is_accepted() -> None:
    assert decode(_packed([[GOOD_PIECE], [1], "utf-8", None])).pieces[0].digest == "d"
