"""Arguments that do not fit: every kind of fault, in every layout."""

from __future__ import annotations

import pytest

from mending import mender

DEF = "def send(to, text, *, retries=2, urgent=False):\n    return to\n\n\n"

# (title, definitions, call, expected call)
CASES = [
    ("a keyword misspelt", DEF, "send('a', 'b', retires=3)", "send('a', 'b', retries=3)"),
    ("a keyword in other words", DEF, "send('a', 'b', max_retries=3)", "send('a', 'b', retries=3)"),
    ("a keyword that stands for nothing", DEF, "send('a', 'b', colour=3)", "send('a', 'b')"),
    (
        "a keyword that stands for nothing, among others",
        DEF,
        "send('a', colour=3, text='b')",
        "send('a', text='b')",
    ),
    (
        "on a line of its own",
        DEF,
        "send(\n    'a',\n    'b',\n    colour=3,\n)",
        "send(\n    'a',\n    'b',\n)",
    ),
    (
        "its comment stays",
        DEF,
        "send(\n    'a',  # who\n    'b',  # what\n    colour=3,  # why\n)",
        "send(\n    'a',  # who\n    'b',  # what\n      # why\n)",
    ),
    ("one positional too many", DEF, "send('a', 'b', 'c')", "send('a', 'b')"),
    ("two too many", DEF, "send('a', 'b', 'c', (1, 2))", "send('a', 'b')"),
    ("too many before a keyword", DEF, "send('a', 'b', 'c', retries=1)", "send('a', 'b', retries=1)"),
    ("in parentheses", DEF, "send('a', 'b', ('c'))", "send('a', 'b')"),
    (
        "a surplus one has a keyword's name",
        DEF + "urgent = True\n",
        "send('a', 'b', urgent)",
        "send('a', 'b', urgent=urgent)",
    ),
    ("given twice", DEF, "send('a', 'b', text='c')", "send('a', 'b')"),
    ("nothing is taken", "def f():\n    pass\n\n\n", "f(1)", "f()"),
    ("a positional-only by keyword", "def f(a, /, b):\n    pass\n\n\n", "f(a=1, b=2)", "f(1, b=2)"),
    ("two of them", "def f(a, b, /):\n    pass\n\n\n", "f(a=1, b=2)", "f(1, 2)"),
    ("in the wrong order", "def f(a, b, /):\n    pass\n\n\n", "f(b=2, a=1)", "f(1, 2)"),
    ("behind another keyword", "def f(a, /, *, c):\n    pass\n\n\n", "f(c=3, a=1)", "f(1, c=3)"),
    (
        "missing, and of the right type in scope",
        "def f(a, text: str):\n    return a\n\n\ntext = 'x'\n",
        "f('a')",
        "f('a', text)",
    ),
]


@pytest.mark.parametrize(("title", "head", "call", "expected"), CASES, ids=[case[0] for case in CASES])
def test_preferred(tmp_path, title, head, call, expected):
    with mender(tmp_path, {"a.py": f"{head}{call}\n"}, raw=True) as mend:
        assert mend.after(mend.preferred()) == f"{head}{expected}\n"


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_other_line_ends_stay(tmp_path, newline):
    text = f"{DEF}send(\n    'a',\n    'b',\n    colour=3,\n)\n".replace("\n", newline)
    with mender(tmp_path, {"a.py": text}, raw=True) as mend:
        expected = f"{DEF}send(\n    'a',\n    'b',\n)\n".replace("\n", newline)
        assert mend.after(mend.preferred()) == expected


MISSING = [
    ("send()", "send(to=..., text=...)", ("to", "text")),
    ("send('a')", "send('a', text=...)", ("text",)),
    ("send(\n    'a',\n)", "send(\n    'a',\n    text=...,\n)", ("text",)),
    ("send(\n    'a'\n)", "send(\n    'a',\n    text=...\n)", ("text",)),
    ("send(urgent=True, to='a')", "send(urgent=True, to='a', text=...)", ("text",)),
]


@pytest.mark.parametrize(("call", "expected", "open_"), MISSING, ids=[case[0] for case in MISSING])
def test_what_is_missing_is_a_placeholder(tmp_path, call, expected, open_):
    with mender(tmp_path, {"a.py": f"{DEF}{call}\n"}, raw=True) as mend:
        repair = mend.of_kind("add-arguments")
        assert mend.after(repair) == f"{DEF}{expected}\n"
        assert repair.placeholders == open_
        assert repair.verified
        assert not repair.certain


def test_a_value_of_another_type_is_not_taken(tmp_path):
    text = "def f(count: int):\n    return count\n\n\ndef g(count: str):\n    return f()\n"
    with mender(tmp_path, {"a.py": text}) as mend:
        assert mend.after(mend.of_kind("add-arguments")).endswith("return f(count=...)\n")


def test_an_attribute_of_self_may_be_meant(tmp_path):
    text = """
        def read(kind, path):
            return kind, path


        class A:
            def __init__(self, path: str) -> None:
                self.path = path

            def load(self):
                return read("x")
        """
    with mender(tmp_path, {"a.py": text}) as mend:
        repair = mend.of_kind("add-arguments")
        assert 'return read("x", self.path)' in mend.after(repair)
        assert not repair.certain


def test_other_names_of_the_file_are_left_alone(tmp_path):
    text = f"{DEF}ok = send('a', 'b'); send('a', 'b', 'c') ; done = 1  # 'c')\n"
    with mender(tmp_path, {"a.py": text}, raw=True) as mend:
        assert mend.after(mend.preferred()) == f"{DEF}ok = send('a', 'b'); send('a', 'b') ; done = 1  # 'c')\n"


def test_a_value_of_the_right_name_alone_is_offered_and_not_certain(tmp_path):
    with mender(tmp_path, {"a.py": f"{DEF}text = 'x'\nsend('a')\n"}, raw=True) as mend:
        repair = mend.of_kind("add-arguments")
        assert mend.after(repair).endswith("send('a', text)\n")
        assert not repair.certain
