"""How long an agent waits: the hook and `verify` as whole processes, with a daemon and without.

    python tests/bench/gate_latency.py                       # on a copy of this project
    python tests/bench/gate_latency.py --root PROJECT        # on another one (nothing is written there)

Prints medians in milliseconds.  The exit status is 1 when one is over its limit: 150 ms for the hook and for
`verify` on 40 lines with a warm daemon, 1,500 ms for the hook without one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LIMITS = {"hook, daemon": 150.0, "verify of 40 lines, daemon": 150.0, "hook, no daemon": 1500.0}
BLOCK = '''\
from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path


def summary(folder: str) -> dict[str, int]:
    """Words of the text files of a folder."""
    counts: Counter[str] = Counter()
    for path in sorted(Path(folder).rglob("*.txt")):
        text = path.read_text(encoding="utf-8")
        counts.update(re.findall(r"[a-z]+", text.lower()))
    return dict(counts.most_common(10))


def save(folder: str, target: str) -> None:
    data = summary(folder)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=2, sort_keys=True)
        file.write("\\n")


def load(target: str) -> dict[str, int]:
    with open(target, encoding="utf-8") as file:
        return json.load(file)


def compare(one: str, other: str) -> list[str]:
    first, second = load(one), load(other)
    return sorted(set(first) - set(second))


if __name__ == "__main__":
    save(os.getcwd(), os.path.join(os.getcwd(), "out", "words.json"))
'''


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", help="the workspace; default: a copy of this project")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cold-rounds", type=int, default=7)
    options = parser.parse_args()
    command = os.environ.get("CALLGROUND", shutil.which("callground") or "").split()
    command = command or [sys.executable, "-m", "callground_server"]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(options.root).resolve() if options.root else _copy(Path(scratch) / "project")
        environment = {**os.environ, "CALLGROUND_CACHE_DIR": str(Path(scratch) / "cache")}
        environment.pop("CALLGROUND_NO_DAEMON", None)
        bench = _Bench(command, root, environment)
        print(f"{root.name}: {sum(1 for _ in root.rglob('*.py'))} Python files, {BLOCK.count(chr(10))} lines verified")
        return bench.run(options.rounds, options.cold_rounds)


class _Bench:
    def __init__(self, command: list[str], root: Path, environment: dict[str, str]) -> None:
        self._command = command
        self._root = root
        self._environment = environment

    def run(self, rounds: int, cold_rounds: int) -> int:
        new = self._root / "callground_bench_new.py"
        payload = json.dumps(
            {
                "hook_event_name": "PreToolUse",
                "tool_name": "Write",
                "cwd": str(self._root),
                "tool_input": {"file_path": str(new), "content": BLOCK.replace("json.load(", "json.laod(")},
            }
        )
        times: dict[str, list[float]] = {}
        times["hook, no daemon, first time"] = [self._time(["hook", "--no-daemon"], payload)]
        times["hook, no daemon"] = [self._time(["hook", "--no-daemon"], payload) for _ in range(cold_rounds)]
        self._time(["daemon", "start"], "")
        try:
            self._time(["hook"], payload)
            times["hook, daemon"] = [self._time(["hook"], payload) for _ in range(rounds)]
            times["verify of 40 lines, daemon"] = [self._time(["verify"], BLOCK) for _ in range(rounds)]
        finally:
            self._time(["daemon", "stop"], "")
        times["python -c pass"] = [
            _clock([sys.executable, "-c", "pass"], "", self._root, self._environment) for _ in range(rounds)
        ]
        late = False
        for name, each in times.items():
            median, limit = statistics.median(each), LIMITS.get(name)
            late = late or (limit is not None and median > limit)
            said = f"   limit {limit:.0f}" if limit is not None else ""
            print(f"{name:30} median {median:7.0f}   worst {max(each):7.0f}{said}")
        return 1 if late else 0

    def _time(self, arguments: list[str], stdin: str) -> float:
        return _clock([*self._command, *arguments], stdin, self._root, self._environment)


def _clock(command: list[str], stdin: str, root: Path, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    done = subprocess.run(command, input=stdin, text=True, capture_output=True, cwd=root, env=environment, check=False)
    took = (time.perf_counter() - began) * 1000
    if done.returncode not in (0, 1) or "Traceback" in done.stderr or "not checked" in done.stdout:
        raise SystemExit(f"{command}: {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
    return took


def _copy(target: Path) -> Path:
    for name in ("grounding", "server", "tests"):
        shutil.copytree(TOP / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.json*", "data"))
    shutil.copy(TOP / "pyproject.toml", target / "pyproject.toml")
    return target


if __name__ == "__main__":
    sys.exit(main())
