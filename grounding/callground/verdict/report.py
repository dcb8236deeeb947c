"""What a check found, as plain data: lists for people and programs, counts, and the JSON contract."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from callground.verdict.model import Finding, Range, Verdict

SCHEMA = 1
"""Version of the JSON contract: raised when a key changes its meaning or goes away, not when one is added."""


class EnvironmentInfo(NamedTuple):
    """The environment that the verdicts hold for."""

    python: str | None
    version: str
    trusted: bool
    doubtful: str | None = None
    """Why the environment may be the wrong one, else None."""


class FileError(NamedTuple):
    """A file that could not be checked, or only in part."""

    path: str
    reason: str
    partly: bool = False
    """The rest of it was checked."""

    @property
    def extent(self) -> str:
        """For a person, how much of it was."""
        return "partly checked" if self.partly else "not checked"


class FileVerdicts(NamedTuple):
    """The verdicts of one checked file, and findings that belong to no call (about comments and settings)."""

    path: str
    """Absolute."""
    verdicts: tuple[Verdict, ...]
    notes: tuple[Finding, ...] = ()


class Entry(NamedTuple):
    """A finding and the file it stands in."""

    path: str
    finding: Finding


class Counts(NamedTuple):
    """How the sites of one kind came out."""

    grounded: int
    findings: int
    abstained: int

    @property
    def total(self) -> int:
        """All sites that were looked at."""
        return sum(self)


@dataclass(frozen=True)
class GroundingReport:
    """The outcome of one check.  Pure: made of verdicts, asks nothing of the disk."""

    root: str
    files: tuple[FileVerdicts, ...]
    errors: tuple[FileError, ...] = ()
    scope: str = "all"
    environment: EnvironmentInfo | None = None
    remarks: tuple[Entry, ...] = ()
    """Notes that belong to no checked file, such as a setting that could not be used."""
    projects: tuple[tuple[str, EnvironmentInfo], ...] = ()
    """Folders below the root whose files were judged in environments of their own."""

    @cached_property
    def ungrounded(self) -> tuple[Entry, ...]:
        """Callees and imports of the workspace that do not exist."""
        return tuple(e for e in self._proven() if not e.finding.third_party and e.finding.kind != "arity")

    @cached_property
    def arity_errors(self) -> tuple[Entry, ...]:
        """Calls that do not fit the signature of a workspace callee."""
        return tuple(e for e in self._proven() if not e.finding.third_party and e.finding.kind == "arity")

    @cached_property
    def third_party(self) -> tuple[Entry, ...]:
        """Findings whose owner lies outside the workspace, of any kind."""
        return tuple(e for e in self._proven() if e.finding.third_party)

    @cached_property
    def notes(self) -> tuple[Entry, ...]:
        """Hints and warnings.  They never change `is_grounded`."""
        return self.remarks + tuple(e for e in self._entries() if e.finding.severity != "error")

    @property
    def is_grounded(self) -> bool:
        """Whether no call was proven wrong."""
        return not any(True for _ in self._proven())

    @cached_property
    def calls(self) -> Counts:
        """Counts of the call sites."""
        return self._count("call")

    @cached_property
    def references(self) -> Counts:
        """Counts of the other references: imported names, decorators, base classes, raised classes."""
        return self._count("reference")

    @property
    def sites(self) -> dict[str, Counts]:
        """Counts by kind of site: ``calls`` and ``references``."""
        return {"calls": self.calls, "references": self.references}

    @cached_property
    def abstained(self) -> dict[str, int]:
        """How many sites were abstained on, by reason, the most frequent first."""
        counts = Counter(
            verdict.reason.value if verdict.reason is not None else "internal-error"
            for file in self.files
            for verdict in file.verdicts
            if verdict.status == "abstained"
        )
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @cached_property
    def fingerprints(self) -> tuple[str, ...]:
        """One stable name for each entry of `findings`: it survives lines that move."""
        seen: Counter[str] = Counter()
        names = []
        for path, finding in self.findings:
            text = "\0".join((relative(path, self.root), finding.code, finding.owner, finding.callee, finding.name))
            name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
            seen[name] += 1
            names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
        return tuple(names)

    @cached_property
    def findings(self) -> tuple[Entry, ...]:
        """What was proven, in the order of files and lines."""
        return tuple(self._proven())

    def to_json(self, root: str | None = None) -> dict[str, Any]:
        """The JSON contract (``callground schema`` prints its page)."""
        base = self.root if root is None else root
        environment = self.environment or EnvironmentInfo(None, "", False)
        return {
            "schema": SCHEMA,
            "grounded": self.is_grounded,
            "root": base,
            "scope": self.scope,
            "environment": environment._asdict(),
            "projects": [{"root": relative(folder, base), **info._asdict()} for folder, info in self.projects],
            "files": len(self.files),
            "sites": {kind: counts._asdict() for kind, counts in self.sites.items()},
            "abstained": self.abstained,
            "ungrounded": [_entry(e, base) for e in self.ungrounded],
            "arity_errors": [_entry(e, base) for e in self.arity_errors],
            "third_party": [_entry(e, base) for e in self.third_party],
            "notes": [_entry(e, base) for e in self.notes],
            "errors": [{"file": relative(e.path, base), "reason": e.reason} for e in self.errors],
        }

    def verdicts_json(self, root: str | None = None) -> list[dict[str, Any]]:
        """Every verdict, for ``--verdicts``: what was decided about each site and why."""
        base = self.root if root is None else root
        return [
            {
                "file": relative(file.path, base),
                **_span(verdict.range),
                "site": verdict.site,
                "callee": verdict.callee,
                "status": verdict.status,
                "reason": verdict.reason.value if verdict.reason is not None else None,
                "detail": verdict.detail,
            }
            for file in self.files
            for verdict in file.verdicts
        ]

    def _entries(self) -> Iterator[Entry]:
        for file in self.files:
            found = [verdict.finding for verdict in file.verdicts if verdict.finding is not None]
            for finding in sorted((*found, *file.notes), key=lambda f: (f.range, f.code)):
                yield Entry(file.path, finding)

    def _proven(self) -> Iterator[Entry]:
        return (entry for entry in self._entries() if entry.finding.severity == "error")

    def _count(self, site: str) -> Counts:
        statuses = Counter(v.status for file in self.files for v in file.verdicts if v.site == site)
        grounded, abstained = statuses["grounded"], statuses["abstained"]
        return Counts(grounded, sum(statuses.values()) - grounded - abstained, abstained)


def merge(reports: Iterable[FileVerdicts]) -> tuple[FileVerdicts, ...]:
    """Files in the order of their paths."""
    return tuple(sorted(reports, key=lambda file: file.path))


def relative(path: str, root: str) -> str:
    """`path` as reports write it: relative to `root`, with ``/``; absolute on another drive."""
    try:
        path = os.path.relpath(path, root)
    except ValueError:  # another drive
        pass
    return path.replace(os.sep, "/")


def evidence(finding: Finding, root: str) -> list[str]:
    """The evidence lines, the path in them as people name that file."""
    if finding.evidence_location is None:
        return list(finding.evidence)
    path = finding.evidence_location[0]
    return [line.replace(path, known_path(path, root)) for line in finding.evidence]


def known_path(path: str, root: str) -> str:
    """A file by its place in the workspace, in an installation (``requests/sessions.py``) or in the stubs."""
    if path.startswith(root.rstrip(os.sep) + os.sep) and not _INSTALLED.search(path):
        return relative(path, root)
    path = path.replace(os.sep, "/")
    for pattern, prefix in ((_TYPESHED, "typeshed/"), (_INSTALLED, ""), (_LIBRARY, "")):
        match = pattern.search(path)
        if match is not None:
            return prefix + path[match.end() :]
    return path


_TYPESHED = re.compile(r".*[/\\]typeshed[/\\](?:stdlib[/\\])?")
_INSTALLED = re.compile(r".*[/\\](?:site|dist)-packages[/\\]")
_LIBRARY = re.compile(r".*[/\\]lib[/\\](?=python3\.\d+[/\\])", re.IGNORECASE)


def _span(span: Range) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
    }


def _entry(entry: Entry, root: str) -> dict[str, Any]:
    finding = entry.finding
    return {
        "file": relative(entry.path, root),
        **_span(finding.range),
        "code": finding.code,
        "kind": finding.kind,
        "severity": finding.severity,
        "callee": finding.callee,
        "owner": finding.owner,
        "message": finding.message,
        "evidence": evidence(finding, root),
        "suggestions": [{"text": s.text, "signature": s.signature, "import": s.import_} for s in finding.suggestions],
    }
