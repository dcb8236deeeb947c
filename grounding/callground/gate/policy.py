"""One decision about a whole plan, out of its report."""

from __future__ import annotations

from typing import Any, NamedTuple

from callground.config.policy import Policy
from callground.verdict.model import Finding
from callground.verdict.report import Entry, GroundingReport, relative


class GateVerdict(NamedTuple):
    """Whether a plan passes, and what speaks against it."""

    passed: bool
    blockers: tuple[Entry, ...]
    """Findings that stop the plan."""
    warnings: tuple[Entry, ...]
    """Findings that are told and stop nothing."""
    reasons: tuple[str, ...]
    """Everything that stops the plan, in words; empty when it passes."""
    abstained_share: float
    """Share of the calls that could not be decided."""

    @property
    def decision(self) -> str:
        """``pass``, ``warn`` or ``block``."""
        if not self.passed:
            return "block"
        return "warn" if self.warnings else "pass"

    def to_json(self, root: str) -> dict[str, Any]:
        """The verdict as the faces print it: findings by place, in full in the report beside it."""
        return {
            "decision": self.decision,
            "passed": self.passed,
            "reasons": list(self.reasons),
            "blockers": [_place(entry, root) for entry in self.blockers],
            "warnings": [_place(entry, root) for entry in self.warnings],
            "abstained_share": round(self.abstained_share, 4),
        }


def gate_verdict(report: GroundingReport, policy: Policy | None = None) -> GateVerdict:
    """Decide about a plan.  Without a policy every finding of severity ``error`` stops it.

    A plan also fails when a text of it could not be read (``unread``), and when more of its calls are
    undecided than ``max_abstained`` allows.
    """
    policy = policy or Policy()
    blockers: list[Entry] = []
    warnings: list[Entry] = []
    for entry in (*report.findings, *report.notes):
        level = _level(entry.finding, policy)
        if level == "block":
            blockers.append(entry)
        elif level == "warn":
            warnings.append(entry)
    reasons = [_words(entry, report.root) for entry in blockers]
    if policy.unread == "block":
        reasons += [f"{relative(e.path, report.root)}: {e.extent}: {e.reason}" for e in report.errors]
    calls = report.calls
    share = calls.abstained / calls.total if calls.total else 0.0
    if policy.max_abstained is not None and share > policy.max_abstained:
        reasons.append(
            f"{calls.abstained} of {calls.total} calls could not be decided ({share:.0%}, "
            f"allowed are {policy.max_abstained:.0%})"
        )
    return GateVerdict(not reasons, tuple(blockers), tuple(warnings), tuple(reasons), share)


def _level(finding: Finding, policy: Policy) -> str:
    """``block``, ``warn``, ``ignore`` or nothing: what names the finding most exactly decides."""
    kinds = [finding.kind, *(["third-party"] if finding.third_party else [])]
    for names in ([finding.code], kinds, [finding.severity]):
        for level in ("ignore", "warn", "block"):
            if any(name in getattr(policy, level) for name in names):
                return level
    return ""


def _words(entry: Entry, root: str) -> str:
    finding = entry.finding
    return f"{relative(entry.path, root)}:{finding.range.line}: {finding.message} [{finding.code}]"


def _place(entry: Entry, root: str) -> dict[str, Any]:
    finding = entry.finding
    return {
        "file": relative(entry.path, root),
        "line": finding.range.line,
        "column": finding.range.column + 1,
        "code": finding.code,
        "message": finding.message,
    }
