"""The findings that stay on working code are true: each has a program that performs the call and raises.

    true_faults.py PYTHON [--only DISTRIBUTION]

PYTHON is an interpreter with the distributions installed (`clean.py --make` builds such an environment). Each
row of true_faults.jsonl names the finding, a program and the exception; the program runs in that interpreter.
Prints a line a row; exits 1 when one does not raise what it should.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROWS = Path(__file__).with_name("true_faults.jsonl")


def raised(python: str, program: str) -> str:
    """The name of the exception that ends the program, or what it did instead."""
    watched = f"try:\n    exec({program!r}, {{}})\nexcept BaseException as error:\n    print(type(error).__name__)"
    done = subprocess.run(
        [python, "-W", "ignore", "-c", watched], capture_output=True, text=True, timeout=120, check=False
    )
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "nothing"


def main() -> int:
    """Run every row."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("python")
    options.add_argument("--only", default="")
    given = options.parse_args()
    wrong = 0
    for line in ROWS.read_text("utf-8").splitlines():
        row = json.loads(line)
        if given.only and not row["distribution"].startswith(given.only):
            continue
        found = raised(given.python, row["program"])
        fits = found in row["raises"].split("|")
        wrong += not fits
        print(f"{'ok ' if fits else 'NOT'} {row['file']}:{row['line']} raises {found} ({row['why']})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
