"""Tiny programs after public bug reports: no finding where none is expected, every fault found or listed.

The programs and what Python said about them are data (tests/data/field_cases.dev.jsonl).  A case with
`needs` imports packages of the test extra, installed beside the Python that runs the tests.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from projects import check_project, findings_of

DATA = Path(__file__).parents[1] / "data" / "field_cases.dev.jsonl"
CASES = [json.loads(line) for line in DATA.read_text("utf-8").splitlines() if line.strip()]

# Faults that are not found yet, each with its reason.  One that is found must leave this table.
NOT_FOUND_YET: dict[str, str] = {
    "f-protobuf-unknown-field": "the message class is made at run time; what is asked is an attribute, no call",
    "f-mock-misspelt-assert": "a mock has __getattr__; that it refuses misspelt asserts is not modelled",
    "f-stdlib-submodule-not-loaded": "some loaded module imports xml.dom.minidom, which may bind it",
}


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def kinds(finding):
    """The kinds of the data that a finding of ours may stand for.

    Whose the owner is, the project's or somebody else's, is open where it is a builtin.
    """
    if finding.kind in ("arity", "import"):
        return {finding.kind}
    return {"ungrounded", "third_party"}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_field_case(case, tmp_path, cache):
    roots = [root for root in case.get("run", {}).get("pythonpath", ()) if root != "."]
    report = check_project(tmp_path, case["files"], cache=cache, roots=roots)
    assert [f"{error.path}: {error.reason}" for error in report.errors] == []
    expected = [(e["file"], e["line"], e["kind"]) for e in case["expect"]]
    observed = findings_of(report)
    extra = [
        f"{file}:{line}: {finding.code}: {finding.message}"
        for file, line, finding in observed
        if not any((file, line) == e[:2] and e[2] in kinds(finding) for e in expected)
    ]
    assert extra == [], "a false alarm"
    missing = [e for e in expected if not any((file, line) == e[:2] and e[2] in kinds(f) for file, line, f in observed)]
    if case["id"] in NOT_FOUND_YET:
        assert missing, f"found now: take it out of NOT_FOUND_YET ({NOT_FOUND_YET[case['id']]})"
    else:
        assert missing == []


def test_the_table_names_cases_with_faults():
    faults = {case["id"] for case in CASES if case["expect"]}
    assert set(NOT_FOUND_YET) <= faults
