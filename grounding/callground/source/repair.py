"""A tree for half-typed code: the statement that the syntax error names becomes ``pass``.

Only whole lines are masked and no line is added or taken away, so every node of the tree that is
left stands where it stands in the text.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from typing import NamedTuple

from callground.source.newer import uses_newer_syntax
from callground.source.parse import Parsed, newest, parse
from callground.source.pieces import CODE_LINE, STATEMENT, Cutter, runaway_string, string_end

MOST_TRIES = 12
"""How many statements are masked before the whole piece is given up."""


class PieceSource(NamedTuple):
    """The tree of one piece of text; always there, perhaps empty."""

    tree: ast.Module
    masked: tuple[tuple[int, int], ...] = ()
    """Line ranges (1-based, inclusive, sorted, apart) that stand in the tree as ``pass``."""
    error: str | None = None
    """The first error: ``syntax-error``, ``syntax-newer-than-server``, ``too-deep`` or ``not-text``."""
    message: str = ""
    """What the parser said of it."""
    line: int = 0
    """1-based line of it, 0 when it is not known."""
    lost: bool = False
    """Nothing of the piece is left."""


def read_piece(text: str) -> PieceSource:
    """Parse a piece (``\\n`` line ends), masking what does not parse.  Never raises."""
    parsed = parse(text)
    if parsed.tree is not None:
        return PieceSource(parsed.tree)
    return _repair(text, parsed)


def _repair(text: str, parsed: Parsed) -> PieceSource:
    lines = text.split("\n")
    if lines[-1] == "" and len(lines) > 1:
        lines.pop()
    error = parsed.error
    if error == "syntax-error" and uses_newer_syntax(text, newest()):
        error = "syntax-newer-than-server"
    first = parsed
    mask = _Mask(lines)
    if parsed.error == "syntax-error":
        if mask.close_string(text):
            parsed = parse(mask.text())
            if parsed.tree is not None:
                return mask.rest(parsed.tree, error, first)
        for _ in range(MOST_TRIES):
            if not mask.add(parsed):
                break
            parsed = parse(mask.text())
            if parsed.tree is not None:
                return mask.rest(parsed.tree, error, first)
            if parsed.error != "syntax-error":
                break
    everything = ((1, len(lines)),)
    return PieceSource(ast.Module([], []), everything, error, first.message, first.line, True)


_AFTER_LINE = re.compile(r"expected an indented block after .* on line (\d+)")
_TOKEN = re.compile(r"""\"{3}|'{3}|["']|\#[^\n]*|[(\[{]|[)\]}]|\\\n|\n""")
_BLOCK_OPENER = re.compile(r":[ \t\f]*(?:#.*)?\Z")
_INDENT = re.compile(r"[ \t\f]*")
_TRY = re.compile(r"[ \t\f]*try[ \t]*:")


class _Mask:
    """The lines of a piece, some of them masked."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = list(lines)
        self.masked = bytearray(len(lines))
        self._logical = _LogicalLines()

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def rest(self, tree: ast.Module, error: str | None, first: Parsed) -> PieceSource:
        """What is left of the piece, of which `first` was the first error."""
        lost = all(isinstance(node, ast.Pass) and self.masked[node.lineno - 1] for node in tree.body)
        return PieceSource(tree, self.ranges(), error, first.message, first.line, lost)

    def ranges(self) -> tuple[tuple[int, int], ...]:
        """The masked line ranges, merged."""
        result: list[tuple[int, int]] = []
        for number, flag in enumerate(self.masked, 1):
            if not flag:
                continue
            if result and result[-1][1] == number - 1:
                result[-1] = (result[-1][0], number)
            else:
                result.append((number, number))
        return tuple(result)

    def close_string(self, text: str) -> bool:
        """Mask the triple-quoted strings that never close, up to where code goes on; False without any."""
        cutter = Cutter(text)
        for _ in cutter.cuts():
            pass
        culprits = list(cutter.runaways)
        if cutter.unclosed is not None:
            culprits.append(runaway_string(cutter) or 0)
        for culprit in culprits:
            first = text.count("\n", 0, culprit) + 1
            last = first
            while last < len(self.lines) and not CODE_LINE.match(self.lines[last]):
                last += 1
            self._cover(first, last)
        return bool(culprits)

    def add(self, parsed: Parsed) -> bool:
        """Mask the statement that the error names, or, if that is masked already, what encloses it.

        False when nothing is left to mask.
        """
        culprit = self._culprit(parsed)
        first, last = self._statement(culprit)
        while all(self.masked[first - 1 : last]):
            parent = self._parent(first)
            if parent is None:
                return self._neighbour(first, last)
            first, last = parent, self._block_end(parent)
        self._cover(first, last)
        return True

    def _culprit(self, parsed: Parsed) -> int:
        """The line to blame (1-based)."""
        count = len(self.lines)
        line = min(max(parsed.line, 1), count)
        after = _AFTER_LINE.match(parsed.message)
        if after:
            return min(max(int(after.group(1)), 1), count)
        if parsed.message.startswith("expected 'except' or 'finally'"):
            indent = self._indent(line) if self.lines[line - 1].strip() else 0
            for number in range(line - 1, 0, -1):
                if _TRY.match(self.lines[number - 1]) and self._indent(number) >= indent:
                    return number
        while line > 1 and not self.lines[line - 1].strip():
            line -= 1
        return line

    def _statement(self, line: int) -> tuple[int, int]:
        """The logical line around `line`, with its decorators and its block."""
        first = last = line
        row = self._logical.at(self.text(), line)
        if row is not None:
            # Behind a bracket that never closes stand other statements.
            first = row.first
            last = max(min(row.unclosed or row.last, len(self.lines)), line)
        indent = self._indent(first)
        while first > 1 and self.lines[first - 2].lstrip().startswith("@") and self._indent(first - 1) == indent:
            first -= 1
        return first, self._block_end(first, last)

    def _block_end(self, first: int, last: int = 0) -> int:
        """The last line that is indented deeper than line `first`, in one run with it."""
        indent = self._indent(first)
        end = max(first, last)
        for number in range(end + 1, len(self.lines) + 1):
            line = self.lines[number - 1]
            if not line.strip():
                continue
            if self._indent(number) <= indent:
                break
            end = number
        return end

    def _parent(self, line: int) -> int | None:
        """The line above that is indented less than `line`: the header of the block around it."""
        indent = self._indent(line)
        if indent == 0:
            return None
        for number in range(line - 1, 0, -1):
            text = self.lines[number - 1]
            if text.strip() and self._indent(number) < indent:
                while (
                    number > 1
                    and self.lines[number - 2].lstrip().startswith("@")
                    and self._indent(number - 1) == self._indent(number)
                ):
                    number -= 1
                return number
        return None

    def _neighbour(self, first: int, last: int) -> bool:
        """Widen a masked top-level range by the statement before it, else by the one after it."""
        for number in [*range(first - 1, 0, -1), *range(last + 1, len(self.lines) + 1)]:
            if self.lines[number - 1].strip() and not self.masked[number - 1]:
                low, high = self._statement(number)
                self._cover(min(low, first), max(high, last) if number < first else high)
                return True
        return False

    def _cover(self, first: int, last: int) -> None:
        indent = self._legal_indent(first)
        self.lines[first - 1] = f"{indent}pass"
        for number in range(first + 1, last + 1):
            self.lines[number - 1] = ""
        for number in range(first, last + 1):
            self.masked[number - 1] = 1
        self._logical.forget(first)

    def _legal_indent(self, line: int) -> str:
        """Blanks with which a statement may stand on `line`."""
        own = _indent_text(self.lines[line - 1])
        above = self._code_above(line)
        if above is None:
            return ""
        outer = _indent_text(self.lines[above - 1])
        if _BLOCK_OPENER.search(_without_strings(self.lines[above - 1])):
            return own if _width(own) > _width(outer) and own.startswith(outer) else f"{outer}    "
        if _width(own) > _width(outer):
            # A continuation line stands above, or the line is indented for no reason.
            start = self._logical_start(above)
            return own if start != above and own else _indent_text(self.lines[start - 1])
        # Some enclosing block must have exactly this indentation.
        number: int | None = above
        while number is not None:
            indent = _indent_text(self.lines[number - 1])
            if _width(indent) <= _width(own):
                return indent
            number = self._parent(number)
        return ""

    def _logical_start(self, line: int) -> int:
        row = self._logical.at(self.text(), line)
        return row.first if row is not None else line

    def _code_above(self, line: int) -> int | None:
        for number in range(line - 1, 0, -1):
            text = self.lines[number - 1].strip()
            if text and not text.startswith("#"):
                return number
        return None

    def _indent(self, line: int) -> int:
        return _width(_indent_text(self.lines[line - 1]))


def _indent_text(line: str) -> str:
    match = _INDENT.match(line)
    blanks = match.group() if match else ""
    return blanks[blanks.rfind("\f") + 1 :]


def _width(blanks: str) -> int:
    """Columns of leading blanks, tabs to the next multiple of eight as the tokenizer counts them."""
    return len(blanks.expandtabs(8)) if "\t" in blanks else len(blanks)


def _without_strings(line: str) -> str:
    return re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'", "''", line)


class _LogicalLine(NamedTuple):
    first: int
    last: int
    unclosed: int
    """The line of a bracket in it that never closes, else 0."""
    end: int
    """Offset of the line after it."""


class _LogicalLines:
    """The logical lines of a text, found as far as they are asked for, and again after a change.

    A bracket that never closes ends before the next line that can only be a statement.
    """

    def __init__(self) -> None:
        self._rows: list[_LogicalLine] = []

    def at(self, text: str, line: int) -> _LogicalLine | None:
        """The logical line that holds `line`; None for a blank line or a comment."""
        rows = self._rows
        while not rows or rows[-1].last < line:
            row = self._next(text)
            if row is None:
                return None
            rows.append(row)
        row = rows[bisect_left(rows, line, key=lambda row: row.last)]
        return row if row.first <= line else None

    def forget(self, line: int) -> None:
        """The text from `line` on has changed."""
        while self._rows and self._rows[-1].last >= line:
            self._rows.pop()

    def _next(self, text: str) -> _LogicalLine | None:
        before = self._rows[-1] if self._rows else None
        first = line = before.last + 1 if before else 1
        position = before.end if before else 0
        search = _TOKEN.search
        brackets: list[int] = []
        begun = False
        while True:
            match = search(text, position)
            start = match.start() if match else len(text)
            if not begun and text[position:start].strip():
                begun = True
            if match is None:
                if not begun:
                    return None
                return _LogicalLine(first, line, brackets[0] if brackets else 0, len(text))
            token = match.group()
            position = match.end()
            if token == "\n":
                indent = _INDENT.match(text, position) if brackets else None
                if indent is None or STATEMENT.match(text, indent.end()):
                    if begun:
                        return _LogicalLine(first, line, brackets[0] if brackets else 0, position)
                    first = line + 1
                line += 1
            elif token == "\\\n":
                line += 1
            elif token[0] in "\"'":
                begun = True
                position = string_end(text, start, token)
                line += text.count("\n", start, position)
            elif token[0] != "#":
                begun = True
                if token in "([{":
                    brackets.append(line)
                elif brackets:
                    brackets.pop()
