"""Plain values of this room: candidates with their reasons, and repairs with their edits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from callground.text.edits import Edit


class ImportWanted(NamedTuple):
    """What has to be imported for a name to be in scope."""

    module: str
    """Absolute dotted name."""
    name: str = ""
    """``from module import name``; empty for ``import module``."""
    alias: str = ""

    @property
    def text(self) -> str:
        """The statement, written out."""
        alias = f" as {self.alias}" if self.alias else ""
        return f"from {self.module} import {self.name}{alias}" if self.name else f"import {self.module}{alias}"


class Candidate(NamedTuple):
    """A real thing that a wrong name may have meant."""

    name: str
    """Its last name."""
    source: str
    """Where it was found: see `candidates.SOURCES`."""
    text: str
    """What would stand in the place of the callee (of the imported name, of the keyword)."""
    owner: str = ""
    """The class or module that has it."""
    kind: str = ""
    """``function``, ``class``, ``variable``, ``module``, ``parameter``, or empty where nobody has looked."""
    wanted: ImportWanted | None = None
    path: str = ""
    line: int = 0
    likeness: float = -1.0
    """A likeness that was settled when it was found (a table's row, a text that names it); else -1."""
    why: str = ""
    """Why it was found, where that is more than its name."""


class Ranked(NamedTuple):
    """A candidate with what speaks for it."""

    candidate: Candidate
    score: float
    near: bool
    """Near enough to be named in a message."""
    reasons: tuple[str, ...]
    signature: str = ""
    doc: str = ""
    """First line of its docstring."""
    fits: bool | None = None
    """Whether the call's arguments bind to it; None where that is not known."""


class FileEdits(NamedTuple):
    """The edits of one file; offsets are in code points of the text as it is."""

    path: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Repair:
    """One way to repair one finding."""

    kind: str
    """See `KINDS`."""
    title: str
    changes: tuple[FileEdits, ...]
    reasons: tuple[str, ...] = ()
    score: float = 0.0
    candidate: Candidate | None = None
    placeholders: tuple[str, ...] = ()
    """Names of arguments that still have to be filled in; each stands as ``...`` in the edits, in order."""
    certain: bool = False
    """Only this one can be meant: it may be applied unseen, once it is verified."""
    verified: bool = field(default=False)
    """The patched text was checked: grounded at that call, and nowhere worse."""


KINDS = {
    "replace-callee": "another name in the place of the wrong one",
    "rename-import": "another name in an import, and wherever the file uses it",
    "remove-import": "a name that nothing uses leaves the import",
    "add-import": "an import of a name that is not in scope",
    "use-existing": "the name that the file has imported already",
    "habit": "Python's own way of what another language says otherwise",
    "module-function": "the function of a module in the place of a method that is none",
    "rename-keyword": "the real keyword in the place of the wrong one",
    "drop-argument": "an argument that is not accepted is left out",
    "add-arguments": "the required arguments that are missing",
    "make-positional": "a positional-only argument is given by position",
    "make-keyword": "surplus positional arguments are given by their names",
    "create": "a new function or method, to be written",
    "ignore": "a comment that silences the finding here",
    "ignore-name": "a setting that silences the name everywhere",
}
"""Every kind of repair."""
