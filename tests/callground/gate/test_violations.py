"""The gate's questions as plain functions."""

from __future__ import annotations

import ast
import sys

import pytest

from callground.facts.index import index_of
from callground.gate import arity_violations, installed_symbol_resolver, third_party_violations
from callground.gate.violations import imported_names
from callground.graph.queries import signature_of
from callground.toolcalls import read_calls


def signature(text):
    from callground.facts.extract import extract_module

    facts = extract_module(f"def f{text}: ...\n")
    ((_, row),) = index_of(facts).functions("f")
    return signature_of(row, "f", False, "f.py", 1)


CASES = [
    ("(a, b=1, *, c=2)", "f(1)", []),
    ("(a, b=1, *, c=2)", "f(a=1, c=3)", []),
    ("(a, b=1, *, c=2)", "f()", ["missing-argument"]),
    ("(a, b=1, *, c=2)", "f(1, 2, 3)", ["too-many-arguments"]),
    ("(a, b=1, *, c=2)", "f(1, d=2)", ["unknown-keyword"]),
    ("(a, b=1, *, c=2)", "f(1, a=2)", ["duplicate-argument"]),
    ("(a, b=1, *, c=2)", "f(1, 2, b=2)", ["duplicate-argument"]),
    ("(a, *, c)", "f(1)", ["missing-argument"]),
    ("(a, /, b)", "f(a=1, b=2)", ["positional-only-as-keyword", "missing-argument"]),
    ("(*args, **kwargs)", "f(1, 2, x=3)", []),
    ("(a, b)", "f(*x)", []),
    ("(a, b)", "f(**x)", []),
    ("(a, b, *, c)", "f(*x)", ["missing-argument"]),
    ("(a, /, b)", "f(**x)", ["missing-argument"]),
    ("(a)", "f(1, 2, *x)", ["too-many-arguments"]),
]


@pytest.mark.parametrize(("takes", "call", "codes"), CASES)
def test_arity(takes, call, codes):
    found = arity_violations(call, signature(takes))
    if takes == "(a, /, b)" and "a=1" in call:
        assert found[0].code == codes[0]
    else:
        assert [violation.code for violation in found] == codes
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    assert arity_violations(tree, signature(takes)) == found


def test_arity_of_calls_by_name():
    takes = signature("(to, *, cc=None)")
    assert arity_violations({"to": 1}, takes) == []
    (call,) = read_calls({"name": "f", "arguments": {"two": 1}}).calls
    assert [v.code for v in arity_violations(call, takes)] == ["unknown-keyword", "missing-argument"]
    with pytest.raises(ValueError):
        arity_violations("f", takes)


@pytest.fixture(scope="module")
def resolve():
    return installed_symbol_resolver(sys.executable)


@pytest.mark.parametrize(
    ("name", "exists"),
    [
        ("json.loads", True),
        ("json.parse", False),
        ("os.path.join", True),
        ("requests.Session.get", True),
        ("requests.Session.fetch", False),
        ("requests.sessions", True),
        ("no_such_package.x", False),
        ("not a name", False),
        ("attrs", True),
    ],
)
def test_installed_symbols(resolve, name, exists):
    assert resolve(name) is exists


CODE = "Try:\n```python\nimport requests as r\nfrom json import loads, parse\nr.get('x')\nr.fetch('x')\n```\n"


def test_third_party_violations(resolve):
    found = third_party_violations(CODE, python=sys.executable)
    assert [(v.code, v.name, v.line) for v in found] == [
        ("unknown-import", "parse", 4),
        ("unknown-member", "fetch", 6),
    ]
    assert [v.name for v in third_party_violations(CODE, resolve)] == ["json.parse", "requests.fetch"]
    assert third_party_violations(CODE, lambda _: None) == []


def test_names_out_of_imports():
    code = (
        "import a.b\nimport c as d\nfrom e import f\na.b.x()\nd.y()\nf.z()\ndef g(d): d.no()\nimport h\nh = 1\nh.no\n"
    )
    names = [name for name, _ in imported_names(code)]
    assert names == ["a.b", "c", "e.f", "a.b", "a.b.x", "e.f", "e.f.z", "h"] or set(names) == {
        "a.b",
        "c",
        "e.f",
        "a.b.x",
        "e.f.z",
        "h",
    }
