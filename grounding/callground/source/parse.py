"""``ast.parse`` behind a guard: every failure is a value, nothing prints, nothing crashes."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable
from typing import NamedTuple

from callground.source.nesting import too_deep
from callground.source.newer import uses_newer_syntax

FILENAME = "<callground>"
"""The file name that the parser is given: warnings for it are dropped."""

_MODULE = re.compile(re.escape(FILENAME))


class Parsed(NamedTuple):
    """A tree, or why there is none."""

    tree: ast.Module | None
    error: str | None = None
    """``syntax-error``, ``too-deep`` or ``not-text``."""
    message: str = ""
    """What the parser said."""
    line: int = 0
    """1-based line of the error, 0 when it is not known."""
    column: int = 0
    """1-based column of the error as the parser counts it, 0 when it is not known."""
    end_line: int = 0


Newer = Callable[[str], "Parsed | None"]
"""Parses by a newer Python; None where that gives no answer."""

_newer: dict[tuple[int, int], Newer] = {}


def use_newer(version: tuple[int, int], parser: Newer) -> None:
    """Give texts with newer syntax to a newer Python.  What becomes of a text then depends on nothing else either."""
    _newer[version] = parser


def newest() -> tuple[int, int]:
    """The newest Python whose syntax is understood."""
    return max(_newer, default=sys.version_info[:2])


def parse(text: str) -> Parsed:
    """Parse the text of a module or of a piece."""
    parsed = _parse(text)
    if parsed.error == "syntax-error" and _newer and uses_newer_syntax(text):
        return _newer[newest()](text) or parsed
    return parsed


def _parse(text: str) -> Parsed:
    if "\0" in text:
        return Parsed(None, "not-text", "the text contains a null character")
    if too_deep(text):
        return Parsed(None, "too-deep", "the code is nested too deeply")
    _silence_warnings()
    try:
        return Parsed(ast.parse(text, FILENAME))
    except SyntaxError as error:
        message = error.msg or "invalid syntax"
        if "too many" in message and ("parenthes" in message or "indentation" in message):
            return Parsed(None, "too-deep", message, error.lineno or 0)
        return Parsed(
            None,
            "syntax-error",
            message,
            error.lineno or 0,
            error.offset or 0,
            getattr(error, "end_lineno", None) or 0,
        )
    except (RecursionError, MemoryError):
        return Parsed(None, "too-deep", "the code is nested too deeply")
    except (ValueError, UnicodeError, OverflowError) as error:
        # Lone surrogates, integers with too many digits.
        return Parsed(None, "syntax-error", str(error))


def _silence_warnings() -> None:
    """Keep a filter for `FILENAME` in front.

    ``warnings.catch_warnings`` would do, but it changes the filters of the whole process for a
    moment, which is not safe with threads.  This filter concerns nothing but our own parses.
    """
    filters = warnings.filters
    if filters:
        module = filters[0][3]
        if module is not None and getattr(module, "pattern", module) == _MODULE.pattern:
            return
    warnings.filterwarnings("ignore", module=_MODULE.pattern)
