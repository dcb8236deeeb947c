"""Which lines of a text an edit has made."""

from __future__ import annotations

from difflib import SequenceMatcher

Lines = tuple[tuple[int, int], ...]


def changed_ranges(old: str, new: str) -> Lines:
    """Lines of `new` (first, last) that `old` does not have there; empty when nothing but lines went."""
    before, after = _lines(old), _lines(new)
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    if not right:
        return ()
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    return tuple(
        (start + first + 1, start + last)
        for tag, _, _, first, last in matcher.get_opcodes()
        if tag in ("replace", "insert")
    )


def _lines(text: str) -> list[str]:
    # The same line ends as Python's own; a form feed ends no line.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
