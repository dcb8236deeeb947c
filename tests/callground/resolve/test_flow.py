"""Reaching definitions and narrowing."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from callground.resolve import flow
from callground.resolve.flow import Def, analyze


def reaching(code: str) -> dict[str, set[str]]:
    """For each ``seen(NAME)`` of a function's body, what may be in the name, by its argument's text."""
    function = ast.parse(code).body[0]
    assert isinstance(function, ast.FunctionDef)
    result = analyze(function.body, lambda test: None, function.args)
    out: dict[str, set[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "seen":
            argument = node.args[0]
            found = result.uses.get(id(argument), frozenset())
            out.setdefault(ast.unparse(argument), set()).update(shown(d) for d in found)
    return out


def shown(d: Def) -> str:
    if d.kind == "narrow":
        assert d.node is not None
        mark = "" if d.positive else "not "
        return f"{'|'.join(sorted(shown(b) for b in d.base))} if {mark}{ast.unparse(d.node)}"
    if d.kind in ("assign", "walrus", "for", "with") and d.node is not None:
        return f"{'' if d.kind == 'assign' else d.kind + ' '}{ast.unparse(d.node)}{list(d.path) or ''}"
    return d.kind


CASES = {
    "the last assignment": ("x = 1; x = 2; seen(x)", {"2"}),
    "both branches": ("if c:\n  x = 1\n else:\n  x = 2\n seen(x)", {"1", "2"}),
    "one branch": ("x = 1\n if c: x = 2\n seen(x)", {"1", "2"}),
    "a branch that leaves": ("x = 1\n if c:\n  x = 2\n  return\n seen(x)", {"1"}),
    "perhaps unbound": ("if c: x = 1\n seen(x)", {"1", "unbound"}),
    "a parameter": ("seen(c)", {"param"}),
    "unpacking": ("x, (y, *z) = f(); seen(x)", {"f()[0]"}),
    "a starred target": ("y, *x = f(); seen(x)", {"f()['*1']"}),
    "a walrus": ("if (x := f()): pass\n seen(x)", {"walrus f()"}),
    "a loop's target": ("for x in f(): seen(x)", {"for f()"}),
    "a loop's body reaches its head": ("x = 1\n while c:\n  seen(x)\n  x = 2", {"1", "2"}),
    "a loop that may not run": ("x = 1\n for i in c: x = 2\n seen(x)", {"1", "2"}),
    "break": ("x = 1\n while True:\n  x = 2\n  if c: break\n  x = 3\n seen(x)", {"2"}),
    "continue": (
        "x = 1\n for i in c:\n  seen(x)\n  if i:\n   x = 2\n   continue\n  x = 3",
        {"1", "2", "3"},
    ),
    "else of a loop": ("for i in c:\n  x = 1\n  break\n else:\n  x = 2\n seen(x)", {"1", "2"}),
    "a handler": ("x = 1\n try:\n  x = 2\n  x = 3\n except E:\n  seen(x)", {"1", "2", "3"}),
    "else of a try": ("x = 1\n try:\n  x = 2\n except E: pass\n else:\n  seen(x)", {"2"}),
    "finally": ("x = 1\n try:\n  x = 2\n finally:\n  seen(x)", {"1", "2"}),
    "after a suppressing with": ("x = 1\n with suppress(E):\n  x = 2\n seen(x)", {"1", "2"}),
    "a with": ("with f() as x: seen(x)", {"with f()"}),
    "deleted": ("x = 1\n del x\n seen(x)", {"unbound"}),
    "a test that holds": ("x = f()\n if x: seen(x)", {"f() if x"}),
    "a test that fails": ("x = f()\n if not x: return\n seen(x)", {"f() if x"}),
    "a test that came out either way": ("x = f()\n if g(x): pass\n seen(x)", {"f()"}),
    "two tests that came out either way": ("x = f()\n if g(x) and h(x): pass\n seen(x)", {"f()"}),
    "an assertion": ("x = f()\n assert isinstance(x, A)\n seen(x)", {"f() if isinstance(x, A)"}),
    "and": ("x = f()\n x and seen(x)", {"f() if x"}),
    "or": ("x = f()\n x or seen(x)", {"f() if not x"}),
    "an attribute": ("x.y = 1\n seen(x.y)", {"1"}),
    "an attribute of something new": ("x.y = 1\n x = 2\n seen(x.y)", set()),
    "a nested function that binds": ("x = 1\n def g():\n  nonlocal x\n  x = 2\n seen(x)", {"1", "shared"}),
    "before a nested function": ("x = 1\n seen(x)\n def g():\n  nonlocal x\n  x = 2", {"1"}),
    "a test inside a loop": (
        "x = f()\n while c:\n  seen(x)\n  if x is None: continue\n  if g(x): pass\n  else: h(x)",
        {"f()"},
    ),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_what_reaches(body, expected):
    names = set(reaching(f"def f(c):\n {body}"))
    assert len(names) == 1
    assert reaching(f"def f(c):\n {body}")[names.pop()] == expected


def test_what_is_dead():
    function = ast.parse("def f():\n return 1\n dead()\n").body[0]
    result = analyze(function.body, lambda test: None, function.args)
    assert id(function.body[1]) in result.dead
    assert not result.falls_through


def test_a_test_of_the_environment_chooses():
    function = ast.parse("def f():\n if WINDOWS:\n  x = 1\n else:\n  x = 2\n x.run()\n").body[0]
    result = analyze(function.body, lambda test: False, function.args)
    use = function.body[1].value.func.value
    assert {shown(d) for d in result.uses[id(use)]} == {"2"}


BODIES = (
    "if x: y = x\nx = g(x)",
    "x += 1\ny -= x\nif x > y: x *= y",
    "if x.a is None: continue\nx = x.a\nx.b = 1\nx.b.c = x.b",
    "if not x: break\nif isinstance(x, C): x = x.y\nelif x is None: continue\nelse: x = g(x)",
    "try: x = g(x)\nexcept E as e: y = e\nfinally: z = x",
)


@pytest.mark.parametrize("head", ["for i{n} in x:", "while x is not y{n}:", "while test(x, y{n}):"])
@pytest.mark.parametrize("body", BODIES)
def test_nested_loops_take_few_passes(head, body, monkeypatch):
    depth = 8
    visits: Counter[str] = Counter()
    real = flow._Analyzer.s_Expr

    def counting(self, s, env):
        visits[ast.unparse(s)] += 1
        return real(self, s, env)

    monkeypatch.setattr(flow._Analyzer, "s_Expr", counting)
    lines = ["def f(x):"]
    for n in range(depth):
        lines.append(" " * (n + 1) + head.format(n=n))
    pad = " " * (depth + 1)
    lines += [f"{pad}{line}" for line in body.split("\n")]
    lines += [f"{pad}run(x)"]
    function = ast.parse("\n".join(lines)).body[0]
    analyze(function.body, lambda test: None, function.args)
    assert visits["run(x)"] <= 4 * depth


def test_what_goes_round_several_loops_arrives():
    found = reaching("def f(c):\n a = 1\n b = 1\n for i in c:\n  for j in c:\n   seen(a)\n   a = b\n   b = i\n")
    assert found["a"] == {"1", "b"}
