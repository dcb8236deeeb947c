"""Calls elsewhere that an edit breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from callground.environment.model import Environment
from callground.graph.impact import broken_calls
from callground.graph.space import Contents
from callground.graph.workspace import Workspace

ENVIRONMENT = Environment.described((3, 11))
CONTENTS = Contents()

API = """\
class Session:
    def __init__(self, host): ...

    def get(self, url): ...


def connect(host):
    return Session(host)


def unused(x): ...
"""
FILES = {
    "one.py": "import api\n\n\ndef f():\n    api.connect('h').get('u')\n    api.wrong()\n",
    "two.py": "from api import Session, connect\n\n\ndef g(s: Session):\n    s.get('u')\n    Session('h')\n",
    "other.py": "def connect(): ...\n\n\nconnect()\n",
}

EDITS = {
    "nothing": (API, API + "\n# a remark\n", []),
    "a body": (API, API.replace("return Session(host)", "return Session('x')"), []),
    "a new parameter": (
        API,
        API.replace("def connect(host)", "def connect(host, port)"),
        [("connect", 7, [("one.py", "missing-argument")])],
    ),
    "a parameter with a default": (API, API.replace("def connect(host)", "def connect(host, port=1)"), []),
    "a function renamed": (
        API,
        API.replace("def connect", "def open_session"),
        [("connect", 7, [("one.py", "unknown-member"), ("two.py", "unknown-import")])],
    ),
    "a method removed": (
        API,
        API.replace("    def get(self, url): ...\n\n", ""),
        [("get", 2, [("one.py", "unknown-member"), ("two.py", "unknown-member")])],
    ),
    "a constructor": (
        API,
        API.replace("__init__(self, host)", "__init__(self, host, port)"),
        [("Session", 1, [("two.py", "missing-argument")])],
    ),
    "nobody calls it": (API, API.replace("def unused(x): ...", ""), []),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_an_edit_breaks(tmp_path: Path, name: str) -> None:
    before, after, expected = EDITS[name]
    for file, text in {**FILES, "api.py": before}.items():
        (tmp_path / file).write_text(text)
    workspace = Workspace.open(str(tmp_path), ENVIRONMENT, cache=str(tmp_path / ".cache"), contents=CONTENTS)
    workspace.index()
    path = str(tmp_path / "api.py")
    workspace.set_overlay(path, after)
    found = broken_calls(workspace, path, before)
    shown = [
        (
            broken.name,
            broken.place.line,
            [(Path(call.path).name, call.verdict.finding.code) for call in broken.calls if call.verdict.finding],
        )
        for broken in found
    ]
    assert shown == expected


def test_what_was_wrong_before_is_not_broken_by_the_edit(tmp_path: Path) -> None:
    (tmp_path / "api.py").write_text(API)
    (tmp_path / "one.py").write_text("import api\n\napi.connect()\n")
    workspace = Workspace.open(str(tmp_path), ENVIRONMENT, cache=str(tmp_path / ".cache"), contents=CONTENTS)
    workspace.index()
    path = str(tmp_path / "api.py")
    workspace.set_overlay(path, API.replace("def connect(host)", "def connect(host, port)"))
    assert broken_calls(workspace, path, API) == []
