"""Comments that silence findings, ours and those of other checkers.

A comment silences a site when it stands on the first or last line of the site's expression, or on a
line of the finding's own range.  A comment of ours that has a line to itself speaks for the next
line of code.  ``# type: ignore`` or ``# ruff: noqa`` above all code silences the whole file.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from callground.verdict.model import Range, Reason, Verdict

# Cheap test before anything is tokenised: nearly every file has none of these.
_HINT = re.compile(r"callground:|type:\s*ignore|noqa|pyright:|pyrefly:|ty:\s*ignore|pylint:", re.IGNORECASE)

_OURS = re.compile(r"#\s*callground:\s*ignore(?:\s*\[(?P<codes>[^\]]*)\])?(?=[\s#]|$)")
_TYPE = re.compile(r"#\s*(?:type|pyright|pyrefly|ty|mypy):\s*ignore(?=[\s#\[]|$)")
_NOQA = re.compile(r"#\s*noqa(?P<codes>\s*:\s*[A-Z]+[0-9]+(?:[\s,]+[A-Z]+[0-9]+)*)?", re.IGNORECASE)
_PYLINT = re.compile(r"#\s*pylint:\s*disable=(?P<codes>[\w, -]+)")
_FILE_NOQA = re.compile(r"#\s*(?:ruff|flake8):\s*noqa\s*(?:#|$)", re.IGNORECASE)

# A "noqa" with codes silences us only where a code speaks about names, imports, members or calls.
_NOQA_RELEVANT = re.compile(r"^(?:F[4-8]\d*|E0\d{3}|E1\d{3}|PL\w*|PLE\d+|B\d+)$", re.IGNORECASE)
_PYLINT_RELEVANT = frozenset(
    "all no-member no-name-in-module import-error undefined-variable not-callable too-many-function-args "
    "no-value-for-parameter unexpected-keyword-arg redundant-keyword-arg used-before-assignment "
    "possibly-used-before-assignment missing-kwoa E E1101 E0611 E0401 E0602 E1102 E1121 E1120 "
    "E1123 E1124".split()
)


class Comment(NamedTuple):
    """One silencing comment."""

    range: Range
    text: str
    codes: tuple[str, ...]
    """Rule codes it names; empty means every rule."""
    ours: bool
    line: int
    """The line it speaks for; 0 is the whole file."""


def comments(text: str) -> list[Comment]:
    """Every silencing comment of a file; text inside strings is never taken for one."""
    if _HINT.search(text) is None:
        return []
    found: list[Comment] = []
    for line, column, comment, alone, next_line, before_code in _comments(text):
        found.extend(_read(line, column, comment, alone, next_line, before_code))
    return found


def silence(verdicts: Iterable[Verdict], marks: Sequence[Comment]) -> tuple[list[Verdict], list[Comment]]:
    """Apply `marks`: the verdicts, silenced ones abstained, and our comments that silenced nothing."""
    by_line: dict[int, list[Comment]] = {}
    for mark in marks:
        by_line.setdefault(mark.line, []).append(mark)
    used: set[Comment] = set()
    result: list[Verdict] = []
    for verdict in verdicts:
        silencing = _silencing(verdict, by_line) if marks and verdict.finding is not None else []
        if silencing:
            used.update(silencing)
            detail = f"line {silencing[0].range.line}: {silencing[0].text}"
            verdict = replace(verdict, status="abstained", reason=Reason.IGNORED, detail=detail, finding=None)
        result.append(verdict)
    return result, [mark for mark in marks if mark.ours and mark not in used]


def _silencing(verdict: Verdict, by_line: dict[int, list[Comment]]) -> list[Comment]:
    finding = verdict.finding
    assert finding is not None
    lines = {0, verdict.range.line, verdict.range.end_line}
    lines.update(range(finding.range.line, finding.range.end_line + 1))
    return [
        mark for line in sorted(lines) for mark in by_line.get(line, ()) if not mark.codes or finding.code in mark.codes
    ]


def _read(line: int, column: int, comment: str, alone: bool, next_line: int, before_code: bool) -> Iterator[Comment]:
    """The silencing marks of one comment token; it may hold several (``# noqa # callground: ignore``)."""

    def mark(match: re.Match[str], codes: tuple[str, ...], ours: bool, target: int) -> Comment:
        start, end = column + match.start(), column + len(comment[: match.end()].rstrip())
        return Comment(Range(line, start, line, end), match.group().rstrip(), codes, ours, target)

    for match in _OURS.finditer(comment):
        codes = match.group("codes")
        named = tuple(code.strip() for code in codes.split(",") if code.strip()) if codes is not None else ()
        yield mark(match, named, True, next_line if alone else line)
    for match in _TYPE.finditer(comment):
        # PEP 484: alone above all code it speaks for the file.
        yield mark(match, (), False, 0 if before_code and match.group().rstrip() == comment.rstrip() else line)
    for match in _NOQA.finditer(comment):
        codes = match.group("codes")
        if codes is None or any(_NOQA_RELEVANT.match(code) for code in re.split(r"[\s,:]+", codes) if code):
            yield mark(match, (), False, line)
    for match in _FILE_NOQA.finditer(comment):
        yield mark(match, (), False, 0)
    for match in _PYLINT.finditer(comment):
        if _PYLINT_RELEVANT.intersection(re.split(r"[\s,]+", match.group("codes"))):
            # Alone on a line, pylint's comment speaks for the rest of its scope; we take it for its line.
            yield mark(match, (), False, line)


def _comments(text: str) -> Iterator[tuple[int, int, str, bool, int, bool]]:
    """(line, column, text, alone on its line, the next line with code, before all code) of each comment."""
    # The same line ends as Python's parser, and no others (a form feed is none).
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    pending: list[tuple[int, int, str, bool]] = []
    code_seen = False
    for line, column, string in tokens(lines):
        if string.startswith("#"):
            alone = not lines[line - 1][:column].strip()
            if alone:
                pending.append((line, column, string, not code_seen))
            else:
                yield line, column, string, False, line, False
            continue
        code_seen = True
        for at, col, comment, early in pending:
            yield at, col, comment, True, line, early
        pending.clear()
    for at, col, comment, early in pending:
        yield at, col, comment, True, at, early


_LAYOUT = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})


def tokens(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """(line, column, text) of comments and code tokens; text that does not tokenise is taken line by line."""
    last = 0
    source = io.StringIO("\n".join(lines))
    try:
        for token in tokenize.generate_tokens(source.readline):
            if token.type in _LAYOUT or token.type == tokenize.ERRORTOKEN:
                continue
            last = token.end[0]
            yield token.start[0], token.start[1], token.string
        return
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    # Half-typed code (an open bracket or string): the rest of the file still deserves its comments.
    for number in range(last + 1, len(lines) + 1):
        try:
            for token in tokenize.generate_tokens(io.StringIO(lines[number - 1].lstrip() + "\n").readline):
                if token.type not in _LAYOUT and token.type != tokenize.ERRORTOKEN:
                    indent = len(lines[number - 1]) - len(lines[number - 1].lstrip())
                    yield number, token.start[1] + indent, token.string
        except (tokenize.TokenError, SyntaxError, ValueError):
            continue
