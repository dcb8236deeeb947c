"""Facts to bytes and back: zlib-compressed JSON arrays, which cannot execute anything.

A row is the array of its fields.  The format has no version of its own: `EXTRACTOR_VERSION` is
part of every key, and a row that does not fit raises ValueError, upon which the entry is dropped.
"""

from __future__ import annotations

import json
import zlib
from itertools import chain, starmap
from typing import Any

from callground.facts.model import (
    AttrStore,
    Binding,
    Class,
    Function,
    ModuleFacts,
    Param,
    Piece,
    SelfAttr,
)

LARGEST_DECODED = 64 * 1024 * 1024
"""Most bytes of JSON that an entry is unpacked to: a broken or planted entry must not fill the memory."""


def encode(facts: ModuleFacts) -> bytes:
    """The facts as bytes."""
    # Strings that stand in many rows (names, mentions) are left to zlib.  Tuples are written as
    # arrays; the one set is sorted, so that equal facts are equal bytes.
    pieces = [(*piece[:8], sorted(piece.mentions), *piece[9:]) for piece in facts.pieces]
    value = (pieces, facts.starts, facts.encoding, facts.error)
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"), 1)


def decode(data: bytes) -> ModuleFacts:
    """The facts again.  Raises ValueError for anything that `encode` did not make."""
    try:
        unpack = zlib.decompressobj()
        plain = unpack.decompress(data, LARGEST_DECODED)
        if not unpack.eof:
            raise ValueError("the entry is cut off or too large")
        pieces, starts, encoding, error = json.loads(plain)
        _check(starts, int)
        if not isinstance(encoding, str) or not (error is None or isinstance(error, str)):
            raise ValueError("the header does not fit")
        facts = ModuleFacts(tuple([_piece(*fields) for fields in pieces]), tuple(starts), encoding, error)
    except ValueError:
        raise
    except (zlib.error, TypeError, KeyError, RecursionError, MemoryError) as problem:
        raise ValueError(f"not the facts of a module: {problem}") from problem
    if len(facts.starts) != len(facts.pieces):
        raise ValueError("pieces and starts do not fit")
    return facts


def _piece(
    digest: str,
    lines: int,
    bindings: list[list[Any]],
    functions: list[list[Any]],
    classes: list[list[Any]],
    stores: list[list[Any]],
    exports: list[list[Any]],
    dynamic: list[str],
    mentions: list[str],
    masked: list[list[int]],
    imports: list[list[Any]],
) -> Piece:
    _check((digest,), str)
    _check((lines, *chain.from_iterable(masked)), int)
    _check(chain(dynamic, mentions), str)
    return Piece(
        digest,
        lines,
        tuple(starmap(_binding, bindings)),
        tuple(starmap(_function, functions)),
        tuple(starmap(_class, classes)),
        tuple([AttrStore(*fields) for fields in stores]),
        tuple([(operator, source, tuple(names)) for operator, source, names in exports]),
        tuple(dynamic),
        frozenset(mentions),
        tuple([(first, last) for first, last in masked]),
        tuple([(module, tuple(names)) for module, names in imports]),
    )


def _binding(
    name: str,
    kind: str,
    line: int,
    col: int,
    value: str | None,
    path: str,
    annotation: str | None,
    guards: list[str],
) -> Binding:
    return Binding(name, kind, line, col, value, path, annotation, tuple(guards))


def _function(*fields: Any) -> Function:
    row = Function(*fields)
    return row._replace(
        params=tuple(starmap(Param, row.params)),
        decorators=tuple(row.decorators),
        type_params=tuple(row.type_params),
    )


def _class(*fields: Any) -> Class:
    row = Class(*fields)
    return row._replace(
        bases=tuple(row.bases),
        keywords=tuple([(name, value) for name, value in row.keywords]),
        decorators=tuple(row.decorators),
        members=tuple(starmap(_binding, row.members)),
        self_attrs=tuple(starmap(_self_attr, row.self_attrs)),
        dynamic=tuple(row.dynamic),
        type_params=tuple(row.type_params),
    )


def _self_attr(*fields: Any) -> SelfAttr:
    row = SelfAttr(*fields)
    return row._replace(guards=tuple(row.guards))


def _check(values: Any, kind: type) -> None:
    for value in values:
        if value.__class__ is not kind:
            raise ValueError(f"{value!r} is not of type {kind.__name__}")
