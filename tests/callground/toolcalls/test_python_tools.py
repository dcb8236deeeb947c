"""Python functions of the workspace as tools."""

from __future__ import annotations

import sys

import pytest

from callground.gate import Request, answer
from callground.session import Session
from callground.toolcalls.python_tools import annotation_schema
from projects import write_files

CODE = """\
from typing import Annotated, Literal, Optional

def send(to: str, subject: str = "", *, copies: int = 1, tags: list[str] | None = None) -> dict: ...
def mode(kind: Literal["a", "b"], x: "Optional[int]" = None): ...
def anything(**kwargs): ...
@wrapped
def decorated(a): ...
@app.tool()
def registered(a: int): ...
def twice(a): ...
class Box:
    def put(self, what: str): ...
    def twice(self, b): ...
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    root = tmp_path_factory.mktemp("tools")
    write_files(root, {"app.py": CODE})
    with Session.open(str(root), python=sys.executable, cache=str(root / ".cache")) as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("send", {"to": "x"}, "grounded"),
        ("send", {"to": "x", "copies": 2, "tags": ["a"]}, "grounded"),
        ("send", {"to": 3}, "wrong-type"),
        ("send", {}, "missing-argument"),
        ("send", {"to": "x", "cc": 1}, "unknown-keyword"),
        ("mode", {"kind": "a", "x": None}, "grounded"),
        ("mode", {"kind": "c"}, "not-in-enum"),
        ("anything", {"a": 1}, "grounded"),
        ("registered", {"a": 1}, "grounded"),
        ("registered", {"b": 1}, "unknown-keyword"),
        ("decorated", {"b": 1}, "abstained"),
        ("twice", {"c": 1}, "abstained"),
        ("Box.put", {"what": "x"}, "grounded"),
        ("put", {"self": 1, "what": "x"}, "unknown-keyword"),
        ("not_ours", {}, "abstained"),
    ],
)
def test_calls_of_workspace_functions(session, name, arguments, expected):
    report = answer(session, Request(calls={"name": name, "arguments": arguments})).report
    (file,) = report.files
    (verdict,) = file.verdicts
    found = verdict.finding.code if verdict.finding else verdict.status
    if expected == "unknown-keyword" and name in ("send", "registered"):
        assert expected in [f.code for f in (verdict.finding, *file.notes) if f]
    else:
        assert found == expected
    if verdict.finding:
        assert "app.py:" in report.to_json()["arity_errors"][0]["evidence"][0]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (None, {}),
        ("int", {"type": "integer"}),
        ("'str'", {"type": "string"}),
        ("list[int]", {"type": "array", "items": {"type": "integer"}}),
        ("dict[str, bool]", {"type": "object", "additionalProperties": {"type": "boolean"}}),
        ("typing.Optional[str]", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("int | None", {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ("int | Path", {}),
        ("Path", {}),
        ("Annotated[str, 'x']", {"type": "string"}),
        ("tuple[int, str]", {"type": "array"}),
        ("list[Path]", {"type": "array"}),
        ("not valid", {}),
    ],
)
def test_annotations(annotation, schema):
    assert annotation_schema(annotation) == schema
