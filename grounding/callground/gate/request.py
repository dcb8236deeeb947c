"""One question to the gate: code at a place, files that a plan writes, calls of tools; and its answer."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from callground.check import CannotRead, doubt, review
from callground.config import Config
from callground.config.policy import Policy
from callground.gate import fragment as laying
from callground.gate.changed import changed_ranges
from callground.gate.layers import layer
from callground.gate.policy import GateVerdict, gate_verdict
from callground.gate.repairing import Fixed, fix, suggested
from callground.graph.changes import never
from callground.graph.driver import verify_snapshot
from callground.graph.interface import NotLoaded, SourceFile
from callground.graph.queries import CodeGraph
from callground.graph.snapshot import Snapshot
from callground.graph.workspace import Workspace
from callground.source.parse import parse
from callground.toolcalls.calls import Plan, read_calls, read_text
from callground.toolcalls.ground import Lookup, Outcome, ground_plan
from callground.toolcalls.python_tools import WorkspaceTools
from callground.toolcalls.repair import repair, repair_plan
from callground.toolcalls.specs import Specs
from callground.toolcalls.verdicts import file_verdicts, plan_errors
from callground.verdict.model import Finding, Range, Reason, Verdict
from callground.verdict.report import EnvironmentInfo, FileError, FileVerdicts, GroundingReport, relative

FRAGMENT = "callground_fragment_.py"
"""The file that code without a place is supposed to be, in the root of the workspace."""

Stop = Callable[[], bool]


class Opened(Protocol):
    """What a session offers to the gate."""

    @property
    def root(self) -> str:
        """Absolute path of the workspace."""
        ...

    @property
    def workspace(self) -> Workspace:
        """Its graph."""
        ...

    @property
    def config(self) -> Config:
        """Its settings."""
        ...

    @property
    def info(self) -> EnvironmentInfo:
        """The environment as reports name it."""
        ...


class Place(NamedTuple):
    """Where code is meant to stand."""

    path: str
    """Absolute."""
    line: int
    """1-based; the code is put in before this line."""


@dataclass(frozen=True)
class Request:
    """What somebody is about to write or call: one plan, in which a part may use what another defines."""

    code: str = ""
    """Python, or a text with Python in it (Markdown, prompts, heredocs)."""
    name: str = "<stdin>"
    """How the report calls `code`."""
    at: Place | None = None
    files: Mapping[str, str | None] = field(default_factory=dict)
    """Absolute path -> the text that the file will have; None deletes it."""
    only_new: bool = False
    """Of `files` only calls count that were not there before."""
    before: Mapping[str, str] = field(default_factory=dict)
    """What `files` held before, where that is not what lies on the disk (an edit that is made already)."""
    calls: Any = None
    """Calls of tools: a text, or parsed JSON."""
    calls_name: str = "<calls>"
    tools: Specs | None = None
    """The tools that there are; None: the functions of the workspace."""
    policy: Policy | None = None
    """None: the one in the settings."""
    repair: bool = False
    """Whether to look for repairs."""
    repair_kinds: frozenset[str] | None = None
    """The kinds of repairs (`callground.repairs.KINDS`) that may be applied; None for all that are certain."""


@dataclass(frozen=True)
class Answer:
    """What the gate says."""

    report: GroundingReport
    gate: GateVerdict
    at: Place | None = None
    repaired: Mapping[str, str] = field(default_factory=dict)
    """Name of a text -> the text with its certain repairs; only texts that have some."""
    changes: tuple[str, ...] = ()
    """What was repaired, for people."""
    fixed: Mapping[str, Fixed] = field(default_factory=dict)
    """For each file of the plan that has repairs: how they were made."""
    left: int = 0
    """Findings that have no certain repair.  With 0 the repaired texts are grounded."""

    def to_json(self) -> dict[str, Any]:
        """The JSON contract with what the gate adds to it."""
        data = self.report.to_json()
        root = self.report.root
        data["gate"] = self.gate.to_json(root)
        if self.at is not None:
            data["at"] = {"file": relative(self.at.path, root), "line": self.at.line}
        if self.repaired or self.changes:
            data["repaired"] = {relative(name, root): text for name, text in self.repaired.items()}
            data["changes"] = list(self.changes)
            data["left"] = self.left
        return data


def answer(session: Opened, request: Request, *, stop: Stop = never) -> Answer:
    """Judge a plan.  Raises Stopped when `stop()` says so meanwhile."""
    return _Gate(session, request, stop).answer()


class _Gate:
    def __init__(self, session: Opened, request: Request, stop: Stop) -> None:
        self.session = session
        self.request = request
        self.stop = stop
        self.root = session.root
        before = session.workspace.snapshot()
        self.before = before
        self.snapshot = before.with_overlay(request.files) if request.files else before
        self.known = (session.workspace.memo, before)
        """What is known of the workspace, and of which state of it."""
        self.errors: list[FileError] = []
        self.repaired: dict[str, str] = {}
        self.changes: list[str] = []
        self.fixed: dict[str, Fixed] = {}
        self.left = 0

    def answer(self) -> Answer:
        request = self.request
        files: list[FileVerdicts] = []
        with self.before.space.contents.pinned():
            for path, text in sorted(request.files.items()):
                if text is not None and _is_python(path):
                    files.append(self.file(path, text))
            if request.code.strip():
                files.append(self.code())
            if request.calls is not None:
                files.append(self.calls())
        report = self._report(files)
        gate = gate_verdict(report, request.policy or self.session.config.gate)
        return Answer(report, gate, request.at, self.repaired, tuple(self.changes), self.fixed, self.left)

    def _report(self, files: Sequence[FileVerdicts]) -> GroundingReport:
        info = self.session.info
        reviewed, remarks = doubt(files, info)
        return GroundingReport(
            root=self.root,
            files=reviewed,
            errors=tuple(self.errors),
            scope="plan",
            environment=info,
            remarks=remarks,
        )

    # -- files

    def file(self, path: str, text: str) -> FileVerdicts:
        """A file that the plan writes."""
        lines = None
        old: str | None = None
        if self.request.only_new:
            old = self.request.before.get(path, self._old_text(path))
            lines = changed_ranges(old or "", text)
        verdicts = self._verify(path, self.snapshot, lines)
        self._unparsed(path, path, self.snapshot, lines, lambda line: line)
        shown = review(path, text, verdicts, root=self.root, config=self.session.config, lines=lines)
        if not any(verdict.finding for verdict in shown.verdicts):
            return shown
        if old is not None:
            shown = _brought_in(shown, self._old_findings(path, old, text))
        shown = shown._replace(verdicts=suggested(path, text, self.snapshot, verdicts, shown.verdicts, self.known))
        if self.request.repair:
            made = self._fix(path, text, lines, shown)
            if made.rounds:
                self.fixed[path] = made
                self.repaired[path] = made.text
        return shown

    def _fix(self, path: str, text: str, lines: Sequence[tuple[int, int]] | None, shown: FileVerdicts) -> Fixed:
        """The certain repairs of the findings that are shown as errors."""
        wanted = Counter(_identity(v.finding) for v in shown.verdicts if v.finding and v.finding.severity == "error")
        made = fix(
            path,
            text,
            self.snapshot,
            self.known,
            tuple(lines) if lines is not None else None,
            lambda finding: wanted[_identity(finding)] > 0,
            self.request.repair_kinds,
            stop=self.stop,
        )
        self.changes += made.changes
        self.left += made.left
        return made

    def _old_findings(self, path: str, old: str, new: str) -> Counter[tuple[str, ...]]:
        """What was wrong already, on the lines that the edit replaces."""
        lines = changed_ranges(new, old)
        before = self.before
        if path in self.request.before:
            before = before.with_overlay({path: old})
        verdicts = self._verify(path, before, lines)
        shown = review(path, old, verdicts, root=self.root, config=self.session.config, lines=lines)
        return Counter(_identity(verdict.finding) for verdict in shown.verdicts if verdict.finding)

    def _old_text(self, path: str) -> str | None:
        try:
            file = _file(self.before, path)
        except CannotRead:
            return None
        return file.text if file is not None else None

    def _verify(self, path: str, snapshot: Snapshot, lines: Sequence[tuple[int, int]] | None) -> list[Verdict]:
        if snapshot is self.before:
            return verify_snapshot(path, snapshot, self.known[0], lines, stop=self.stop)
        over = layer(*self.known, snapshot)
        verdicts = verify_snapshot(path, snapshot, over, lines, stop=self.stop)
        over.settle()
        return verdicts

    def _unparsed(
        self,
        path: str,
        name: str,
        snapshot: Snapshot,
        lines: Sequence[tuple[int, int]] | None,
        back: Callable[[int], int | None],
    ) -> None:
        """Note what of a text does not parse: no call in there was looked at."""
        file = _file(snapshot, path)
        if file is None:
            self.errors.append(FileError(name, "it cannot be read as Python"))
            return
        if file.facts.error is not None and not file.facts.pieces:
            self.errors.append(FileError(name, _ERRORS.get(file.facts.error, file.facts.error)))
            return
        for first, last in file.facts.masked_lines():
            if lines is not None and not any(a <= last and first <= b for a, b in lines):
                continue
            said = parse(file.text)
            line = back(said.line or first)
            where = f"line {line}" if line is not None else "the place where it is put"
            self.errors.append(FileError(name, f"{where} does not parse: {said.message or 'invalid syntax'}"))
            return

    # -- code

    def code(self) -> FileVerdicts:
        """Code at its place, or by itself."""
        request = self.request
        code = laying.code_of(request.code)
        name = os.path.join(self.root, request.name)
        if request.at is not None:
            return self._placed(code, request.at, name)
        path = os.path.join(self.root, FRAGMENT)
        laid = laying.alone(code)
        verdicts, snapshot = self._laid(laid, path)
        imports = self._imports(verdicts)
        assumed: list[Verdict] = []
        if imports:
            certain = {_identity(v.finding, laid) for v in verdicts if v.finding}
            laid = laying.alone(code, imports)
            verdicts, snapshot = self._laid(laid, path)
            assumed = [v for v in verdicts if v.finding and _identity(v.finding, laid) not in certain]
        self._unparsed(path, name, snapshot, laid.lines, laid.line)
        judged = [self._alone(_assumed(v) if v in assumed else v) for v in verdicts]
        return self._shown(laid, path, name, judged, verdicts, snapshot)

    def _placed(self, code: laying.Code, at: Place, name: str) -> FileVerdicts:
        """Code at its place.  At the end of a block it may stand on several levels: on the one that has its names."""
        file = _file(self.snapshot, at.path)
        text = file.text if file is not None else ""
        breaks = parse(text).tree is not None
        best: tuple[tuple[int, ...], laying.Laid, list[Verdict], Snapshot] | None = None
        for laid in laying.placements(text, at.line, code):
            verdicts, snapshot = self._laid(laid, at.path)
            broken = breaks and parse(laid.text).tree is None
            wrong = sum(verdict.finding is not None for verdict in verdicts)
            # A definition says little about where it belongs; its names do.
            faults: tuple[int, ...] = (broken, sum(map(_is_free, verdicts)), 0 if code.defines else wrong)
            if best is None or faults < best[0]:
                best = (faults, laid, verdicts, snapshot)
            if not any(faults):
                break
        assert best is not None
        faults, laid, verdicts, snapshot = best
        known = len(self.errors)
        self._unparsed(at.path, name, snapshot, laid.lines, laid.line)
        if faults[0] and len(self.errors) == known:
            said = parse(laid.text)
            self.errors.append(FileError(name, f"put there, it does not parse: {said.message}"))
        return self._shown(laid, at.path, name, verdicts, verdicts, snapshot)

    def _laid(self, laid: laying.Laid, path: str) -> tuple[list[Verdict], Snapshot]:
        snapshot = self.snapshot.with_overlay({path: laid.text})
        return self._verify(path, snapshot, laid.lines), snapshot

    def _shown(
        self,
        laid: laying.Laid,
        path: str,
        name: str,
        verdicts: Sequence[Verdict],
        raw: Sequence[Verdict],
        snapshot: Snapshot,
    ) -> FileVerdicts:
        """Verdicts as people see them, in the fragment's own lines."""
        config = self.session.config
        shown = review(path, laid.text, verdicts, root=self.root, config=config, lines=laid.lines)
        shown = shown._replace(verdicts=suggested(path, laid.text, snapshot, raw, shown.verdicts, self.known))
        if self.request.repair and any(verdict.finding for verdict in shown.verdicts):
            made = self._fix(path, laid.text, laid.lines, shown)
            if made.rounds:
                self.repaired[name] = laying.taken_out(laid, made.text)

        def back(finding: Finding) -> Finding:
            evidence, where = finding.evidence, finding.evidence_location
            if where is not None and where[0] == path:
                line = laid.line(where[1])
                if line is not None:
                    old, new = f"{path}:{where[1]}", f"{name}:{line}"
                    evidence = tuple(text.replace(old, new) for text in evidence)
                    where = (name, line)
            return replace(finding, range=laid.where(finding.range), evidence=evidence, evidence_location=where)

        return FileVerdicts(
            name,
            tuple(
                replace(
                    verdict,
                    range=laid.where(verdict.range),
                    callee_range=laid.where(verdict.callee_range),
                    finding=back(verdict.finding) if verdict.finding is not None else None,
                )
                for verdict in shown.verdicts
            ),
            tuple(back(note) for note in shown.notes),
        )

    def _imports(self, verdicts: Sequence[Verdict]) -> tuple[str, ...]:
        """Imports of names that only one module of the workspace defines: what code out of context lacks."""
        graph = CodeGraph(self.snapshot)
        lines: list[str] = []
        free = [v.finding for v in verdicts if v.finding is not None and _is_free(v)]
        for name in dict.fromkeys(finding.name for finding in free):
            sites = [
                site
                for site in graph.definition_sites(name)
                if site.kind in ("function", "class") and site.qualname == name and site.module
            ]
            if len(sites) == 1:
                lines.append(f"from {sites[0].module} import {name}")
        return tuple(lines)

    def _alone(self, verdict: Verdict) -> Verdict:
        """Of code without a place a name is missing only when nothing in the workspace has it."""
        finding = verdict.finding
        if finding is None or not _is_free(verdict):
            return verdict
        if finding.name == verdict.callee and self._is_nowhere(finding.name):
            message = f"{finding.message}, and no file of the workspace has that name"
            return replace(verdict, finding=replace(finding, message=message))
        detail = f"`{finding.name}` may be there where the code is put"
        return replace(verdict, status="abstained", reason=Reason.DYNAMIC_SCOPE, detail=detail, finding=None)

    def _is_nowhere(self, name: str) -> bool:
        return self.snapshot.complete and not self.snapshot.mentioning(name)

    # -- tools

    def calls(self) -> FileVerdicts:
        """Calls of tools."""
        request = self.request
        plan = read_text(request.calls) if isinstance(request.calls, str) else read_calls(request.calls)
        name = os.path.join(self.root, request.calls_name)
        self.errors += plan_errors(plan, name)
        lookup: Lookup | Mapping[str, Any]
        if request.tools is not None:
            lookup = request.tools.tools
        else:
            lookup = WorkspaceTools(CodeGraph(self.snapshot), lambda path: _file(self.snapshot, path))
        outcomes = ground_plan(plan, lookup)
        if request.repair and request.tools is not None:
            self._repair_calls(plan, outcomes, request.tools, name)
        return file_verdicts(plan, outcomes, name)

    def _repair_calls(self, plan: Plan, outcomes: list[Outcome], tools: Specs, name: str) -> None:
        certain = [o for o in outcomes if (made := repair(o, tools.tools)) is not None and made.certain]
        data, repairs = repair_plan(plan, certain, tools.tools)
        self.left += sum(bool(outcome.faults) for outcome in outcomes) - len(repairs)
        if repairs:
            self.repaired[name] = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
            self.changes += [change for made in repairs for change in made.changes]


_ERRORS = {
    "syntax-error": "it does not parse",
    "syntax-newer-than-server": "its syntax is newer than the Python that callground runs on",
    "too-deep": "it is nested too deeply",
    "too-large": "it is too large",
    "not-text": "it is no text",
}


def _file(snapshot: Snapshot, path: str) -> SourceFile | None:
    """A file as the snapshot shows it, read if need be."""
    for _ in range(3):
        try:
            return snapshot.file(path)
        except NotLoaded as missing:
            snapshot.space.load(missing.module)
    return None


def _is_python(path: str) -> bool:
    """Whether a plan's file holds Python; a notebook's text is what its cells make together."""
    return os.path.splitext(path)[1] in ("", ".py", ".pyi", ".pyw", ".ipynb")


def _is_free(verdict: Verdict) -> bool:
    finding = verdict.finding
    return finding is not None and finding.code == "unknown-name"


def _assumed(verdict: Verdict) -> Verdict:
    """A finding that holds if the names that the code does not define mean what the workspace calls so."""
    finding = verdict.finding
    assert finding is not None
    message = f"{finding.message} (if the code means what the workspace calls so; `--at` makes it certain)"
    return replace(verdict, finding=replace(finding, severity="warning", message=message))


def _identity(finding: Finding | None, laid: laying.Laid | None = None) -> tuple[str, ...]:
    """What makes two findings of two versions of a text the same one."""
    assert finding is not None
    where: Range | None = laid.where(finding.range) if laid is not None else None
    return (finding.code, finding.callee, finding.owner, finding.name, repr(where))


def _brought_in(shown: FileVerdicts, before: Counter[tuple[str, ...]]) -> FileVerdicts:
    """Without the findings that were there before the edit."""
    left = before.copy()
    kept = []
    for verdict in shown.verdicts:
        identity = _identity(verdict.finding) if verdict.finding is not None else None
        if identity is not None and left[identity] > 0:
            left[identity] -= 1
            detail = "it was there before"
            verdict = replace(verdict, status="abstained", reason=Reason.IGNORED, detail=detail, finding=None)
        kept.append(verdict)
    return shown._replace(verdicts=tuple(kept))
