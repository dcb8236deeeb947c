"""Where the data of the benchmark lies; used by the other scripts, nothing here is run by itself.

A file (`manifest.json`, `codes.json`, `mutants.json`, `snippets.json`, `locks/`) is looked for in the
folder named by `--given`, then in the corpus, then beside these scripts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: the tree that is laid -> the file with its mutants
MUTANTS = {"mutated": "mutants.json", "mutated15": "mutants_open.json"}


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser with what all scripts take: the corpus, and the folder with given data."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("root", type=Path, help="the corpus: a scratch folder")
    made.add_argument("--given", type=Path, help="a folder whose manifest, locks, mutants and so on are used")
    made.add_argument("--only", default="", help="these projects only, separated by commas")
    made.add_argument("--split", default="all", help="the projects of one split of the manifest")
    return made


class Corpus:
    """The folder of a corpus, and the data that belongs to it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.root = Path(options.root).resolve()
        self.given: Path | None = options.given
        self.only = [p for p in options.only.split(",") if p]
        self.manifest: dict[str, Any] = self.read("manifest.json")
        wanted = (options.split, "all")
        self.projects: dict[str, dict[str, Any]] = {
            name: project
            for name, project in self.manifest["projects"].items()
            if (not self.only or name in self.only) and (options.split == "all" or project["split"] in wanted)
        }

    @property
    def snippets(self) -> bool:
        """Do the snippets belong to the choice of projects?"""
        return not self.only or "snippets" in self.only

    def find(self, name: str) -> Path | None:
        """The first place that has the file."""
        for folder in (self.given, self.root, HERE):
            if folder is not None and (folder / name).exists():
                return folder / name
        return None

    def read(self, name: str) -> Any:
        path = self.find(name)
        if path is None:
            raise SystemExit(f"{name}: neither given nor in {self.root}; mutate.py makes it")
        return json.loads(path.read_text(encoding="utf8"))

    def mutants(self, kind: str) -> list[dict[str, Any]]:
        """The mutants of the chosen projects, with the snippets where they belong."""
        chosen = [m for m in self.read(MUTANTS[kind]) if m["project"] in self.projects]
        if kind == "mutated" and self.snippets:
            chosen += self.read("snippets.json")
        return chosen

    def where(self, kind: str) -> dict[str, list[int]]:
        """Where each mutant stands in its tree: the first and the last line, and that of an added import."""
        path = self.root / f"where.{kind}.json"
        found: dict[str, list[int]] = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
        return found
