"""What every kind of record comes down to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from callground.provenance.intervals import Stamp

Report = Callable[[str], None]
"""Takes what is wrong with a record, in words for people."""


class Lines(NamedTuple):
    """Lines ``first`` to ``last`` (1-based, inclusive) have a stamp."""

    first: int
    last: int
    stamp: Stamp


def at(lines: list[Lines], number: int) -> Stamp | None:
    """The stamp of one line; the first record that covers it counts."""
    for record in lines:
        if record.first <= number <= record.last:
            return record.stamp
    return None
