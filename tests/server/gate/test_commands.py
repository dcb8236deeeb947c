"""The commands as whole processes, with and without the daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from callground_server.gate import link

BAD = "from app.mail import connect\nconnect('x').teleport('a')\n"
GOOD = "from app.mail import connect\nconnect('x').send('a', 'b')\n"
TOOLS = [{"name": "weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]


@pytest.fixture
def run(root):
    def command(*arguments, stdin="", cwd=root, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "callground_server", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=cwd,
            env={**os.environ, **environment},
            timeout=120,
        )
        return done.returncode, done.stdout, done.stderr

    return command


@pytest.fixture(params=["unix", "tcp"])
def daemon(request, run, tmp_path, monkeypatch):
    """A running daemon of this test's own."""
    if request.param == "unix" and not hasattr(__import__("socket"), "AF_UNIX"):
        pytest.skip("this system has no Unix sockets")
    monkeypatch.delenv(link.OFF)
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "own cache"))
    if request.param == "tcp":
        monkeypatch.setenv("CALLGROUND_DAEMON_TCP", "1")
    status, out, _ = run("daemon", "start")
    assert (status, out) == (0, "started\n")
    yield
    assert run("daemon", "stop")[:2] == (0, "stopped\n")
    for _ in range(100):
        if not os.path.exists(link.address_file()):
            break
        time.sleep(0.1)
    assert not os.path.exists(link.address_file())


# -- verify


def codes(out):
    data = json.loads(out)
    return [e["code"] for key in ("ungrounded", "arity_errors", "third_party") for e in data[key]]


def test_verify(run, root):
    status, out, err = run("verify", stdin=BAD)
    assert (status, codes(out), err) == (1, ["unknown-member"], "")
    assert json.loads(out)["gate"]["decision"] == "block"
    assert run("verify", "-", stdin=GOOD)[0] == 0
    status, out, _ = run("verify", "--at", "app/mail.py:14", stdin="client.sned('a', 'b')")
    assert json.loads(out)["at"] == {"file": "app/mail.py", "line": 14}
    (root / "plan.py").write_text(BAD)
    status, out, _ = run("verify", "plan.py")
    assert json.loads(out)["ungrounded"][0]["file"] == "plan.py"
    status, out, _ = run("verify", "--as", "app/new.py", stdin=BAD)
    assert json.loads(out)["ungrounded"][0]["file"] == "app/new.py"
    (root / "answer.md").write_text(f"Do this:\n\n```python\n{BAD}```\n")
    status, out, _ = run("verify", "answer.md")
    assert (json.loads(out)["ungrounded"][0]["file"], json.loads(out)["ungrounded"][0]["line"]) == ("answer.md", 5)
    status, out, _ = run("verify", "--format", "text", stdin=BAD)
    assert (
        out.splitlines()[0] == "<stdin>:2:14: error[unknown-member]: class `app.mail.Client` has no member `teleport`"
    )
    assert out.splitlines()[-1] == "gate: block (2 of 2 calls decided)"


def test_verify_with_repairs(run):
    status, out, _ = run("verify", "--repair", stdin=BAD.replace("teleport('a')", "sned('a', 'b')"))
    data = json.loads(out)
    assert status == 1  # what was given does not pass; what comes back does
    assert data["repaired"] == {"<stdin>": GOOD}
    assert data["left"] == 0


def test_verify_calls_of_tools(run, root):
    (root / "tools.json").write_text(json.dumps(TOOLS))
    call = '{"name": "weather", "arguments": {"city": 5}}'
    status, out, _ = run("verify", "--tools", "tools.json", stdin=call)
    assert (status, codes(out)) == (1, ["wrong-type"])
    assert json.loads(out)["arity_errors"][0]["evidence"] == [
        "weather(city: string (optional)) is a tool of tools.json"
    ]
    assert run("verify", "--tools", "tools.json", stdin=call.replace("5", '"x"'))[0] == 0
    status, out, _ = run("verify", "--calls", stdin='{"name": "connect", "arguments": {"prot": 1}}')
    assert codes(out) == ["missing-argument", "unknown-keyword"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--at", "nowhere"], "--at wants FILE:LINE"),
        (["none.py"], "none.py: No such file"),
        (["--tools", "none.json"], "none.json: No such file"),
        (["--root", "none"], "no such folder"),
        ([], "nothing to verify"),
    ],
)
def test_usage(run, arguments, said):
    status, out, err = run("verify", *arguments)
    assert (status, out) == (2, "")
    assert said in err


def test_batch(run, root):
    requests = [{"code": GOOD}, {"code": BAD}, {"nonsense": 1}, {"calls": [{"name": "weather"}], "tools": TOOLS}]
    lines = [json.dumps(request) for request in requests]
    (root / "requests.jsonl").write_text("\n".join([*lines[:3], "not json", "", lines[3]]) + "\n")
    status, out, _ = run("verify", "--batch", "requests.jsonl")
    answers = [json.loads(line) for line in out.splitlines()]
    assert status == 1
    assert [a["gate"]["decision"] if "gate" in a else a["error"].partition(":")[0] for a in answers] == [
        "pass", "block", "unknown member", "not JSON", "pass",
    ]  # fmt: skip


# -- hook

PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Write", "permission_mode": "default"}


def payload(root, text):
    return json.dumps({**PAYLOAD, "cwd": str(root), "tool_input": {"file_path": f"{root}/app/new.py", "content": text}})


def test_hook(run, root):
    status, out, err = run("hook", stdin=payload(root, BAD))
    assert (status, err) == (0, "")
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert run("hook", stdin=payload(root, GOOD)) == (0, "", "")
    status, out, err = run("hook", stdin="nonsense")
    assert (status, err.startswith("callground: not checked")) == (0, True)
    status, out, err = run("hook", "--mode", "ask", "--agent=claude", "--limit", "5", stdin=payload(root, BAD))
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "ask"


@pytest.mark.parametrize("arguments", [["--mode", "no"], ["--what"], ["--agent"], ["--print-config", "vim"]])
def test_hook_usage(run, arguments):
    status, out, err = run("hook", *arguments)
    assert (status, out) == (2, "")
    assert "usage: callground hook" in err


def test_printed_settings(run):
    _, out, err = run("hook", "--print-config", "claude")
    (entry,) = json.loads(out)["hooks"]["PreToolUse"]
    assert entry["matcher"] == "Edit|Write|MultiEdit|NotebookEdit"
    assert entry["hooks"][0]["command"].endswith("hook --agent claude")
    assert ".claude/settings.json" in err
    _, out, _ = run("hook", "--print-config", "cursor")
    assert json.loads(out)["version"] == 1
    assert set(json.loads(out)["hooks"]) == {"preToolUse", "afterFileEdit"}
    _, out, _ = run("hook", "--print-config", "plugin")
    folder = out.strip()
    for name in (".claude-plugin/plugin.json", ".lsp.json", ".mcp.json", "hooks/hooks.json", "cursor.json"):
        assert json.loads(Path(folder, name).read_text("utf-8"))
    manifest = json.loads(Path(folder, ".claude-plugin/plugin.json").read_text("utf-8"))
    for key in ("hooks", "lspServers", "mcpServers"):
        assert os.path.isfile(os.path.join(folder, manifest[key]))


def test_printed_commands_run(run, root):
    """The command that the settings name is one that answers."""
    _, out, _ = run("hook", "--print-config", "claude", PATH=os.path.dirname(sys.executable))
    command = json.loads(out)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    done = subprocess.run(
        command, shell=True, input=payload(root, BAD), capture_output=True, text=True, timeout=120,
        env={**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]},
    )  # fmt: skip
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


# -- the daemon


def test_daemon(daemon, run, root):
    cold = run("verify", "--no-daemon", stdin=BAD)
    assert run("verify", stdin=BAD) == cold
    _, out, _ = run("daemon", "status")
    health = json.loads(out)
    assert health["workspaces"] == [{"root": str(root), "warm": True, "answered": 1}]
    assert run("hook", stdin=payload(root, BAD)) == run("hook", "--no-daemon", stdin=payload(root, BAD))
    assert json.loads(run("daemon", "status")[1])["workspaces"][0]["answered"] == 2
    # A change on disk counts for the next question.
    mail = root / "app" / "mail.py"
    mail.write_text(mail.read_text().replace("def send(self, to, subject", "def teleport(self, to"))
    assert run("verify", stdin=BAD)[0] == 0
    # Another one steps back.
    assert run("daemon", "start")[:2] == (0, "a daemon is running already\n")
    assert run("daemon", "run")[0] == 0
    # What cannot be answered does not end it.
    assert "error" in link.ask("nonsense")
    assert "unknown member" in link.ask("verify", request={"x": 1})["error"]
    assert run("verify", stdin="")[0] == 2
    # Whoever lets others look at the address's folder is not trusted.
    assert link.is_private(link.folder())
    os.chmod(link.folder(), 0o755)
    assert link.connect() is None
    os.chmod(link.folder(), 0o700)


def test_a_hook_starts_the_daemon_for_the_next_edit(run, root, tmp_path, monkeypatch):
    monkeypatch.delenv(link.OFF)
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "own cache"))
    assert run("daemon", "status")[:2] == (1, "no daemon is running\n")
    assert run("daemon", "stop")[:2] == (0, "no daemon is running\n")
    run("hook", stdin=payload(root, GOOD))
    for _ in range(200):
        if link.ask("health") is not None:
            break
        time.sleep(0.1)
    assert link.ask("health") is not None
    assert run("daemon", "stop")[:2] == (0, "stopped\n")


def test_an_idle_daemon_ends(run, tmp_path, monkeypatch):
    monkeypatch.delenv(link.OFF)
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "own cache"))
    began = time.monotonic()
    assert run("daemon", "run", "--idle", "0.5")[0] == 0
    assert time.monotonic() - began < 30
    assert not os.path.exists(link.address_file())
