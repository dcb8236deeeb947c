"""Comment -> called function, out of about 200 functions of a project that nothing was fitted on.

    python tests/bench/caller/code_side.py --trees FOLDER [--model MODEL_FOLDER] [--per-project 20]

`FOLDER` holds one source tree a project (`pip download --no-deps`, unpacked, ``*.py`` only) for the twelve evaluation
projects; others beside them only widen the list of verbs that requests begin with, and change it: keep them the same
for comparable numbers.  Pairs, filter, candidates and their order are those of the first measurement: functions of the
same file first, then others, the same for every request of a project.  What the code says comes from the file around
the comment with the called statement taken out, and with it every import, local and comment whose only use it was.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from code_pairs import mine

from callground.caller import code_features
from callground.caller.code_combiner import CodeCombiner, CombinerError
from callground.caller.code_context import Shape
from callground.caller.code_suggestions import CodeCaller, function_text
from callground.caller.encoder import Encoder
from callground.caller.tools import words
from callground.caller.training.code_masking import Masker
from callground.caller.training.code_places import EVALUATION, Place
from callground.caller.training.code_rows import look
from callground.resolve.memo import Memo
from callground.session import Session

NO_VERBS = set(
    "the a an this that is if we it on in for from with to not no all by as at or and new old test data first last here now only "
    "x n t s p i has can should note name key value type max min default when while use used other per non main".split()
)
STOP = set(
    "a an the of to in for on with and or is are be i me my you your it this that what how can could please want need "
    "would like find get from by at as do does will".split()
)


class Request(NamedTuple):
    project: str
    path: str
    line: int
    text: str
    chosen: list[int]
    """Indexes of the candidates among the project's functions; the first one is the right one."""


def function_name(f: dict[str, Any]) -> str:
    return f"{f['cls']}.{f['name']}" if f["cls"] else f["name"]


def function_text_of(f: dict[str, Any]) -> str:
    text = words(function_name(f))
    doc = re.sub(r"\s+", " ", f["doc"] or "")[:300]
    params = ", ".join(words(p) for p in f["params"][:12])
    return text + (f": {doc}" if doc else "") + (f" ({params})" if params else "")


def requests(
    code: dict[str, Any], per_project: int, pool: int = 200, seed: str = "", verbs: Collection[str] = ()
) -> list[Request]:
    r = random.Random(seed)
    counts = Counter(words(f["name"]).split(" ")[0] for c in code.values() for f in c["funcs"])
    verbs = verbs or {w for w, k in counts.items() if k >= 15 and len(w) > 2 and w not in NO_VERBS}

    def good(p: dict[str, Any], f: dict[str, Any]) -> bool:
        said = p["text"].lower().split()
        if said[0].strip(".,:") not in verbs or len(said) > 18:
            return False
        return len(words(f["name"]).split()) > 1 or words(f["name"]) in p["text"].lower()

    out: list[Request] = []
    for project in sorted(EVALUATION):
        if project not in code:
            continue
        c = code[project]
        names = [function_name(f) for f in c["funcs"]]
        pairs = [p for p in c["pairs"] if good(p, c["funcs"][p["fn"]])]
        r.shuffle(pairs)
        rest = list(range(len(names)))
        r.shuffle(rest)
        seen: set[str] = set()
        made = 0
        for p in pairs:
            if made >= per_project:
                break
            if p["text"].lower() in seen:
                continue
            seen.add(p["text"].lower())
            own = [i for i, g in enumerate(c["funcs"]) if g["path"] == p["path"] and i != p["fn"]]
            r.shuffle(own)
            chosen = [p["fn"], *own[:70]]
            taken = {names[i] for i in chosen}
            for i in rest:
                if len(chosen) >= pool:
                    break
                if names[i] not in taken:
                    taken.add(names[i])
                    chosen.append(i)
            out.append(Request(project, p["path"], p["line"], p["text"], chosen))
            made += 1
    return out


def stems(text: str) -> list[str]:
    out = []
    for w in re.findall(r"[a-z0-9]+", words(text) if "_" in text or re.search("[a-z][A-Z]", text) else text.lower()):
        if w in STOP:
            continue
        for ending in ("ing", "es", "s", "ed"):
            if w.endswith(ending) and len(w) > len(ending) + 3:
                w = w[: -len(ending)]
                break
        out.append(w)
    return out


def overlap(text: str, functions: list[dict[str, Any]]) -> np.ndarray:
    q = set(stems(text))
    scores = []
    for f in functions:
        d, n = set(stems(function_text_of(f))), set(stems(words(function_name(f))))
        scores.append((len(q & d) / max(1, len(q)) + 2 * len(q & n) / max(1, len(n))) / 3)
    return np.array(scores)


class Tally:
    def __init__(self) -> None:
        self.first: dict[str, int] = defaultdict(int)
        self.five: dict[str, int] = defaultdict(int)
        self.count = 0
        self.cpu: list[float] = []

    def add(self, name: str, scores: np.ndarray, names: list[str]) -> None:
        order = np.argsort(-scores, kind="stable")
        rank = next(k for k, i in enumerate(order) if names[i] == names[0])
        self.first[name] += rank == 0
        self.five[name] += rank < 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--per-project", type=int, default=20)
    parser.add_argument("--verbs-from", nargs="*", default=[], help="other trees that widen the list of verbs")
    given = parser.parse_args()
    code = {
        name: mine(str(given.trees / name))
        for name in sorted({*EVALUATION, *given.verbs_from})
        if (given.trees / name).is_dir()
    }
    asked = requests(code, given.per_project)
    encoder = Encoder(given.model)
    try:
        combiner = CodeCombiner.read(encoder.path)
    except CombinerError as error:
        raise SystemExit(str(error)) from None
    tally = Tally()
    by_project: dict[str, list[Request]] = defaultdict(list)
    for request in asked:
        by_project[request.project].append(request)
    for project, mine_ in by_project.items():
        measure(given.trees / project, code[project]["funcs"], mine_, encoder, combiner, tally)
        print(project, len(mine_), {k: round(v / tally.count, 3) for k, v in tally.five.items()}, flush=True)
    print(f"\n{tally.count} requests")
    for name in tally.first:
        print(f"{name:36s} first {tally.first[name] / tally.count:.3f}  in five {tally.five[name] / tally.count:.3f}")
    print(f"ranking: {sorted(tally.cpu)[len(tally.cpu) // 2] * 1000:.1f} ms CPU at the median, vectors known")


def measure(
    root: Path,
    functions: list[dict[str, Any]],
    asked: list[Request],
    encoder: Encoder,
    combiner: CodeCombiner,
    tally: Tally,
) -> None:
    with Session.open(str(root)) as session:
        session.index()
        snapshot = session.workspace.snapshot()
        caller = CodeCaller(encoder, combiner)
        table = caller.tools.table(snapshot)
        assert table is not None
        by_place = {(os.path.relpath(t.path, root), t.qualname): t for t in table.tools}
        memo = Memo(tracking=False)
        for request in asked:
            listed = [functions[i] for i in request.chosen]
            names = [function_name(f) for f in listed]
            texts = [function_text_of(f) for f in listed]
            tally.count += 1
            words_ = overlap(request.text, listed)
            vector = caller.vectors.of([request.text])[0]
            cosine = caller.vectors.of(texts) @ vector
            tally.add("word overlap", words_, names)
            tally.add("cosine", cosine, names)
            tally.add("cosine + 0.4 overlap (no context)", cosine + 0.4 * words_, names)
            scores = np.full(len(names), -1e6)
            place = masked(root, request)
            seen = look(snapshot, str(root / request.path), place, Shape(), memo) if place is not None else None
            tools = [by_place.get((f["path"], n)) for f, n in zip(listed, names, strict=True)]
            known = [i for i, tool in enumerate(tools) if tool is not None]
            if seen is None:
                scores = cosine + 0.4 * words_
            else:
                before, around = seen
                some = [tool for tool in tools if tool is not None]
                caller.vectors.warm([tool.text for tool in some])
                start = time.process_time()
                heard = code_features.hear(around, before, table)
                vectors = caller.vectors.of([tool.text for tool in some])
                said = function_text(around)
                alike = vectors @ caller.vectors.of([said])[0] if said else np.zeros(len(some))
                rows = code_features.rows(heard, table, some, (vectors @ vector).tolist(), alike.tolist())
                scores[known] = combiner.scores(rows)
                tally.cpu.append(time.process_time() - start)
            tally.add("combiner (with context)", scores, names)


def masked(root: Path, request: Request) -> Place | None:
    """The file around the comment, without the called statement."""
    text = (root / request.path).read_text("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    tree = ast.parse(text)
    masker = Masker(text, text.split("\n"), tree)
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return, ast.AugAssign))
            and node.lineno == request.line
        ):
            made = masker.without(node)
            if made is None:
                return None
            new, line, indent = made
            return Place(request.path, request.text, new, line, indent, "", "", None, request.line)
    return None


if __name__ == "__main__":
    main()
