"""The comment that silences a finding, and the setting that silences its name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callground.repairs.verified import patched
from callground.session import Session
from callground.text.edits import apply_edits
from mending import mender

CASES = [
    ("json.zzz_qqq(1)", "json.zzz_qqq(1)  # callground: ignore[unknown-member]"),
    ("json.zzz_qqq(1)  # why", "json.zzz_qqq(1)  # why  # callground: ignore[unknown-member]"),
    (
        "json.zzz_qqq(1)  # callground: ignore[unknown-name]",
        "json.zzz_qqq(1)  # callground: ignore[unknown-name, unknown-member]",
    ),
    ("json.zzz_qqq('''\nx\n''')", "json.zzz_qqq('''\nx\n''')  # callground: ignore[unknown-member]"),
    ("x = json.zzz_qqq(1) + \\\n    2", "x = json.zzz_qqq(1) + \\\n    2"),
]


@pytest.mark.parametrize(("before", "after"), CASES, ids=[case[0] for case in CASES])
def test_comment(tmp_path, before, after):
    with mender(tmp_path, {"a.py": f"import json\n\n{before}\n"}, raw=True) as mend:
        repair = mend.repairs.ignored(mend.only)
        if before == after:
            # There is no place for a comment on that line.
            assert repair is None
            return
        assert repair is not None
        made = patched(repair.changes, mend.repairs.text)
        assert made is not None
        assert made[mend.path] == f"import json\n\n{after}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[tool.callground]\nignore-names = ["api.gone"]\n'),
        ('[project]\nname = "x"', '[project]\nname = "x"\n\n[tool.callground]\nignore-names = ["api.gone"]\n'),
        (
            '[tool.callground]  # ours\nscope = "all"\n',
            '[tool.callground]  # ours\nignore-names = ["api.gone"]\nscope = "all"\n',
        ),
        (
            '[tool.callground]\nignore-names = ["a.b"]  # old\n',
            '[tool.callground]\nignore-names = ["a.b", "api.gone"]  # old\n',
        ),
        (
            '[tool.callground]\nignore-names = [\n    "a.b",  # no ] here\n    "c",\n]\n[other]\n',
            '[tool.callground]\nignore-names = [\n    "a.b",  # no ] here\n    "c",\n    "api.gone"\n]\n[other]\n',
        ),
        ("[tool.callground]\nignore-names = []\n", '[tool.callground]\nignore-names = ["api.gone"]\n'),
        (
            "[tool.callground.severity]\n",
            '[tool.callground.severity]\n\n[tool.callground]\nignore-names = ["api.gone"]\n',
        ),
        ('tool.callground = {scope = "all"}\n', None),
        ("[broken\n", None),
        (None, None),
    ],
)
def test_a_name_in_the_settings(before, after, tmp_path):
    files = {"api.py": "", "a.py": "import api\n\napi.gone()\n"}
    if before is not None:
        files["pyproject.toml"] = before
    with mender(tmp_path, files) as mend:
        repair = mend.repairs.name_ignored(mend.only, str(tmp_path))
        if after is None:
            assert repair is None
            return
        ((path, (edit,)),) = repair.changes
        assert apply_edits(before, [edit]) == after
        Path(path).write_text(after)
    with Session.open(str(tmp_path), python=sys.executable) as session:
        session.index()
        report = session.check(session.select([str(tmp_path / "a.py")]).targets)
    assert report.is_grounded
    assert report.abstained == {"ignored": 1}
