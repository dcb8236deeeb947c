"""How many faults that models really made are found, by kind, each against the library version it was made for.

    real_faults.py [FOLDER] [--misses] [--only ID,...] [--shapes]

FOLDER (default: the variable CALLGROUND_REAL_FAULTS) keeps the unpacked wheels; the first run downloads about two
gigabytes of them with pip.  Nothing is installed and nothing of the libraries runs, except that compiled modules are
looked into where the wheel is for the Python that runs this.  A fact counts as found when its fault is found in most
of the program shapes; `--shapes` prints the shapes apart.  For every right name that the library's text defines, the
same programs with the right name must stay silent.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]

import real_faults as faults  # noqa: E402
from callground.verdict.model import Verdict  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("CALLGROUND_REAL_FAULTS"))
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not options.folder:
        parser.error("name a folder for the wheels")
    libraries = faults.Libraries(Path(options.folder))
    only = set(filter(None, options.only.split(",")))
    groups: dict[tuple[str, tuple[str, ...]], list[faults.Fact]] = defaultdict(list)
    for fact in faults.facts():
        if not only or fact.id in only:
            groups[fact.python, tuple(libraries.site(fact))].append(fact)
    total: Counter[str] = Counter()
    found: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    shapes: dict[str, Counter[str]] = {"all": Counter(), "found": Counter()}
    misses: list[str] = []
    alarms: list[str] = []
    twins = 0
    for (python, site), group in groups.items():
        answers = judge(python, list(site), group)
        for fact in group:
            total[fact.kind] += 1
            hits = 0
            programs = faults.programs(fact)
            whys: list[str] = []
            for program in programs:
                verdicts = answers[fact.id, program.shape, fact.name]
                hit = faults.found_at(fact, program, verdicts) is not None
                hits += hit
                shapes["all"][f"{fact.kind} {program.shape}"] += 1
                shapes["found"][f"{fact.kind} {program.shape}"] += hit
                if not hit:
                    whys.append(f"{program.shape}: {why(program, verdicts)}")
            enough = hits * 2 > len(programs) if fact.kind != "multiple_values" else hits > 0
            found[fact.kind] += enough
            if not enough:
                reasons[re.sub(r"^\w+: (\S+).*", r"\1", whys[0])] += 1
            if whys and (not enough or options.shapes):
                misses.append(
                    f"{fact.id} {fact.kind} {fact.path}: {fact.name} {hits}/{len(programs)}\n    " + "\n    ".join(whys)
                )
            for right in fact.right_names:
                for program in faults.programs(fact, right):
                    known = answers.get((fact.id, program.shape, right))
                    if known is None:
                        continue
                    twins += 1
                    wrong = faults.found_at(fact, program, known, right)
                    if wrong is not None:
                        alarms.append(f"{fact.id} {program.shape} {right}: {wrong.message}")
    for kind in total:
        print(f"{kind:20} {found[kind]:3} of {total[kind]:3}  {100 * found[kind] / total[kind]:5.1f} %")
    if options.shapes:
        for name, count in sorted(shapes["all"].items()):
            print(f"  {name:32} {shapes['found'][name]:3} of {count:3}")
    print(f"twins: {twins} programs with right names, {len(alarms)} of them flagged")
    for alarm in alarms:
        print(f"  {alarm}")
    print("missed for:", ", ".join(f"{reason} {count}" for reason, count in reasons.most_common()) or "nothing")
    if options.misses:
        print("\n".join(misses))
    return 0


def judge(python: str, site: list[str], group: list[faults.Fact]) -> dict[tuple[str, str, str], list[Verdict]]:
    """(fact, shape, name) -> the verdicts on that program."""
    answers: dict[tuple[str, str, str], list[Verdict]] = {}
    texts = _texts(site)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        files: dict[str, tuple[str, str, str]] = {}
        for fact in group:
            rights = [name for name in fact.right_names if _defined(texts, fact, name)]
            for name in (fact.name, *rights):
                for program in faults.programs(fact, name):
                    file = re.sub(r"\W", "_", f"{fact.id}_{program.shape}_{name}") + ".py"
                    files[file] = (fact.id, program.shape, name)
                    (root / file).write_text(program.text, "utf-8")
        with faults.open_session(root, python, site) as session:
            session.index()
            for file, key in files.items():
                answers[key] = session.verify(str(root / file))
    return answers


def _texts(site: list[str]) -> dict[str, list[Path]]:
    """Top-level package -> its Python files."""
    return {
        child.name: list(child.rglob("*.py")) + list(child.rglob("*.pyi"))
        for folder in site
        for child in Path(folder).iterdir()
        if child.is_dir() and not child.name.endswith(".dist-info")
    }


_CACHE: dict[tuple[str, str], bool] = {}


def _defined(texts: dict[str, list[Path]], fact: faults.Fact, name: str) -> bool:
    """Whether a right name may belong to the owner: the owner's own module defines it (for keywords: has it)."""
    module, _, last = fact.path.rpartition(".")
    top = module.partition(".")[0]
    word = name.rstrip("=")
    if name.endswith("=") != (fact.kind == "kwarg") or fact.kind in (
        "missing_arg",
        "too_many_positional",
        "multiple_values",
    ):
        return False
    files = [path for path in texts.get(top, []) if path.stem in (module.rpartition(".")[2], "__init__")]
    if fact.kind == faults.INSTANCE:
        pattern = rf"^class {last}\b(?:.|\n)*?^    (?:def {word}\(|{word}\s*[:=])"
        files = texts.get(top, [])
    elif fact.kind == "kwarg":
        pattern = rf"^def {last}\((?:[^()]|\([^()]*\))*\b{word}\b"
        files = texts.get(top, [])
    else:
        pattern = rf"^(?:def|class) {word}\b|^{word}\s*=|import .*\b{word}\b|^    {word},$|[\"']{word}[\"']"
        if module.count("."):
            files = [
                path
                for path in files
                if path.stem == module.rpartition(".")[2] or path.parent.name == module.rpartition(".")[2]
            ]
        else:
            files = [path for path in files if path.parent.name == top]
    return any(re.search(pattern, path.read_text("utf-8", "replace"), re.MULTILINE) for path in files)


def why(program: faults.Program, verdicts: list[Verdict]) -> str:
    """Why the fault was not found."""
    near = [v for v in verdicts if v.range.line <= program.line <= v.range.end_line]
    for verdict in near:
        if verdict.reason is not None:
            return f"{verdict.reason.value} {verdict.detail}"
    others = [v.finding.message for v in verdicts if v.finding is not None]
    return f"otherwise {others[0]}" if others else "grounded" if near else "no-site"


if __name__ == "__main__":
    sys.exit(main())
