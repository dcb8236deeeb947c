"""Cutting a text at its top-level statements.

A piece is one logical line at column 0 with everything that belongs to it: the comments, blank
lines and decorators before it, its block, and the ``else``, ``elif``, ``except`` and ``finally``
that follow.  Statements that share a line share a piece; what follows the last statement is a
piece of its own.  A text that parses is cut the same way by its tree (`cut_tree`, free of charge
when there is a tree) and by its characters (`cut_text`, which also cuts text that does not parse,
and starts and stops anywhere between two pieces).

All texts here have ``\\n`` line ends only: see `normalized`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator


def normalized(text: str) -> str:
    """The text as Python's tokenizer sees it: every line ends with ``\\n``.

    A byte order mark becomes a form feed, which the tokenizer skips, so that the columns of the
    first line stay what they are.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"\f{text[1:]}" if text.startswith("\ufeff") else text


def cut_tree(text: str, body: list[ast.stmt], line_starts: list[int]) -> list[int]:
    """First lines (1-based) of the pieces of `text`, which consists of these top-level statements.

    `line_starts` as `text.lines.line_starts` gives them.
    """
    lines = len(line_starts) - 1
    if not lines:
        return []
    starts = [1]
    end = 0
    for node in body:
        first = node.lineno
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.decorator_list:
            first = node.decorator_list[0].lineno
        if end and first > end:
            starts.append(end + 1)
        end = node.end_lineno or first
        while end < lines and text[line_starts[end] - 2] == "\\" and _continued(text, line_starts, end, node):
            end += 1
    if end and end < lines:
        starts.append(end + 1)
    return starts


def _continued(text: str, line_starts: list[int], line: int, node: ast.stmt) -> bool:
    """Whether the backslash that ends `line` (the last of `node`, or one after) is no part of a comment."""
    row = text[line_starts[line - 1] : line_starts[line]].encode("utf-8", "surrogatepass")
    behind = row[node.end_col_offset :] if line == node.end_lineno else row
    return not behind.strip(b" \t\f;\\\n")


def cut_lines(text: str) -> list[int]:
    """First lines (1-based) of the pieces of `text`, cut by its characters."""
    starts: list[int] = []
    line, done = 1, 0
    for offset in cut_offsets(text):
        line += text.count("\n", done, offset)
        done = offset
        starts.append(line)
    return starts


def cut_offsets(text: str) -> list[int]:
    """Offsets at which the pieces of `text` begin, the first included."""
    return whole_cut(text)[0]


def whole_cut(text: str) -> tuple[list[int], bool]:
    """As `cut_offsets`, and whether a cut depends on text far below it.

    A triple-quoted string that never closes swallows the text up to the next one, and turns the
    inside of every later string out.  Then the string that was opened too much is looked for, and
    taken to end with its line.
    """
    if not text:
        return [], False
    cutter = Cutter(text)
    cuts = [0, *cutter.cuts()]
    if cutter.unclosed is None:
        return cuts, cutter.looked_far
    culprit = runaway_string(cutter)
    if culprit != cutter.unclosed:
        cuts = [0, *Cutter(text, culprit).cuts()]
    return cuts, True


def runaway_string(cutter: Cutter) -> int | None:
    """Offset of the quotes that were opened too much, after a run of `cutter` that found some unclosed."""
    for start, end in cutter.triples:
        if CODE_LINE.search(cutter.text, start + 3, end):
            return start
    return cutter.unclosed


_OPEN = "([{"
_STRING_STARTS = "\"'"

# What matters between the start of a line and the end of its logical line.
_TOKEN = re.compile(r"""\"{3}|'{3}|["']|\#[^\n]*|[(\[{]|[)\]}]|\\\n|\n""")
_TRIPLE_END = {
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
    "'''": re.compile(r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
}
_SINGLE_END = {
    '"': re.compile(r'[^"\\\n]*(?:\\.[^"\\\n]*)*"', re.DOTALL),
    "'": re.compile(r"[^'\\\n]*(?:\\.[^'\\\n]*)*'", re.DOTALL),
}
_BLANKS = re.compile(r"[ \t\f]*")
# A line that no prose begins with: a string that holds one may have been opened too much.
CODE_LINE = re.compile(
    r"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*\(|class[ \t]+\w+[ \t]*[:(]|return\b.*[\w)\]]$"
    r"|import[ \t]+[\w.]+$|from[ \t]+[\w.]+[ \t]+import[ \t]|@\w"
    r"|(?:if|for|while|with|elif)\b.*:$|(?:try|else|finally):$"
    r"|(?:self\.)?\w[\w.]*[ \t]*=[ \t]*\S|self\.\w[\w.]*\()",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+(?![\"'])")
_OPERATORS = frozenset({"and", "else", "for", "if", "in", "is", "not", "or", "as", "async", "from", "import"})
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")
_DECORATED = re.compile(r"(?:@|(?:def|class|async)\b)")
STATEMENT = re.compile(
    r"(?:def|class|import|return|with|while|try|raise|del|assert|global|nonlocal|pass|break|continue)\b"
    r"|@\w[\w.]*[ \t]*(?:\(.*\))?[ \t]*\n(?:@.*\n)*(?:def|class|async)\b"
    r"|from[ \t]+[\w.]+[ \t]+import\b|async[ \t]+(?:def|with)\b"
)
"""Words that cannot stand in an expression: at the start of a line they end a bracket that was left open."""
_F_PREFIX = re.compile(r"(?i)(?<![\w])(?:[ft]|rf|fr|rt|tr)\Z")


class Cutter:
    """Finds the pieces of a text from one of them on, no further than it is asked to."""

    __slots__ = ("culprit", "looked_far", "runaways", "text", "triples", "unclosed")

    def __init__(self, text: str, culprit: int | None = None) -> None:
        self.text = text
        self.culprit = culprit
        """Offset of triple quotes that are taken to end with their line."""
        self.unclosed: int | None = None
        """Offset of the triple quotes that are open when the text ends."""
        self.triples: list[tuple[int, int]] = []
        """The triple-quoted strings seen so far: (start, end) offsets."""
        self.runaways: list[int] = []
        """Offsets of triple quotes that were taken to end with their line."""
        self.looked_far = False
        """A cut depends on text far below it."""

    def cuts(self, start: int = 0) -> Iterator[int]:
        """Offsets at which a piece begins, after `start`, which must be one of them.

        Looks no further than one logical line past each cut, so that a caller who cuts again
        after an edit can stop as soon as the cuts agree with the old ones.
        """
        text = self.text
        size = len(text)
        position = pending = start  # pending: where the next piece would begin, after the last logical line
        begun = False  # the piece has a statement
        decorated = False  # its last logical line is a decorator
        while position < size:
            blank_end = _blank_end(text, position)
            indent = _indent(text, position, blank_end)
            while text.startswith("\\\n", blank_end):
                # A line of nothing but a continuation: the statement begins on the next one.
                next_line = blank_end + 2
                blank_end = _blank_end(text, next_line)
                indent = indent or _indent(text, next_line, blank_end)
            if blank_end >= size:
                break
            first = text[blank_end]
            if first == "\n":
                position = blank_end + 1
                continue
            if first == "#":
                line_end = text.find("\n", blank_end)
                position = size if line_end < 0 else line_end + 1
                continue
            if begun and indent == 0:
                belongs = _CONTINUES.match(text, blank_end) or (decorated and _DECORATED.match(text, blank_end))
                if not belongs:
                    yield pending
            begun = True
            decorated = first == "@"
            position = pending = self.logical_line_end(blank_end)
        if begun and pending < size:
            yield pending

    def logical_line_end(self, position: int) -> int:
        """Offset of the line after the logical line that holds `position`."""
        text = self.text
        depth = 0
        search = _TOKEN.search
        while True:
            match = search(text, position)
            if match is None:
                return len(text)
            token = match.group()
            position = match.end()
            if token == "\n":
                if depth == 0 or STATEMENT.match(text, position):
                    return position
            elif token in _OPEN:
                depth += 1
            elif token[0] in _STRING_STARTS:
                position = self._string_end(match.start(), token)
            elif token in ")]}" and depth:
                depth -= 1

    def _string_end(self, start: int, quote: str) -> int:
        text = self.text
        end, looked_far = _string_extent(text, start, quote)
        self.looked_far |= looked_far
        if len(quote) == 1:
            return end
        runaway = _WORD.match(text, end)
        if start == self.culprit or (runaway and runaway.group() not in _OPERATORS):
            # No word follows a string at once, unless the string was open by mistake and this is the
            # beginning of the next one.
            self.runaways.append(start)
            self.looked_far = True
            line_end = text.find("\n", start)
            return len(text) if line_end < 0 else line_end
        self.triples.append((start, end))
        if end == len(text) and _TRIPLE_END[quote].match(text, start + 3) is None:
            self.unclosed = start
        return end


def _blank_end(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def _indent(text: str, start: int, end: int) -> int:
    """Width of the blanks of a line; a form feed starts over, as in the tokenizer."""
    feed = text.rfind("\f", start, end)
    return end - (feed + 1 if feed >= 0 else start)


def string_end(text: str, start: int, quote: str) -> int:
    """Offset after the string literal whose opening `quote` stands at `start`.

    A string that never closes ends at its line's end (single quotes) or at the text's end.
    Follows PEP 701: the replacement fields of an f-string may hold its own quote.
    """
    return _string_extent(text, start, quote)[0]


def _string_extent(text: str, start: int, quote: str) -> tuple[int, bool]:
    """As `string_end`, and whether the text was searched past that end in vain."""
    content = start + len(quote)
    if len(quote) == 3:
        match = _TRIPLE_END[quote].match(text, content)
        end = match.end() if match else len(text)
    else:
        match = _SINGLE_END[quote].match(text, content)
        if match:
            end = match.end()
        else:
            line_end = text.find("\n", content)
            end = len(text) if line_end < 0 else line_end
    if text.find("{", content, end) >= 0 and _F_PREFIX.search(text, max(0, start - 3), start):
        if text.count("{", content, end) != text.count("}", content, end):
            formatted = _formatted_end(text, content, quote)
            return (end, True) if formatted is None else (formatted, False)
    return end, False


def _formatted_end(text: str, position: int, quote: str) -> int | None:
    """Offset after an f-string, with nested quotes understood; None when it does not close so."""
    size = len(text)
    single = len(quote) == 1
    fields: list[int] = []  # bracket depth of each open replacement field
    while position < size:
        character = text[position]
        if character == "\n" and (STATEMENT.match(text, position + 1) if fields else single):
            return None
        if not fields:
            if character == "\\":
                position += 2
            elif text.startswith(quote, position):
                return position + len(quote)
            elif character == "{":
                if text.startswith("{{", position):
                    position += 2
                else:
                    fields.append(0)
                    position += 1
            else:
                position += 1
            continue
        if character in "\"'":
            inner = text[position : position + 3] if text[position : position + 3] == character * 3 else character
            position = string_end(text, position, inner)
        elif character == "#" and not single:
            line_end = text.find("\n", position)
            position = size if line_end < 0 else line_end
        elif character in "([{":
            fields[-1] += 1
            position += 1
        elif character in ")]}":
            if fields[-1]:
                fields[-1] -= 1
            elif character == "}":
                fields.pop()
            position += 1
        elif character == ":" and fields[-1] == 0:
            # The format specification: literal text again, with fields of its own.
            position = _format_spec_end(text, position + 1)
        else:
            position += 1
    return None


def _format_spec_end(text: str, position: int) -> int:
    """Offset of the ``}`` (or line end) that ends a format specification."""
    depth = 0
    while position < len(text):
        character = text[position]
        if character == "{":
            depth += 1
        elif character == "}":
            if depth == 0:
                return position
            depth -= 1
        elif character in "\n\"'" and depth == 0:
            return position
        position += 1
    return position
