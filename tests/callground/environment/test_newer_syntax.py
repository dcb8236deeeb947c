"""Syntax that only the user's newer Python can parse."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import callground
from callground.environment import newer_syntax
from callground.environment.child import Conversation
from callground.environment.model import Environment
from callground.environment.newer_syntax import NewerParser
from callground.facts.extract import extract_module
from callground.session import Session
from callground.source import parse as parsing
from callground.source.foreign import Unreadable, tree_of
from environment_lab import other_pythons, write_files

NEWER = [(python, version) for python, version in other_pythons() if version[:2] > sys.version_info[:2]]
newer_only = pytest.mark.skipif(
    not NEWER or NEWER[-1][1] < (3, 12), reason="no Python 3.12 that is newer than this one"
)

LIBRARY = """\
type Pair[T] = tuple[T, T]


class Box[T]:
    def get(self) -> T: ...


def keep[T](x: T, /) -> T:
    return x


def shown(row):
    return f"{row["name"]}"
"""
USER = """\
import library

type Name = str


def greet(row):
    return f"{library.shown(row["name"])} {library.hidden(row["name"])}"


library.keep(1)
library.keep(1, 2)
library.Box().get()
library.Box().put(1)
library.missing()
"""


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """No test leaves a newer parser behind."""
    monkeypatch.setattr(parsing, "_newer", {})
    monkeypatch.setattr(newer_syntax, "_parsers", {})
    yield
    for parser in newer_syntax._parsers.values():
        parser.close()


def test_a_tree_comes_back_as_it_was():
    folder = Path(callground.__file__).parent
    parser = NewerParser(sys.executable)
    texts = [path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))[::8]]
    texts.append(
        "x = [1.5, 2j, b'\\xff', ..., None, True, 'ä', 10**2, -1]\nmatch x:\n    case {'a': [*_], **b}: pass\n"
    )
    try:
        for text in texts:
            parsed = parser(text)
            assert parsed is not None
            assert ast.dump(parsed.tree, include_attributes=True) == ast.dump(ast.parse(text), include_attributes=True)
        wrong = parser("def f(:\n")
        assert wrong is not None
        assert (wrong.tree, wrong.error, wrong.line) == (None, "syntax-error", 1)
    finally:
        parser.close()


@newer_only
@pytest.mark.parametrize("processes", [False, True])
def test_trusted_the_newer_python_parses(processes, tmp_path):
    write_files(tmp_path, {"library.py": LIBRARY, "user.py": USER, "pyproject.toml": ""})
    with Session.open(str(tmp_path), python=NEWER[-1][0], cache=str(tmp_path / "cache")) as session:
        session.workspace.index(processes=processes)
        report = session.check(session.select().targets)
    assert [(e.finding.range.line, e.finding.code, e.finding.name) for e in report.findings] == [
        (7, "unknown-member", "hidden"),
        (11, "too-many-arguments", ""),
        (13, "unknown-member", "put"),
        (14, "unknown-member", "missing"),
    ]
    assert report.abstained == {}


@newer_only
def test_without_trust_the_reason_is_given(tmp_path, monkeypatch):
    monkeypatch.setattr(Conversation, "ask", lambda *_: pytest.fail("the interpreter was started"))
    write_files(tmp_path, {"library.py": LIBRARY, "user.py": USER, "pyproject.toml": ""})
    with Session.open(str(tmp_path), python=NEWER[-1][0], cache=str(tmp_path / "cache"), trusted=False) as session:
        session.index()
        report = session.check(session.select().targets)
    assert report.is_grounded
    assert report.abstained.get("syntax-newer-than-server", 0) > 0


def test_older_or_equal_interpreters_are_not_asked():
    same = Environment(python=sys.executable, version=sys.version_info[:3], platform="linux", trusted=True)
    assert newer_syntax.newer_of(same) is None
    newer = replace(same, version=(4, 0, 0))
    assert newer_syntax.newer_of(newer) == (sys.executable, (4, 0))
    assert newer_syntax.newer_of(replace(newer, trusted=False)) is None
    assert newer_syntax.newer_of(replace(newer, python=None)) is None


def test_a_child_that_gives_no_answer(tmp_path):
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    for python in (str(program), str(tmp_path / "nothing")):
        parser = NewerParser(python)
        assert [parser("x = 1\n") for _ in range(5)] == [None] * 5
        parser.close()
    slow = Conversation(sys.executable, ["-c", "import time; time.sleep(60)"], 0.2)
    assert slow.ask(b"x") is None
    slow.close()


def constant(text: str) -> list[object]:
    return ["Constant", {"value": ["=", "str", text]}, [1, 0, 1, 1]]


def test_nodes_that_this_python_has_not(monkeypatch):
    """A template is no string, whatever it looks like; a class that nobody knows makes the answer useless."""
    part = ["Interpolation", {"value": ["Name", {"id": ["=", "str", "x"]}, [1, 4, 1, 5]]}, [1, 3, 1, 6]]
    template = ["TemplateStr", {"values": {"list": [constant("a"), part]}}, [1, 0, 1, 7]]
    module = ["Module", {"body": {"list": [["Expr", {"value": template}, [1, 0, 1, 7]]]}}, [None] * 4]
    tree = tree_of(module)
    assert [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)] == ["x"]
    assert not any(isinstance(n, ast.JoinedStr) for n in ast.walk(tree))
    monkeypatch.setitem(parsing._newer, (3, 99), lambda _: parsing.Parsed(tree))
    assert extract_module('t"a{x}"\n').error is None
    for broken in (["Module", {}, []], ["Nothing", {}, [None] * 4], [], {"list": []}, ["=", "set", "{1}"]):
        with pytest.raises(Unreadable):
            tree_of(broken)
