"""What was found before and is accepted."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from callground.verdict.baseline import BaselineError, read_baseline, without_accepted, write_baseline
from callground.verdict.model import Finding, Range, Verdict
from callground.verdict.report import FileVerdicts, GroundingReport

ROOT = os.path.join(os.sep, "w")


def wrong(line, callee="a.b"):
    where = Range(line, 2, line, 5)
    finding = Finding("unknown-member", "ungrounded", "error", where, callee, "a", False, "no", ())
    return Verdict(where, where, "call", callee, "ungrounded", finding=finding)


def report(*verdicts):
    return GroundingReport(ROOT, (FileVerdicts(os.path.join(ROOT, "a.py"), verdicts),))


def test_what_is_accepted_is_left_alone_and_what_is_new_is_told():
    old = report(wrong(3), wrong(9, "c.d"))
    text = write_baseline(old)
    assert json.loads(text)["schema"] == 1
    # The lines have moved, and there is a new one.
    now = without_accepted(report(wrong(5), wrong(11, "c.d"), wrong(20, "e.f")), read_baseline(text))
    assert [entry.finding.callee for entry in now.findings] == ["e.f"]
    assert now.abstained == {"ignored": 2}
    assert without_accepted(old, read_baseline(text)).is_grounded


def test_a_second_fault_of_the_same_kind_is_new():
    text = write_baseline(report(wrong(3)))
    now = without_accepted(report(wrong(3), wrong(4)), read_baseline(text))
    assert [entry.finding.range.line for entry in now.findings] == [4]


def test_faults_of_tool_calls_that_stand_in_notes():
    noted = replace(wrong(3).finding, callee="x")
    file = FileVerdicts(os.path.join(ROOT, "a.py"), (wrong(3),), (noted,))
    both = GroundingReport(ROOT, (file,))
    assert len(both.findings) == 2
    assert without_accepted(both, read_baseline(write_baseline(both))).is_grounded


def test_an_empty_one_accepts_nothing():
    one = report(wrong(3))
    assert without_accepted(one, read_baseline(write_baseline(report()))) is one


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2, "accepted": {}}', '{"schema": 1}', "nonsense"])
def test_what_is_no_baseline(text):
    with pytest.raises(BaselineError):
        read_baseline(text)
