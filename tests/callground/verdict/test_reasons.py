"""Every reason to abstain is reached by a program."""

from __future__ import annotations

import importlib.machinery
import sys

import pytest

from callground.verdict import grounding
from callground.verdict.model import Reason
from callground.verdict.verify import verify
from desk import Desk
from projects import check_project, verdicts_of

PROGRAMS: dict[Reason, str | dict[str, str]] = {
    Reason.SYNTAX_ERROR: {"main.py": "import broken\nbroken.run()\n", "broken.py": "def run(:\n    pass\n"},
    Reason.UNKNOWN_PARAMETER: "def use(thing):\n    thing.run()\n",
    Reason.UNKNOWN_TYPE: "names = ['a']\nnames[0].push()\n",
    Reason.ANY: "from typing import Any\ndef use(thing: Any):\n    thing.run()\n",
    Reason.OPEN_MODULE: {
        "main.py": "import lazy\nlazy.run()\n",
        "lazy.py": "def __getattr__(name):\n    return print\n",
    },
    Reason.OPEN_CLASS: "class A:\n    def __getattr__(self, name):\n        return 1\nA().run()\n",
    Reason.UNKNOWN_BASE: "from absent import Base\nclass A(Base):\n    pass\nA().run()\n",
    Reason.UNKNOWN_METACLASS: """
        class Meta(type):
            def __new__(mcs, name, bases, namespace):
                return super().__new__(mcs, name, bases, {**namespace, 'run': print})
        class A(metaclass=Meta):
            pass
        A().run()
        """,
    Reason.UNKNOWN_DECORATOR: "from absent import change\n@change\ndef run():\n    return 1\nrun(1, 2)\n",
    Reason.UNKNOWN_IMPORT: "import importlib\nimportlib.import_module('json').run()\n",
    Reason.UNKNOWN_RETURN: """
        from collections.abc import Callable
        def use(function: Callable):
            function().run()
        """,
    Reason.UNKNOWN_SUBSCRIPT: "left, right, more = 'a', 1\nmore.run()\n",
    Reason.UNKNOWN_OPERATOR: "class A:\n    pass\n(A() + 1).run()\n",
    Reason.UNKNOWN_ATTRIBUTE: """
        class Job:
            result = 'x'
        def finish(job):
            job.result = 1
        Job().result.run()
        """,
    Reason.UNKNOWN_SIGNATURE: "from typing import TypedDict\nclass A(TypedDict):\n    x: int\nA(y=1)\n",
    Reason.STAR_ARGUMENTS: "from functools import partial\npartial(*[print])()\n",
    Reason.STAR_IMPORT: "try:\n    from absent import *\nexcept ImportError:\n    pass\nrun()\n",
    Reason.GUARDED: "import json\ntry:\n    json.run()\nexcept AttributeError:\n    pass\n",
    Reason.IGNORED: "import json\njson.run()  # type: ignore\n",
    Reason.MONKEY_PATCHED: "import json\njson.run = print\ndef use():\n    json.run()\n",
    Reason.SUBCLASS: """
        class Base:
            def use(self):
                self.run()
        class Child(Base):
            def run(self):
                return 1
        """,
    Reason.VERSION_GUARD: """
        import sys
        if sys.version_info >= (99,):
            run = print
        def use():
            run()
        """,
    Reason.DYNAMIC_SCOPE: "def use(text):\n    exec(text)\n    run()\n",
    Reason.UNBOUND_FLOW: "def use():\n    run()\n    run = print\n",
    Reason.UNREACHABLE: "def use():\n    return 1\n    run()\n",
    Reason.COMPILED: {
        "main.py": "import fast\nfast.run()\n",
        # Not loadable, so that no probe sees what is in it.
        f"fast{importlib.machinery.EXTENSION_SUFFIXES[0]}": "no library",
    },
    Reason.STUB_ONLY: "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\nA._made()\n",
    Reason.BUDGET: "".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(90))
    + "def f90():\n    return 'x'\nf0().run()\n",
    Reason.RECURSION: "def walk(n):\n    return walk(n - 1)\nwalk(3).run()\n",
    Reason.UNSUPPORTED: "def use(value):\n    match value:\n        case [first, *_]:\n            first.run()\n",
}

# The newest syntax that some supported Python does not know yet.
NEWER = "type Alias = int" if sys.version_info < (3, 12) else "text = t'{1}'"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.mark.parametrize("reason", PROGRAMS, ids=lambda reason: reason.value)
def test_a_program_that_is_abstained_on(reason, tmp_path, cache):
    program = PROGRAMS[reason]
    files = program if isinstance(program, dict) else {"main.py": program}
    verdicts = [v for _file, v in verdicts_of(check_project(tmp_path, files, cache=cache))]
    assert reason in {v.reason for v in verdicts if v.site == "call"}


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python knows every syntax there is")
def test_syntax_that_is_newer_than_the_server(tmp_path, cache):
    files = {"main.py": "import new\nnew.run()\n", "new.py": f"{NEWER}\n"}
    verdicts = [v for _file, v in verdicts_of(check_project(tmp_path, files, cache=cache))]
    assert Reason.SYNTAX_NEWER in {v.reason for v in verdicts}


def test_a_module_that_nobody_loads(tmp_path, cache):
    with Desk(tmp_path, {"main.py": "import json\njson.run()\n"}, cache) as desk:
        verdicts = judged(desk, tmp_path)
        assert [v.reason for v in verdicts if v.site == "call"] == [Reason.NOT_LOADED]
        assert desk.evaluator.needs == {"json"}


def test_a_fault_of_our_own(tmp_path, cache, monkeypatch):
    def broken(*_args, **_options):
        raise ValueError("a bug")

    monkeypatch.setattr(grounding, "callee", broken)
    with Desk(tmp_path, {"main.py": "print('x')\n"}, cache) as desk:
        verdicts = judged(desk, tmp_path)
    assert [(v.status, v.reason, v.detail) for v in verdicts] == [("abstained", Reason.INTERNAL, "ValueError: a bug")]


def test_every_reason_is_reached_here():
    elsewhere = {Reason.SYNTAX_NEWER, Reason.NOT_LOADED, Reason.INTERNAL}
    assert set(PROGRAMS) | elsewhere == set(Reason)


def judged(desk, root):
    scope = desk.scope()
    path = str(root / "main.py")
    assert scope.file.path == path
    return verify(scope.file.text, path, desk.snapshot, evaluator=desk.evaluator)
