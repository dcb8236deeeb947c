"""What is asked for at a place of a text: a comment, what is typed of a statement, or what a function is said to do."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from callground.caller.code_context import Shape, shape_of
from callground.caller.tools import words
from callground.text.lines import LineIndex

ASIDE = re.compile(
    r"^(todo|fixme|xxx|noqa|type:|pylint|pragma|mypy|fmt:|isort|ruff|nosec|region|endregion|http|copyright|-\*-|!|\$)",
    re.I,
)
MOST_COMMENT_LINES = 3
_HEAD = re.compile(r"\s*(?:async\s+)?def\s+([^\W\d]\w*)")
_STEP = "    "


class Asked(NamedTuple):
    """A request, and where the call that answers it belongs."""

    request: str
    kind: str
    """``comment``, ``statement`` (only its beginning says what is wanted), ``docstring``, ``function`` or ``words``."""
    text: str
    """The text with the line of the call in it, still without the call."""
    line: int
    """1-based line of `text`."""
    indent: str
    shape: Shape
    start: int
    end: int
    """What the call replaces in the text that was asked about: offsets."""
    before: str
    """What has to be written before the statement there: a new line with its indentation, or nothing."""
    request_lines: tuple[int, int]
    """1-based lines of the comment; (0, -1) without one."""


def is_request(comment: str) -> bool:
    """Whether a comment may be a request: some words of prose, no directive, no code."""
    comment = comment.strip()
    found = re.findall(r"[^\W\d_]{2,}", comment)
    if not 2 <= len(found) <= 40 or ASIDE.match(comment):
        return False
    if len(re.findall(r"[^\W\d_]|[\s'\"`_]", comment)) < 0.75 * len(comment):
        return False
    try:
        tree = ast.parse(comment)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return not any(isinstance(node, (ast.Call, ast.Assign, ast.Import)) for node in ast.walk(tree))


def asked_at(text: str, offset: int, *, explicit: bool = False, request: str = "") -> Asked | None:
    """What is asked for at an offset of a text; None where nothing is.

    Unless `explicit`, only a comment is a request: at its end (where no code stands right under it), on the empty
    line under it, or on the beginning of a statement under it.  `request` stands for whatever the text says.
    """
    index = LineIndex(text)
    number, column = index.position(offset)
    line = index.line(number)
    written, behind = line[:column], line[column:]
    if behind.strip():
        return None
    stripped = written.strip()
    newline = "\r\n" if "\r\n" in text else "\n"
    if stripped.startswith("#"):
        comment, first = _comment_up(index, number)
        if not request and not is_request(comment):
            return None
        if not request and number < index.count and _continues(index, number, explicit):
            return None
        indent = written[: len(written) - len(written.lstrip())]
        end = index.offset(number, len(line))
        opened = text[:end] + newline + indent + text[end:]
        return Asked(
            request or comment,
            "comment",
            opened,
            number + 1,
            indent,
            Shape(),
            end,
            end,
            newline + indent,
            (first, number),
        )
    shape = shape_of(written)
    if shape is None:
        return _below(text, index, number, request) if request else None
    indent = written[: len(written) - len(written.lstrip())] if stripped else _indent(index, number, written)
    start = index.offset(number, 0)
    end = index.offset(number, len(line))
    cleaned = text[:start] + indent + stripped + text[end:]
    comment, first = _comment_up(index, number - 1)
    lines = (first, number - 1) if comment else (0, -1)
    kind = "comment"
    if request:
        kind = "words"
    else:
        if comment and is_request(comment):
            request = comment
        elif explicit and shape.target:
            request, kind = words(shape.target), "statement"
        elif explicit and not stripped:
            said = _said_by_function(index, number)
            if said is None:
                return None
            request, kind = said
        else:
            return None
    return Asked(request, kind, cleaned, number, indent, shape, start, end, indent, lines)


def _below(text: str, index: LineIndex, number: int, request: str) -> Asked:
    """A request in words beside a finished statement: the call goes on a line of its own under it."""
    line = index.line(number)
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = line[: len(line) - len(line.lstrip())]
    if line.split("#", 1)[0].rstrip().endswith(":"):
        indent += _STEP
    end = index.offset(number, len(line))
    opened = text[:end] + newline + indent + text[end:]
    return Asked(request, "words", opened, number + 1, indent, Shape(), end, end, newline + indent, (0, -1))


def _comment_up(index: LineIndex, number: int) -> tuple[str, int]:
    """The comment that ends on a line, on one line, and its first line; nothing where there is none."""
    found: list[str] = []
    first = number
    while number >= 1 and len(found) < MOST_COMMENT_LINES:
        stripped = index.line(number).strip()
        if not stripped.startswith("#"):
            break
        found.insert(0, stripped.lstrip("#").strip())
        first = number
        number -= 1
    return " ".join(part for part in found if part), first


def _continues(index: LineIndex, number: int, explicit: bool) -> bool:
    """Whether the comment goes on below, or (where nobody asked) is about code that stands right under it."""
    below = index.line(number + 1)
    if below.lstrip().startswith("#"):
        return True
    if explicit or not below.strip():
        return False
    own = index.line(number)
    return len(below) - len(below.lstrip()) >= len(own) - len(own.lstrip())


def _indent(index: LineIndex, number: int, written: str) -> str:
    """The indentation for an empty line: its own, else that of the line above, or of the block that one opens."""
    if written:
        return written
    for above in range(number - 1, 0, -1):
        line = index.line(above)
        if line.strip():
            white = line[: len(line) - len(line.lstrip())]
            opens = line.split("#", 1)[0].rstrip().endswith(":") and not line.lstrip().startswith("#")
            return white + _STEP if opens else white
    return ""


def _said_by_function(index: LineIndex, number: int) -> tuple[str, str] | None:
    """On the first line of a function's body: its docstring's first line, or its name."""
    above = number - 1
    while above >= 1 and not index.line(above).strip():
        above -= 1
    line = index.line(above).strip() if above >= 1 else ""
    documented = ""
    if line.endswith(('"""', "'''")):
        quote = line[-3:]
        first = above
        body = line[:-3]
        while first >= 1 and quote not in body:
            first -= 1
            body = index.line(first) if first >= 1 else ""
        if first < 1:
            return None
        opening = index.line(first).strip().lstrip("rRuU")[3:]
        if first == above:
            opening = opening[:-3]
        lines = [opening, *(index.line(each) for each in range(first + 1, above))]
        documented = next((each.strip() for each in lines if each.strip()), "")
        above = first - 1
    while above >= 1 and _HEAD.match(index.line(above)) is None:
        if above < number - 30 or not index.line(above).strip():
            return None
        above -= 1
    head = _HEAD.match(index.line(above)) if above >= 1 else None
    if head is None:
        return None
    if documented:
        return documented, "docstring"
    return words(head[1]), "function"
