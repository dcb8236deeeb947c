"""Does a text that this Python cannot parse look like that of a newer one?

Only asked of text that does not parse, so a rough answer will do: a wrong yes calls a typing error
"newer syntax", and in both cases nothing is claimed about the code.
"""

from __future__ import annotations

import re
import sys

_CLASS = r"(?:(?:\w+\.)*[A-Z]\w*|(?:\w+\.)+error)"
_STRING = r"(?:[^\"'\n\\]|\\.)*"

# (first Python with it, what it looks like)
_CONSTRUCTS: tuple[tuple[tuple[int, int], re.Pattern[str]], ...] = (
    # PEP 654: except*
    ((3, 11), re.compile(r"^[ \t\f]*except[ \t]*\*", re.MULTILINE)),
    # PEP 646: a star in an index, or as the annotation of *args
    ((3, 11), re.compile(r"\w\[[^\[\]\n]*(?<![\w)\]* ])[ ]*\*\w|\(\s*\*\w+\s*:\s*\*\w")),
    # PEP 695: type X = ..., def f[T](...), class C[T]
    ((3, 12), re.compile(r"^[ \t\f]*type[ \t]+\w+[ \t]*(?:\[[^\n]*\])?[ \t]*=(?!=)", re.MULTILINE)),
    ((3, 12), re.compile(r"^[ \t\f]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+[ \t]*\[", re.MULTILINE)),
    # PEP 701: the f-string's own quote, a backslash or a comment in a replacement field
    ((3, 12), re.compile(rf"\b[rR]?[fF][rR]?\"{_STRING}\{{[^\"\n{{}}]*\"[^\"\n]*\"[^\n]*\}}")),
    ((3, 12), re.compile(rf"\b[rR]?[fF][rR]?'{_STRING}\{{[^'\n{{}}]*'[^'\n]*'[^\n]*\}}")),
    ((3, 12), re.compile(r"\b[fF][\"'][^\"'\n{}]*\{[^\n{}]*\\[^\n{}]*\}")),
    ((3, 12), re.compile(r"\b[rR]?[fF][rR]?[\"'][^\"'\n{}]*\{[ \t]*\n")),
    # PEP 696: defaults of type parameters
    ((3, 13), re.compile(r"^[ \t\f]*(?:def|class|type)[ \t]+\w+[ \t]*\[[^\]\n]*=", re.MULTILINE)),
    # PEP 750: t-strings
    ((3, 14), re.compile(r"(?<![\w\"'])(?:[tT][rR]?|[rR][tT])[\"']")),
    # PEP 758: except A, B: without parentheses (Python 2 has a variable there, in lower case)
    (
        (3, 14),
        re.compile(rf"^[ \t\f]*except\*?[ \t]+{_CLASS}(?:[ \t]*,[ \t]*{_CLASS})+[ \t]*:", re.MULTILINE),
    ),
)


def uses_newer_syntax(text: str, version: tuple[int, int] = sys.version_info[:2]) -> bool:
    """Whether `text`, which Python `version` cannot parse, uses a construct of a later one."""
    return any(first > version and pattern.search(text) for first, pattern in _CONSTRUCTS)
