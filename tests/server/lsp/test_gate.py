"""The gate inside a session: the request, the command, unsaved documents."""

from __future__ import annotations

from typing import Any

import pytest
from lsprotocol import types as lsp

from callground_server.features.gate import plain

MAIL = (
    "class Client:\n    def send(self, to, subject): ...\n\ndef connect():\n    client = Client()\n    return client\n"
)


async def ask(editor: Any, **request: Any) -> dict[str, Any]:
    return plain(await editor.client.protocol.send_request_async("callground/verify", request))


@pytest.fixture
def project(root):
    (root / "mail.py").write_text(MAIL)
    return root


async def test_request(project, pulled):
    await pulled.start()
    answer = await ask(pulled, code="client.sned(1, 2)", at={"file": pulled.uri("mail.py"), "line": 6}, repair=True)
    assert (answer["gate"]["decision"], answer["ungrounded"][0]["code"]) == ("block", "unknown-member")
    assert answer["left"] == 0
    files = {pulled.uri("a.py"): "def helper(a): ...\n", f"{project}/b.py": "from a import helper\nhelper()\n"}
    answer = await ask(pulled, files=files)
    assert [(e["file"], e["code"]) for e in answer["arity_errors"]] == [("b.py", "missing-argument")]
    assert await ask(pulled) == {"error": "nothing to verify: give `code`, `files`, `edits` or `calls`"}


async def test_unsaved_documents_count(project, pulled):
    await pulled.start()
    pulled.open("mail.py", MAIL.replace("send", "post"))
    answer = await pulled.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("callground.verify", [{"code": "client.send(1, 2)", "at": f"{project}/mail.py:6"}])
    )
    assert answer["ungrounded"][0]["code"] == "unknown-member"
    answer = await pulled.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("callground.verify", [{"code": "client.post(1, 2)", "at": f"{project}/mail.py:6"}])
    )
    assert answer["gate"]["passed"]


async def test_what_cannot_be_answered_is_said(project, pulled):
    await pulled.start()
    answer = await pulled.client.workspace_execute_command_async(
        lsp.ExecuteCommandParams("callground.verify", [{"nonsense": 1}])
    )
    assert answer == {"error": "unknown member: nonsense"}
