"""Which commit each line comes from, asked of git."""

from __future__ import annotations

import re
from typing import NamedTuple

from callground.provenance.changed_lines import run_git, unquoted
from callground.provenance.records.commits import Commit, assistant_of

MOST_COMMITS = 20_000
"""So far back are commits looked at for assistants."""
_HEADER = re.compile(r"([0-9a-f]{40,64}) (\d+) (\d+)(?: \d+)?")


class Blamed(NamedTuple):
    """Where a line comes from."""

    commit: str
    """``""`` for a line that is not committed."""
    path: str
    """The file's name in that commit."""
    line: int
    """1-based, in that commit."""


def blame(root: str, path: str, text: str) -> list[Blamed]:
    """The origin of each line of `text`, which stands for the file `path`.  Raises GitError."""
    output = run_git(
        root, "-c", "blame.ignoreRevsFile=", "blame", "--porcelain", "--contents", "-", "--", path, stdin=text
    )
    lines: list[Blamed] = []
    names: dict[str, str] = {}
    commit = ""
    number = 0
    for row in output.split("\n"):
        if row.startswith("\t"):
            committed = commit.strip("0")
            lines.append(Blamed(commit if committed else "", names.get(commit, ""), number))
            continue
        match = _HEADER.fullmatch(row)
        if match:
            commit, number = match[1], int(match[2])
        elif row.startswith("filename "):
            names[commit] = unquoted(row.removeprefix("filename "))
    return lines


def assistants(root: str) -> dict[str, str]:
    """Commits that name an assistant -> which.  Raises GitError."""
    form = "%H%x00%an%x00%ae%x00%cn%x00%ce%x00%B%x01"
    output = run_git(root, "log", f"--format={form}", "-n", str(MOST_COMMITS), "HEAD")
    found: dict[str, str] = {}
    for row in output.split("\x01"):
        parts = row.strip("\n").split("\0")
        if len(parts) == 6:
            tool = assistant_of(Commit(*parts[1:]))
            if tool is not None:
                found[parts[0]] = tool
    return found


def notes(root: str, ref: str) -> dict[str, str]:
    """Commits that have a note under `ref` -> the note's object.  Raises GitError."""
    output = run_git(root, "notes", f"--ref={ref}", "list")
    rows = [row.split() for row in output.split("\n")]
    return {row[1]: row[0] for row in rows if len(row) == 2}
