"""What is evaluated on stays out of training: by project (see `sources`) and, here, by near-duplicate text.

Texts are compared by their runs of words, as is usual for the decontamination of training sets (Brown et al. 2020,
"Language Models are Few-Shot Learners", appendix C; there the runs are 13 words long, but requests are shorter).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from callground.caller.training.archives import Archive
from callground.caller.training.corpus import Group, Pair
from callground.caller.training.mine_python import python_project

RUN = 5
"""Words in a run."""

SHARE = 0.5
"""From this share of its runs on, a text that an evaluation text holds too is its near-duplicate."""

_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _runs(text: str) -> set[int]:
    """Checksums of a text's runs of words; of the whole of it where it is shorter than one (and has four words)."""
    words = _words(text)
    if len(words) < RUN:
        return {zlib.crc32(" ".join(words).encode())} if len(words) >= 4 else set()
    return {zlib.crc32(" ".join(words[at : at + RUN]).encode()) for at in range(len(words) - RUN + 1)}


class Evaluation:
    """The texts that are evaluated on."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs: set[int] = set()
        self._whole: set[tuple[str, ...]] = set()
        for text in texts:
            self._runs |= _runs(text)
            self._whole.add(tuple(_words(text)))

    def holds(self, text: str) -> bool:
        """Whether a text is one of them, or nearly."""
        words = tuple(_words(text))
        if len(words) >= 3 and words in self._whole:
            return True
        runs = _runs(text)
        return len(words) >= RUN and len(runs & self._runs) >= SHARE * len(runs)

    def cleaned(self, group: Group) -> tuple[Group, int]:
        """The group without the pairs whose request, or whose tool's description, is held; how many went."""
        held = {
            at
            for at, tool in enumerate(group.tools)
            if len(_words(tool.description)) > RUN and self.holds(tool.description)
        }
        kept: list[Pair] = [pair for pair in group.pairs if pair.tool not in held and not self.holds(pair.request)]
        return Group(group.source, group.name, group.tools, kept), len(group.pairs) - len(kept)


def bfcl_texts(archive: Archive) -> Iterator[str]:
    """Requests and tool descriptions of every category of the Berkeley Function-Calling Leaderboard's wheel."""
    for name in archive.names("bfcl_eval/data/BFCL_"):
        for row in _rows(archive.text(name)):
            yield from _messages(row.get("question", []))
            for tool in row.get("function", []):
                if isinstance(tool, dict):
                    yield str(tool.get("description", ""))


def _rows(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file; what is laid out otherwise holds settings, no items."""
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            return
        if isinstance(row, dict):
            yield row


def _messages(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        if tree.get("role") == "user" and isinstance(tree.get("content"), str):
            yield tree["content"]
    elif isinstance(tree, list):
        for inner in tree:
            yield from _messages(inner)


def project_texts(archive: Archive) -> Iterator[str]:
    """The comments and docstrings of a project that is evaluated on."""
    for group in python_project(archive):
        yield from (tool.description for tool in group.tools if tool.description)
        yield from (pair.request for pair in group.pairs)


def evaluation_texts(folder: Path) -> Iterator[str]:
    """All texts of the distributions in `folder`: the leaderboard's wheel and the evaluation projects."""
    for path in sorted(folder.iterdir()):
        if path.name.endswith((".whl", ".zip", ".tar.gz")):
            archive = Archive(path)
            yield from bfcl_texts(archive) if archive.project == "bfcl-eval" else project_texts(archive)
