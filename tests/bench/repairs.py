"""Measures the repairs on planted faults, on faults that models really made, and their cost.

    repairs.py ROOT [--given DIR] [--only PROJECT,...] [--misses] [--parts names,arguments,real,speed]

ROOT is a corpus of detection/make_corpus.py with its mutants.  Each mutant is planted alone in the clean file, which
is judged as an editor would judge it.  Printed are, for wrong names, how often the original name is the first
candidate and among the first three, beside what edit distance alone would say; how often the file equals the
original after the preferred fix; for wrong arguments, how often a verified fix is offered; and whether any fix left
its call ungrounded.

    --real PYTHON [PYTHON ...]   interpreters for tests/data/real_faults.dev.jsonl: each fault is looked at in the
                  first of them that has its Python and the versions of its libraries.  A name that the reference
                  solution uses should be among the first three.  Faults that the judgement abstains on (a class
                  with `__getattr__`) are ranked all the same.
    --symbols N   the cost of ranking in a made-up workspace of N symbols
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "detection"), str(HERE / "mending")]

import ranking_cost  # noqa: E402
from corpus import Corpus, parser  # noqa: E402

import real_faults  # noqa: E402
from callground.repairs import distance  # noqa: E402
from callground.repairs.asked import Asked  # noqa: E402
from callground.repairs.candidates import of as candidates_of  # noqa: E402
from callground.repairs.ranking import rank  # noqa: E402
from callground.repairs.service import Repairs  # noqa: E402
from callground.repairs.verified import patched  # noqa: E402
from callground.session import Session  # noqa: E402
from callground.verdict.model import Verdict  # noqa: E402

NAMES = ("k1", "k2", "k3", "k4", "k5", "k6")
ARGUMENTS = ("k8", "k9", "k10", "k13", "k14")
IMPORTS = ("k7", "k11")


@dataclass
class Score:
    """Counts of one kind."""

    all: int = 0
    found: int = 0
    first: int = 0
    three: int = 0
    base_first: int = 0
    base_three: int = 0
    offered: int = 0
    preferred: int = 0
    equal: int = 0
    worse: int = 0
    cpu: list[float] = field(default_factory=list)
    fix_cpu: list[float] = field(default_factory=list)


def planted(mutant: dict[str, Any], clean: bytes) -> tuple[str, str]:
    """The text with the mutant, and the name that stood in its place ("" for what was inserted)."""
    original = ""
    mutated = clean
    for start, end, text in sorted(mutant["edits"], reverse=True):
        if end > start:
            original = clean[start:end].decode()
        mutated = mutated[:start] + text.encode() + mutated[end:]
    return mutated.decode(), original


def lines_of(mutant: dict[str, Any], text: str) -> list[tuple[int, int]]:
    """The lines that the mutant has touched, in the text with it."""
    found: list[tuple[int, int]] = []
    data, shift = text.encode(), 0
    for start, end, new in sorted(mutant["edits"]):
        first = data[: start + shift].count(b"\n") + 1
        found.append((first, first + max(new.rstrip("\n").count("\n"), 0)))
        shift += len(new.encode()) - (end - start)
    return found


def wrong_ones(verdicts: list[Verdict], lines: list[tuple[int, int]]) -> list[Verdict]:
    return [
        v
        for v in verdicts
        if v.finding is not None
        and v.finding.severity == "error"
        and any(first <= v.range.end_line and v.range.line <= last for first, last in lines)
    ]


def baseline(asked: Asked, limit: int = 3) -> list[str]:
    """What the edit distance alone says, among the very same candidates."""
    names = list(dict.fromkeys(c.name for c in candidates_of(asked)))
    wrong = asked.name.rpartition(".")[2]
    scored = sorted(names, key=lambda n: (-distance.similarity(wrong, n), n))
    return scored[:limit]


def project_part(
    session: Session,
    mutants: list[dict[str, Any]],
    root: Path,
    scores: dict[str, Score],
    wanted: list[str],
    misses: bool,
) -> None:
    for mutant in mutants:
        kind = mutant["kind"]
        named = "names" in wanted and kind in NAMES
        if (
            not named
            and not ("arguments" in wanted and kind in ARGUMENTS)
            and not ("imports" in wanted and kind in IMPORTS)
        ):
            continue
        path = str(root / mutant["file"])
        clean = Path(path).read_bytes()
        text, original = planted(mutant, clean)
        if named and not original:
            continue
        score = scores[kind]
        score.all += 1
        verdicts = session.workspace.verify(path, text)
        wrong = wrong_ones(verdicts, lines_of(mutant, text))
        snapshot = session.workspace.snapshot().with_overlay({path: text})
        repairs = Repairs(path, text, verdicts, snapshot)
        verdict = next((v for v in wrong if repairs.asked(v) is not None), None)
        if verdict is None:
            if misses:
                print(f"  {mutant['id']} {kind}: not found: {mutant['mutated'].strip()[:100]}")
            continue
        score.found += 1
        if named:
            names_of(repairs, verdict, mutant, original, score, misses)
        fixes_of(repairs, verdict, mutant, clean.decode(), session, path, score, misses)


def names_of(
    repairs: Repairs, verdict: Verdict, mutant: dict[str, Any], original: str, score: Score, misses: bool
) -> None:
    asked = repairs.asked(verdict)
    assert asked is not None
    rank(asked)
    begin = time.process_time()
    rank(asked)
    score.cpu.append(time.process_time() - begin)
    ranked = repairs.ranked(verdict)
    last = original.rpartition(".")[2]
    names = [r.candidate.name for r in ranked[:3]]
    score.first += names[:1] == [last]
    score.three += last in names
    base = baseline(asked)
    score.base_first += base[:1] == [last]
    score.base_three += last in base
    if misses and names[:1] != [last]:
        mark = "second or third" if last in names else "MISSED"
        print(f"  {mutant['id']} {mutant['kind']} {mark}: {mutant['mutated'].strip().splitlines()[-1][:110]}")
        print(f"      meant {last}; named {[(r.candidate.text, r.score, r.fits) for r in ranked[:4]]}")


def fixes_of(
    repairs: Repairs,
    verdict: Verdict,
    mutant: dict[str, Any],
    clean: str,
    session: Session,
    path: str,
    score: Score,
    misses: bool,
) -> None:
    begin = time.process_time()
    offered = repairs.offered(verdict)
    score.fix_cpu.append(time.process_time() - begin)
    real = [r for r in offered if r.kind != "create"]
    score.offered += any(r.verified for r in real)
    preferred = next((r for r in offered if r.certain), None)
    assert verdict.finding is not None
    before = faults(session.workspace.verify(path, repairs.source.text))
    for repair in offered:
        made = patched(repair.changes, repairs.text)
        assert made is not None
        # Everything anew, the whole file: nothing of how the repair was verified comes in.
        after = faults(session.workspace.verify(path, made[path])) if len(made) == 1 else before[:-1]
        if len(after) >= len(before) or any(f not in before for f in after):
            score.worse += 1
            print(f"  {mutant['id']} {mutant['kind']} WORSE: {repair.title}: {[f for f in after if f not in before]}")
    if preferred is None:
        if misses:
            print(
                f"  {mutant['id']} {mutant['kind']} none preferred: {mutant['mutated'].strip().splitlines()[-1][:110]}"
            )
            print(f"      offered {[(r.title[:60], r.score, r.verified) for r in real[:4]]}")
        return
    score.preferred += 1
    made = patched(preferred.changes, repairs.text)
    equal = made is not None and made[path] == clean
    score.equal += equal
    if misses and not equal:
        print(f"  {mutant['id']} {mutant['kind']} other text: {mutant['mutated'].strip().splitlines()[-1][:110]}")
        print(f"      {preferred.kind}: {preferred.title[:120]}   original: {mutant['original'].strip()[:90]}")


def faults(verdicts: list[Verdict]) -> list[tuple[str, str, str]]:
    return sorted((v.finding.code, v.finding.name, v.finding.callee) for v in verdicts if v.finding is not None)


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:5.1f} %" if whole else "    -  "


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("--misses", action="store_true", help="print each miss")
    options_of.add_argument("--parts", default="names,arguments,imports", help="names, arguments, imports, real, speed")
    options_of.add_argument("--real", nargs="+", default=[], help="interpreters for the real faults")
    options_of.add_argument("--symbols", type=int, default=0, help="size of a made-up workspace")
    options = options_of.parse_args()
    if options.real:
        real_faults.measure(options.real, options.misses)
        return
    corpus = Corpus(options)
    if options.symbols:
        ranking_cost.measure(corpus, options.symbols)
        return
    wanted = options.parts.split(",")
    scores: dict[str, Score] = defaultdict(Score)
    by_project: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for mutant in corpus.mutants("mutated"):
        if mutant["project"] != "snippets":
            by_project[mutant["project"]].append(mutant)
    for project, mutants in by_project.items():
        root = corpus.root / "clean" / project
        with Session.open(str(root), python=str(corpus.root / "venvs" / project)) as session:
            session.index()
            project_part(session, mutants, root, scores, wanted, options.misses)
    if "names" in wanted:
        print_names(scores)
    print_fixes(scores)


def print_names(scores: dict[str, Score]) -> None:
    total = Score()
    print("kind  planted  proved   first   among 3   edit distance: first   among 3   CPU median")
    for kind in [k for k in NAMES if k in scores]:
        row(kind, scores[kind])
        for name in ("all", "found", "first", "three", "base_first", "base_three"):
            setattr(total, name, getattr(total, name) + getattr(scores[kind], name))
        total.cpu += scores[kind].cpu
    row("all", total)


def print_fixes(scores: dict[str, Score]) -> None:
    print(
        "kind  planted  verified fix   preferred   of these equal to the original   equal, of all   worse   CPU median"
    )
    groups = (("names", NAMES), ("arguments", ARGUMENTS), ("imports", IMPORTS))
    for group, kinds in groups:
        total = Score()
        for kind in [k for k in kinds if k in scores]:
            fix_row(kind, scores[kind])
            for name in ("all", "offered", "preferred", "equal", "worse"):
                setattr(total, name, getattr(total, name) + getattr(scores[kind], name))
            total.fix_cpu += scores[kind].fix_cpu
        if total.all:
            fix_row(group, total)


def fix_row(kind: str, s: Score) -> None:
    cpu = f"{1000 * statistics.median(s.fix_cpu):.0f} ms" if s.fix_cpu else ""
    print(
        f"{kind:10} {s.all:3}       {percent(s.offered, s.all)}    {percent(s.preferred, s.all)}"
        f"                       {percent(s.equal, s.preferred)}        {percent(s.equal, s.all)}   {s.worse:5}   {cpu}"
    )


def row(kind: str, s: Score) -> None:
    cpu = f"{1000 * statistics.median(s.cpu):.1f} ms" if s.cpu else ""
    print(
        f"{kind:5} {s.all:7} {s.found:7}  {percent(s.first, s.all)} {percent(s.three, s.all)}"
        f"               {percent(s.base_first, s.all)} {percent(s.base_three, s.all)}   {cpu}"
    )


if __name__ == "__main__":
    main()
