"""``callground check``, from arguments to text, JSON and exit status."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import textwrap

import pytest

from callground_server.cli import main

APP = """\
class Client:
    def fetch(self, url):
        return url


client = Client()
client.get("a")
client.fetch("a")
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One for all tests here: the facts of the standard library are made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path, monkeypatch, cache):
    """Lays files into a workspace and stands in it."""
    root = tmp_path / "work space's ö"
    root.mkdir()
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(cache))
    monkeypatch.chdir(root)

    def write(**files):
        for name, text in files.items():
            path = root / name.replace("__", "/")
            path = path.with_suffix(".py") if not path.suffix else path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return root

    write.root = root
    return write


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments, stdin=None, python=True):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        extra = ["--python", sys.executable] if python else []
        status = main(["check", *extra, *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def found(out):
    data = json.loads(out)
    lists = ("ungrounded", "arity_errors", "third_party")
    return [(e["file"], e["line"], e["code"]) for name in lists for e in data[name]]


def git(root, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


def test_text(project, run):
    project(app=APP)
    status, out, err = run()
    assert status == 1
    first, *rest = out.splitlines()
    assert first.startswith("callground: scope all, 3 calls")
    assert " in 1 file looked at, Python " in first
    assert rest[1].startswith("app.py:7:8: error[unknown-member]: class `app.Client` has no member `get`")
    assert rest[2] == ' 7 | client.get("a")'
    assert rest[3] == "   |        ^^^"
    assert "app.py:1" in rest[4]
    assert err == ""


def test_grounded(project, run):
    project(app="print('x')\n")
    status, out, _ = run()
    assert (status, "grounded: no call was proven wrong" in out) == (0, True)


def test_json(project, run):
    project(app=APP)
    status, out, _ = run("--format", "json")
    assert status == 1
    data = json.loads(out)
    assert found(out) == [("app.py", 7, "unknown-member")]
    assert data["root"] == str(project.root)
    assert data["schema"] == 1
    assert data["grounded"] is False
    assert "verdicts" not in data
    assert data["environment"]["python"] is not None
    assert data["environment"]["trusted"] is True


def test_json_with_every_verdict(project, run):
    project(app=APP)
    _, out, _ = run("--format", "json", "--verdicts")
    verdicts = json.loads(out)["verdicts"]
    assert [(v["line"], v["callee"], v["status"]) for v in verdicts if v["site"] == "call"] == [
        (6, "Client", "grounded"),
        (7, "client.get", "ungrounded"),
        (8, "client.fetch", "grounded"),
    ]


def test_paths(project, run):
    project(a=APP, pkg__b=APP, pkg__deep__c=APP)
    (project.root / "pyproject.toml").write_text("[project]\n")
    assert found(run("--format", "json", "pkg")[1]) == [
        ("pkg/b.py", 7, "unknown-member"),
        ("pkg/deep/c.py", 7, "unknown-member"),
    ]
    assert found(run("--format", "json", "a.py", "pkg/deep/c.py")[1]) == [
        ("a.py", 7, "unknown-member"),
        ("pkg/deep/c.py", 7, "unknown-member"),
    ]


def test_root_and_paths_from_elsewhere(project, run, monkeypatch, tmp_path):
    root = project(pkg__b=APP)
    (root / "pyproject.toml").write_text("[tool.callground]\n")
    monkeypatch.chdir(tmp_path)
    assert found(run("--format", "json", root)[1]) == [("pkg/b.py", 7, "unknown-member")]
    assert found(run("--format", "json", root / "pkg")[1]) == [("pkg/b.py", 7, "unknown-member")]
    assert found(run("--format", "json", "--root", root / "pkg", root / "pkg")[1]) == [("b.py", 7, "unknown-member")]


def test_excluded_and_ignored_files(project, run):
    root = project(app=APP, gen__x=APP, skip=APP)
    (root / ".gitignore").write_text("skip.py\n")
    (root / "pyproject.toml").write_text('[tool.callground]\nexclude = ["gen/"]\n')
    assert found(run("--format", "json")[1]) == [("app.py", 7, "unknown-member")]
    # A file that is named is looked at.
    assert found(run("--format", "json", "skip.py")[1]) == [("skip.py", 7, "unknown-member")]


def test_severities_and_comments(project, run):
    root = project(app=APP.replace('get("a")', 'get("a")  # callground: ignore'), b=APP)
    (root / "pyproject.toml").write_text('[tool.callground.severity]\nunknown-member = "warning"\n')
    status, out, _ = run("--format", "json")
    data = json.loads(out)
    assert status == 0
    assert [(e["file"], e["severity"], e["code"]) for e in data["notes"]] == [("b.py", "warning", "unknown-member")]
    assert data["abstained"] == {"ignored": 1}


def test_a_bad_setting_is_said_once(project, run):
    root = project(app=APP, b=APP)
    (root / "pyproject.toml").write_text("[tool.callground]\nscop = 1\n")
    err = run()[2]
    assert err.count("unknown setting `scop`; did you mean `scope`?") == 1
    data = json.loads(run("--format", "json")[1])
    assert [e["code"] for e in data["notes"]] == ["setting"]


def test_stdin(project, run):
    project(client="class Client:\n    pass\n")
    text = "import client\nclient.Client().run()  # ä\n".encode()
    status, out, _ = run("--format", "json", "--stdin-filename", "pkg/new.py", stdin=text)
    assert (status, found(out)) == (1, [("pkg/new.py", 2, "unknown-member")])
    status, out, _ = run("--stdin-filename", "new.py", stdin=text)
    assert " 2 | client.Client().run()  # ä" in out


def test_stdin_stands_for_the_file_on_disk(project, run):
    project(app=APP)
    status, out, _ = run("--format", "json", "--stdin-filename", "app.py", stdin=b"print('x')\n")
    assert (status, found(out)) == (0, [])


def test_changed_lines_only(project, run):
    root = project(app=APP, other=APP)
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "x")
    status, out, _ = run("--format", "json", "--scope", "changed")
    data = json.loads(out)
    assert (status, data["files"], data["scope"]) == (0, 0, "changed")
    project(app=APP + 'client.post("b")\n', new=APP)
    status, out, _ = run("--format", "json", "--scope", "changed")
    assert status == 1
    assert found(out) == [("app.py", 9, "unknown-member"), ("new.py", 7, "unknown-member")]
    assert "scope changed" in run("--scope", "changed")[1].splitlines()[0]


def test_changed_lines_of_standard_input(project, run):
    root = project(app=APP)
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "x")
    text = (APP + 'client.post("b")\n').encode()
    status, out, _ = run("--format", "json", "--scope", "changed", "--stdin-filename", "app.py", stdin=text)
    assert (status, found(out)) == (1, [("app.py", 9, "unknown-member")])
    status, out, _ = run("--format", "json", "--scope", "changed", "--stdin-filename", "app.py", stdin=APP.encode())
    assert (status, found(out)) == (0, [])


def test_since(project, run):
    root = project(app=APP)
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "x")
    git(root, "branch", "base")
    project(app=APP + 'client.post("b")\n')
    git(root, "commit", "-am", "y")
    assert found(run("--format", "json", "--since", "base")[1]) == [("app.py", 9, "unknown-member")]


def test_scope_of_the_settings(project, run):
    root = project(app=APP)
    (root / "pyproject.toml").write_text('[tool.callground]\nscope = "changed"\n')
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "x")
    assert found(run("--format", "json")[1]) == []
    assert found(run("--format", "json", "--scope", "all")[1]) == [("app.py", 7, "unknown-member")]


def test_explain(project, run):
    project(app=APP)
    status, out, _ = run("--explain", "app.py:7")
    assert status == 0
    assert "call `client.get` at 7:1: ungrounded" in out
    assert "unknown-member: class `app.Client` has no member `get`" in out
    assert "Client`" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope.py"], "no such file or folder: nope.py"),
        (["--since", "HEAD~1"], "is not in a git repository"),
        (["--scope", "all", "--since", "x"], "leave --scope all out"),
        (["--scope", "some"], "invalid choice"),
        (["--explain", "app.py"], "--explain wants FILE:LINE"),
        (["--explain", "nope.py:3"], "no such file: nope.py"),
        (["--root", "nope"], "--root: no such folder: nope"),
        (["--stdin-filename", "a.py", "b.py"], "leave PATHS out"),
        (["--nonsense"], "unrecognized arguments"),
    ],
)
def test_usage(project, run, arguments, message):
    project(app=APP)
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_no_python_at_all(project, run):
    status, out, err = run()
    assert (status, out) == (2, "")
    assert "no Python files in " in err


ODD = {
    "bom": "\ufeffimport json\njson.parse('')\n".encode(),
    "crlf": b"import json\r\njson.parse('')\r\n",
    "lone_cr": b"import json\rjson.parse('')\r",
    "form_feed": b"import json\n\x0cjson.parse('')\n",
    "latin": "# -*- coding: latin-1 -*-\nx = 'ä'; import json; json.parse('')\n".encode("latin-1"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_text_is_read(project, run, name):
    (project.root / "app.py").write_bytes(ODD[name])
    status, out, _ = run("--format", "json")
    assert (status, found(out)) == (1, [("app.py", 2, "unknown-member")])


BAD = {
    "not_utf8": b"x = '\xff\xfe'\n",
    "unknown_encoding": b"# coding: klingon\nx = 1\n",
    "nul": b"x = 1\x00\n",
    "deep": b"x = " + b"(" * 5000 + b")" * 5000 + b"\n",
    "deep_calls": b"x = " + b"f(" * 5000 + b")" * 5000 + b"\n",
    "deep_chain": b"x = a" + b".b()" * 5000 + b"\n",
    "syntax": b"def (:\n",
    "empty": b"",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_cost_only_themselves(project, run, name):
    project(app=APP)
    (project.root / "bad.py").write_bytes(BAD[name])
    status, out, err = run("--format", "json")
    assert (status, found(out)) == (1, [("app.py", 7, "unknown-member")])
    assert "Traceback" not in err
    assert not any("internal error" in e["reason"] for e in json.loads(out)["errors"])


def test_a_huge_file(project, run):
    project(app=APP)
    (project.root / "big.py").write_bytes(b"x = 1\n" * 3_500_000)
    status, out, _ = run("--format", "json")
    assert (status, found(out)) == (1, [("app.py", 7, "unknown-member")])


def test_links_that_go_in_circles(project, run):
    root = project(app=APP)
    os.symlink(root, root / "loop")
    os.symlink(root / "itself", root / "itself")
    os.symlink(root / "gone.py", root / "dangling.py")
    status, out, _ = run("--format", "json")
    assert ("app.py", 7, "unknown-member") in found(out)
    assert len(found(out)) == 1
    assert status == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_not_waited_for(project, run):
    root = project(app=APP)
    for name in ("pipe.py", ".gitignore", "sub/pyproject.toml"):
        (root / name).parent.mkdir(exist_ok=True)
        os.mkfifo(root / name)
    os.symlink(os.devnull, root / "device.py")
    status, out, _ = run("--format", "json")
    assert (status, found(out)) == (1, [("app.py", 7, "unknown-member")])
    errors = {e["file"]: e["reason"] for e in json.loads(out)["errors"]}
    assert errors["pipe.py"] == errors["device.py"] == "Not a regular file"
    status, out, _ = run(str(root / "pipe.py"))
    assert (status, "pipe.py: not checked: is no file" in out) == (2, True)


BROKEN = {
    "import app\n\ndef f(:\n    app.gone()\n\napp.Client()\n": "line 3 does not parse: invalid syntax",
    "import app\nx = app" + ".b" * 5000 + "\napp.Client()\n": "line 2 does not parse: the code is nested too deeply",
    "def f(:\n  1\n": "line 1 does not parse: invalid syntax",
}


@pytest.mark.parametrize("text", BROKEN, ids=["a piece", "too deep", "all of it"])
def test_what_does_not_parse_is_told(project, run, text):
    project(app="class Client: ...\n", bad=text)
    status, out, _ = run("--format", "json")
    assert (status, found(out)) == (0, [])
    assert json.loads(out)["errors"] == [{"file": "bad.py", "reason": BROKEN[text]}]
    extent = "partly checked" if "Client" in text else "not checked"
    shown = run()[1]
    assert f"bad.py: {extent}: {BROKEN[text]}\n" in shown
    assert f"1 file {extent}" in shown
    assert run("--strict")[0] == 2


def test_lines_that_do_not_parse_and_are_not_asked_about(project, run):
    root = project(app="print('x')\n", bad="def f(:\n    g()\n\nprint('y')\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    (root / "bad.py").write_text((root / "bad.py").read_text() + "print('z')\n")
    assert json.loads(run("--scope", "changed", "--format", "json")[1])["errors"] == []


def test_strict(project, run):
    project(app="print('x')\n")
    (project.root / "bad.py").write_bytes(BAD["not_utf8"])
    status, out, _ = run("--format", "json")
    assert status == 0
    assert [e["file"] for e in json.loads(out)["errors"]] == ["bad.py"]
    assert run("--strict")[0] == 2


def test_nothing_could_be_checked(project, run):
    (project.root / "bad.py").write_bytes(BAD["not_utf8"])
    status, out, _ = run("--format", "json")
    assert status == 2
    assert json.loads(out)["files"] == 0


@pytest.mark.parametrize("python", ["nowhere/bin/python", "app.py", "/dev/null"])
def test_an_interpreter_that_is_none(project, run, python):
    project(app=APP)
    status, out, err = run("--python", python, python=False)
    assert status in (1, 2)
    assert "Traceback" not in out + err
    assert python.rpartition("/")[2] in out + err


def test_a_broken_virtual_environment(project, run):
    root = project(app=APP)
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /nowhere\n")
    os.symlink("/nowhere/python", root / ".venv" / "bin" / "python")
    _, out, err = run("--format", "json", python=False)
    assert ("app.py", 7, "unknown-member") in found(out)
    assert "Traceback" not in err


def test_untrusted_starts_nothing(project, run, tmp_path):
    root = project(app=APP)
    mark = tmp_path / "started"
    for name in ("python", "python3"):
        script = root / ".venv" / "bin" / name
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
        script.chmod(0o755)
    (root / ".venv" / "pyvenv.cfg").write_text(f"home = {os.path.dirname(sys.executable)}\nversion = 3.11.0\n")
    status, out, _ = run("--untrusted", "--format", "json", python=False)
    assert not mark.exists()
    assert json.loads(out)["environment"]["trusted"] is False
    assert status == 1


def test_nothing_of_the_workspace_runs(project, run, tmp_path):
    mark = tmp_path / "ran"
    danger = f"open({str(mark)!r}, 'w').close()\n"
    project(
        json=danger,
        sitecustomize=danger,
        usercustomize=danger,
        app="import json\njson.x()\n",
        conftest=danger,
    )
    run()
    assert not mark.exists()


def test_piped_into_something_that_stops_reading(project):
    root = project(app=APP * 1)
    done = subprocess.run(
        f'"{sys.executable}" -I -m callground_server check --python "{sys.executable}" | true',
        shell=True,
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_a_terminal_that_knows_only_ascii(project):
    root = project(app='ä = "日本"; ä.trim("日本")\n')
    done = subprocess.run(
        [sys.executable, "-I", "-m", "callground_server", "check", "--python", sys.executable],
        cwd=root,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"unknown-member" in done.stdout
