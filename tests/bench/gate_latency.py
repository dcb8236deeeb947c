"""How long an agent waits: the hook and `verify` as whole processes, with a daemon and without.

    python tests/bench/gate_latency.py                       # on a copy of this project
    python tests/bench/gate_latency.py --root PROJECT        # on another one (nothing is written there)

Prints medians in milliseconds, of wall time and of CPU time.  The exit status is 1 when one is over its limit: 150 ms for the hook and for
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
from typing import NamedTuple

TOP = Path(__file__).resolve().parents[2]
LIMITS = {
    "hook, daemon": 150.0,
    "hook with a repair, daemon": 150.0,
    "verify of 40 lines, daemon": 150.0,
    "hook, no daemon": 1500.0,
}
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
    parser.add_argument("--report-only", action="store_true", help="the limits do not count")
    options = parser.parse_args()
    command = os.environ.get("CALLGROUND", shutil.which("callground") or "").split()
    command = command or [sys.executable, "-m", "callground_server"]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(options.root).resolve() if options.root else _copy(Path(scratch) / "project")
        environment = {**os.environ, "CALLGROUND_CACHE_DIR": str(Path(scratch) / "cache")}
        environment.pop("CALLGROUND_NO_DAEMON", None)
        bench = _Bench(command, root, environment)
        print(f"{root.name}: {sum(1 for _ in root.rglob('*.py'))} Python files, {BLOCK.count(chr(10))} lines verified")
        late = bench.run(options.rounds, options.cold_rounds)
        return 1 if late and not options.report_only else 0


class _Bench:
    def __init__(self, command: list[str], root: Path, environment: dict[str, str]) -> None:
        self._command = command
        self._root = root
        self._environment = environment

    def run(self, rounds: int, cold_rounds: int) -> bool:
        """Measure, print; whether something is over its limit."""
        new = self._root / "callground_bench_new.py"
        wrong, right = (
            json.dumps(
                {
                    "hook_event_name": "PreToolUse",
                    "tool_name": "Write",
                    "cwd": str(self._root),
                    "tool_input": {"file_path": str(new), "content": text},
                }
            )
            for text in (BLOCK.replace("json.load(", "json.laod("), BLOCK)
        )
        times: dict[str, list[Took]] = {}
        times["verify, nothing known yet"] = [self._time(["verify", "--no-daemon"], BLOCK)]
        times["hook, no daemon"] = [self._time(["hook", "--no-daemon"], wrong) for _ in range(cold_rounds)]
        self._time(["daemon", "start"], "")
        try:
            self._time(["hook"], wrong)
            times["hook, daemon"] = [self._served(["hook"], right) for _ in range(rounds)]
            times["hook with a repair, daemon"] = [self._served(["hook"], wrong) for _ in range(rounds)]
            times["verify of 40 lines, daemon"] = [self._served(["verify"], BLOCK) for _ in range(rounds)]
        finally:
            self._time(["daemon", "stop"], "")
        nothing = [sys.executable, "-c", "pass"]
        times["python -c pass"] = [_clock(nothing, "", self._root, self._environment) for _ in range(rounds)]
        busy = os.getloadavg()[0] > (os.cpu_count() or 1) if hasattr(os, "getloadavg") else False
        late = False
        print(f"{'':30} {'median':>8} {'worst':>8} {'median CPU':>11}   (milliseconds; CPU: the daemon's included)")
        for name, each in times.items():
            wall, cpu = (statistics.median(part) for part in zip(*each, strict=True))
            limit = LIMITS.get(name)
            late = late or (limit is not None and (cpu if busy else wall) > limit)
            said = f"   limit {limit:.0f}" if limit is not None else ""
            print(f"{name:30} {wall:8.0f} {max(took.wall for took in each):8.0f} {cpu:11.0f}{said}")
        if busy:
            print("The machine is busy with other things: the limits are held against CPU time.")
        return late

    def _time(self, arguments: list[str], stdin: str) -> Took:
        return _clock([*self._command, *arguments], stdin, self._root, self._environment)

    def _served(self, arguments: list[str], stdin: str) -> Took:
        before = self._daemon_cpu()
        took = self._time(arguments, stdin)
        return took._replace(cpu=took.cpu + self._daemon_cpu() - before)

    def _daemon_cpu(self) -> float:
        done = subprocess.run(
            [*self._command, "daemon", "status"], capture_output=True, text=True, env=self._environment, check=True
        )
        return float(json.loads(done.stdout)["cpu_seconds"]) * 1000


class Took(NamedTuple):
    """Milliseconds of one run."""

    wall: float
    cpu: float


def _clock(command: list[str], stdin: str, root: Path, environment: dict[str, str]) -> Took:
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(command, input=stdin, text=True, capture_output=True, cwd=root, env=environment, check=False)
    wall, after = (time.perf_counter() - began) * 1000, os.times()
    if done.returncode not in (0, 1) or "Traceback" in done.stderr or "not checked" in done.stdout:
        raise SystemExit(f"{command}: {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-2000:]}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Took(wall, cpu * 1000)


def _copy(target: Path) -> Path:
    for name in ("grounding", "server", "tests"):
        shutil.copytree(TOP / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.json*", "data"))
    shutil.copy(TOP / "pyproject.toml", target / "pyproject.toml")
    return target


if __name__ == "__main__":
    sys.exit(main())
