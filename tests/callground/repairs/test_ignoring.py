"""The comment that silences a finding."""

from __future__ import annotations

import pytest

from callground.repairs.verified import patched
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
