"""One decision out of a report."""

from __future__ import annotations

import os

import pytest

from callground.config import read_settings
from callground.config.policy import Policy
from callground.gate import gate_verdict
from callground.verdict.model import Finding, Range, Reason, Verdict
from callground.verdict.report import FileError, FileVerdicts, GroundingReport

ROOT = os.path.join(os.sep, "w")
HERE = Range(3, 0, 3, 5)


def finding(code="unknown-member", kind="ungrounded", severity="error", third_party=False):
    return Finding(code, kind, severity, HERE, "a.b", "a", third_party, "no `b`", ())


def report(*findings, grounded=0, abstained=0, errors=()):
    verdicts = [Verdict(HERE, HERE, "call", "a.b", "ungrounded", finding=each) for each in findings]
    verdicts += [Verdict(HERE, HERE, "call", "f", "grounded")] * grounded
    verdicts += [Verdict(HERE, HERE, "call", "f", "abstained", Reason.ANY)] * abstained
    return GroundingReport(ROOT, (FileVerdicts(os.path.join(ROOT, "a.py"), tuple(verdicts)),), errors)


WRONG = finding()
ARITY = finding("unknown-keyword", "arity")
PACKAGE = finding(third_party=True)
HINT = finding("deprecated-call", "ungrounded", "hint")
WARNING = finding(severity="warning")

CASES = [
    ([], Policy(), "pass"),
    ([WRONG], Policy(), "block"),
    ([ARITY], Policy(), "block"),
    ([PACKAGE], Policy(), "block"),
    ([WARNING], Policy(), "warn"),
    ([HINT], Policy(), "pass"),
    ([WRONG], Policy(block=frozenset({"arity"})), "pass"),
    ([ARITY], Policy(block=frozenset({"arity"})), "block"),
    ([WRONG], Policy(warn=frozenset({"unknown-member"})), "warn"),
    ([WRONG], Policy(ignore=frozenset({"unknown-member"})), "pass"),
    ([PACKAGE], Policy(warn=frozenset({"third-party"})), "warn"),
    ([PACKAGE, WRONG], Policy(warn=frozenset({"third-party"})), "block"),
    # A code counts before a kind, a kind before a severity.
    ([WRONG], Policy(block=frozenset({"unknown-member"}), warn=frozenset({"ungrounded"})), "block"),
    ([WRONG], Policy(block=frozenset({"ungrounded"}), ignore=frozenset({"error"})), "block"),
    ([WARNING], Policy(block=frozenset({"error", "warning"}), warn=frozenset()), "block"),
]


@pytest.mark.parametrize(("findings", "policy", "decision"), CASES)
def test_decisions(findings, policy, decision):
    verdict = gate_verdict(report(*findings), policy)
    assert verdict.decision == decision
    assert verdict.passed == (decision != "block")
    assert bool(verdict.reasons) == (decision == "block")


@pytest.mark.parametrize(
    ("grounded", "abstained", "allowed", "passed"),
    [(1, 3, None, True), (1, 3, 0.75, True), (1, 3, 0.5, False), (0, 0, 0.0, True), (0, 1, 0.0, False)],
)
def test_share_of_the_abstained(grounded, abstained, allowed, passed):
    verdict = gate_verdict(report(grounded=grounded, abstained=abstained), Policy(max_abstained=allowed))
    assert verdict.passed is passed
    assert verdict.abstained_share == (abstained / (grounded + abstained) if abstained else 0)


@pytest.mark.parametrize(("unread", "decision"), [("block", "block"), ("warn", "pass"), ("ignore", "pass")])
def test_texts_that_could_not_be_read(unread, decision):
    broken = report(errors=(FileError(os.path.join(ROOT, "b.py"), "it does not parse"),))
    assert gate_verdict(broken, Policy(unread=unread)).decision == decision


def test_reasons_and_json():
    data = gate_verdict(report(WRONG, WARNING)).to_json(ROOT)
    assert data["reasons"] == ["a.py:3: no `b` [unknown-member]"]
    assert data["blockers"] == [{"file": "a.py", "line": 3, "column": 1, "code": "unknown-member", "message": "no `b`"}]
    assert len(data["warnings"]) == 1
    assert (data["decision"], data["passed"]) == ("block", False)


def test_settings():
    table = {
        "gate": {
            "block": ["error", "unknown-tool"],
            "warn": ["third-party"],
            "ignore": ["not-callable"],
            "max-abstained": 0.25,
            "unread": "warn",
            "hook": "ask",
        }
    }
    config, problems = read_settings(table)
    assert problems == ()
    assert config.gate == Policy(
        frozenset({"error", "unknown-tool"}),
        frozenset({"third-party"}),
        frozenset({"not-callable"}),
        0.25,
        "warn",
        "ask",
    )


@pytest.mark.parametrize(
    "gate",
    [
        3,
        {"blok": []},
        {"block": "error"},
        {"block": ["no-such-rule"]},
        {"max-abstained": 2},
        {"max-abstained": True},
        {"unread": "no"},
        {"hook": 1},
    ],
)
def test_settings_that_cannot_be_used_are_reported(gate):
    config, problems = read_settings({"gate": gate})
    assert len(problems) == 1
    assert config.gate.max_abstained is None
    assert config.gate.hook == "deny"
