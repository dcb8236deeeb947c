"""What the encoder learns from: groups of tools that stand beside each other, and requests for some of them.

A group is what a person chooses from at one time (the operations of one service, the functions of one project, the
commands of one program), so that its other tools are the hard negatives of each request.  Groups lie in a JSON Lines
file, one a line.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from callground.caller.tools import ToolSpec, tool_text

_SPACE = re.compile(r"\s+")
DEVELOPMENT_SHARE = 25
"""One group in so many is kept for development: never trained on, looked at while tuning."""


@dataclass(frozen=True)
class MinedTool:
    """A tool as training sees it: what `tool_text` shows of it."""

    name: str
    description: str = ""
    args: tuple[str, ...] = ()

    def text(self, *, described: bool = True) -> str:
        """What the encoder reads; without the description where the request was made from it."""
        return tool_text(ToolSpec(self.name, self.args, description=self.description if described else ""))


@dataclass(frozen=True)
class Pair:
    """A request and the tool that it asks for (its place in the group)."""

    request: str
    tool: int
    told: bool = False
    """Whether the request was made from the tool's own description, which is then mostly kept from the encoder."""


@dataclass
class Group:
    """Tools that stand beside each other.  `source` is the kind of mining, `name` the project or service."""

    source: str
    name: str
    tools: list[MinedTool] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)

    def for_development(self) -> bool:
        """Whether this group is kept out of training (by its name, so that the cut stays as data is added)."""
        return zlib.crc32(f"{self.source}/{self.name}".encode()) % DEVELOPMENT_SHARE == 0


def clean(text: str) -> str:
    """One line, single spaces."""
    return _SPACE.sub(" ", text).strip()


def distinct(names: Iterable[str], limit: int = 12) -> tuple[str, ...]:
    """Usable argument names, each once."""
    return tuple(dict.fromkeys(name for name in names if name and name.isprintable()))[:limit]


def write(groups: Iterable[Group], path: Path) -> int:
    """Writes the groups that have pairs; the number of pairs."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for group in groups:
            if group.pairs:
                count += len(group.pairs)
                file.write(json.dumps(asdict(group), ensure_ascii=False, separators=(",", ":")) + "\n")
    return count


def read(path: Path) -> Iterator[Group]:
    """The groups of a file that `write` made."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            raw = json.loads(line)
            yield Group(
                raw["source"],
                raw["name"],
                [MinedTool(tool["name"], tool["description"], tuple(tool["args"])) for tool in raw["tools"]],
                [Pair(**pair) for pair in raw["pairs"]],
            )
