"""A call as text: where each argument stands, so that it can be taken out, changed or joined by others.

Trees do not know commas, parentheses and comments; tokens do.  Every edit here keeps the comments and the
layout around what it touches.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from typing import NamedTuple

from callground.repairs.asked import Asked
from callground.text.edits import Edit
from callground.text.lines import LineIndex

_LONE_RETURN = re.compile(r"\r(?!\n)")


class Argument(NamedTuple):
    """One argument of a call; offsets in the file's text."""

    start: int
    end: int
    keyword: str | None
    """Its name when it is given by one; ``"**"`` and ``"*"`` for the starred ones."""
    value_start: int
    """Where the value begins, behind ``name=``."""
    comma: int = -1
    """Where the comma behind it stands; -1 without one."""


class CallText(NamedTuple):
    """The parentheses of a call and what stands between them."""

    open: int
    """Offset of the opening parenthesis."""
    close: int
    """Offset of the closing one."""
    arguments: tuple[Argument, ...]

    @property
    def positional(self) -> tuple[Argument, ...]:
        """Plain positional arguments, ``*args`` left out."""
        return tuple(a for a in self.arguments if a.keyword is None)

    def keyword(self, name: str, occurrence: int = -1) -> Argument | None:
        """The argument given under a name (the last one, unless `occurrence` says which)."""
        found = [a for a in self.arguments if a.keyword == name]
        return found[occurrence] if found else None


def read(asked: Asked) -> CallText | None:
    """The text of the call that is asked about; None where it is no call or does not tokenise."""
    call = asked.call
    if call is None:
        return None
    start, _ = asked.span(call.func)
    _, func_end = asked.span(call.func)
    _, end = asked.span(call)
    return _read(asked.source.text, func_end, end) if start < end else None


def _read(text: str, begin: int, end: int) -> CallText | None:
    opening = _opening(text, begin, end)
    if opening is None:
        return None
    # The tokenizer knows no line that ends with a carriage return alone; offsets stay as they are.
    body = _LONE_RETURN.sub("\n", text[opening:end])
    index = LineIndex(body)
    arguments: list[Argument] = []
    depth = 0
    current: list[tuple[int, int, str]] = []
    close = -1
    try:
        for token in tokenize.generate_tokens(io.StringIO(body, newline="").readline):
            if token.type in _SKIPPED:
                continue
            first = opening + index.offset(*token.start)
            last = opening + index.offset(*token.end)
            string = token.string
            if token.type == tokenize.OP and string in ")]}":
                depth -= 1
                if depth == 0:
                    close = first
                    break
            if depth == 1 and token.type == tokenize.OP and string == ",":
                if current:
                    arguments.append(_argument(current, first))
                current = []
                continue
            if depth >= 1:
                current.append((first, last, string if depth == 1 else ""))
            if token.type == tokenize.OP and string in "([{":
                depth += 1
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    if close < 0:
        return None
    if current:
        arguments.append(_argument(current, -1))
    return CallText(opening, close, tuple(arguments))


_SKIPPED = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


def _argument(tokens: list[tuple[int, int, str]], comma: int) -> Argument:
    start, end = tokens[0][0], tokens[-1][1]
    keyword, value = None, start
    if tokens[0][2] in ("*", "**"):
        keyword, value = tokens[0][2], tokens[1][0] if len(tokens) > 1 else start
    elif len(tokens) > 2 and tokens[1][2] == "=":
        keyword, value = tokens[0][2], tokens[2][0]
    return Argument(start, end, keyword, value, comma)


def _opening(text: str, begin: int, end: int) -> int | None:
    """The call's own parenthesis: the first that opens behind the callee and what closes around it."""
    position = begin
    while position < end:
        letter = text[position]
        if letter == "(":
            return position
        if letter == "#":
            newline = text.find("\n", position)
            position = end if newline < 0 else newline
            continue
        position += 1
    return None


# -- edits


def without(text: str, call: CallText, first: int, last: int | None = None) -> Edit:
    """Take an argument out (or a run of them), with its comma, and leave the comments around it."""
    last = first if last is None else last
    start, end = call.arguments[first].start, call.arguments[last].end
    comma = call.arguments[last].comma
    behind = end if comma < 0 else comma + 1
    if last + 1 < len(call.arguments):
        following = call.arguments[last + 1].start
        return Edit(start, behind if "#" in text[end:following] else following, "")
    if first > 0:
        before = call.arguments[first - 1]
        if "#" in text[before.end : start]:
            return Edit(start, behind, "")
        if comma >= 0 and "\n" in text[comma : call.close].replace("\r", "\n"):
            # Closed on a line of its own: the comma of the argument before stays the last one.
            return Edit(before.comma + 1, behind, "")
        return Edit(before.end, behind, "")
    if "#" in text[call.open : call.close]:
        return Edit(start, behind, "")
    return Edit(call.open + 1, call.close, "")


def added(text: str, call: CallText, new: list[str]) -> list[Edit]:
    """Put arguments behind the last one (before a ``**``), in the layout of the others."""
    if not new:
        return []
    if not call.arguments:
        return [Edit(call.open + 1, call.open + 1, ", ".join(new))]
    before = next((a for a in call.arguments if a.keyword == "**"), None)
    if before is not None:
        return [Edit(before.start, before.start, ", ".join(new) + ", ")]
    last = call.arguments[-1]
    gap = _gap(text, call)
    if last.comma >= 0:
        tail = "," if "\n" in text[last.comma : call.close] else ""
        return [Edit(last.comma + 1, last.comma + 1, "".join(gap + each + "," for each in new)[: None if tail else -1])]
    inserted = "".join("," + gap + each for each in new)
    return [Edit(last.end, last.end, inserted)]


def added_positional(text: str, call: CallText, value: str) -> list[Edit]:
    """Put a value behind the last positional argument."""
    positional = [a for a in call.arguments if a.keyword is None or a.keyword == "*"]
    if not positional or len(positional) == len(call.arguments):
        if positional or not call.arguments:
            return added(text, call, [value])
        first = call.arguments[0]
        return [Edit(first.start, first.start, value + ", ")]
    last = positional[-1]
    return [Edit(last.end, last.end, "," + _gap(text, call) + value)]


def _gap(text: str, call: CallText) -> str:
    """What stands between a comma and the next argument: a space, or a line end with the indentation."""
    first = call.arguments[0]
    if len(call.arguments) > 1:
        between = text[first.comma + 1 : call.arguments[1].start]
    else:
        between = text[call.open + 1 : first.start]
        if not between:
            return " "
    if "#" in between:
        line = between.rfind("\n")
        return between[line - 1 if between[line - 1 : line] == "\r" else line :] if line >= 0 else " "
    return between or " "


def needs_parentheses(node: ast.expr) -> bool:
    """Whether an expression has to be put in parentheses before an operator or a dot is put to it."""
    return not isinstance(
        node,
        (
            ast.Name,
            ast.Attribute,
            ast.Call,
            ast.Subscript,
            ast.List,
            ast.Dict,
            ast.Set,
            ast.ListComp,
            ast.SetComp,
            ast.DictComp,
            ast.JoinedStr,
        ),
    ) and not (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)))
