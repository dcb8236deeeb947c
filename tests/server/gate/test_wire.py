"""Requests as JSON."""

from __future__ import annotations

import os

import pytest

from callground.config.policy import Policy
from callground_server.gate.wire import RequestError, read_request, replaced


@pytest.fixture
def root(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    return str(tmp_path)


def read(root, **data):
    return read_request(data, root)


def test_code_at_a_place(root):
    at = os.path.join(root, "pkg", "b.py")
    for given in ("pkg/b.py:7", {"file": "pkg/b.py", "line": 7}, f"{at}:7:3"):
        request = read(root, code="f()", at=given, name="n")
        assert (request.at, request.name) == ((at, 7), "n")


def test_files_and_edits(root):
    request = read(
        root,
        files={"new.py": "z = 1\n", "gone.py": None},
        edits=[
            {"file": "a.py", "old": "x = 1", "new": "x = 2"},
            {"file": "a.py", "old": "= 1", "new": "= 3"},
            {"file": "new.py", "old": "z", "new": "w"},
        ],
        only_new=True,
    )
    assert request.files == {
        os.path.join(root, "a.py"): "x = 2\ny = 3\n",
        os.path.join(root, "new.py"): "w = 1\n",
        os.path.join(root, "gone.py"): None,
    }
    assert request.only_new
    assert read(root, code="x\n", path="b.py").files == {os.path.join(root, "b.py"): "x\n"}


def test_calls_tools_and_policy(root):
    request = read(root, calls=[{"name": "f"}], tools=[{"name": "f"}], policy={"block": ["arity"]}, repair=True)
    assert list(request.tools.tools) == ["f"]
    assert request.policy == Policy(block=frozenset({"arity"}))
    assert request.repair


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "nothing to verify"),
        ({"code": "  "}, "nothing to verify"),
        ({"calls": " "}, "nothing to verify"),
        ({"code": 1}, "`code` must be a string"),
        ({"code": "f()", "cod": 1}, "unknown member: cod"),
        ({"code": "f()", "at": "a.py"}, "FILE:LINE"),
        ({"code": "f()", "at": 3}, "FILE:LINE"),
        ({"code": "f()", "repair": 1}, "`repair` must be true or false"),
        ({"files": []}, "`files` must be an object"),
        ({"files": {"a.py": 1}}, "must be a string"),
        ({"edits": {}}, "`edits` must be a list"),
        ({"edits": [{"file": "a.py"}]}, "an edit is an object"),
        ({"edits": [{"file": "a.py", "old": "no", "new": ""}]}, "not in the file"),
        ({"edits": [{"file": "a.py", "old": "= 1", "new": ""}]}, "2 times"),
        ({"edits": [{"file": "a.py", "old": "", "new": "x"}]}, "the file is there"),
        ({"calls": "f()", "tools": []}, "holds no tool"),
        ({"code": "f()", "policy": {"blok": []}}, "`policy.blok`"),
        ({"code": "f()", "at": "a\0.py:1"}, "no path"),
    ],
)
def test_what_cannot_be_carried_out_is_said(root, data, said):
    with pytest.raises(RequestError, match=said.replace("(", r"\(")):
        read_request(data, root)


@pytest.mark.parametrize("data", [None, 3, [], "x"])
def test_no_object(root, data):
    with pytest.raises(RequestError):
        read_request(data, root)


def test_confined_to_the_workspace(root, tmp_path):
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    (tmp_path / "link").symlink_to(outside)
    for path in ("../b.py", "/etc/passwd", "link/b.py", "x/../../b.py"):
        with pytest.raises(RequestError, match="outside"):
            read_request({"code": "f()", "at": f"{path}:1"}, root, confined=True)
        with pytest.raises(RequestError, match="outside"):
            read_request({"files": {path: "x"}}, root, confined=True)
    assert read_request({"files": {"in/b.py": "x"}}, root, confined=True).files


def test_replacements_as_agents_make_them():
    assert replaced("a b a", "b", "c") == "a c a"
    assert replaced("a b a", "a", "c", every=True) == "c b c"
    assert replaced("", "", "new") == "new"
