"""Notebooks: cells that share one namespace, put together into one text with a map back."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from callground.verdict.model import Range
from callground_server.lsp.documents import Document

# What IPython puts into a notebook's namespace.  The value of eval is unknown to every analysis.
PREAMBLE = "display = get_ipython = In = Out = exit = quit = _ = __ = ___ = _i = _ii = _iii = _dh = eval('None')\n"

_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_PYTHON_MAGICS = frozenset({"time", "timeit", "capture", "prun", "pypy", "memit", "mprun", "debug"})
_LINE_MAGIC = re.compile(r"(\s*)(?:%|!|\?|,|;|/(?=\w))")
_HELP = re.compile(r"(\s*)[\w.*]+\?{1,2}\s*\Z|(\s*)\?{1,2}[\w.*]")
_ASSIGNED_MAGIC = re.compile(r"(\s*)([\w, ]+?)\s*=\s*(?:!|%(?=[a-zA-Z]))")


@dataclass
class Notebook:
    """An open notebook: its code cells in order."""

    uri: str
    path: str
    version: int
    cells: list[Document] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    def text(self) -> str:
        """One module out of all cells; line ends are line feeds."""
        parts = [PREAMBLE]
        line = PREAMBLE.count("\n")
        self._starts = []
        for cell in self.cells:
            self._starts.append(line)
            body = python_of(cell.text)
            parts.append(body + "\n")
            line += body.count("\n") + 1
        return "".join(parts)

    def cell_at(self, line: int) -> tuple[Document, int] | None:
        """The cell that a 1-based line of `text()` stands in, with that cell's first line (0-based) in it."""
        index = bisect_right(self._starts, line - 1) - 1
        if not 0 <= index < len(self.cells):
            return None
        return self.cells[index], self._starts[index]

    def start_of(self, uri: str) -> int | None:
        """The first line (0-based) of a cell in `text()`."""
        number = next((n for n, cell in enumerate(self.cells) if cell.uri == uri), None)
        return self._starts[number] if number is not None and number < len(self._starts) else None

    def cell(self, uri: str) -> Document | None:
        """The cell with that URI."""
        return next((cell for cell in self.cells if cell.uri == uri), None)


def moved(span: Range, lines: int) -> Range:
    """The range some lines further up."""
    return Range(max(span.line - lines, 1), span.column, max(span.end_line - lines, 1), span.end_column)


def python_of(text: str) -> str:
    """A cell's text as Python with the same lines: magics, shell commands and help do nothing."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first])
    if magic is not None:
        if magic.group(1) not in _PYTHON_MAGICS:
            return "\n".join("#" + line for line in lines)
        lines[first] = "#" + lines[first]
    inside = ""
    continued = False
    for number, line in enumerate(lines):
        if continued:
            continued = line.endswith("\\")
            lines[number] = _blank(line)
            continue
        if not inside:
            replaced = _replaced(line)
            if replaced is not None:
                continued = line.endswith("\\")
                lines[number] = replaced
                continue
        inside = _quote_after(line, inside)
    return "\n".join(lines)


def _replaced(line: str) -> str | None:
    assigned = _ASSIGNED_MAGIC.match(line)
    if assigned is not None:
        return f"{assigned.group(1)}{assigned.group(2)} = eval('None')"
    magic = _LINE_MAGIC.match(line) or _HELP.match(line)
    if magic is None:
        return None
    return f"{magic.group(1) or ''}pass"


def _blank(line: str) -> str:
    return "#" + line


def _quote_after(line: str, inside: str) -> str:
    """Which triple quote is open after a line: a percent sign inside a long string is no magic."""
    position = 0
    while position < len(line):
        if inside:
            end = line.find(inside, position)
            if end < 0:
                return inside
            position, inside = end + 3, ""
            continue
        rest = line[position:]
        if rest.startswith("#"):
            return ""
        if rest.startswith(('"""', "'''")):
            inside = rest[:3]
            position += 3
        elif rest[0] in "\"'":
            end = position + 1
            while end < len(line) and line[end] != rest[0]:
                end += 2 if line[end] == "\\" else 1
            position = end + 1
        else:
            position += 1
    return inside
