"""Other languages' habits: the whole call becomes Python's."""

from __future__ import annotations

import re

import pytest

from callground.repairs.habits import table
from callground.repairs.words import read_table
from mending import mender

HEAD = "def f(items: list[int], d: dict[str, int], s: str, t: str):\n"

# (statement, expected)
CASES = [
    ("return items.length()", "return len(items)"),
    ("items.push(1)", "items.append(1)"),
    ("if items.isEmpty(): return", "if not items: return"),
    ("return d.has_key('a')", "return 'a' in d"),
    ("x = d.has_key('a') + 1; return x", "x = ('a' in d) + 1; return x"),
    ("return s.toUpperCase()", "return s.upper()"),
    ("return s.charAt(0)", "return s[0]"),
    ("return s.substring(1, len(t))", "return s[1:len(t)]"),
    ("return s.concat(t or 'x')", "return s + (t or 'x')"),
    ("d.put('a', 1)", "d['a'] = 1"),
    ("return items.join(', ')", "return ', '.join(items)"),
    ("return (s + t).length()", "return len(s + t)"),
    ("return (s + t).trim()", "return (s + t).strip()"),
    ("console.log(s, t)", "print(s, t)"),
    ("return parseInt(s)", "return int(s)"),
    ("return d.iteritems()", "return d.items()"),
]


@pytest.mark.parametrize(("statement", "expected"), CASES, ids=[case[0] for case in CASES])
def test_habit(tmp_path, statement, expected):
    with mender(tmp_path, {"a.py": f"{HEAD}    {statement}\n"}, raw=True) as mend:
        repair = mend.preferred()
        assert repair.kind == "habit"
        assert mend.after(repair) == f"{HEAD}    {expected}\n"


def test_a_module_that_the_replacement_needs_is_imported(tmp_path):
    with mender(tmp_path, {"a.py": "def f(x: float):\n    return Math.floor(x)\n"}) as mend:
        assert mend.after(mend.preferred()) == "import math\n\n\ndef f(x: float):\n    return math.floor(x)\n"


def test_a_module_by_the_name_that_the_file_has_for_it(tmp_path):
    text = "import json as j\n\nprint(j.parse('{}'))\n"
    with mender(tmp_path, {"a.py": text}) as mend:
        assert mend.after(mend.preferred()) == "import json as j\n\nprint(j.loads('{}'))\n"


def test_an_effect_is_not_replaced_by_a_value(tmp_path):
    """``s.concat(t)`` as a statement changes nothing in Python either way: no habit is offered."""
    with mender(tmp_path, {"a.py": f"{HEAD}    s.concat(t)\n"}, raw=True) as mend:
        assert not [r for r in mend.offered() if r.kind == "habit"]


def test_keywords_and_stars_are_left_alone(tmp_path):
    with mender(tmp_path, {"a.py": f"{HEAD}    return s.charAt(index=0)\n"}, raw=True) as mend:
        assert not [r for r in mend.offered() if r.kind == "habit"]


def test_every_row_of_the_table_reads():
    assert sum(len(rows) for rows in table().values()) == len(read_table("habits.txt"))
    for rows in table().values():
        for row in rows:
            given = "self module args 0 1 2".split() if row.more else "self module args 0 1 2".split()[: 3 + row.arity]
            for name in re.findall(r"\{(\w+)\}", row.new):
                assert name in given, row
