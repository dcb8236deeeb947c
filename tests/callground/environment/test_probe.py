"""What an isolated child tells about compiled modules."""

from __future__ import annotations

import ast
import os
import shutil
import sys
from pathlib import Path

import pytest

from callground.environment import probe_child
from callground.environment.child import run_isolated
from callground.environment.finder import Finder
from callground.environment.probe import Prober
from environment_lab import write_files


class Store(dict):
    def put(self, key, value):
        self[key] = value


def extension(lab) -> Path:
    """A small compiled module of the standard library, to be copied as if a package had brought it."""
    for name in ("_bisect", "_heapq", "_json", "_statistics"):
        located = Finder(lab.find()).locate(name)
        if located is not None and located.path is not None:
            return Path(located.path)
    pytest.skip("this Python has all of its modules compiled in")


def tree(text):
    """Top-level names of the text -> their statement."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = node
        elif isinstance(node, ast.Assign):
            found[node.targets[0].id] = node
    return found


def test_the_standard_library(lab):
    lab.venv()
    prober = Prober(lab.find())
    math = tree(prober("math"))
    import math as real

    public = {name for name in vars(real) if not name.startswith("__")}
    assert public == set(math) - {"_Any"}
    assert ast.unparse(math["pi"]) == "pi: float"
    assert ast.unparse(math["atan2"]).startswith("def atan2(y, x, /)")
    assert ast.unparse(math["isclose"].args) == "a, b, *, rel_tol=..., abs_tol=..."
    assert prober.children == 1
    # Its neighbours came along.
    assert "def dumps" not in (prober("_json") or "")
    assert prober("_socket") is not None or prober("_collections") is not None
    assert prober.children == 1


def test_builtins(lab):
    lab.venv()
    names = tree(Prober(lab.find())("builtins"))
    assert {"print", "dict", "BaseException", "exit", "help"} <= set(names)
    methods = {node.name for node in names["dict"].body if isinstance(node, ast.FunctionDef)}
    assert set(vars(dict)) - methods <= {"__hash__", "__doc__", "__getattribute__", "__new__"}
    assert ast.unparse(names["KeyError"].bases[0]) == "LookupError"
    # Closed: an attribute that is not there is not there.
    assert all("__getattr__" not in ast.dump(node) for node in names.values())


def test_every_compiled_module_of_the_standard_library_is_written_as_a_stub(lab):
    lab.venv()
    environment = lab.find()
    prober = Prober(environment)
    finder = Finder(environment)
    compiled = [
        name
        for name in sorted(sys.stdlib_module_names | environment.builtins)
        if name != "__main__" and not name.startswith(("_test", "_xx", "xx")) and name != "_tkinter"
        if (located := finder.locate(name)) is not None and located.compiled
    ]
    answers = prober.probe_many(compiled)
    assert {name: each.problem for name, each in answers.items() if each.text is None} == {}
    for name, each in answers.items():
        names = set(tree(each.text))
        real = {n for n in vars(sys.modules[name]) if n.isidentifier()} if name in sys.modules else set()
        # What this process has added to its own modules is not there.
        missing = real - names - probe_child._MODULE_NOISE - {"_", "None", "True", "False", "__import__"}
        assert len(missing) <= 12 if name == "sys" else missing <= {"open_code", "breakpointhook", "_git"}, (
            name,
            missing,
        )


def test_a_package_with_a_compiled_module(lab):
    source = extension(lab)
    lab.venv()
    write_files(lab.site(), {"pkg/__init__.py": "print('noise on standard output')\nimport sys; sys.stdout.flush()\n"})
    name = source.name.partition(".")[0]
    shutil.copy(source, lab.site() / "pkg" / source.name)
    prober = Prober(lab.find())
    probed = prober.probe(f"pkg.{name}")
    assert probed.problem is None
    assert tree(probed.text)


def test_answers_are_kept_by_the_content_of_the_file(lab):
    source = extension(lab)
    lab.venv()
    write_files(lab.site(), {"pkg/__init__.py": ""})
    name = f"pkg.{source.name.partition('.')[0]}"
    target = lab.site() / "pkg" / source.name
    shutil.copy(source, target)
    store = Store()
    first = Prober(lab.find(), store=store)
    text = first(name)
    assert first.children == 1
    again = Prober(lab.find(), store=store)
    assert again(name) == text
    assert again.children == 0
    with target.open("ab") as file:  # an appended byte changes no code, but the digest
        file.write(b"\0")
    changed = Prober(lab.find(), store=store)
    assert changed(name) == text
    assert changed.children == 1


def test_the_setting_limits_what_is_imported(lab):
    source = extension(lab)
    lab.venv()
    write_files(lab.site(), {"pkg/__init__.py": ""})
    shutil.copy(source, lab.site() / "pkg" / source.name)
    name = f"pkg.{source.name.partition('.')[0]}"
    prober = Prober(lab.find(), allowed=["numpy"])
    assert prober.probe(name).problem == "the settings do not allow it to be probed"
    assert prober.children == 0
    assert Prober(lab.find(), allowed=["pkg"]).probe(name).problem is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("raise ValueError('no display')", "its import failed: ValueError: no display"),
        ("import sys; sys.exit(3)", "its import failed: SystemExit: 3"),
        ("import os; os._exit(7)", "the child that imported it ended with status 7"),
        ("while True: pass", "the child that imported it"),
        ("x = bytearray(1 << 40)", "its import failed: MemoryError"),
        ("import os; os.kill(os.getpid(), 11)", "the child that imported it ended with signal SIGSEGV"),
        ("import sys; sys.stdout.write('x' * 10_000_000); import os; os.write(1, b'{}')", None),
        ("with open('left-behind', 'w') as file: file.write('x' * 100)", "its import failed: OSError"),
    ],
)
def test_a_module_that_fails_is_a_value_with_a_reason(lab, text, problem):
    source = extension(lab)
    lab.venv()
    name = source.name.partition(".")[0]
    write_files(lab.site(), {"pkg/__init__.py": text, "good/__init__.py": ""})
    shutil.copy(source, lab.site() / "pkg" / source.name)
    shutil.copy(source, lab.site() / "good" / source.name)
    prober = Prober(lab.find(), timeout=5.0)
    answers = prober.probe_many([f"pkg.{name}", f"good.{name}"])
    probed = answers[f"pkg.{name}"]
    if problem is None:
        assert probed.problem is None
    else:
        assert probed.text is None
        assert probed.problem.startswith(problem)
    # The next one is answered all the same.
    assert answers[f"good.{name}"].text is not None


def test_only_modules_of_the_interpreter_s_own_folders(lab):
    source = extension(lab)
    lab.venv()
    name = source.name.partition(".")[0]
    elsewhere = lab.folder / "checkout"
    for folder in (elsewhere / "edit", lab.workspace / "mine"):
        write_files(folder, {"__init__.py": f"open({str(lab.folder / 'ran')!r}, 'w')\n"})
        shutil.copy(source, folder / source.name)
    write_files(lab.site(), {"edit.pth": f"{elsewhere}\n{lab.workspace}\n"})
    os.symlink(lab.workspace / "mine", lab.site() / "linked")
    prober = Prober(lab.find(PYTHONPATH=str(lab.workspace)))
    for module in (f"edit.{name}", f"mine.{name}", f"linked.{name}", "no_such_module"):
        assert prober.probe(module).problem == "it is not in the interpreter's own site-packages or standard library"
    assert prober.probe("json").problem == "it is not a compiled module"
    assert prober.children == 0
    assert not (lab.folder / "ran").exists()


def test_untrusted_only_this_program_s_own_python_is_asked_about_the_standard_library(lab):
    source = extension(lab)
    lab.venv()
    write_files(lab.site(), {"pkg/__init__.py": ""})
    shutil.copy(source, lab.site() / "pkg" / source.name)
    prober = Prober(lab.find(trusted=False))
    assert prober("math") is not None
    name = f"pkg.{source.name.partition('.')[0]}"
    assert prober.probe(name).problem == "the interpreter may not be started in an untrusted workspace"


# -- the child's text ------------------------------------------------------------------------


class Plain:
    limit = 3
    name: str = "x"

    def method(self, a, /, b, *, c=1):
        pass

    @staticmethod
    def static(a):
        pass

    @classmethod
    def made(cls, a):
        pass

    @property
    def prop(self):
        pass


class Dynamic:
    __slots__ = ()

    def __getattr__(self, name):
        raise AttributeError(name)


class Meta(type):
    def __getattr__(cls, name):
        raise AttributeError(name)


Meta.__qualname__ = "gone"


class WithMeta(metaclass=Meta):
    __slots__ = ()


def written(**members):
    import types

    module = types.ModuleType("made")
    for name, value in members.items():
        if isinstance(value, type) and value.__module__ != "made":
            value.__module__ = "made"
            value.__qualname__ = name
        setattr(module, name, value)
    return probe_child.Writer("made", module, False).text()


def test_what_the_text_says():
    text = written(Plain=Plain, Dynamic=Dynamic, count=3, thing=object(), alias=Plain, WithMeta=WithMeta)
    names = tree(text)
    assert ast.unparse(names["count"]) == "count: int"
    assert ast.unparse(names["thing"]) == "thing: _Any"
    assert ast.unparse(names["alias"]) == "alias = Plain"
    plain = ast.unparse(names["Plain"])
    for expected in (
        "limit: int",
        "name: str",
        "def method(self, a, /, b, *, c=...)",
        "@staticmethod\n    def static(a)",
        "@classmethod\n    def made(cls, a)",
        "prop: _Any",
        "def __getattr__(self, name: str) -> _Any",  # instances have a dictionary
    ):
        assert expected in plain
    assert "def __getattr__" in ast.unparse(names["Dynamic"])
    assert "metaclass=_metaclass_that_cannot_be_named" in text


def test_a_module_with_getattr():
    def __getattr__(name):
        raise AttributeError(name)

    assert "def __getattr__(name" in written(__getattr__=__getattr__)
    assert "__getattr__" not in written(x=1)


def test_names_that_cannot_be_written_are_left_out():
    text = written(**{"class": 1, "not a name": 2, "fine": 3})
    assert set(tree(text)) == {"fine"}


def test_a_bases_members_are_written_when_nobody_can_name_it():
    class Named:
        __slots__ = ()

    class Hidden(Named):
        __slots__ = ()

        def inherited(self):
            pass

    class Shown(Hidden):
        __slots__ = ()

    names = tree(written(Shown=Shown, Named=Named))
    assert "class Shown(Named):" in ast.unparse(names["Shown"])
    assert "def inherited(self)" in ast.unparse(names["Shown"])


def test_attribute_access_of_compiled_types():
    import datetime
    import weakref

    assert probe_child.same_access(datetime.date, object)
    assert probe_child.same_access(dict, object)
    assert not probe_child.same_access(weakref.ProxyType, object)
    assert not probe_child.same_access(Dynamic, object)


# -- the child's isolation -------------------------------------------------------------------


def test_a_child_stands_alone(lab, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("PYTHONPATH", str(lab.workspace))
    code = (
        "import os, sys, json; print(json.dumps([os.getcwd(), os.listdir('.'), sorted(os.environ), sys.path,"
        " 'site' in sys.modules, sys.flags.isolated, os.environ['HOME']]))"
    )
    import json

    outcome = run_isolated(sys.executable, ["-c", code])
    assert outcome.problem is None
    cwd, listing, variables, path, site, isolated, home = json.loads(outcome.output)
    assert listing == []
    assert not os.path.exists(cwd)  # it is gone with the child
    assert os.path.realpath(home) == os.path.realpath(cwd)
    assert "SECRET_TOKEN" not in variables
    assert str(lab.workspace) not in path
    assert (site, isolated) == (False, 1)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("while True: pass", "took longer than 0.5 s"),
        ("while True: print('x' * 1000)", "answered more than 100000 bytes"),
        ("raise SystemExit(4)", "ended with status 4"),
        ("import os, time\nif os.fork(): os._exit(0)\ntime.sleep(60)", None),
    ],
)
def test_limits_of_a_child(code, problem):
    outcome = run_isolated(sys.executable, ["-c", code], timeout=0.5 if "while" in code else 10, limit=100_000)
    assert outcome.problem == problem
    assert len(outcome.output) <= 100_000


def test_an_executable_that_is_none(tmp_path):
    assert "could not be started" in run_isolated(str(tmp_path / "nothing"), []).problem
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    assert run_isolated(str(tmp_path / "text"), []).problem is not None
