"""An environment that lacks many of the imported packages at once is probably another one than the code is for."""

from __future__ import annotations

import pytest

from projects import check_project

NAMES = [f"zz_missing_{letter}" for letter in "abcde"]


@pytest.mark.parametrize(
    ("files", "doubtful"),
    [
        ({"a.py": "".join(f"import {name}\n" for name in NAMES)}, True),
        ({"a.py": "".join(f"import {name}\n" for name in NAMES[:4])}, False),
        ({f"{name}_user.py": f"from {name}.part import thing\n" for name in NAMES}, True),
        # What is imported on a condition may be absent by intent.
        (
            {
                "a.py": f"import {NAMES[0]}\n"
                + "".join(f"try:\n    import {name}\nexcept ImportError:\n    {name} = None\n" for name in NAMES[1:])
            },
            False,
        ),
    ],
)
def test_many_missing_packages(files, doubtful, tmp_path, tmp_path_factory):
    report = check_project(tmp_path, files, cache=tmp_path_factory.mktemp("cache"))
    assert bool(report.environment.doubtful) == doubtful
    assert report.is_grounded == doubtful
    notices = [e.finding for e in report.notes if e.finding.severity == "warning"]
    if doubtful:
        (notice,) = notices
        assert "5 of the 5 packages" in notice.message
        assert "choose another interpreter" in notice.message
        assert "pip install" not in notice.message
    else:
        assert notices == []


def test_few_files_with_many_missing_packages(tmp_path, tmp_path_factory):
    files = {"a.py": "".join(f"import {name}\n" for name in NAMES)}
    files |= {f"own_{number}.py": "import json\n" for number in range(6)}
    report = check_project(tmp_path, files, cache=tmp_path_factory.mktemp("cache"))
    assert report.environment.doubtful is None
    assert {e.finding.name for e in (*report.ungrounded, *report.third_party)} >= set(NAMES)


def test_what_a_project_does_not_declare_may_be_invented(tmp_path, tmp_path_factory):
    files = {
        "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["zz-declared"]\n',
        "a.py": "import zz_declared\n" + "".join(f"import {name}\n" for name in NAMES),
    }
    report = check_project(tmp_path, files, cache=tmp_path_factory.mktemp("cache"))
    assert report.environment.doubtful is None
