"""Questions to the gate and its answers, on a small workspace."""

from __future__ import annotations

import sys

import pytest

from callground.gate import Place, Request, answer
from callground.session import Session
from callground.toolcalls import read_specs
from projects import write_files

FILES = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "app/__init__.py": "",
    "app/mail.py": """\
import json


class Client:
    def __init__(self, host: str) -> None:
        self.host = host

    def send(self, to, subject, *, cc=None):
        return json.dumps({"to": to})


def connect(host: str, port: int = 25) -> Client:
    client = Client(host)

    return client


def old():
    client = connect("x")
    client.never()
    return client
""",
    "app/other.py": "def run(a): ...\n",
    "app/third.py": "def run(a, b): ...\ntable = 1\n",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    root = tmp_path_factory.mktemp("gate")
    write_files(root, FILES)
    with Session.open(str(root), python=sys.executable, cache=str(root / ".cache")) as opened:
        opened.index()
        yield opened


def ask(session, **request):
    return answer(session, Request(**request))


def found(made):
    return [(e.finding.range.line, e.finding.code) for e in made.report.findings]


def at(session, line, name="app/mail.py"):
    return Place(f"{session.root}/{name}", line)


# -- code at a place

PLACED = [
    ("client.send('x', 'y')", 14, []),
    ("client.sned('x', 'y')", 14, [(1, "unknown-member")]),
    ("client.send('x')", 14, [(1, "missing-argument")]),
    ("\n\nclient.send('x', 'y', bcc=1)", 14, [(3, "unknown-keyword")]),
    ("json.laods('x')", 14, [(1, "unknown-member")]),
    ("client.send('x', 'y')", 1, [(1, "unknown-name")]),  # nothing of that name up there
    ("nobody('x')", 14, [(1, "unknown-name")]),
    ("self.send('a', 'b')", 9, []),
    ("self.post('a')", 9, [(1, "unknown-member")]),
    ("def twice(self):\n    self.send('a')\n", 7, [(2, "missing-argument")]),
    ("Use it so:\n\n```python\nclient.sned(1)\n```\n", 14, [(4, "unknown-member")]),
]


@pytest.mark.parametrize(("code", "line", "expected"), PLACED)
def test_code_at_a_place(session, code, line, expected):
    made = ask(session, code=code, at=at(session, line))
    assert found(made) == expected
    assert made.report.errors == ()
    assert made.gate.passed == (not expected)
    assert made.to_json()["at"] == {"file": "app/mail.py", "line": line}


def test_only_the_fragments_own_calls_count(session):
    """`old` calls what does not exist; a fragment beside it is not blamed for that."""
    assert found(ask(session, code="connect('a')", at=at(session, 20))) == []


def test_a_place_in_a_file_that_is_not_there_yet(session):
    made = ask(session, code="from app.mail import conect\n", at=at(session, 1, "app/new.py"))
    assert found(made) == [(1, "unknown-import")]


# -- code without a place

ALONE = [
    # code, errors, codes of warnings
    ("from app.mail import connect\nconnect('x').sned()", [(2, "unknown-member")], []),
    ("import json\njson.loads('1', 2)", [(2, "too-many-arguments")], []),
    ("connect('x')", [], []),
    ("connect()", [], ["missing-argument"]),  # if it means the workspace's
    ("connect('x').sned()", [], ["unknown-member"]),
    ("frobnicate(1)", [(1, "unknown-name")], []),  # no file has that name
    ("run(1)", [], []),  # two have it
    ("table(1)", [], []),
    ("client.whatever()", [], []),  # a name that the place may have
    ("def frobnicate(x): ...\nfrobnicate()", [(2, "missing-argument")], []),
    ("for x in y:\n    x.foo()\n", [], []),
]


@pytest.mark.parametrize(("code", "errors", "warnings"), ALONE)
def test_code_without_a_place(session, code, errors, warnings):
    made = ask(session, code=code)
    assert found(made) == errors
    assert [e.finding.code for e in made.gate.warnings] == warnings
    assert made.report.errors == ()


def test_evidence_in_the_fragment_itself(session):
    made = ask(session, code="Look:\n```python\nclass A: ...\nA().x()\n```", name="answer.md")
    (entry,) = made.report.to_json()["ungrounded"]
    assert (entry["file"], entry["line"], entry["column"]) == ("answer.md", 4, 5)
    assert entry["evidence"] == ["class callground_fragment_.A is defined at answer.md:3"]


def test_code_that_does_not_parse(session):
    made = ask(session, code="connect('x')\nif x\n    pass\n", name="x.py")
    assert [(e.reason.partition(":")[0]) for e in made.report.errors] == ["line 2 does not parse"]
    assert not made.gate.passed


def test_suggestions_have_signatures(session):
    made = ask(session, code="client.sned(1)", at=at(session, 14))
    (suggestion,) = made.report.to_json()["ungrounded"][0]["suggestions"]
    assert suggestion["signature"] == "send(to, subject, *, cc=None)"


# -- files of a plan


def test_a_function_that_the_plan_creates_is_real(session):
    root = session.root
    files = {
        f"{root}/app/made.py": "def helper(a): ...\n",
        f"{root}/app/use.py": "from app.made import helper\nhelper(1)\nhelper()\n",
    }
    made = ask(session, files=files)
    assert [(e.path[-6:], e.finding.code) for e in made.report.findings] == [("use.py", "missing-argument")]
    assert found(ask(session, files={f"{root}/app/use.py": files[f"{root}/app/use.py"]})) == [(1, "unknown-import")]
    # Nothing of it is remembered.
    assert found(ask(session, code="from app.made import helper")) == [(1, "unknown-import")]


def test_a_file_that_the_plan_deletes_is_gone(session):
    root = session.root
    made = ask(session, files={f"{root}/app/other.py": None}, code="import app.other")
    assert found(made) == [(1, "unknown-import")]


def test_code_may_use_what_files_of_the_plan_define(session):
    files = {f"{session.root}/app/made.py": "def helper(a): ...\n"}
    assert found(ask(session, files=files, code="from app.made import helper\nhelper()")) == [(2, "missing-argument")]


def test_what_is_no_python_is_no_business_of_ours(session):
    made = ask(session, files={f"{session.root}/README.md": "x.y(", f"{session.root}/run": "frobnicate()\n"})
    assert [(e.path.rpartition("/")[2], e.finding.code) for e in made.report.findings] == [("run", "unknown-name")]
    assert made.report.errors == ()


def edited(session, old, new):
    path = f"{session.root}/app/mail.py"
    text = FILES["app/mail.py"]
    assert text.count(old) == 1
    return ask(session, files={path: text.replace(old, new)}, only_new=True)


def test_only_what_an_edit_brings_in(session):
    assert found(edited(session, 'client = connect("x")', 'client = connect("y")')) == []
    assert found(edited(session, 'client = connect("x")', "client = connect()")) == [(19, "missing-argument")]
    # It was wrong before.
    assert found(edited(session, "client.never()", "client.never()  # really")) == []
    assert found(edited(session, "client.never()", "client.never(); client.never()")) == [(20, "unknown-member")]
    assert found(edited(session, "    client.never()\n", "")) == []


# -- repairs


def test_certain_repairs(session):
    made = ask(session, code="client.sned('x', 'y')", at=at(session, 14), repair=True)
    (text,) = made.repaired.values()
    assert text == "client.send('x', 'y')\n"
    assert made.left == 0
    data = made.to_json()
    assert data["repaired"] == {"<stdin>": text}
    assert data["left"] == 0
    assert "send(to, subject, *, cc=None)" in data["changes"][0]


def test_repairs_of_a_plans_files(session):
    path = f"{session.root}/app/new.py"
    made = ask(session, files={path: "import json\n\njson.laods('1')\njson.frobnicate()\n"}, repair=True)
    assert made.fixed[path].text == "import json\n\njson.loads('1')\njson.frobnicate()\n"
    assert made.left == 1


# -- tools together with code


def test_one_report_for_code_and_tools(session):
    tools = read_specs(
        {"name": "send", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}, "t.json"
    )
    calls = '{"name": "send",\n "arguments": {"two": 1}}'
    made = ask(session, code="connect('a').send(1, 2)\nfrobnicate()", calls=calls, tools=tools, repair=True)
    data = made.to_json()
    assert [(e["file"], e["line"], e["code"]) for e in data["ungrounded"]] == [("<stdin>", 2, "unknown-name")]
    assert [(e["file"], e["line"], e["code"]) for e in data["arity_errors"]] == [("<calls>", 2, "unknown-keyword")]
    assert data["gate"]["decision"] == "block"
    assert len(data["gate"]["reasons"]) == 2
    assert data["scope"] == "plan"


def test_nothing_asked(session):
    made = ask(session)
    assert made.gate.decision == "pass"
    assert made.report.files == ()
