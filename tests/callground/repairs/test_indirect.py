"""Names one step away: behind accessors, in documentation, by what a library itself uses most."""

from __future__ import annotations

from mending import mender

SETTINGS = '[tool.callground]\nroots = ["site"]\n'
FRAME = """\
class Accessor:
    def __init__(self, name, made):
        self.made = made

    def __get__(self, obj, cls):
        return self.made(obj)


class Texts:
    def __init__(self, data):
        self.data = data

    def split(self, by):
        return self.data


class Axis:
    def limits(self):
        return 0, 1


class Column:
    text = Accessor("text", Texts)

    @property
    def axis(self):
        return Axis()

    def zip_all(self):
        return self.values_at(0) + self.values_at(1)

    def values_at(self, n):
        return n

    def append(self):
        return 1
"""
WINDOWS = """\
def sliding_view(x, size):
    \'\'\'All parts of a row.

    Also known as a rolling
    or moving window.
    \'\'\'
    return x


def window_of_rolling(x):
    return x
"""


def test_a_member_of_an_accessor(tmp_path):
    text = "from frame import Column\n\nColumn().split(',')\n"
    with mender(tmp_path, {"frame.py": FRAME, "a.py": text}) as mend:
        assert mend.ranked()[0] == "Column().text.split"
        assert "Column().text.split(',')" in mend.after(mend.offered()[0])


def test_a_member_of_what_a_property_gives(tmp_path):
    with mender(tmp_path, {"frame.py": FRAME, "a.py": "from frame import Column\n\nColumn().limits()\n"}) as mend:
        assert mend.ranked()[0] == "Column().axis.limits"
        assert mend.offered()[0].verified


def test_what_the_documentation_calls_so(tmp_path):
    files = {
        "site/pack/__init__.py": "",
        "site/pack/_windows.py": WINDOWS,
        "site/pack/views.py": "from pack._windows import sliding_view\n",
        "pyproject.toml": SETTINGS,
        "a.py": "from pack import moving_window\n\nprint(moving_window)\n",
    }
    with mender(tmp_path, files) as mend:
        found = [(r.candidate.name, r.candidate.owner) for r in mend.repairs.ranked(mend.only)]
        assert ("sliding_view", "pack.views") in found
        assert "from pack.views import sliding_view" in mend.after(
            next(r for r in mend.offered() if r.candidate is not None and r.candidate.name == "sliding_view")
        )


def test_where_no_name_is_like_it_what_the_library_uses_most_comes_first(tmp_path):
    with mender(tmp_path, {"frame.py": FRAME, "a.py": "from frame import Column\n\nColumn().qqq(0)\n"}) as mend:
        best = mend.repairs.ranked(mend.only)[0]
        assert best.candidate.name == "values_at"
        assert any("the library itself names it 2 times" in reason for reason in best.reasons)
