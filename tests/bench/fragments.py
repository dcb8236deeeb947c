"""Statements cut out of working code and asked back in: `verify --at` must find nothing wrong with them.

    python tests/bench/fragments.py PROJECT [--python ENVIRONMENT] [--number 200]

Each fragment is asked about three times: at the line that it was cut from, as it was indented and without its
indentation, and without any place.  Prints the findings, and how many of its calls are decided as they are where
the code really stands.  The exit status is 1 when a fragment at its place has a finding that the file itself has not.
"""

from __future__ import annotations

import argparse
import ast
import random
import statistics
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from callground.gate import Place, Request, answer
from callground.session import Session


def main() -> int:
    """Cut, ask, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project")
    parser.add_argument("--python", help="interpreter or environment of the project")
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    pick = random.Random(options.seed)
    alarms: list[str] = []
    alone: list[str] = []
    status: Counter[str] = Counter()
    took: list[float] = []
    asked = 0
    with (
        tempfile.TemporaryDirectory() as cache,
        Session.open(options.project, python=options.python, cache=cache) as session,
    ):
        session.index()
        for path, first, last in _cuts(session, pick, options.number):
            rows = Path(path).read_text("utf-8", "replace").split("\n")
            fragment = "\n".join(rows[first - 1 : last])
            rest = "\n".join(rows[: first - 1] + rows[last:])
            known = [v for v in session.verify(path, ranges=[(first, last)]) if v.site == "call"]
            wrong = {v.finding.message for v in session.verify(path, ranges=[(first, last)]) if v.finding is not None}
            asked += 1
            for code in (fragment, textwrap.dedent(fragment)):
                began = time.perf_counter()
                made = answer(session, Request(code=code, at=Place(path, first), files={path: rest}, only_new=True))
                took.append((time.perf_counter() - began) * 1000)
                mine = next(file for file in made.report.files if file.path.endswith("<stdin>"))
                found = [v.finding.message for v in mine.verdicts if v.finding and v.finding.severity == "error"]
                place = f"{path}:{first}"
                alarms += [f"{place}: {message}" for message in found if message not in wrong]
                calls = sum(v.status != "abstained" for v in mine.verdicts if v.site == "call")
                status["decided at the place"] += calls
                status["decided in the file"] += sum(v.status != "abstained" for v in known)
            made = answer(session, Request(code=textwrap.dedent(fragment)))
            alone += [f"{path}:{first}: {e.finding.message}" for e in made.report.findings]
    print(f"{asked} fragments; at their place {len(alarms)} findings, without a place {len(alone)}")
    print(", ".join(f"{name}: {number}" for name, number in status.items()))
    print(f"median {statistics.median(took):.1f} ms")
    print("\n".join([*(f"at its place: {each}" for each in alarms), *(f"alone: {each}" for each in alone)]))
    return 1 if alarms else 0


def _cuts(session: Session, pick: random.Random, number: int) -> Iterator[tuple[str, int, int]]:
    """(file, first line, last line) of statements, one to four together, in blocks that keep another one."""
    paths = session.workspace.paths()
    pick.shuffle(paths)
    left = number
    for path in paths:
        try:
            text = Path(path).read_text("utf-8")
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        blocks = [
            block
            for node in ast.walk(tree)
            for name in ("body", "orelse", "finalbody")
            if isinstance(block := getattr(node, name, None), list)
            and len(block) > 1
            and isinstance(block[0], ast.stmt)
        ]
        pick.shuffle(blocks)
        for block in blocks[:8]:
            start = pick.randrange(1, len(block))
            part = block[start : start + pick.randrange(1, 5)]
            first = min([part[0].lineno, *(d.lineno for d in getattr(part[0], "decorator_list", []))])
            last = part[-1].end_lineno or part[-1].lineno
            cut = textwrap.dedent("\n".join(text.split("\n")[first - 1 : last]))
            if (block[start - 1].end_lineno or 0) >= first or cut.startswith("elif"):
                continue
            yield path, first, last
            left -= 1
            if not left:
                return


if __name__ == "__main__":
    sys.exit(main())
