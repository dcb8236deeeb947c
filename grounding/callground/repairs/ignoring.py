"""The comment that silences a finding where it stands."""

from __future__ import annotations

import io
import re
import tokenize

from callground.repairs.asked import Source
from callground.repairs.model import FileEdits, Repair
from callground.text.edits import Edit
from callground.verdict.model import Verdict

_OURS = re.compile(r"#\s*callground:\s*ignore(?:\s*\[(?P<codes>[^\]]*)\])?")


def repair(source: Source, verdict: Verdict) -> Repair | None:
    """``# callground: ignore[code]`` behind the finding's line; a comment that is there gets the code too."""
    finding = verdict.finding
    if finding is None:
        return None
    for line in dict.fromkeys((finding.range.end_line, finding.range.line, verdict.range.end_line, verdict.range.line)):
        edit = _edit(source, line, finding.code)
        if edit is not None:
            return Repair(
                "ignore",
                f"Ignore {finding.code} on this line",
                (FileEdits(source.path, (edit,)),),
                ("silences the finding, repairs nothing",),
            )
    return None


def _edit(source: Source, line: int, code: str) -> Edit | None:
    text = source.lines.line(line)
    if not text.strip() or text.rstrip().endswith("\\"):
        return None
    comment = _comment(source, line)
    if comment is None:
        return None
    start = source.lines.offset(line, 0)
    column = comment
    if column >= 0:
        ours = _OURS.search(text, column)
        if ours is not None and ours["codes"] is not None:
            listed = [each.strip() for each in ours["codes"].split(",") if each.strip()]
            new = ", ".join([*listed, code])
            return Edit(start + ours.start("codes"), start + ours.end("codes"), new)
    end = start + len(text.rstrip())
    return Edit(end, end, f"  # callground: ignore[{code}]")


def _comment(source: Source, line: int) -> int | None:
    """Column of the comment that ends a line, -1 without one; None when the line ends inside of a string."""
    text = source.text.replace("\r\n", "\n").replace("\r", "\n")
    found = -1
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.start[0] > line:
                break
            if token.type == tokenize.COMMENT and token.start[0] == line:
                found = token.start[1]
            elif token.start[0] <= line < token.end[0] and token.type not in (tokenize.NEWLINE, tokenize.NL):
                return None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return -1 if "#" not in source.lines.line(line) else None
    return found
