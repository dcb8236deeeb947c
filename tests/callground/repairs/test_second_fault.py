"""Two faults in one call are repaired together."""

from __future__ import annotations

import pytest

from callground.repairs.second_fault import composed
from callground.text.edits import Edit, apply_edits
from mending import mender

API = "class Session:\n    def get_page(self, url, *, timeout=None):\n        return url\n"


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("s.fetch_page(url, tmeout=3)", "s.get_page(url, timeout=3)"),
        ("s.fetch_page(  url,  # where\n    tmeout=3)", "s.get_page(  url,  # where\n    timeout=3)"),
        ("s.fetch_page(timeout=3)", "s.get_page(timeout=3, url=url)"),
    ],
)
def test_a_wrong_name_and_a_wrong_argument(call, after, tmp_path):
    head = "from api import Session\n\ns = Session()\nurl = 'u'\n"
    with mender(tmp_path, {"api.py": API, "a.py": f"{head}{call}\n"}) as mend:
        repairs = [r for r in mend.offered() if r.verified and ";" in r.title]
        assert repairs
        assert not repairs[0].certain
        assert mend.after(repairs[0]) == f"{head}{after}\n"


def test_one_fault_is_repaired_as_before(tmp_path):
    with mender(tmp_path, {"api.py": API, "a.py": "from api import Session\n\nSession().fetch_page('u')\n"}) as mend:
        assert not any(";" in r.title for r in mend.offered())
        assert mend.after(mend.offered()[0]).endswith("Session().get_page('u')\n")


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ([Edit(0, 1, "xyz")], [Edit(4, 5, "!")], "xyzb!d"),
        ([Edit(2, 3, "")], [Edit(0, 0, "<"), Edit(3, 3, ">")], "<abd>"),
        ([Edit(0, 2, "xyz")], [Edit(1, 2, "!")], None),
    ],
)
def test_edits_after_edits(first, second, result):
    both = composed(first, second)
    assert (apply_edits("abcd", both) if both is not None else None) == result
    if both is not None:
        assert apply_edits(apply_edits("abcd", first), second) == result
