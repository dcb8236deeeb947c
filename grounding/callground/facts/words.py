"""The words of a piece: what it mentions, and which of its lines deserve a look into expressions."""

from __future__ import annotations

import keyword
import re
import unicodedata

# Strings end by the same rule whatever their prefix, so the prefix is left to match as a word: a
# stray ``f`` or ``r`` in the set of mentions does no harm.
_TOKEN = re.compile(
    r'''"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'''
    r"""|\'\'\'[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*\'\'\'"""
    r"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"""
    r"""|\#[^\n]*|\w+""",
    re.DOTALL,
)
_WORD = re.compile(r"\w+")
KEYWORDS = frozenset(keyword.kwlist)
"""Words that are not mentions of anything."""

HOT_WORDS = frozenset(
    {
        "__all__",
        "__dict__",
        "__import__",
        "__setattr__",
        "_convert_",
        "addsitedir",
        "exec",
        "f_globals",
        "f_locals",
        "global_enum",
        "globals",
        "import_module",
        "locals",
        "meta_path",
        "modules",
        "path_hooks",
        "setattr",
        "vars",
        "yield",
    }
)
"""Statements with one of these are looked into, expression by expression; most pieces have none."""

_MADE_CLASS = re.compile(r"\b(?:type\((?:[^(),]|\([^()]*\))*,|new_class\()")
"""A class made by a call: ``type(name, bases, namespace)``."""

# The last two: an attribute as the target of a comprehension.
_HOT_PATTERNS = (":=", "sys.path", "for self.", "for cls.")


def words(text: str) -> frozenset[str]:
    """Keywords, identifiers, attribute names and identifier-like string constants of a text.

    Names inside the braces of any string are counted too, since the text may be an f-string.
    Words of comments and of other strings are not.
    """
    tokens = set(_TOKEN.findall(text))
    names = {token for token in tokens if token.isidentifier()}
    if not text.isascii():
        names = {unicodedata.normalize("NFKC", name) for name in names}
    for token in tokens:
        if token.isidentifier():
            continue
        first = token[0]
        if first == "#" or first.isdigit():
            continue
        inner = token.strip(first)
        if inner.isidentifier():
            names.add(inner)
        elif "{" in inner:
            for part in inner.split("{")[1:]:
                names.update(word for word in _WORD.findall(part.partition("}")[0]) if word.isidentifier())
        elif "." in inner and len(inner) < 200 and inner.replace(".", "").isidentifier():
            # "package.module.attribute", as mock.patch and import_module take it.
            names.update(word for word in inner.split(".") if word)
    return frozenset(names)


def hot_offsets(text: str, names: frozenset[str]) -> list[int]:
    """Offsets, sorted, at which a statement needs a look into its expressions."""
    offsets: list[int] = []
    patterns: list[str] = [pattern for pattern in _HOT_PATTERNS if pattern in text]
    patterns.extend(HOT_WORDS & names)
    for pattern in patterns:
        position = text.find(pattern)
        while position >= 0:
            offsets.append(position)
            position = text.find(pattern, position + 1)
    if "type" in names or "new_class" in names:
        offsets.extend(match.start() for match in _MADE_CLASS.finditer(text))
    offsets.sort()
    return offsets
