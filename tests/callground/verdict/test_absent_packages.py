"""Imports of packages that are not installed: errors and hints."""

from __future__ import annotations

import pytest

from projects import check_project

MISSING = "zz_not_a_package"


@pytest.mark.parametrize(
    ("files", "severity", "says"),
    [
        ({"main.py": f"import {MISSING}\n"}, "error", ""),
        ({"main.py": f"def f():\n    import {MISSING}\n    return {MISSING}\n"}, "hint", "where it is needed"),
        ({"main.py": f"FAST = input()\nif FAST:\n    import {MISSING}\n"}, "hint", "under a condition"),
        (
            {"main.py": f"try:\n    import {MISSING}\nexcept ImportError:\n    pass\nfrom {MISSING} import x\n"},
            "hint",
            "its absence is expected",
        ),
        (
            {"main.py": f"import {MISSING}\n", "requirements.txt": "zz-not-a-package>=1\n"},
            "hint",
            "declares `zz-not-a-package`",
        ),
        ({"app/__init__.py": "", "app/extra.py": f"import {MISSING}\n"}, "hint", "needs of its own"),
        (
            {"app/__init__.py": "", "app/extra.py": f"import {MISSING}\n", "main.py": "import app.extra\n"},
            "error",
            "",
        ),
    ],
)
def test_absent_package(files, severity, says, tmp_path, tmp_path_factory):
    report = check_project(tmp_path, files, cache=tmp_path_factory.mktemp("cache"))
    errors = [e.finding for e in (*report.ungrounded, *report.third_party)]
    notes = [e.finding for e in report.notes if e.finding.code == "unknown-import"]
    found = errors if severity == "error" else notes
    assert [f.severity for f in found] == [severity]
    assert [f.severity for f in (notes if severity == "error" else errors)] == []
    assert says in found[0].message
