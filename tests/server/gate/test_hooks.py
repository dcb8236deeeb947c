"""A corpus of hook payloads, each with the documented answer."""

from __future__ import annotations

import json

import pytest

from callground_server.gate.hooks.run import respond

GOOD = "from app.mail import connect\nconnect('x').send('a', 'b')\n"
NEAR = "from app.mail import connect\nconnect('x').sned('a', 'b')\n"  # repaired for certain
BAD = "from app.mail import connect\nconnect('x').teleport('a')\n"  # nothing that could be meant
SURPLUS = "from app.mail import connect\nconnect('x', 1, 2)\n"  # which argument to leave out is not ours to say


@pytest.fixture
def ask(engine, root):
    def hook(payload, **options):
        text = payload if isinstance(payload, str) else json.dumps(payload)
        reply = respond(engine, text.replace("$ROOT", str(root)), options)
        assert reply.status == 0
        assert not reply.out or reply.out.endswith("\n")
        return json.loads(reply.out) if reply.out else None

    return hook


def claude(tool, event="PreToolUse", **given):
    """What Claude Code sends (fields as its documentation lists them)."""
    extra = {"tool_response": given.pop("response")} if "response" in given else {}
    mode = given.pop("mode", "default")
    return {
        "session_id": "abc123",
        "transcript_path": "/home/me/.claude/projects/x/abc.jsonl",
        "cwd": "$ROOT",
        "permission_mode": mode,
        "hook_event_name": event,
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "toolu_01",
        **extra,
    }


def cursor(tool, event="preToolUse", **given):
    return {
        "conversation_id": "c",
        "generation_id": "g",
        "model": "m",
        "hook_event_name": event,
        "cursor_version": "2.3.0",
        "workspace_roots": ["$ROOT"],
        "tool_name": tool,
        "tool_input": given,
    }


def write(text, name="app/new.py", **rest):
    return claude("Write", file_path=f"$ROOT/{name}", content=text, **rest)


def test_a_workspace_with_two_names(ask, root, tmp_path):
    (tmp_path / "link").symlink_to(root)
    payload = {**write(BAD), "cwd": str(tmp_path / "link")}
    assert decision(ask(payload)) == "deny"


def test_excluded_by_the_settings(ask, root):
    (root / "pyproject.toml").write_text('[tool.callground]\nexclude = ["app/new.py"]\n')
    assert ask(write(BAD)) is None


def decision(answer):
    return answer["hookSpecificOutput"]["permissionDecision"]


# -- nothing to say

SILENT = {
    "all grounded": write(GOOD),
    "no Python": write("x.y()", name="README.md"),
    "outside of the workspace": claude("Write", file_path="/somewhere/else/x.py", content=BAD),
    "in an environment": write(BAD, name="node_modules/x/y.py"),
    "another tool": claude("Read", file_path="$ROOT/app/mail.py"),
    "another event": {**write(BAD), "hook_event_name": "SessionStart"},
    "an edit that does not fit": claude("Edit", file_path="$ROOT/app/mail.py", old_string="nowhere", new_string="x()"),
    "an edit of a file that is not there": claude(
        "Edit", file_path="$ROOT/app/none.py", old_string="a", new_string="b"
    ),
    "a shell command": claude("Bash", command="ls"),
    "nothing but a deletion": claude(
        "Edit", file_path="$ROOT/app/mail.py", old_string="    client = Client(host)\n", new_string=""
    ),
    "empty file": write(""),
    "what was wrong before": claude(
        "Edit", file_path="$ROOT/app/old.py", old_string="c.never()", new_string="c.never()  # later"
    ),
}


@pytest.mark.parametrize("payload", SILENT.values(), ids=SILENT)
def test_silent(ask, root, payload):
    (root / "app" / "old.py").write_text("from app.mail import connect\nc = connect('x')\nc.never()\n")
    assert ask(payload) is None


# -- blocked


def edit(old, new, name="app/mail.py", **rest):
    return claude("Edit", file_path=f"$ROOT/{name}", old_string=old, new_string=new, **rest)


RETURN = "    return client\n"
BLOCKED = {
    "write": write(BAD),
    "surplus argument": write(SURPLUS),
    "edit": edit(RETURN, f"    client.teleport()\n{RETURN}"),
    "multi-edit": claude(
        "MultiEdit",
        file_path="$ROOT/app/mail.py",
        edits=[
            {"old_string": RETURN, "new_string": f"    other = client\n{RETURN}"},
            {"old_string": "other = client", "new_string": "other = client.teleport()"},
        ],
    ),
    "relative path": claude("Write", file_path="app/new.py", content=BAD),
    "new file by an edit": edit("", BAD, name="app/new.py"),
    "vs code": {
        "hookEventName": "PreToolUse",
        "cwd": "$ROOT",
        "tool_name": "replace_string_in_file",
        "tool_input": {
            "filePath": "$ROOT/app/mail.py",
            "oldString": RETURN,
            "newString": f"    client.teleport()\n{RETURN}",
        },
    },
    "heredoc in a shell command": claude(
        "Bash", command="python - <<'EOF'\nfrom app.mail import connect\nconnect('x').teleport()\nEOF\n"
    ),
    "patch": claude(
        "apply_patch",
        command="*** Begin Patch\n*** Update File: app/mail.py\n@@ def connect\n     client = Client(host)\n"
        "+    client.teleport()\n     return client\n*** End Patch\n",
    ),
}


@pytest.mark.parametrize("payload", BLOCKED.values(), ids=BLOCKED)
def test_denied_with_the_reasons(ask, payload):
    answer = ask(payload)
    assert answer["hookSpecificOutput"]["hookEventName"] == "PreToolUse"
    assert decision(answer) == "deny"
    reason = answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert "teleport" in reason or "takes at most 2 positional arguments" in reason
    assert "app/mail.py:" in reason
    assert "updatedInput" not in answer["hookSpecificOutput"]


def test_the_reason_has_the_real_signature(ask):
    answer = ask(write("from app.mail import connect\nconnect('x').sned(1)\n"))
    reason = answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert "app/new.py:2: class `app.mail.Client` has no member `sned` [unknown-member]" in reason
    assert "did you mean `send(to, subject, *, cc=None)`?" in reason


@pytest.mark.parametrize(("mode", "expected"), [("ask", "ask"), ("deny", "deny")])
def test_modes(ask, mode, expected):
    assert decision(ask(write(BAD), mode=mode)) == expected


def test_warn_lets_the_edit_go_on(ask):
    answer = ask(write(BAD), mode="warn")
    assert "permissionDecision" not in answer["hookSpecificOutput"]
    assert "teleport" in answer["hookSpecificOutput"]["additionalContext"]
    assert "teleport" in answer["systemMessage"]


def test_the_settings_say_the_mode_and_what_blocks(ask, root):
    (root / "pyproject.toml").write_text('[tool.callground.gate]\nhook = "ask"\n')
    assert decision(ask(write(BAD))) == "ask"
    (root / "pyproject.toml").write_text('[tool.callground.gate]\nwarn = ["unknown-member"]\n')
    assert "additionalContext" in ask(write(BAD))["hookSpecificOutput"]
    (root / "pyproject.toml").write_text('[tool.callground.gate]\nignore = ["unknown-member"]\n')
    assert ask(write(BAD)) is None


# -- repaired


def test_a_certain_repair_comes_as_updated_input(ask):
    answer = ask(write(NEAR))
    assert decision(answer) == "ask"  # the user sees the repaired edit
    output = answer["hookSpecificOutput"]
    assert output["updatedInput"]["content"] == GOOD
    assert output["updatedInput"]["file_path"].endswith("app/new.py")
    assert "repaired" in output["permissionDecisionReason"]
    assert decision(ask(write(NEAR, mode="acceptEdits"))) == "allow"
    assert decision(ask(write(NEAR), repair=False)) == "deny"


def test_repaired_edits_keep_their_form(ask):
    output = ask(edit(RETURN, f"    client.sned('a', 'b')\n{RETURN}"))["hookSpecificOutput"]
    assert output["updatedInput"]["new_string"] == f"    client.send('a', 'b')\n{RETURN}"
    assert output["updatedInput"]["old_string"] == RETURN
    edits = [
        {"old_string": "    client = Client(host)\n", "new_string": "    client = Client(host)\n    json.laods('1')\n"},
        {"old_string": RETURN, "new_string": f"    client.sned('a', 'b')\n{RETURN}"},
    ]
    output = ask(claude("MultiEdit", file_path="$ROOT/app/mail.py", edits=edits))["hookSpecificOutput"]
    assert [e["new_string"] for e in output["updatedInput"]["edits"]] == [
        "    client = Client(host)\n    json.loads('1')\n",
        f"    client.send('a', 'b')\n{RETURN}",
    ]


def test_one_finding_without_a_repair_denies_the_whole_edit(ask):
    assert decision(ask(write(NEAR + "connect('x').teleport()\n"))) == "deny"


def test_a_repair_outside_of_the_edit_cannot_be_told(ask, root):
    """The import that is missing belongs to the top of a file of which one line is edited."""
    (root / "app" / "use.py").write_text("def f():\n    pass\n")
    answer = ask(edit("    pass\n", "    connect('x')\n", name="app/use.py"))
    assert decision(answer) == "deny"
    assert "connect" in answer["hookSpecificOutput"]["permissionDecisionReason"]


# -- after the edit


def test_after_the_write(ask, root):
    (root / "app" / "new.py").write_text(BAD)
    answer = ask(write(BAD, event="PostToolUse"))
    assert answer["decision"] == "block"
    assert "has brought in" in answer["reason"]
    assert "teleport" in answer["reason"]
    (root / "app" / "new.py").write_text(GOOD)
    assert ask(write(GOOD, event="PostToolUse")) is None


def test_after_an_edit_only_what_it_brought_in(ask, root):
    path = root / "app" / "new.py"
    path.write_text(BAD + "x = 2\n")
    assert ask(edit("x = 1", "x = 2", name="app/new.py", event="PostToolUse")) is None
    path.write_text(BAD + "connect('x').beam()\n")
    answer = ask(edit("x = 1", "connect('x').beam()", name="app/new.py", event="PostToolUse"))
    assert "beam" in answer["reason"]
    assert "teleport" not in answer["reason"]
    response = {"filePath": "x", "originalFile": BAD + "connect('x').beam()\n"}
    assert ask(edit("y", "z", name="app/new.py", event="PostToolUse", response=response)) is None


# -- Cursor


def test_cursor_before(ask):
    answer = ask(cursor("Write", file_path="$ROOT/app/new.py", contents=BAD))
    assert answer["permission"] == "deny"
    assert "teleport" in answer["agent_message"]
    assert "\n" not in answer["user_message"]
    answer = ask(cursor("Write", path="$ROOT/app/new.py", contents=NEAR))
    assert (answer["permission"], answer["updated_input"]["contents"]) == ("allow", GOOD)
    assert ask(cursor("Write", path="$ROOT/app/new.py", contents=GOOD)) is None
    assert ask(cursor("Write", path="$ROOT/app/new.py", contents=BAD), mode="ask")["permission"] == "ask"
    assert ask(cursor("Write", path="$ROOT/app/new.py", contents=BAD), mode="warn")["permission"] == "allow"


def test_cursor_after(ask, root):
    (root / "app" / "new.py").write_text(BAD)
    payload = cursor("", event="afterFileEdit")
    del payload["tool_input"], payload["tool_name"]
    payload |= {"file_path": "$ROOT/app/new.py", "edits": [{"old_string": "x = 1", "new_string": BAD.split("\n")[1]}]}
    assert "teleport" in ask(payload)["additional_context"]
    assert (
        "teleport"
        in ask(cursor("Write", event="postToolUse", path="$ROOT/app/new.py", contents=BAD))["additional_context"]
    )


# -- several files, notebooks


def test_a_patch_of_several_files_is_one_plan(ask):
    patch = (
        "*** Begin Patch\n*** Add File: app/made.py\n+def helper(a):\n+    return a\n"
        "*** Add File: app/use.py\n+from app.made import helper\n+helper({})\n*** End Patch\n"
    )
    assert ask(claude("apply_patch", input=patch.format("1"))) is None
    answer = ask(claude("apply_patch", input=patch.format("")))
    assert decision(answer) == "deny"
    assert "its required argument `a`" in answer["hookSpecificOutput"]["permissionDecisionReason"]


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "id": "m", "source": ["# Title"]},
        {"cell_type": "code", "id": "a", "source": ["from app.mail import connect\n", "c = connect('x')"]},
        {"cell_type": "code", "id": "b", "source": "%matplotlib inline\nc.send('a', 'b')"},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def notebook(source, **rest):
    return claude("NotebookEdit", notebook_path="$ROOT/n.ipynb", new_source=source, **rest)


def test_notebooks(ask, root):
    (root / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    assert ask(notebook("c.send('a', 'c')", cell_id="b")) is None
    answer = ask(notebook("c.teleport()", cell_id="b"))
    assert decision(answer) == "deny"
    assert "n.ipynb:4: class `app.mail.Client`" not in answer
    assert "n.ipynb:3:" in answer["hookSpecificOutput"]["permissionDecisionReason"]
    output = ask(notebook("c.sned('a', 'b')", cell_id="b"))["hookSpecificOutput"]
    assert output["updatedInput"]["new_source"] == "c.send('a', 'b')"
    assert decision(ask(notebook("c.teleport()", cell_id="a", edit_mode="insert", cell_type="code"))) == "deny"
    assert ask(notebook("c.teleport()", cell_id="m", cell_type="markdown")) is None
    assert ask(notebook("c.teleport()", cell_id="zzz")) is None
    assert ask(notebook("%timeit c.teleport()", cell_id="b")) is None


# -- fails open, and says so

BROKEN = {
    "no JSON": "nonsense",
    "no object": "[1]",
    "no event": "{}",
    "no input": '{"hook_event_name": "PreToolUse"}',
    "cut off": json.dumps(write(BAD))[:80],
}


@pytest.mark.parametrize("payload", BROKEN.values(), ids=BROKEN)
def test_broken_payloads(engine, payload):
    reply = respond(engine, payload, {})
    assert reply.status == 0
    assert json.loads(reply.out)["systemMessage"].startswith("callground: not checked: the payload")
    assert reply.err.startswith("callground: not checked")


def test_code_that_does_not_parse_goes_on_and_is_said(ask, root):
    answer = ask(write("def f(:\n"))
    assert "new.py: line 1 does not parse" in answer["systemMessage"]
    (root / "app" / "half.py").write_text("def f(:\nx = 1\n")
    assert ask(edit("x = 1", "x = 2", name="app/half.py")) is None  # it was so before


def test_too_slow_goes_on_and_is_said(ask):
    assert "not checked" in ask(write(BAD), limit=0.0)["systemMessage"]


def test_a_failure_of_ours_goes_on_and_is_said(engine, root, monkeypatch):
    monkeypatch.setattr(type(engine), "ask", lambda *_, **__: 1 / 0)
    reply = respond(engine, json.dumps(write(BAD)).replace("$ROOT", str(root)), {})
    assert "internal error: ZeroDivisionError" in json.loads(reply.out)["systemMessage"]
    reply = respond(
        engine, json.dumps(cursor("Write", path="$ROOT/app/x.py", contents=BAD)).replace("$ROOT", str(root)), {}
    )
    assert "internal error" in json.loads(reply.out)["user_message"]
