"""Outcomes of tool calls as verdicts, so that they stand in the same report as calls in code."""

from __future__ import annotations

from collections.abc import Iterable

from callground.toolcalls.calls import Plan, ToolCall
from callground.toolcalls.ground import KINDS, Fault, Outcome
from callground.verdict.model import Finding, Range, Suggestion, Verdict
from callground.verdict.report import FileError, FileVerdicts


def file_verdicts(plan: Plan, outcomes: Iterable[Outcome], path: str) -> FileVerdicts:
    """The verdicts on a plan that stands in the file (or under the name) `path`.

    A call has one verdict.  Where it is wrong in several ways, the first is the verdict's finding and the
    others are the file's notes, with their own severity: a reader sees all of them at once.
    """
    verdicts: list[Verdict] = []
    further: list[Finding] = []
    for outcome in outcomes:
        findings = [_finding(plan, outcome, fault) for fault in outcome.faults]
        further += findings[1:]
        verdicts.append(
            Verdict(
                range=_call_range(plan, outcome.call),
                callee_range=_range(plan, outcome.call, Fault("", "", (), "name")),
                site="call",
                callee=outcome.call.name,
                status=outcome.status,
                reason=outcome.reason,
                detail=outcome.detail,
                finding=findings[0] if findings else None,
            )
        )
    return FileVerdicts(path, tuple(verdicts), tuple(further))


def plan_errors(plan: Plan, path: str) -> tuple[FileError, ...]:
    """What of a plan could not be read."""
    return tuple(
        FileError(path, f"line {where.line + plan.first_line - 1}: {message}") for where, message in plan.problems
    )


def _finding(plan: Plan, outcome: Outcome, fault: Fault) -> Finding:
    spec = outcome.spec
    evidence: tuple[str, ...] = ()
    if spec is not None:
        where = f" is defined at {spec.source}" if spec.location else f" is a tool of {spec.source}"
        evidence = (spec.signature + (where if spec.source else ""),)
    return Finding(
        code=fault.code,
        kind=KINDS[fault.code],
        severity="error",
        range=_range(plan, outcome.call, fault),
        callee=outcome.call.name,
        owner=spec.name if spec is not None else "",
        third_party=False,
        message=fault.message,
        evidence=evidence,
        evidence_location=spec.location if spec is not None else None,
        name=fault.name,
        candidates=tuple(spec.properties) if spec is not None else (),
        suggestions=tuple(Suggestion(text) for text in fault.suggestions),
    )


def _call_range(plan: Plan, call: ToolCall) -> Range:
    if plan.source is None:
        return call.where or Range(1, 0, 1, 0)
    return _shifted(plan.source.value_range(call.path), plan.first_line)


def _range(plan: Plan, call: ToolCall, fault: Fault) -> Range:
    source = plan.source
    if source is None:
        return call.where or Range(1, 0, 1, 0)
    if fault.absolute:
        found = source.value_range(fault.absolute)
    elif fault.place in ("name", "call"):
        found = source.value_range(call.name_path)
    elif call.text is not None:
        found = source.value_range(call.arguments_path)  # a text with JSON in it
    elif fault.place == "key":
        found = source.key_range((*call.arguments_path, *fault.path))
    else:
        found = source.value_range((*call.arguments_path, *fault.path))
    return _shifted(found, plan.first_line)


def _shifted(where: Range, first_line: int) -> Range:
    return where._replace(line=where.line + first_line - 1, end_line=where.end_line + first_line - 1)
