"""How wide text stands in a terminal: tabs, wide characters, combining marks, emoji, control characters."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

TAB = 4
"""Columns between tab stops: as most people's editors show Python."""

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
# Left-to-right overrides and the like can make a line read otherwise than it runs: shown by name.
_TRICKS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Cell(NamedTuple):
    """What one code point becomes on the screen."""

    text: str
    width: int


def cells(line: str) -> list[Cell]:
    """One cell for each code point of `line`; what belongs to the character before it has width 0."""
    result: list[Cell] = []
    column = 0
    previous = ""
    flags = 0
    for char in line:
        flags = flags + 1 if _is_flag(char) else 0
        if char == "\t":
            cell = Cell(" " * (TAB - column % TAB), TAB - column % TAB)
        elif char in _TRICKS or (unicodedata.category(char) in ("Cc", "Cs") and char not in "\u200d"):
            shown = f"<U+{ord(char):04X}>"
            cell = Cell(shown, len(shown))
        elif previous == _JOINER or _is_mark(char) or (flags and flags % 2 == 0):
            # Joined to the character before it: a family, a skin tone, an accent, the second half of a flag.
            cell = Cell(char, 0)
            if char == _EMOJI_STYLE and result and result[-1].width == 1:
                result[-1] = result[-1]._replace(width=2)
                column += 1
        else:
            wide = unicodedata.east_asian_width(char) in "WF" or flags
            cell = Cell(char, 2 if wide else 1)
        result.append(cell)
        column += cell.width
        previous = char
    return result


def width(text: str) -> int:
    """Columns that `text` takes."""
    return sum(cell.width for cell in cells(text))


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_mark(char: str) -> bool:
    if char == _JOINER or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    return unicodedata.category(char) in ("Mn", "Me", "Cf")


class Excerpt(NamedTuple):
    """A source line and the marks under it, ready to be printed one under the other."""

    line: str
    indent: str
    marks: str


def excerpt(line: str, start: int, end: int, limit: int = 160) -> Excerpt:
    """The source line with the code points from `start` to `end` marked (``^^^``), cut to `limit` columns.

    What the line leaves out on either side is shown as ``…``.
    """
    row = cells(line.rstrip("\r\n"))
    start = max(0, min(start, len(row)))
    end = max(start, min(end, len(row)))
    first, last = 0, len(row)
    if sum(cell.width for cell in row) > limit:
        # Keep the marked part and as much around it as there is room for, a little more after it.
        marked = sum(cell.width for cell in row[start:end])
        room = max(limit - 2 - marked, 0)
        first, taken = start, 0
        while first > 0 and taken + row[first - 1].width <= room // 2:
            first -= 1
            taken += row[first].width
        last = end
        while last < len(row) and taken + row[last].width <= room:
            taken += row[last].width
            last += 1
        while last > start + 1 and sum(cell.width for cell in row[first:last]) > limit - 2:
            last -= 1
    before = "…" if first > 0 else ""
    after = "…" if last < len(row) else ""
    text = before + "".join(cell.text for cell in row[first:last]) + after
    indent = " " * (len(before) + sum(cell.width for cell in row[first:start]))
    marked = sum(cell.width for cell in row[start : min(end, last)])
    return Excerpt(text, indent, "^" * max(1, min(marked, limit)))
