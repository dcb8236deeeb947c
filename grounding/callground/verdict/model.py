"""The three verdicts and everything that goes with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Reason(str, Enum):
    """Why a call site is abstained on: a closed list, each member reached by a test."""

    NOT_LOADED = "not-loaded"
    SYNTAX_ERROR = "syntax-error"
    SYNTAX_NEWER = "syntax-newer-than-server"
    UNKNOWN_PARAMETER = "unannotated-parameter"
    UNKNOWN_TYPE = "unknown-type"
    ANY = "any"
    OPEN_MODULE = "open-module"
    OPEN_CLASS = "open-class"
    UNKNOWN_BASE = "unknown-base"
    UNKNOWN_METACLASS = "unknown-metaclass"
    UNKNOWN_DECORATOR = "unknown-decorator"
    UNKNOWN_IMPORT = "unresolved-import"
    UNKNOWN_RETURN = "unknown-return"
    UNKNOWN_SUBSCRIPT = "unknown-subscript"
    UNKNOWN_OPERATOR = "unknown-operator"
    UNKNOWN_ATTRIBUTE = "unknown-attribute-value"
    UNKNOWN_SIGNATURE = "unknown-signature"
    STAR_ARGUMENTS = "star-arguments"
    STAR_IMPORT = "star-import"
    GUARDED = "guarded"
    IGNORED = "ignored"
    MONKEY_PATCHED = "monkey-patched"
    SUBCLASS = "subclass-may-have-it"
    VERSION_GUARD = "version-guard"
    DYNAMIC_SCOPE = "dynamic-scope"
    UNBOUND_FLOW = "maybe-unbound"
    UNREACHABLE = "unreachable"
    COMPILED = "compiled-without-probe"
    STUB_ONLY = "stub-without-source"
    BUDGET = "budget"
    RECURSION = "recursion"
    UNSUPPORTED = "unsupported-expression"
    INTERNAL = "internal-error"


class Range(NamedTuple):
    """1-based lines, 0-based columns in code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Suggestion(NamedTuple):
    """A real neighbour of a wrong name, best first in a finding."""

    text: str
    signature: str = ""
    import_: str = ""


class Step(NamedTuple):
    """One step of how a call was decided, for ``--explain``."""

    range: Range
    text: str


@dataclass(frozen=True)
class Finding:
    """A verdict rendered for a person.  It is a proof, not a guess."""

    code: str
    """Rule code, for example ``unknown-member``."""
    kind: str
    """``ungrounded``, ``arity`` or ``import``."""
    severity: str
    """``error``, ``warning`` or ``hint``."""
    range: Range
    callee: str
    """Source text of the callee (or the imported name)."""
    owner: str
    """Dotted name of the class or module that was asked; for arity the callee's dotted name."""
    third_party: bool
    """The owner lies outside the workspace."""
    message: str
    evidence: tuple[str, ...]
    """Lines such as ``class Session is defined at requests/sessions.py:389``."""
    evidence_location: tuple[str, int] | None = None
    """(absolute path, 1-based line) of the real owner or callee, where it has one."""
    name: str = ""
    """The wrong name or keyword itself."""
    candidates: tuple[str, ...] = ()
    """Names that do exist on the owner (members, module names, parameter names): raw material for repairs."""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def named(self) -> str:
        """The dotted name that the finding is about, as ``ignore-names`` knows it: for arguments the callee's."""
        if self.kind == "arity" or self.code == "deprecated-call" or self.name in ("", self.owner):
            return self.owner
        return f"{self.owner}.{self.name}"


Key = tuple[str, ...]
"""A dependency key, for example ``("symbol", module, name)``, ``("class", module, qualname)``,
``("body", module, qualname)``, ``("module", name)`` (existence), ``("stores", attr)``, ``("bases", name)``."""


@dataclass(frozen=True)
class Verdict:
    """What was decided about one site."""

    range: Range
    """Of the whole call expression, or of the reference."""
    callee_range: Range
    """Of the last name of the callee: where a squiggle stands by default."""
    site: str
    """``call`` or ``reference`` (imported name, decorator, base class, raised class)."""
    callee: str
    status: str
    """``grounded``, ``ungrounded``, ``arity`` or ``abstained``."""
    reason: Reason | None = None
    detail: str = ""
    """More about the reason, for ``--explain``."""
    finding: Finding | None = None
    steps: tuple[Step, ...] = ()
    reads: frozenset[Key] = field(default=frozenset())
    """What was read and which absences were relied on."""
