"""MurmurHash3 (x86, 32 bits, seed 0): the content hash of Agent Trace records."""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def murmur3(data: bytes) -> int:
    """The hash as a number."""
    value = 0
    for offset in range(0, len(data) - len(data) % 4, 4):
        value ^= _mixed(int.from_bytes(data[offset : offset + 4], "little"))
        value = (_rotated(value, 13) * 5 + 0xE6546B64) & _MASK
    tail = data[len(data) - len(data) % 4 :]
    if tail:
        value ^= _mixed(int.from_bytes(tail, "little"))
    value ^= len(data)
    value ^= value >> 16
    value = value * 0x85EBCA6B & _MASK
    value ^= value >> 13
    value = value * 0xC2B2AE35 & _MASK
    return value ^ value >> 16


def _mixed(block: int) -> int:
    return _rotated(block * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> (32 - by)) & _MASK
