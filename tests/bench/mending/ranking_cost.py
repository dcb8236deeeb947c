"""What ranking costs in a workspace of many symbols: CPU per finding.

Used by `../repairs.py`; nothing here is run by itself.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from corpus import Corpus

from callground.repairs.ranking import rank
from callground.session import Session

PER_FILE = 250


def measure(corpus: Corpus, symbols: int) -> None:
    """Make functions whose names are put together out of the corpus's own words, and rank wrong ones."""
    rng = random.Random(7)
    words = sorted(
        {
            word
            for mutant in corpus.mutants("mutated")
            for word in mutant["original"].replace(".", "_").replace("(", "_").split("_")
            if word.isalpha() and word.islower() and 2 < len(word) < 12
        }
    )
    names: set[str] = set()
    while len(names) < symbols:
        names.add("_".join(rng.sample(words, rng.choice((2, 3, 3, 4)))))
    ordered = sorted(names)
    rng.shuffle(ordered)
    with tempfile.TemporaryDirectory() as root:
        for number in range(0, symbols, PER_FILE):
            body = "".join(f"def {name}(a, b=1):\n    return a\n\n\n" for name in ordered[number : number + PER_FILE])
            (Path(root) / f"m{number // PER_FILE}.py").write_text(body)
        wrong = [
            name + rng.choice(("_all", "_by_id", "s", "_or_none")) if rng.random() < 0.7 else name[1:]
            for name in rng.sample(ordered, 60)
        ]
        text = "".join(f"def f{i}(x):\n    return {name}(x)\n\n\n" for i, name in enumerate(wrong))
        path = str(Path(root) / "calls.py")
        Path(path).write_text(text)
        with Session.open(root) as session:
            session.index()
            repairs = session.repairs(path, text, session.verify(path))
            findings = [v for v in repairs.verdicts if v.finding is not None]
            asked = [repairs.asked(v) for v in findings]
            begin = time.process_time()
            rank(next(a for a in asked if a is not None))
            first = time.process_time() - begin
            costs = []
            for each in asked:
                if each is not None:
                    begin = time.process_time()
                    rank(each)
                    costs.append(time.process_time() - begin)
    costs.sort()
    print(
        json.dumps(
            {
                "symbols": symbols,
                "findings": len(costs),
                "first ms": round(1000 * first, 1),
                "median ms": round(1000 * statistics.median(costs), 1),
                "p95 ms": round(1000 * costs[int(0.95 * len(costs))], 1),
            }
        )
    )
