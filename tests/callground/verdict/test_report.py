"""GroundingReport: lists, counts, JSON."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from callground.verdict.model import Finding, Range, Reason, Suggestion, Verdict
from callground.verdict.report import (
    EnvironmentInfo,
    FileError,
    FileVerdicts,
    GroundingReport,
    relative,
)

ROOT = os.path.join(os.sep, "w")
APP = os.path.join(ROOT, "pkg", "app.py")


def finding(code="unknown-member", kind="ungrounded", *, severity="error", third_party=False, line=1, name="b"):
    return Finding(
        code,
        kind,
        severity,
        Range(line, 2, line, 5),
        "a.b",
        "m.A",
        third_party,
        "no",
        ("A is at m.py:1",),
        name=name,
        suggestions=(Suggestion("c", "(x)", "from m import c"),),
    )


def site(status, *, found=None, reason=None, kind="call", line=1):
    return Verdict(Range(line, 0, line, 9), Range(line, 2, line, 5), kind, "a.b", status, reason, "d", found)


def report(*verdicts, **rest):
    return GroundingReport(ROOT, (FileVerdicts(APP, verdicts),), **rest)


def test_each_finding_stands_in_exactly_one_list():
    made = report(
        site("ungrounded", found=finding()),
        site("ungrounded", found=finding("unknown-import", "import")),
        site("arity", found=finding("unknown-keyword", "arity")),
        site("ungrounded", found=finding(third_party=True)),
        site("arity", found=finding("unknown-keyword", "arity", third_party=True)),
        site("ungrounded", found=finding("unknown-import", "import", third_party=True)),
        site("ungrounded", found=finding(severity="warning")),
        site("grounded", found=finding("deprecated-call", severity="hint")),
    )
    counts = [len(made.ungrounded), len(made.arity_errors), len(made.third_party), len(made.notes)]
    assert counts == [2, 1, 3, 2]
    assert len(made.findings) == 6
    assert not made.is_grounded


def test_hints_and_warnings_leave_it_grounded():
    made = report(site("ungrounded", found=finding(severity="warning")))
    assert made.is_grounded
    assert made.to_json()["grounded"] is True


def test_counts():
    made = report(
        site("grounded"),
        site("grounded", kind="reference"),
        site("abstained", reason=Reason.ANY),
        site("abstained", reason=Reason.ANY, kind="reference"),
        site("abstained", reason=Reason.BUDGET),
        site("arity", found=finding("unknown-keyword", "arity")),
    )
    assert made.calls == (1, 1, 2)
    assert made.references == (1, 0, 1)
    assert made.abstained == {"any": 2, "budget": 1}
    assert made.calls.total == 4


def test_json_is_the_contract():
    made = report(
        site("ungrounded", found=finding(line=3)),
        site("abstained", reason=Reason.ANY),
        scope="changed",
        environment=EnvironmentInfo("/v/bin/python", "3.11.7", True, None),
        errors=(FileError(os.path.join(ROOT, "x.py"), "it does not parse"),),
    )
    data = made.to_json()
    assert json.loads(json.dumps(data)) == {
        "schema": 1,
        "grounded": False,
        "root": ROOT,
        "scope": "changed",
        "environment": {"python": "/v/bin/python", "version": "3.11.7", "trusted": True, "doubtful": None},
        "projects": [],
        "files": 1,
        "sites": {
            "calls": {"grounded": 0, "findings": 1, "abstained": 1},
            "references": {"grounded": 0, "findings": 0, "abstained": 0},
        },
        "abstained": {"any": 1},
        "ungrounded": [
            {
                "file": "pkg/app.py",
                "line": 3,
                "column": 3,
                "end_line": 3,
                "end_column": 6,
                "code": "unknown-member",
                "kind": "ungrounded",
                "severity": "error",
                "callee": "a.b",
                "owner": "m.A",
                "message": "no",
                "evidence": ["A is at m.py:1"],
                "suggestions": [{"text": "c", "signature": "(x)", "import": "from m import c"}],
            }
        ],
        "arity_errors": [],
        "third_party": [],
        "notes": [],
        "errors": [{"file": "x.py", "reason": "it does not parse"}],
    }


def test_verdicts_of_every_site():
    made = report(site("abstained", reason=Reason.ANY, line=4), site("grounded"))
    assert made.verdicts_json() == [
        {
            "file": "pkg/app.py",
            "line": line,
            "column": 1,
            "end_line": line,
            "end_column": 10,
            "site": "call",
            "callee": "a.b",
            "status": status,
            "reason": reason,
            "detail": "d",
        }
        for line, status, reason in [(4, "abstained", "any"), (1, "grounded", None)]
    ]


def test_fingerprints_survive_lines_that_move_and_tell_equals_apart():
    first = report(site("arity", found=finding(line=1)), site("arity", found=finding(line=2)))
    moved = report(site("arity", found=finding(line=7)), site("arity", found=finding(line=9)))
    other = report(site("arity", found=finding(name="z")))
    assert first.fingerprints == moved.fingerprints
    assert len(set(first.fingerprints)) == 2
    assert other.fingerprints[0] not in first.fingerprints


def test_findings_come_in_the_order_of_lines():
    made = report(site("arity", found=finding(line=9)), site("arity", found=finding(line=2)))
    assert [e.finding.range.line for e in made.findings] == [2, 9]


def test_relative_paths_have_slashes():
    assert relative(APP, ROOT) == "pkg/app.py"
    assert relative(os.path.join(os.sep, "v", "x.py"), ROOT) == "../v/x.py"


def test_empty_report():
    made = GroundingReport(ROOT, ())
    assert made.is_grounded
    assert made.to_json()["environment"] == {
        "python": None,
        "version": "",
        "trusted": False,
        "doubtful": None,
    }


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("/w/pkg/a.py", "pkg/a.py"),
        ("/w/.venv/lib/python3.11/site-packages/requests/api.py", "requests/api.py"),
        ("/usr/lib/python3/dist-packages/yaml/x.py", "yaml/x.py"),
        ("/usr/lib/python3.11/json/decoder.py", "python3.11/json/decoder.py"),
        (
            "/v/lib/python3.11/site-packages/typeshed_client/typeshed/json/__init__.pyi",
            "typeshed/json/__init__.pyi",
        ),
        ("<probe:math>", "<probe:math>"),
        ("/elsewhere/a.py", "/elsewhere/a.py"),
    ],
)
def test_paths_in_evidence_are_named_as_people_name_them(path, known):
    made = report(
        site(
            "ungrounded",
            found=replace(finding(), evidence=(f"f is defined at {path}:3",), evidence_location=(path, 3)),
        )
    )
    assert made.to_json()["ungrounded"][0]["evidence"] == [f"f is defined at {known}:3"]
