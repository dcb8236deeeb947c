"""A check from end to end over a workspace that is a table."""

from __future__ import annotations

import os

import pytest

from callground.check import CannotRead, Target, check, restrict, review
from callground.config import DEFAULT, Config, Problem
from callground.verdict.model import Finding, Range, Reason, Verdict
from callground.verdict.report import EnvironmentInfo

ROOT = os.path.join(os.sep, "w")
HERE = EnvironmentInfo("/v/bin/python", "3.11.7", True)


def path(name):
    return os.path.join(ROOT, *name.split("/"))


def wrong(line, code="unknown-member", kind="ungrounded", *, third_party=False, severity="error", end=None):
    where = Range(line, 2, line, 5)
    found = Finding(code, kind, severity, where, f"a.b{line}", "a", third_party, "no", ())
    status = "arity" if kind == "arity" else "ungrounded"
    return Verdict(Range(line, 0, end or line, 9), where, "call", "a.b", status, finding=found)


class Table:
    """A workspace whose files and verdicts are given."""

    def __init__(self, files):
        self.files = files
        self.asked = []

    def text(self, path):
        text, _ = self.files[path]
        if text is None:
            raise CannotRead("permission denied")
        return text

    def verify(self, path, text=None, lines=None):
        self.asked.append((path, text, lines))
        verdicts = self.files[path][1]
        if isinstance(verdicts, Exception):
            raise verdicts
        return verdicts


def run(files, config=DEFAULT, environment=HERE, targets=None, **rest):
    table = Table({path(name): value for name, value in files.items()})
    chosen = targets if targets is not None else [Target(p) for p in table.files]
    return check(table, chosen, root=ROOT, config=config, environment=environment, **rest), table


def test_findings_of_every_file():
    report, _ = run({"b.py": ("x\n", [wrong(1)]), "a.py": ("x\n", [wrong(1)])})
    assert [os.path.basename(e.path) for e in report.ungrounded] == ["a.py", "b.py"]


def test_a_file_that_cannot_be_read_costs_only_itself():
    report, _ = run({"a.py": (None, []), "b.py": ("x\n", [wrong(1)])})
    assert [(e.path, e.reason) for e in report.errors] == [(path("a.py"), "permission denied")]
    assert len(report.ungrounded) == 1


def test_what_cannot_happen_is_an_error_with_its_place_and_costs_only_its_file():
    report, _ = run({"a.py": ("x\n", ZeroDivisionError("oh")), "b.py": ("x\n", [wrong(1)])})
    assert report.errors[0].reason.startswith("internal error: ZeroDivisionError: oh (test_check.py:")
    assert len(report.ungrounded) == 1


def test_comments_silence_and_unused_ones_are_notes():
    text = "a.b()  # callground: ignore\nc = 1  # callground: ignore\n# callground: ignore[unknown-nam]\nd = 1\n"
    report, _ = run({"a.py": (text, [wrong(1)])})
    assert report.is_grounded
    assert report.abstained == {"ignored": 1}
    notes = [(e.finding.range.line, e.finding.code, e.finding.message) for e in report.notes]
    assert notes == [
        (2, "unused-ignore", "this comment silences nothing"),
        (3, "unused-ignore", "this comment names no rule of callground: `unknown-nam`"),
    ]


def test_severities():
    config = Config(severity={"unknown-member": "warning", "not-callable": "off", "deprecated-call": "error"})
    old = wrong(3, "deprecated-call", severity="hint")
    report, _ = run({"a.py": ("x\n", [wrong(1), wrong(2, "not-callable"), old])}, config)
    assert [e.finding.code for e in report.notes] == ["unknown-member"]
    assert report.abstained == {"ignored": 1}
    assert [e.finding.code for e in report.findings] == ["deprecated-call"]


def test_rule_off_for_some_files():
    config = Config(per_file_ignores=(("tests/**", ("unknown-member",)),))
    report, _ = run({"tests/a.py": ("x\n", [wrong(1)]), "b.py": ("x\n", [wrong(1)])}, config)
    assert [os.path.basename(e.path) for e in report.findings] == ["b.py"]


def test_a_hint_that_is_off_leaves_its_call_grounded():
    old = Verdict(Range(1, 0, 1, 3), Range(1, 0, 1, 1), "call", "a", "grounded", finding=wrong(1).finding)
    made = review(path("a.py"), "a()\n", [old], root=ROOT, config=Config(severity={"unknown-member": "off"}))
    assert (made.verdicts[0].status, made.verdicts[0].finding) == ("grounded", None)


def test_only_sites_that_touch_the_lines():
    verdicts = [wrong(1), wrong(3, end=6), wrong(8)]
    report, table = run(
        {"a.py": ("x\n" * 9, verdicts)},
        targets=[Target(path("a.py"), lines=((5, 5), (9, 20)))],
        scope="changed",
    )
    assert [e.finding.range.line for e in report.findings] == [3]
    assert table.asked == [(path("a.py"), None, ((5, 5), (9, 20)))]


def test_unused_comments_outside_the_lines_are_not_told():
    text = "x = 1  # callground: ignore\ny = 1  # callground: ignore\n"
    report, _ = run({"a.py": (text, [])}, targets=[Target(path("a.py"), lines=((2, 2),))])
    assert [e.finding.range.line for e in report.notes] == [2]


def test_text_from_elsewhere():
    report, table = run({"a.py": (None, [wrong(1)])}, targets=[Target(path("a.py"), text="a.b()  # noqa\n")])
    assert report.is_grounded
    assert table.asked == [(path("a.py"), "a.b()  # noqa\n", None)]


def test_a_doubtful_environment_makes_missing_imports_one_notice():
    doubtful = HERE._replace(doubtful="no virtual environment was found")
    imports = [wrong(n, "unknown-import", "import", third_party=True) for n in (1, 2, 3)]
    report, _ = run({"a.py": ("x\n", [*imports, wrong(5, third_party=True)])}, environment=doubtful)
    assert [e.finding.code for e in report.third_party] == ["unknown-member"]
    assert len(report.notes) == 1
    assert "no virtual environment was found" in report.notes[0].finding.message
    assert report.notes[0].finding.severity == "warning"
    assert report.abstained == {Reason.UNKNOWN_IMPORT.value: 3}


def test_a_missing_module_of_the_workspace_is_told_in_a_doubtful_environment_too():
    doubtful = HERE._replace(doubtful="broken")
    report, _ = run({"a.py": ("x\n", [wrong(1, "unknown-import", "import")])}, environment=doubtful)
    assert len(report.ungrounded) == 1
    assert report.notes == ()


def test_settings_that_could_not_be_used_are_notes():
    report, _ = run({"a.py": ("x\n", [])}, problems=[Problem("pyproject.toml", "scop", "unknown setting `scop`")])
    assert [(e.path, e.finding.code, e.finding.message) for e in report.notes] == [
        (path("pyproject.toml"), "setting", "pyproject.toml: unknown setting `scop`")
    ]
    assert report.is_grounded


def test_progress_reaches_the_end():
    seen = []
    run({"a.py": ("x\n", []), "b.py": ("x\n", [])}, progress=lambda *step: seen.append(step))
    assert seen == [("checking", 0, 2), ("checking", 1, 2), ("checking", 2, 2)]


@pytest.mark.parametrize("lines", [None, ((1, 2),)])
def test_restrict_keeps_what_changed(lines):
    targets = [Target(path("a.py")), Target(path("b.py"))]
    assert restrict(targets, {path("b.py"): lines}) == [Target(path("b.py"), lines)]


def test_one_missing_module_is_one_finding_however_many_names_it_should_give():
    twice = wrong(1, "unknown-import", "import")
    report, _ = run({"a.py": ("x\n", [twice, twice, wrong(2, "unknown-import", "import")])})
    assert [e.finding.range.line for e in report.ungrounded] == [1, 2]
    assert report.calls.findings == 3
