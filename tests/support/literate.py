"""Literate specs: Markdown with Python blocks whose comments say what must be found.

In a block, at the end of a line or on a line of its own under it:

    # ungrounded: NAME      a finding for that name stands on the line (also for imports)
    # arity: CODE           an argument finding of that rule stands on the line
    # abstained: REASON     a site of the line was abstained on for that reason
    # grounded              every site of the line is grounded

Findings match one to one: one that no comment announces fails the spec, as does one that is announced
and not there.  A heading begins a new spec; the blocks below it are the files of one project.  A block's
file name follows the language (```` ```python pkg/a.py ````); blocks without a name are files of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from callground.rules.ignores import tokens
from callground.verdict.report import GroundingReport
from projects import check_project, findings_of, verdicts_of

_BLOCK = re.compile(r"^(`{3,})(\w*)[ \t]*(\S*)[ \t]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
_CLAIM = re.compile(r"# (ungrounded|arity|abstained): *([\w.*-]+(?:, *[\w.*-]+)*)|# (grounded)\b")


class Spec(NamedTuple):
    """One heading's project."""

    name: str
    files: dict[str, str]
    line: int
    """Line of the heading."""


class Claim(NamedTuple):
    """What one comment says about one line."""

    file: str
    line: int
    kind: str
    value: str


def read_specs(text: str) -> list[Spec]:
    """The specs of a Markdown text, those without Python left out."""
    blocks = list(_BLOCK.finditer(text))
    inside = [(block.start(), block.end()) for block in blocks]
    headings = [h for h in _HEADING.finditer(text) if not any(a <= h.start() < b for a, b in inside)]
    borders = [h.start() for h in headings[1:]] + [len(text)]
    specs = []
    for heading, end in zip(headings, borders, strict=True):
        mine = [block for block in blocks if heading.start() <= block.start() < end]
        files: dict[str, str] = {}
        unnamed = sum(1 for block in mine if block[2] == "python" and not block[3])
        number = 0
        for block in mine:
            name = block[3]
            if not name and block[2] == "python":
                number += 1
                name = "main.py" if unnamed == 1 else f"part_{number}.py"
            if name:
                assert name not in files, f"{heading[1]}: two blocks are called {name}"
                files[name] = block[4]
        if any(name.endswith(".py") for name in files):
            specs.append(Spec(heading[1].strip("` "), files, text.count("\n", 0, heading.start()) + 1))
    return specs


def claims(file: str, code: str) -> Iterator[Claim]:
    """What the comments of one file say."""
    last_code = 0
    lines = code.split("\n")
    for number, column, string in tokens(lines):
        if not string.startswith("#"):
            last_code = number
            continue
        line = number if lines[number - 1][:column].strip() else last_code
        for match in _CLAIM.finditer(string):
            if match[3]:
                yield Claim(file, line, "grounded", "")
            else:
                for value in match[2].split(","):
                    yield Claim(file, line, match[1], value.strip())


def failures(spec: Spec, root: Path, cache: Path | None = None) -> list[str]:
    """How the verdicts on a spec's project differ from what it says; [] when they do not."""
    report = check_project(root, spec.files, cache=cache)
    said = [c for file, code in spec.files.items() if file.endswith(".py") for c in claims(file, code)]
    problems = [f"not checked: {error.path}: {error.reason}" for error in report.errors if not error.partly]
    problems += _findings(report, said)
    sites = verdicts_of(report)
    for claim in said:
        on_line = [v for file, v in sites if file == claim.file and claim.line in (v.range.line, v.callee_range.line)]
        what = [f"{v.callee}: {v.status}" + (f" ({v.reason.value})" if v.reason else "") for v in on_line]
        if claim.kind == "abstained":
            if not any(v.reason is not None and v.reason.value == claim.value for v in on_line):
                problems.append(f"{claim.file}:{claim.line}: nothing is abstained for {claim.value}: {what}")
        elif claim.kind == "grounded" and (not on_line or any(v.status != "grounded" for v in on_line)):
            problems.append(f"{claim.file}:{claim.line}: not grounded: {what}")
    return problems


def _findings(report: GroundingReport, said: list[Claim]) -> Iterator[str]:
    expected = Counter(claim for claim in said if claim.kind in ("ungrounded", "arity"))
    observed: Counter[Claim] = Counter()
    messages: dict[Claim, str] = {}
    for file, line, finding in findings_of(report):
        if finding.kind == "arity":
            claim = Claim(file, line, "arity", finding.code)
        else:
            claim = Claim(file, line, "ungrounded", (finding.name or finding.callee).rpartition(".")[2])
        observed[claim] += 1
        messages[claim] = f"{finding.code}: {finding.message}"
    for claim in sorted(expected - observed):
        yield f"{claim.file}:{claim.line}: not found: {claim.kind}: {claim.value}"
    for claim in sorted(observed - expected):
        yield f"{claim.file}:{claim.line}: found and not expected: {messages[claim]}"
