"""Imports of packages that are not installed: errors and hints."""

from __future__ import annotations

import pytest

from callground.session import Session
from environment_lab import Lab
from projects import check_project, write_files

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
        (
            {
                "app/__init__.py": "import sys\n\nif sys.platform == 'elsewhere':\n    from app import port\n",
                "app/port.py": "from app import deep\n",
                "app/deep.py": f"import {MISSING}\n",
            },
            "hint",
            "needs of its own",
        ),
        (
            {
                "app/__init__.py": "from app import port\n",
                "app/port.py": "from app import deep\n",
                "app/deep.py": f"import app\nimport {MISSING}\n",
            },
            "error",
            "",
        ),
        (
            {
                "app/__init__.py": "",
                "app/main.py": "def run():\n    from app.late import go\n    go()\n",
                "app/late/__init__.py": "from app.late.client import go\n",
                "app/late/client.py": f"import {MISSING}\n\ndef go(): pass\n",
            },
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


@pytest.mark.parametrize(
    ("required", "severity"), [("zz-not-a-package>=2; extra == 'fast'", "hint"), ("other", "error")]
)
def test_the_workspace_is_the_checkout_of_an_installed_distribution(required, severity, tmp_path):
    lab = Lab(tmp_path)
    lab.venv()
    metadata = f"Metadata-Version: 2.1\nName: App\nVersion: 2.5\nRequires-Dist: {required}\n\n"
    write_files(lab.site(), {"app-2.5.dist-info/METADATA": metadata, "app-2.5.dist-info/RECORD": "app/__init__.py,,\n"})
    write_files(lab.workspace, {"app/__init__.py": "from app import part\n", "app/part.py": f"import {MISSING}\n"})
    with Session.open(str(lab.workspace), python=lab.python(), cache=str(tmp_path / "cache")) as session:
        session.index()
        report = session.check(session.select().targets)
    found = [e.finding for e in (*report.findings, *report.notes)]
    assert [f.severity for f in found] == [severity]
    assert ("App 2.5 names it" in found[0].message) == (severity == "hint")
