"""The words of Python text that tell whose work it is: names, numbers and strings, spelled the one way.

Formatters change everything else (blanks, quotes, trailing commas, brackets around long lines), so texts
are compared by these words only.  What stands in a comment counts too: commenting a block out and in again
changes nobody's authorship.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

_WORD = re.compile(
    r"""
    (?P<string>(?:\b[A-Za-z]{1,2})?(?:
        \"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:\"{3}|\Z)
      | '{3}[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*(?:'{3}|\Z)
      | "[^"\\\n]*(?:\\.[^"\\\n]*)*(?:"|(?=\n)|\Z)
      | '[^'\\\n]*(?:\\.[^'\\\n]*)*(?:'|(?=\n)|\Z)
    ))
  | (?P<number>(?:\d|\.\d)(?:[eE][+-]\d|[\w.])*)
  | (?P<name>\w+)
    """,
    re.VERBOSE | re.DOTALL,
)
_STRING = re.compile(r"([A-Za-z]*)(\"{3}|'{3}|\"|')(.*)", re.DOTALL)
_BLANKS = re.compile(r"\s+")

KEYWORDS = frozenset(keyword.kwlist) | {"match", "case", "type"}
SEPARATOR = "\0"


class Word(NamedTuple):
    """One word with its place."""

    key: str
    """Equal for two spellings of the same: quotes, prefix letters and the case of numbers do not matter."""
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The words of a text in order."""
    return [Word(_key(match), match.start(), match.end()) for match in _WORD.finditer(text)]


def by_line(found: Sequence[Word], text: str) -> list[list[int]]:
    """Numbers of the words line by line; a string that goes over several lines belongs to its first."""
    lines: list[list[int]] = []
    end = -1
    for number, word in enumerate(found):
        if not lines or word.start > end:
            lines.append([])
            end = text.find("\n", word.start)
            end = len(text) if end < 0 else end
        lines[-1].append(number)
    return lines


def joined(keys: list[str]) -> str:
    """Keys as one text in which a run of them can be searched."""
    return SEPARATOR + "".join(key + SEPARATOR for key in keys)


def is_name(key: str) -> bool:
    """Whether a word is a name, not a keyword, number or string."""
    return bool(key) and (key[0].isalpha() or key[0] == "_") and key not in KEYWORDS


def _key(match: re.Match[str]) -> str:
    text = match.group()
    if match.lastgroup == "name":
        return text
    if match.lastgroup == "number":
        return text.lower().rstrip("l").rstrip(".")
    return _string_key(text)


@lru_cache(maxsize=4096)
def _string_key(text: str) -> str:
    match = _STRING.match(text)
    assert match is not None
    prefix, quote, content = match.groups()
    content = content.removesuffix(quote)
    content = content.replace('\\"', '"').replace("\\'", "'")
    if len(quote) == 3:
        # A docstring is indented anew with its function.
        content = _BLANKS.sub(" ", content).strip()
    letters = "".join(sorted(prefix.lower().replace("u", "")))
    return f'"{letters}:{content}'
