"""Another process that judges the same files from nothing, to compare with.

Started as a program: a line of JSON in, a line out.  Every question opens a new workspace with an empty store.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from callground.environment.discover import find_environment
from callground.graph.space import Contents
from callground.graph.workspace import Workspace
from callground.verdict.model import Verdict


def comparable(verdict: Verdict) -> list[Any]:
    """Everything of a verdict that people see, as JSON has it."""
    finding = verdict.finding
    seen = [verdict.range, verdict.callee_range, verdict.site, verdict.callee, verdict.status, verdict.reason]
    seen += [verdict.detail]
    if finding is not None:
        seen += [finding.code, finding.range, finding.owner, finding.message, finding.evidence]
        seen += [finding.evidence_location, sorted(finding.candidates), finding.suggestions]
    plain: list[Any] = json.loads(json.dumps(seen))
    return plain


CONTENTS = Contents()
"""What was read of the environment, which no question changes."""


def judge(question: dict[str, Any]) -> dict[str, list[list[Any]]]:
    """Verdicts of `files` in `root`, with the texts of `open` on top of the disk."""
    with tempfile.TemporaryDirectory() as store:
        environment = find_environment(question["root"], python=sys.executable, trusted=True)
        workspace = Workspace.open(question["root"], environment, cache=store, contents=CONTENTS)
        try:
            workspace.index(processes=False)
            for path, text in question["open"].items():
                workspace.set_overlay(path, text)
            return {path: [comparable(v) for v in workspace.verify(path)] for path in question["files"]}
        finally:
            workspace.close()


class Reference:
    """The parent's end."""

    def __enter__(self) -> Reference:
        places = [entry for entry in sys.path if entry]
        start = f"import sys; sys.path[:0] = {places!r}; import reference; reference.main()"
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", start], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)

    def judge(self, root: Path, opened: dict[str, str], files: list[str]) -> dict[str, list[list[Any]]]:
        """The verdicts of these files."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        question = {"root": str(root), "open": opened, "files": files}
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer: dict[str, list[list[Any]]] = json.loads(self._process.stdout.readline())
        return answer


def main() -> None:
    """Answer questions until there are no more."""
    for line in sys.stdin:
        sys.stdout.write(json.dumps(judge(json.loads(line))) + "\n")
        sys.stdout.flush()
