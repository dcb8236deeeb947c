"""Runs tools over the trees of a corpus.

    run_peer.py ROOT TREE TOOL... [--given DIR] [--only PROJECT,...]

TREE is `clean`, `mutated` or `mutated15`. Each answer is kept in ROOT/out/TREE/TOOL/<project>.json as
{"seconds", "cpu", "load", "error", "findings": [[file, line, code, message, detail], ...]}, `file` relative
to the tree. All findings are kept; `score.py` picks those of the job by codes.json.

`callground` is the product: the variable CALLGROUND holds its command (default: `callground`). What it
decided on each call is kept beside its findings, in <project>.verdicts.json.

A tool is added by one function (tree, venv) -> findings under `@adapter(NAME)`, and its codes in codes.json.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from corpus import MUTANTS, Corpus, parser


class Finding(NamedTuple):
    file: str
    line: int
    code: str
    message: str
    detail: dict[str, Any] = {}  # noqa: RUF012 - never changed; what only callground says: owner, callee


Adapter = Callable[["Run"], list[Finding]]
ADAPTERS: dict[str, Adapter] = {}


def adapter(name: str) -> Callable[[Adapter], Adapter]:
    def register(function: Adapter) -> Adapter:
        ADAPTERS[name] = function
        return function

    return register


class Run:
    """One tool on one tree."""

    def __init__(self, root: Path, tree: Path, venv: Path, files: list[str]) -> None:
        self.root = root
        self.tree = tree
        self.venv = venv
        self.python = venv / "bin/python"
        #: on mutated trees the files that hold a mutant: only these are given to tools that work by file
        self.files = files
        self.extra: dict[str, Any] = {}

    @property
    def site(self) -> Path:
        return next((self.venv / "lib").glob("python*/site-packages"))

    @property
    def paths(self) -> list[str]:
        return self.files or ["."]

    @property
    def modules(self) -> list[str]:
        return self.files or sorted(str(p.relative_to(self.tree)) for p in self.tree.rglob("*.py"))

    def tool(self, name: str, folder: str = "tools") -> Path:
        return self.root / folder / "bin" / name

    def relative(self, path: str) -> str:
        return os.path.relpath(os.path.join(self.tree, path), self.tree)

    def output(self, *command: object, env: dict[str, str] | None = None) -> str:
        done = self.run(*command, env=env)
        return done.stdout

    def run(self, *command: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
        return subprocess.run(
            [str(c) for c in command],
            cwd=self.tree,
            env={**environment, **(env or {})},
            capture_output=True,
            text=True,
            timeout=3000,
            errors="replace",
        )


def from_json(output: str, first: str = "{") -> Any:
    """The JSON value in a tool's output, whatever the tool prints around it."""
    value, _ = json.JSONDecoder().raw_decode(output[output.index(first) :])
    return value


@adapter("callground")
def callground(run: Run) -> list[Finding]:
    command = shlex.split(os.environ.get("CALLGROUND", "callground"))
    flags = (
        "check",
        "--scope",
        "all",
        "--format",
        "json",
        "--verdicts",
        "--root",
        ".",
        "--python",
        run.python,
        ".",
    )
    done = run.run(*command, *flags)
    try:
        report = from_json(done.stdout)
    except ValueError:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-300:]}") from None
    run.extra = {k: report.get(k) for k in ("sites", "abstained", "environment", "errors", "verdicts")}
    for verdict in run.extra["verdicts"] or []:
        verdict["file"] = run.relative(verdict["file"])
    return [
        Finding(
            run.relative(entry["file"]),
            entry["line"],
            entry["code"],
            entry["message"],
            {"owner": entry.get("owner"), "callee": entry.get("callee"), "end_line": entry.get("end_line")},
        )
        for part in ("ungrounded", "arity_errors", "third_party")
        for entry in report[part]
    ]


def pyright_like(run: Run, name: str) -> list[Finding]:
    report = from_json(run.output(run.tool(name), "--outputjson", "--pythonpath", run.python, *run.paths))
    return [
        Finding(
            run.relative(d["file"]),
            d["range"]["start"]["line"] + 1,
            d.get("rule", d["severity"]),
            d["message"],
        )
        for d in report["generalDiagnostics"]
        if "range" in d
    ]


@adapter("pyright")
def pyright(run: Run) -> list[Finding]:
    return pyright_like(run, "pyright")


@adapter("basedpyright")
def basedpyright(run: Run) -> list[Finding]:
    return pyright_like(run, "basedpyright")


@adapter("ty")
def ty(run: Run) -> list[Finding]:
    flags = ("--output-format", "concise", "--exit-zero", "--no-progress", ".")
    output = run.output(run.tool("ty"), "check", "--python", run.venv, *flags)
    found = (re.match(r"(.+?):(\d+):\d+: \w+\[([\w-]+)\] (.*)", line) for line in output.splitlines())
    return [Finding(m[1], int(m[2]), m[3], m[4]) for m in found if m]


def pyrefly_with(run: Run, *extra: str) -> list[Finding]:
    # without --search-path pyrefly 1.5.0 fails on `from .. import` when it is given paths
    flags = ("--python-interpreter-path", run.python, "--search-path", run.tree, *extra, ".")
    report = from_json(run.output(run.tool("pyrefly"), "check", "--output-format", "json", *flags))
    return [Finding(run.relative(e["path"]), e["line"], e["name"], e["description"]) for e in report["errors"]]


@adapter("pyrefly")  # no pyrefly.toml: it falls to its "basic" preset
def pyrefly(run: Run) -> list[Finding]:
    return pyrefly_with(run)


@adapter("pyrefly-default")  # what a project gets after `pyrefly init`
def pyrefly_default(run: Run) -> list[Finding]:
    return pyrefly_with(run, "--preset", "default")


def mypy_like(output: str) -> list[Finding]:
    pattern = re.compile(r"(.+?\.pyi?):(\d+)(?::\d+)?: (error|warning): (.*?)(?:  \[([\w-]+)\])?$")
    found = (pattern.match(line) for line in output.splitlines())
    return [Finding(os.path.normpath(m[1]), int(m[2]), m[5] or "none", m[4]) for m in found if m]


@adapter("mypy")
def mypy(run: Run) -> list[Finding]:
    done = run.run(
        run.tool("mypy"), "--config-file=", "--python-executable", run.python, "--check-untyped-defs",
        "--explicit-package-bases", "--no-incremental", "--cache-dir", os.devnull, "--hide-error-context",
        ".", env={"MYPYPATH": str(run.tree)},
    )  # fmt: skip
    if "Found " not in done.stdout and "Success" not in done.stdout:
        print("mypy:", (done.stdout + done.stderr)[-400:], file=sys.stderr)
    return mypy_like(done.stdout)


@adapter("zuban")
def zuban(run: Run) -> list[Finding]:
    return mypy_like(run.output(run.tool("zuban"), "check", "--python-executable", run.python, "."))


@adapter("pylint")
def pylint(run: Run) -> list[Finding]:
    path = f"import sys; sys.path.insert(0, {str(run.tree)!r}); sys.path.append({str(run.site)!r})"
    output = run.output(
        run.tool("pylint", "pylint"), f"--rcfile={os.devnull}", "-j", "1", "--disable=all",
        "--enable=E0602,E0611,E0401,E1101,E1102,E1120,E1121,E1123,E1124,E1125", "--persistent=n",
        "--init-hook", path, "--output-format=json", *run.modules,
    )  # fmt: skip
    return [Finding(e["path"], e["line"], e["message-id"], e["message"]) for e in from_json(output, "[")]


@adapter("pyflakes")
def pyflakes(run: Run) -> list[Finding]:
    lines = run.output(run.tool("pyflakes"), ".").splitlines()
    found = (re.match(r"(.+?):(\d+):\d+:? (.*)", line) for line in lines)
    return [
        Finding(
            os.path.normpath(m[1]),
            int(m[2]),
            "undefined-name" if m[3].startswith("undefined name") else "other",
            m[3],
        )
        for m in found
        if m
    ]


@adapter("ruff")
def ruff(run: Run) -> list[Finding]:
    flags = ("--isolated", "--no-cache", "--preview", "--select", "F,PL,E9", "--output-format", "json", ".")
    return [
        Finding(run.relative(e["filename"]), e["location"]["row"], e["code"] or "syntax", e["message"])
        for e in from_json(run.output(run.tool("ruff"), "check", *flags), "[")
    ]


def niche_path(run: Run) -> dict[str, str]:
    return {"PYTHONPATH": f"{run.tree}:{run.site}", "PYTHONDONTWRITEBYTECODE": "1"}


@adapter("ghostcall")
def ghostcall(run: Run) -> list[Finding]:
    found: list[Finding] = []
    for file in run.modules:
        output = run.output(run.tool("ghostcall", "niche"), "--json", file, env=niche_path(run))
        if "{" in output:
            found += [Finding(file, g["line"], g["type"], g.get("resolved", "")) for g in from_json(output)["findings"]]
    return found


@adapter("apimirage")
def apimirage(run: Run) -> list[Finding]:
    done = run.run(run.tool("apimirage", "niche"), "-q", "-f", "json", *run.modules, env=niche_path(run))
    if "[" not in done.stdout:
        print("apimirage:", done.stderr[-400:], file=sys.stderr)
        return []
    return [
        Finding(g["file"], g["lineno"], g["kind"], f"{g['name']}: {g['detail']}") for g in from_json(done.stdout, "[")
    ]


@adapter("honestcode")
def honestcode(run: Run) -> list[Finding]:
    # its command line is what a user has, so that is what is run, one process per file
    env = {**niche_path(run), "VIRTUAL_ENV": str(run.venv)}
    tool = run.tool("honestcode", "niche")
    run.run(tool, "init", "--force", ".", env=env)
    found: list[Finding] = []
    for file in run.modules:
        output = run.output(tool, "scan", file, env=env)
        if "{" in output:
            found += [Finding(file, g["line"], g["kind"], g["message"]) for g in from_json(output).get("findings", [])]
    run.run(tool, "uninit", ".", env=env)
    return found


def measure(corpus: Corpus, kind: str, tool: str, project: str) -> float:
    """Runs a tool on one tree, keeps what it found, and returns the seconds."""
    folder = corpus.root / "out" / kind / tool
    folder.mkdir(parents=True, exist_ok=True)
    files: set[str] = set()
    if kind in MUTANTS:
        where = corpus.where(kind)
        mutants = [m for m in corpus.mutants(kind) if m["project"] == project]
        files = {m["file"] for m in mutants if m["id"] in where or project == "snippets"}
    venv = corpus.root / "venvs" / project
    run = Run(corpus.root, corpus.root / kind / project, venv, sorted(files))
    started, before = time.perf_counter(), os.times()
    findings: list[Finding] = []
    error = None
    try:
        findings = ADAPTERS[tool](run)
    except Exception as problem:  # one broken answer does not end the whole run
        error = repr(problem)[:500]
        print(tool, project, "ERROR", error, flush=True)
    seconds, after = time.perf_counter() - started, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    answer = {
        "seconds": round(seconds, 2),
        "cpu": round(cpu, 2),
        "load": round(os.getloadavg()[0], 1),
        "error": error,
        "findings": findings,
    }
    (folder / f"{project}.json").write_text(json.dumps(answer), encoding="utf8")
    if run.extra:
        (folder / f"{project}.verdicts.json").write_text(json.dumps(run.extra), encoding="utf8")
    return seconds


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("tree", help="clean, mutated or mutated15")
    options_of.add_argument("tools", nargs="+", choices=sorted(ADAPTERS), metavar="TOOL")
    options = options_of.parse_args()
    corpus = Corpus(options)
    projects = [*corpus.projects, *(["snippets"] if corpus.snippets else [])]
    projects = [p for p in projects if (corpus.root / options.tree / p).is_dir()]
    for tool in options.tools:
        seconds = sum(measure(corpus, options.tree, tool, project) for project in projects)
        print(f"{options.tree} {tool}: {seconds:.1f}s", flush=True)


if __name__ == "__main__":
    main()
