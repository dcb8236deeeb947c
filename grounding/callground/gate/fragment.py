"""A piece of code as if it stood somewhere: in a file at a line, or in a file of its own."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from callground.source.parse import parse
from callground.text_blocks import extract_code_blocks
from callground.verdict.model import Range

_INDENT = re.compile(r"[ \t]*")
_METHOD = re.compile(r"(?:async\s+)?def\s+\w+\s*\(\s*(?:self|cls)\b")
_TOP = re.compile(r"(?:async\s+def|def|class|import|from|@|if\s+__name__)\b")


class Laid(NamedTuple):
    """A text that holds a fragment, and the way back from its lines to the fragment's own."""

    text: str
    lines: tuple[tuple[int, int], ...]
    """The fragment's lines in `text`, as ranges."""
    back: dict[int, tuple[int, int]]
    """Line of `text` -> (line of the fragment, columns that its code has moved to the right)."""

    def where(self, span: Range) -> Range:
        """A range of `text` in the lines and columns of the fragment."""
        line, shift = self.back.get(span.line, (span.line, 0))
        end_line, end_shift = self.back.get(span.end_line, (line, shift))
        return Range(line, max(span.column - shift, 0), end_line, max(span.end_column - end_shift, 0))

    def line(self, line: int) -> int | None:
        """A line of `text` in the fragment; None for one that is not the fragment's."""
        found = self.back.get(line)
        return found[0] if found is not None else None


class Code(NamedTuple):
    """Python out of what somebody wrote: one line of code for each line that holds some."""

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    """For each: its 1-based line in the text that it was taken from."""
    columns: tuple[int, ...]
    """For each: the columns of what stood before it there (a prompt, a quotation mark, indentation)."""
    raw_indent: int = 0
    """The indentation that all of it had."""

    @property
    def defines(self) -> bool:
        """Whether it begins with a function or a class."""
        first = next((line for line in self.lines if line.strip()), "")
        return re.match(r"(?:async\s+def|def|class)\b|@", first) is not None


def code_of(text: str) -> Code:
    """The Python in a text: all of it, or what its fences, prompts and heredocs hold."""
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    rows = normal.split("\n")
    if parse("\n".join(_dedented(normal))).tree is not None:
        return _code(rows, list(enumerate(_dedented(normal))))
    blocks = extract_code_blocks(normal)
    if not blocks:
        return _code(rows, list(enumerate(_dedented(normal))))
    found: list[tuple[int, str]] = []
    for block in blocks:
        number = block.line - 1
        for line in block.code.split("\n"):
            # Lines that are no code (a prompt's output) are left out of a block: look for the next that is.
            for candidate in range(number, len(rows)):
                if rows[candidate].rstrip().endswith(line.rstrip()):
                    found.append((candidate, line))
                    number = candidate + 1
                    break
        found.append((number, ""))
    while found and not found[-1][1].strip():
        found.pop()
    return _code(rows, found)


def _dedented(text: str) -> list[str]:
    """The lines without the indentation that they share; also when only the first has none."""
    dedented = textwrap.dedent(text)
    first, newline, rest = dedented.partition("\n")
    if newline and first == first.lstrip() and parse(dedented).tree is None:
        other = f"{first}\n{textwrap.dedent(rest)}"
        if parse(other).tree is not None:
            return other.split("\n")
    return dedented.split("\n")


def _code(rows: list[str], found: list[tuple[int, str]]) -> Code:
    columns = []
    for number, line in found:
        row = rows[number] if number < len(rows) else ""
        columns.append(max(len(row.rstrip()) - len(line.rstrip()), 0) if line.strip() else 0)
    full = [len(row) - len(row.lstrip()) for row in rows if row.strip()]
    return Code(
        tuple(line for _, line in found),
        tuple(number + 1 for number, _ in found),
        tuple(columns),
        min(full, default=0),
    )


def alone(code: Code, imports: tuple[str, ...] = ()) -> Laid:
    """A file that holds nothing but the code, below the given import lines.

    Methods stand in a class, of which nothing else is known.
    """
    if _is_class_body(code):
        return _joined([*imports, "class callground_class_(callground_base_):"], list(code.lines), [], code, "    ")
    return _joined([*imports], list(code.lines), [], code, "")


def _is_class_body(code: Code) -> bool:
    tree = parse("\n".join(code.lines)).tree
    if tree is None or not tree.body:
        return False
    functions = [s for s in tree.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
    others = [s for s in tree.body if s not in functions]
    methods = [f for f in functions if f.args.args and f.args.args[0].arg in ("self", "cls")]
    return bool(methods) and all(isinstance(s, ast.Assign | ast.AnnAssign) for s in others)


def placements(text: str, line: int, code: Code) -> list[Laid]:
    """The file's text with the code put in before `line` (1-based; behind the last line at the end).

    The code goes before the statement that covers the line when the line is in the middle of one.  At the end
    of a block it may belong to it or to what is around it, so there is one text for each level; the first is
    indented as the code that it pushes down, on an empty line as the next line of code.  Code that came
    indented has that level, where the file has such a block there.
    """
    rows = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if rows and not rows[-1]:
        rows.pop()
    at = min(max(line, 1), len(rows) + 1)
    tree = parse("\n".join(rows)).tree
    levels: list[tuple[str, bool]] = []
    if tree is not None:
        at = _statement_start(tree, at)
        levels = _levels(tree, at, rows)
    likely = _indent_at(rows, at, code)
    own = [level for level, _ in levels if code.raw_indent and len(level) == code.raw_indent]
    first = next((line for line in code.lines if line.strip()), "")
    if own:
        indents = own[:1]
    elif _METHOD.match(first):
        indents = [level for level, in_class in levels if in_class][-1:] or [likely]
    else:
        indents = [likely, *(level for level, _ in levels)]
    return [
        _joined(rows[: at - 1], list(code.lines), rows[at - 1 :], code, indent) for indent in dict.fromkeys(indents)
    ]


def insert(text: str, line: int, code: Code) -> Laid:
    """The likeliest of `placements`."""
    return placements(text, line, code)[0]


def taken_out(laid: Laid, text: str) -> str:
    """The fragment out of a later version of the text; imports that have come above it stand before it."""
    old, new = laid.text.split("\n"), text.split("\n")
    first, last = laid.lines[0] if laid.lines else (1, 0)
    inside = last - first + 1 + len(new) - len(old)
    above = next((row for row in range(first - 1) if new[row : row + 1] != old[row : row + 1]), first - 1)
    added = len(new) - len(old) if above < first - 1 else 0
    if added > 0 and new[above + added : above + added + 1] == old[above : above + 1]:
        imports = new[above : above + added]
        body = new[first - 1 + added : first - 1 + inside]
        return "\n".join([*imports, textwrap.dedent("\n".join(body))]).rstrip("\n") + "\n"
    return textwrap.dedent("\n".join(new[first - 1 : first - 1 + inside])).rstrip("\n") + "\n"


def _joined(before: list[str], middle: list[str], after: list[str], code: Code, indent: str) -> Laid:
    moved = [indent + line if line.strip() else line for line in middle]
    first = len(before) + 1
    back = {
        first + index: (number, len(indent) - column)
        for index, (number, column) in enumerate(zip(code.numbers, code.columns, strict=True))
    }
    text = "\n".join([*before, *moved, *after]) + "\n"
    return Laid(text, ((first, first + len(moved) - 1),) if moved else (), back)


def _levels(tree: ast.Module, at: int, rows: list[str]) -> list[tuple[str, bool]]:
    """The indentations that a statement before line `at` may have, and whether that is in the body of a class.

    The outermost comes first.
    """
    body: list[ast.stmt] = tree.body
    levels: list[tuple[str, bool]] = []
    in_class = False
    while True:
        around = next((s for s in body if _first(s) < at <= (s.end_lineno or s.lineno)), None)
        blocks = list(_blocks(around)) if around is not None else []
        inner = next((b for b in blocks if _first(b[0]) <= at <= (b[-1].end_lineno or 0)), None)
        if inner is not None and not (_first(inner[0]) == at and rows[at - 1].lstrip().startswith("elif")):
            body, in_class = inner, isinstance(around, ast.ClassDef)
            continue
        ended = [block for block in blocks if (block[-1].end_lineno or 0) < at]
        if ended:  # before an `else`: only what its `if` ends with
            body = ended[-1]
        break
    while body:
        levels.append((_indent(rows[_first(body[0]) - 1]), in_class))
        before = [s for s in body if (s.end_lineno or s.lineno) < at]
        blocks = list(_blocks(before[-1])) if before else []
        body, in_class = (blocks[-1], isinstance(before[-1], ast.ClassDef)) if blocks else ([], False)
    return levels


def _statement_start(tree: ast.Module, line: int) -> int:
    """The line, or the first of the statement (of its header) that the line is in the middle of."""
    body: list[ast.stmt] = tree.body
    while True:
        around = next((s for s in body if _first(s) < line <= (s.end_lineno or s.lineno)), None)
        if around is None:
            return line
        blocks = list(_blocks(around))
        inner = next((b for b in blocks if _first(b[0]) < line <= (b[-1].end_lineno or 0)), None)
        if inner is not None:
            body = inner
            continue
        starts = {_first(block[0]) for block in blocks}
        last = blocks[0][-1].end_lineno if blocks else None
        if line in starts or (last is not None and line > last):
            return line  # the first line of a block, or an `else` below one
        if not blocks or line < min(starts):
            return _first(around)
        return line


def _first(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
            yield block
    for name in ("handlers", "cases"):
        for part in getattr(statement, name, ()):
            yield part.body


def _indent_at(rows: list[str], at: int, code: Code) -> str:
    before = next((row for row in reversed(rows[: at - 1]) if row.strip()), "")
    here = rows[at - 1] if at <= len(rows) else ""
    after = next((row for row in rows[at - 1 :] if row.strip()), "")
    if before.split("#")[0].rstrip().endswith(":") and not here.strip():
        return _indent(after) if len(_indent(after)) > len(_indent(before)) else _indent(before) + "    "
    if here.strip():
        return _indent(here)
    if here:
        return here  # whitespace that an editor has left there for what comes next
    known = {_indent(row) for row in (before, after) if row}
    own = " " * code.raw_indent
    if code.raw_indent and own in known:
        return own
    if after:
        return _indent(after)
    first = next((line for line in code.lines if line.strip()), "")
    return "" if _TOP.match(first) else _indent(before)


def _indent(row: str) -> str:
    match = _INDENT.match(row)
    return match[0] if match is not None else ""
