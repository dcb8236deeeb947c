"""Chooses the mutants of a corpus and lays the mutated trees.

    mutate.py ROOT [--open] [--seed N] [--given DIR] [--ids ID,...] [--tree NAME]

Without `--given`, each project is imported in its own environment and mutants are chosen there (`choose.py`);
the same seed chooses the same mutants. With `--given` the mutants of that folder are laid. Either way they
are kept in ROOT/mutants.json (with `--open`: mutants_open.json, the receivers that nothing explains), the
trees are ROOT/mutated/<project> (ROOT/mutated15/<project>), and ROOT/where.<tree>.json tells on which lines
each mutant stands.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from corpus import HERE, MUTANTS, Corpus, parser

Mutant = dict[str, Any]


def choose(corpus: Corpus, seed: int, open_receivers: bool) -> list[Mutant]:
    """Fresh mutants for the projects of the corpus."""
    chosen: list[Mutant] = []
    for name, project in corpus.projects.items():
        command = [corpus.root / "venvs" / name / "bin/python", "-B", HERE / "choose.py"]
        command += [
            corpus.root / "clean" / name,
            name,
            str(seed),
            str(corpus.manifest["mutants_per_project"]),
        ]
        command += ["--open"] if open_receivers else []
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(
            [str(c) for c in command],
            capture_output=True,
            text=True,
            timeout=900,
            env=environment,
            cwd=corpus.root,
        )
        start = done.stdout.find('{"imported')  # a project may print when it is imported
        if start < 0:
            print(name, "FAILED", done.stderr[-1500:], flush=True)
            continue
        answer = json.loads(done.stdout[start:])
        for number, mutant in enumerate(answer["chosen"]):
            mutant["id"] = f"{name}-{'o' if open_receivers else ''}{number:03d}"
            mutant.update(project=name, version=project["version"], split=project["split"])
            chosen.append(mutant)
        kinds = Counter(m["kind"] for m in answer["chosen"])
        print(
            f"{name:13} imported {answer['imported']}/{answer['files']} candidates {answer['candidates']}",
            f"chosen {len(answer['chosen'])} {dict(sorted(kinds.items(), key=lambda k: int(k[0][1:])))}",
            flush=True,
        )
    return chosen


def lay_file(source: bytes, mutants: list[Mutant]) -> tuple[bytes, dict[str, list[int]]]:
    """A file with its mutants, and the lines on which each of them stands there."""
    edits: list[tuple[int, int, bytes]] = sorted(
        ((start, end, text.encode()) for m in mutants for start, end, text in m["edits"]),
        key=lambda e: e[:2],
    )
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def new_line(offset: int) -> int:
        shift = sum(
            text.count(b"\n") - source[start:end].count(b"\n")
            for start, end, text in edits
            if start < offset or (start == end == offset and text.endswith(b"\n"))
        )
        return source.count(b"\n", 0, offset) + 1 + shift

    mutated, position = b"", 0
    for start, end, text in edits:
        assert start >= position, "two mutants touch the same text"
        mutated += source[position:start] + text
        position = end
    mutated += source[position:]
    where: dict[str, list[int]] = {}
    for mutant in mutants:
        inserted = [e for e in mutant["edits"] if e[0] == e[1] and e[2].endswith("\n")]
        added = [new_line(inserted[0][0]) - 1] if inserted else []
        if len(inserted) == len(mutant["edits"]):
            where[mutant["id"]] = added * 2
        else:
            first = new_line(starts[mutant["line"] - 1])
            where[mutant["id"]] = [first, first + mutant["end_line"] - mutant["line"], *added]
    return mutated, where


def lay_tree(clean: Path, target: Path, mutants: list[Mutant]) -> dict[str, list[int]]:
    """Copies a project with its mutants applied; returns the lines on which each of them stands."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(clean, target, ignore=shutil.ignore_patterns("__pycache__"))
    by_file: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_file.setdefault(mutant["file"], []).append(mutant)
    where: dict[str, list[int]] = {}
    for file, group in by_file.items():
        mutated, lines = lay_file((clean / file).read_bytes(), group)
        (target / file).write_bytes(mutated)
        where.update(lines)
    return where


def _kept(path: Path, corpus: Corpus) -> list[Mutant]:
    """The mutants of the projects that are not chosen anew."""
    if not path.exists():
        return []
    return [m for m in json.loads(path.read_text(encoding="utf8")) if m["project"] not in corpus.projects]


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("--open", action="store_true", help="the mutants with open receivers (k15)")
    options_of.add_argument("--seed", type=int, help="another choice than the manifest's")
    options_of.add_argument("--ids", default="", help="lay these mutants only")
    options_of.add_argument("--tree", help="the name of the trees (default: mutated, with --open mutated15)")
    options = options_of.parse_args()
    corpus = Corpus(options)
    kind = "mutated15" if options.open else "mutated"
    name = MUTANTS[kind]
    if options.given is not None and (options.given / name).exists():
        mutants: list[Mutant] = json.loads((options.given / name).read_text(encoding="utf8"))
        mutants = [m for m in mutants if m["project"] in corpus.projects]
    else:
        seed = corpus.manifest["seed"] if options.seed is None else options.seed
        mutants = choose(corpus, seed, options.open)
    others = _kept(corpus.root / name, corpus) if options.only else []
    (corpus.root / name).write_text(json.dumps(others + mutants, indent=0), encoding="utf8")
    if options.ids:
        mutants = [m for m in mutants if m["id"] in options.ids.split(",")]
    tree = options.tree or kind
    where = corpus.where(tree)
    gone = {i for i in where if i.rpartition("-")[0] in corpus.projects or not options.only}
    where = {i: lines for i, lines in where.items() if i not in gone}
    for project in sorted({m["project"] for m in mutants}):
        group = [m for m in mutants if m["project"] == project]
        for stale in (corpus.root / "out" / tree).glob(f"*/{project}*.json"):
            stale.unlink()  # it was found in other mutants
        where.update(lay_tree(corpus.root / "clean" / project, corpus.root / tree / project, group))
    (corpus.root / f"where.{tree}.json").write_text(json.dumps(where), encoding="utf8")
    print(len(where), "mutants stand in", tree)


if __name__ == "__main__":
    main()
