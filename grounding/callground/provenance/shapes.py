"""What an edit looks like: a key stroke, a completion, a repeated edit, a call with its arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from callground.provenance.align import Run
from callground.provenance.tokens import KEYWORDS, Word, is_name
from callground.text.edits import Edit, difference

_PAIRS = frozenset(
    ("()", "[]", "{}", '""', "''", '""""""', "''''''", '""""', "''''", "<>", "``", "( )", "[ ]", "{ }", "{  }")
)
_BLANK = re.compile(r"\s*\Z")
_IDENTIFIER = re.compile(r"\w+\Z")
_ACCEPTED = re.compile(r"[\w.]*\w(?:\(\)?)?\Z")
_DEFINES = frozenset(("def", "class"))
_STRING_OR_COMMENT = re.compile(
    r""""{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:"{3}|\Z)"""
    r"""|'{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\Z)"""
    r"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?"""
    r"""|\#[^\n]*""",
    re.DOTALL,
)
_SPECIAL = re.compile(r"[.=\"'\[{*+/%<>]|-\d")

SNIPPET_WORDS = 8
SNIPPET_LINES = 3
"""What a trigger word may grow into and still be an expansion of a few words."""
MANY_WORDS = 5
"""From so many words on, calls without arguments are more than a completion."""


def trimmed(edit: Edit, text: str) -> Edit | None:
    """The edit without the beginning and end that the old and the new text share; None when nothing is left."""
    shorter = difference(text[edit.start : edit.end], edit.text)
    if shorter is None:
        return None
    return Edit(edit.start + shorter.start, edit.start + shorter.end, shorter.text)


def is_key_stroke(removed: str, inserted: str) -> bool:
    """Whether one key may have done it, with what editors add by themselves: closing brackets, indentation."""
    if len(removed) > 1 and not _BLANK.match(removed) and removed not in _PAIRS:
        return False
    return (
        len(inserted) <= 1
        or bool(_BLANK.match(inserted))
        or inserted in _PAIRS
        or (len(inserted) == 2 and inserted[1] in ")]}\"':")
        # A comment or list goes on by itself on the next line.
        or bool(re.match(r"\n[ \t]*# ?\Z", inserted))
    )


def is_mixed(inserted: str) -> bool:
    """Whether a piece holds more than a key stroke or a completed word brings: how assistants stream."""
    core = inserted.strip("\n")
    if len(core) < 2 or _BLANK.match(core) or inserted in _PAIRS:
        return False
    return not _ACCEPTED.match(core)


def is_completion(inserted: str) -> bool:
    """A name, dotted or not, with an empty pair of brackets or an opening one: an accepted completion."""
    return bool(_ACCEPTED.match(inserted.strip()))


def is_word(text: str) -> bool:
    """One identifier."""
    return bool(_IDENTIFIER.match(text))


def may_be_expansion(trigger: str, inserted: str, count: int) -> bool:
    """Whether a typed word may have been expanded (a snippet, a completion with its placeholders)."""
    return (
        0 < len(trigger) <= 40 and is_word(trigger) and count <= SNIPPET_WORDS and inserted.count("\n") < SNIPPET_LINES
    )


class Calls(NamedTuple):
    """The calls that new words bring."""

    with_arguments: int
    empty: int
    """``name()``."""


def calls_in(text: str, words: Sequence[Word], spots: Sequence[tuple[int, int]]) -> Calls:
    """Count the calls whose name, bracket and first argument are new: inside of `spots`, offsets of `text`."""
    quiet = [match.span() for match in _STRING_OR_COMMENT.finditer(text)]
    full = empty = 0
    previous = {word.start: before.key for before, word in zip([Word("", 0, 0), *words], words, strict=False)}
    for word in words:
        if not is_name(word.key) or previous[word.start] in _DEFINES or _inside(word.start, quiet):
            continue
        bracket = _next(text, word.end)
        if bracket is None or text[bracket] != "(" or not _new(bracket, spots):
            continue
        inner = _next(text, bracket + 1)
        if inner is None or not _new(inner, spots):
            continue
        if text[inner] == ")":
            empty += 1
        else:
            full += 1
    return Calls(full, empty)


def are_arguments(text: str, start: int, end: int, count: int) -> bool:
    """Whether ``text[start:end]`` fills the empty brackets of a call with more than names.

    Names alone are what completions put there as placeholders.
    """
    before = text[:start].rstrip(" ")
    if not before.endswith("(") or not re.search(r"\w\s*\(\Z", before) or count < 2:
        return False
    head = before[:-1].rstrip()
    word = re.search(r"\w+\Z", head)
    if word is None or word.group() in KEYWORDS or re.search(r"\b(?:def|class)\s+\w+\Z", head):
        return False
    return bool(_SPECIAL.search(text[start:end]))


def is_renaming(fresh: Sequence[Run]) -> bool:
    """Whether all that is new is one and the same name."""
    keys = {tuple(word.key for word in run.words) for run in fresh}
    return len(keys) == 1 and len(next(iter(keys))) == 1


def touches_call(text: str, fresh: Sequence[Run]) -> bool:
    """Whether some of the new words call something, or are arguments of a call."""
    for run in fresh:
        behind = text[run.end :].lstrip()[:1]
        before = text[: run.start].rstrip()[-1:]
        if behind == "(" and is_name(run.words[-1].key):
            return True
        if (before in ("(", ",") and before) or (behind in (")", ",") and behind):
            return True
    return False


def _inside(offset: int, stretches: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in stretches)


def _new(offset: int, spots: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in spots)


def _next(text: str, offset: int) -> int | None:
    """Offset of the next character that is not blank."""
    while offset < len(text):
        if not text[offset].isspace():
            return offset
        offset += 1
    return None
