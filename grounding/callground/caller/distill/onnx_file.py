"""Small ONNX models, written without the package `onnx`, which is as large as all that a distilled caller needs.

Only what two linear heads take: initializers and a chain of nodes.  Field numbers are those of ``onnx.proto`` (IR 8).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOAT, INT64, FLOAT16 = 1, 7, 10
_TYPES = {"float32": FLOAT, "int64": INT64, "float16": FLOAT16}
_OPSET = 17
_IR = 8


class Node(NamedTuple):
    """One operation."""

    kind: str
    inputs: tuple[str, ...]
    output: str
    attributes: Mapping[str, int] = {}
    """Whole numbers only."""


class Port(NamedTuple):
    """An input or output of the model: a name, an element type, and each dimension's size or name."""

    name: str
    element: int
    shape: tuple[int | str, ...]


def model(
    name: str,
    nodes: Sequence[Node],
    initializers: Mapping[str, NDArray[Any]],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
) -> bytes:
    """The model as the bytes of an ``.onnx`` file."""
    graph = b"".join(_bytes(1, _node(node)) for node in nodes)
    graph += _text(2, name)
    graph += b"".join(_bytes(5, _tensor(key, value)) for key, value in initializers.items())
    graph += b"".join(_bytes(11, _port(port)) for port in inputs)
    graph += b"".join(_bytes(12, _port(port)) for port in outputs)
    opset = _text(1, "") + _number(2, _OPSET)
    return _number(1, _IR) + _text(2, "callground") + _bytes(7, graph) + _bytes(8, opset)


def _node(node: Node) -> bytes:
    out = b"".join(_text(1, name) for name in node.inputs) + _text(2, node.output) + _text(4, node.kind)
    for key, value in node.attributes.items():
        out += _bytes(5, _text(1, key) + _number(3, value) + _number(20, 2))
    return out


def _tensor(name: str, value: NDArray[Any]) -> bytes:
    array = np.ascontiguousarray(value)
    dims = b"".join(_number(1, size) for size in value.shape)
    raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return dims + _number(2, _TYPES[array.dtype.name]) + _text(8, name) + _bytes(9, raw)


def _port(port: Port) -> bytes:
    dims = b"".join(_bytes(1, _number(1, d) if isinstance(d, int) else _text(2, d)) for d in port.shape)
    tensor = _number(1, port.element) + _bytes(2, dims)
    return _text(1, port.name) + _bytes(2, _bytes(1, tensor))


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value if value >= 0 else value + (1 << 64))


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def scalar(value: float) -> NDArray[np.float32]:
    """A number as an initializer."""
    return np.frombuffer(struct.pack("<f", value), dtype="<f4").reshape(()).astype(np.float32)
