"""Builds the corpus: real projects from PyPI as workspaces, each with its environment.

    make_corpus.py ROOT [--skip-tools] [--given DIR] [--only PROJECT,...] [--python python3.11]

    ROOT/venvs/<project>    the project's dependencies, pinned by locks/<project>.txt
    ROOT/clean/<project>/   the project's packages out of its sdist and nothing else (no pyproject.toml, no
                            tests: every tool runs on its defaults)
    ROOT/tools, ROOT/pylint, ROOT/niche   the peers (left out with --skip-tools)

The project's own metadata stays in its environment (some packages ask for their own version); its code is
removed there, so that the workspace copy is the only one. What is there already is kept.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

from corpus import Corpus, parser

PEERS = {
    "tools": ("pyright", "basedpyright", "ty", "pyrefly", "mypy", "zuban", "pyflakes", "ruff"),
    "pylint": ("pylint", "python-lsp-server"),
    # these check against the interpreter they run in: run_peer.py puts the project's packages on its path
    "niche": ("ghostcall", "honestcode", "apimirage"),
}


def run(*command: object) -> str:
    """Runs a command that has to succeed."""
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True).stdout


class Builder:
    """Builds the parts of a corpus that are missing."""

    def __init__(self, corpus: Corpus, python: str) -> None:
        self.corpus = corpus
        self.root = corpus.root
        self.python = python
        self.boot = self.root / "boot"
        self.uv = self.boot / "bin/uv"
        if not self.boot.exists():
            run(python, "-m", "venv", self.boot)
            run(self.boot / "bin/pip", "install", "-q", "uv")

    def install(self, venv: Path, *requirements: object) -> None:
        run(self.uv, "pip", "install", "-q", "-p", venv / "bin/python", *requirements)

    def environment(self, name: str, requirements: list[str]) -> Path | None:
        """A virtual environment out of its lock; None when it stands already."""
        venv = self.root / "venvs" / name
        if venv.exists():
            return None
        run(self.uv, "venv", "-q", "-p", self.python, venv)
        lock = self.corpus.find(f"locks/{name}.txt")
        if lock is not None:
            self.install(venv, "--no-deps", "-r", lock)
        else:
            self.install(venv, *requirements)
            lock = self.root / "locks" / f"{name}.txt"
            lock.parent.mkdir(exist_ok=True)
            lock.write_text(run(self.uv, "pip", "freeze", "-q", "-p", venv / "bin/python"), encoding="utf8")
        return venv

    def tools(self) -> None:
        versions = self.corpus.manifest["tools"]
        for folder, tools in PEERS.items():
            venv = self.root / folder
            if not venv.exists():
                run(self.uv, "venv", "-q", "-p", self.python, venv)
            self.install(venv, *(f"{tool}=={versions[tool]}" for tool in tools))

    def project(self, name: str, project: dict[str, Any]) -> None:
        venv = self.environment(name, [f"{name}=={project['version']}"])
        if venv is not None:
            for package in project["packages"]:
                for site in (venv / "lib").glob("python*/site-packages"):
                    shutil.rmtree(site / package, ignore_errors=True)
        target = self.root / "clean" / name
        if target.exists():
            return
        unpacked = self.root / "unpack" / name
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        with tarfile.open(self.sdist(name, project["version"])) as archive:
            archive.extractall(unpacked, filter="data")
        source = next(unpacked.iterdir()) / project.get("src", "")
        for package in project["packages"]:
            shutil.copytree(source / package, target / package)
        for dropped in project.get("drop", []):
            shutil.rmtree(target / dropped)
        lines = sum(len(f.read_bytes().splitlines()) for f in target.rglob("*.py"))
        print(f"{name:14} {project['version']:8} {project['split']:8} {lines:6} lines", flush=True)

    def sdist(self, name: str, version: str) -> Path:
        """The project's source archive, which stays in ROOT/sdists."""
        folder = self.root / "sdists"
        folder.mkdir(exist_ok=True)
        archive = folder / f"{name}-{version}.tar.gz"
        if not archive.exists():
            # pip runs the build backend for the metadata and gets what that needs in isolation
            pip = (self.boot / "bin/pip", "download", "-q", "--no-deps", "--no-binary", name, "-d", folder)
            run(*pip, f"{name}=={version}")
            for found in folder.glob("*.tar.gz"):
                if found.name.replace("_", "-").lower().startswith(f"{name}-{version}"):
                    found.rename(archive)
        return archive


def main() -> None:
    options_of = parser(__doc__)
    options_of.add_argument("--python", default="python3.11")
    options_of.add_argument("--skip-tools", action="store_true", help="no environments for the peers")
    options = options_of.parse_args()
    options.root.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(options)
    builder = Builder(corpus, options.python)
    if not options.skip_tools:
        builder.tools()
    for name, project in corpus.projects.items():
        builder.project(name, project)
    if corpus.snippets:
        builder.environment("snippets", corpus.manifest["snippets"]["requirements"])


if __name__ == "__main__":
    main()
