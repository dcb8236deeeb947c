"""Counts the findings of callground in well-tested packages, where each one is a false alarm until proved true.

    clean.py --make DIR [--list FILE] [--python python3.11]    builds the environments and DIR/index.json
    clean.py DIR/index.json [--only NAME,...] [--jobs N] [--json FILE]

The list holds one distribution a line. All of them go into one virtual environment where that resolves, each
into its own otherwise; the packages of each are copied to a tree of their own, which is what is checked. The
variable CALLGROUND holds the command (default: `callground`). Printed are the findings, the alarms per 500,000
lines, and the share of call sites that were abstained on, by reason. The exit status is 1 where anything was
found, 2 where a package could not be checked.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LIST = Path(__file__).resolve().parent / "clean_packages.txt"
PER_LINES = 500_000
PARTS = ("ungrounded", "arity_errors", "third_party")

# -- building ----------------------------------------------------------------------------------------


def run(*command: object) -> bool:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-1500:], file=sys.stderr)
    return done.returncode == 0


def make_venv(venv: Path, python: str, requirements: list[str]) -> bool:
    if (venv / "complete").exists():
        return True
    shutil.rmtree(venv, ignore_errors=True)
    ok = run(python, "-m", "venv", venv) and run(venv / "bin/pip", "install", "-q", *requirements)
    if ok:
        (venv / "complete").touch()
    return ok


def top_level(distribution: importlib.metadata.Distribution) -> list[str]:
    """The names of a distribution's top-level packages and modules."""
    names: set[str] = set()
    for file in distribution.files or []:
        first = file.parts[0]
        code = file.suffix == ".py" or (len(file.parts) > 1 and file.suffix in (".pyi", ".so"))
        if code and first not in ("..", "__pycache__") and not first.endswith((".dist-info", ".egg-info")):
            names.add(first)
    return sorted(names)


def entry_of(name: str, venv: Path, trees: Path) -> dict[str, Any]:
    """Lays the tree of a distribution and describes it."""
    site = next((venv / "lib").glob("python*/site-packages"))
    distribution = next(iter(importlib.metadata.Distribution.discover(name=name, path=[str(site)])))
    tree = trees / name
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    tops = top_level(distribution)
    for top in tops:
        if (site / top).is_dir():
            shutil.copytree(site / top, tree / top, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(site / top, tree / top)
    return {
        "venv": str(venv),
        "version": distribution.version,
        "paths": [str(site / top) for top in tops],
        "tree": str(tree),
        "lines": sum(len(f.read_bytes().splitlines()) for f in tree.rglob("*.py")),
    }


def make(folder: Path, names: list[str], python: str) -> None:
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    shared = folder / "venv"
    index: dict[str, dict[str, Any]] = {}
    together = make_venv(shared, python, names)
    for name in names:
        venv = shared if together else folder / "venvs" / name
        if not together and not make_venv(venv, python, [name]):
            print(f"{name}: does not install, left out", file=sys.stderr)
            continue
        index[name] = entry_of(name, venv, folder / "trees")
        print(f"{name:20} {index[name]['version']:12} {index[name]['lines']:8} lines", flush=True)
    (folder / "index.json").write_text(json.dumps(index, indent=1), encoding="utf8")
    print(f"{len(index)} packages, {sum(e['lines'] for e in index.values())} lines: {folder / 'index.json'}")


# -- checking ----------------------------------------------------------------------------------------


@dataclass
class Checked:
    """What callground said about one package."""

    name: str
    lines: int
    seconds: float = 0.0
    error: str = ""
    files: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)  # grounded, findings, abstained
    references: Counter[str] = field(default_factory=Counter)  # imports, decorators, base classes
    reasons: Counter[str] = field(default_factory=Counter)  # of the calls abstained on
    unread: list[dict[str, Any]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.calls.total()


def check(name: str, entry: dict[str, Any], timeout: float) -> Checked:
    checked = Checked(name, entry["lines"])
    command = shlex.split(os.environ.get("CALLGROUND", "callground"))
    flags = ["check", "--scope", "all", "--format", "json", "--verdicts", "--root", ".", "--python"]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    started = time.perf_counter()
    try:
        done = subprocess.run(
            [*command, *flags, f"{entry['venv']}/bin/python", "."],
            cwd=entry["tree"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    except OSError as error:
        checked.error = f"{command[0]}: {error.strerror}"
        return checked
    except subprocess.TimeoutExpired:
        checked.error = f"not done after {timeout:.0f} seconds"
        return checked
    checked.seconds = time.perf_counter() - started
    try:
        report = json.loads(done.stdout)
    except ValueError:
        checked.error = f"exit {done.returncode}: {done.stderr.strip()[-400:]}"
        return checked
    checked.files = report["files"]
    checked.findings = [entry for part in PARTS for entry in report[part]]
    checked.calls = Counter(report["sites"]["calls"])
    checked.references = Counter(report["sites"]["references"])
    verdicts = report["verdicts"]
    checked.reasons = Counter(str(v["reason"]) for v in verdicts if v["site"] == "call" and v["status"] == "abstained")
    checked.unread = report["errors"]
    if "Traceback (most recent call last)" in done.stderr:
        checked.error = "traceback: " + done.stderr.strip()[-400:]
    return checked


def show_findings(checked: Checked) -> None:
    for finding in checked.findings:
        place = f"{checked.name}/{finding['file']}:{finding['line']}:{finding['column']}"
        print(f"  {place} {finding['code']} {finding['message']}")
        print(*(f"      {line}\n" for line in finding["evidence"]), sep="", end="")


def show_reasons(title: str, reasons: Counter[str], calls: int, limit: int | None) -> None:
    share = 100 * reasons.total() / max(1, calls)
    print(f"{title}: {reasons.total()} of {calls} abstained on ({share:.1f}%)")
    for reason, count in reasons.most_common(limit):
        print(f"    {100 * count / max(1, calls):5.1f}%  {count:7}  {reason}")


def report(results: list[Checked], by_package: bool) -> int:
    print(f"\n{'package':20} {'lines':>8} {'files':>6} {'calls':>7} {'grounded':>9} {'abstained':>9}", end="")
    print(f" {'findings':>8} {'seconds':>8}")
    for r in results:
        grounded = 100 * r.calls["grounded"] / max(1, r.total)
        abstained = 100 * r.calls["abstained"] / max(1, r.total)
        print(f"{r.name:20} {r.lines:8} {r.files:6} {r.total:7} {grounded:8.1f}% {abstained:8.1f}%", end="")
        print(f" {len(r.findings):8} {r.seconds:8.1f}", f" NOT CHECKED: {r.error}" if r.error else "")
    done = [r for r in results if not r.error]
    lines = sum(r.lines for r in done)
    alarms = sum(len(r.findings) for r in done)
    calls: Counter[str] = sum((r.calls for r in done), Counter())
    reasons: Counter[str] = sum((r.reasons for r in done), Counter())
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\n{len(done)} packages, {lines} lines, {calls.total()} calls, {alarms} findings:", end=" ")
    print(f"{alarms * PER_LINES / max(1, lines):.2f} for each {PER_LINES:,} lines.", end=" ")
    print(f"{sum(r.seconds for r in done):.0f} s, the largest process {memory:.0f} MiB.")
    codes = Counter(f["code"] for r in done for f in r.findings)
    print("by rule:", ", ".join(f"{code} {count}" for code, count in codes.most_common()) or "none")
    unread = [f"{r.name}/{e['file']}: {e['reason']}" for r in done for e in r.unread]
    print(f"files not read: {len(unread)}", *unread[:20], sep="\n  ")
    references: Counter[str] = sum((r.references for r in done), Counter())
    print(f"references: {references.total()}, {references['abstained']} of them abstained on")
    show_reasons("\nall packages", reasons, calls.total(), None)
    if by_package:
        for r in done:
            show_reasons(r.name, r.reasons, r.total, 5)
    if len(done) < len(results) or not results:
        return 2
    return 1 if alarms else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path, nargs="?", help="the index.json that --make wrote")
    parser.add_argument("--make", type=Path, metavar="DIR", help="build the environments there")
    parser.add_argument("--list", type=Path, default=LIST, help="distributions, one a line")
    parser.add_argument("--python", default="python3.11", help="the interpreter of the environments")
    parser.add_argument("--only", default="", help="these packages only, separated by commas")
    parser.add_argument("--jobs", type=int, default=1, help="packages checked at the same time")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for one package")
    parser.add_argument("--by-package", action="store_true", help="the reasons of each package, too")
    parser.add_argument("--json", type=Path, help="write the numbers and findings there too")
    options = parser.parse_args()
    only = [n for n in options.only.split(",") if n]
    if options.make:
        lines = (line.split("#")[0].strip() for line in options.list.read_text("utf8").splitlines())
        make(options.make, [n for n in lines if n and (not only or n in only)], options.python)
        return 0
    if options.index is None:
        parser.error("an index.json is needed, or --make")
    index: dict[str, dict[str, Any]] = json.loads(options.index.read_text(encoding="utf8"))
    chosen = {name: entry for name, entry in index.items() if not only or name in only}
    results: list[Checked] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for checked in pool.map(check, chosen, chosen.values(), [options.timeout] * len(chosen)):
            results.append(checked)
            print(f"{checked.name}: {len(checked.findings)} findings, {checked.seconds:.1f} s", flush=True)
            show_findings(checked)
    if options.json:
        options.json.write_text(json.dumps([vars(r) for r in results], indent=1), encoding="utf8")
    return report(results, options.by_package)


if __name__ == "__main__":
    sys.exit(main())
