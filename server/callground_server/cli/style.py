"""Colours for terminals, and nothing at all for everything else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, TextIO

_CODES = {
    "bold": "1",
    "dim": "2",
    "error": "1;31",
    "warning": "1;33",
    "hint": "1;36",
    "note": "1;36",
    "good": "1;32",
    "where": "1",
    "gutter": "34",
    "name": "1;32",
}


class Style(NamedTuple):
    """Paints text, or leaves it as it is."""

    colours: bool

    def __call__(self, kind: str, text: str) -> str:
        """`text` in the colour of `kind`."""
        return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if self.colours and text else text


def style_for(stream: TextIO, environment: Mapping[str, str] = os.environ) -> Style:
    """Colours only on a terminal; ``NO_COLOR`` takes them away, ``FORCE_COLOR`` asks for them anywhere."""
    if environment.get("NO_COLOR"):
        return Style(False)
    forced = environment.get("FORCE_COLOR", environment.get("CLICOLOR_FORCE", ""))
    if forced:
        return Style(forced != "0")
    return Style(is_terminal(stream) and environment.get("TERM") != "dumb")


def is_terminal(stream: TextIO) -> bool:
    """Whether a person sees the stream as it is written."""
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False
