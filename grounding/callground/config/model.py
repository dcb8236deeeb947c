"""What can be set, as immutable plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import NamedTuple

from callground.config.policy import Policy

SCOPES = ("all", "changed", "ai")
"""Which calls are looked at: every one, those on changed lines, those on lines that an AI wrote."""


@dataclass(frozen=True)
class Provenance:
    """Which signals tell whose a text is, and for how long it counts.  All are on."""

    edits: bool = True
    """How text comes into an open document."""
    client: bool = True
    """What the editor or a plugin says."""
    disk: bool = True
    """Files that another program than the editor or git writes."""
    uncommitted: bool = True
    """Lines that differ from HEAD, of which nothing else is known."""
    agent_trace: bool = True
    """Agent Trace records in the workspace."""
    git_ai: bool = True
    """Notes of git-ai."""
    commits: bool = True
    """Authors and trailers of commits."""
    hook: bool = True
    """Edit hooks of agents."""
    keep_committed: bool = False
    """A line stays marked in the editor after it is committed."""
    keep_rewritten: bool = False
    """What is left of a line stays marked when a person has written the rest of it anew."""


@dataclass(frozen=True)
class Caller:
    """Suggestions of whole calls."""

    enabled: bool = True
    alpha: float = 0.1
    """Share of the calls given out unasked that may be of the wrong tool."""
    delta: float = 0.05
    """Probability that the calibration was lucky and the share is larger."""
    path: str | None = None
    """Folder of another model than the bundled one, or of a distilled caller; relative ones start at the root."""


class Problem(NamedTuple):
    """A setting that could not be used; the default stands in its place."""

    where: str
    """The file, or ``editor settings``."""
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True)
class Config:
    """Settings of one workspace.  What is not set is None or empty."""

    scope: str | None = None
    """One of SCOPES; None leaves the choice to the program that asks (terminal: all, editor: ai)."""
    python: str | None = None
    """The interpreter or environment whose packages count; relative paths start at the workspace root."""
    exclude: tuple[str, ...] = ()
    """Patterns as in ``.gitignore`` for files that are not checked."""
    roots: tuple[str, ...] = ()
    """Extra folders, relative to the root, that imports start from."""
    severity: Mapping[str, str] = field(default_factory=dict)
    """Rule code -> ``error``, ``warning``, ``hint`` or ``off``."""
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """(pattern, rule codes) in the order in which they were written."""
    ignore_names: tuple[str, ...] = ()
    """Dotted names, with ``*`` for anything, about which nothing is said (``pandas.Series.split``, ``legacy.*``)."""
    gate: Policy = field(default_factory=Policy)
    """What the gate blocks, tells and lets through."""

    provenance: Provenance = field(default_factory=Provenance)
    caller: Caller = field(default_factory=Caller)
    suggestions: bool = True
    """Whether calls are suggested in the editor."""

    @property
    def suggests(self) -> bool:
        """Whether editors show calls of the workspace's functions."""
        return self.suggestions and self.caller.enabled

    def severity_of(self, code: str, default: str) -> str:
        """The severity that rule `code` has here."""
        return self.severity.get(code, default)

    def ignores(self, name: str) -> bool:
        """Whether nothing is to be said about a dotted name."""
        return any(fnmatchcase(name, pattern) for pattern in self.ignore_names)

    def ignored_in(self, relative: str) -> frozenset[str]:
        """The rule codes that are switched off in the file `relative` (to the root, with ``/``)."""
        if not self.per_file_ignores:
            return frozenset()
        return frozenset(
            code for pattern, codes in self.per_file_ignores if matches(relative, pattern) for code in codes
        )


DEFAULT = Config()


def matches(relative: str, pattern: str) -> bool:
    """Whether a pattern of ``per-file-ignores`` (folder, glob of paths, of file names) means the file."""
    pattern = pattern.removeprefix("./")
    if pattern.endswith("/"):
        return relative.startswith(pattern)
    if "/" not in pattern and fnmatchcase(relative.rpartition("/")[2], pattern):
        return True
    # "**/" also means "no folder at all", as it does in .gitignore.
    forms = (pattern, pattern.replace("**/", ""))
    return relative.startswith(pattern + "/") or any(fnmatchcase(relative, form) for form in forms)
