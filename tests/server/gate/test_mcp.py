"""The MCP server, driven by the SDK's own client over standard input and output."""

from __future__ import annotations

import json
import os
import sys

import pytest

mcp = pytest.importorskip("mcp", reason="the extra `agents` is not installed")

from mcp.client.client import Client  # noqa: E402
from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402

BAD = "from app.mail import connect\nconnect('x').teleport('a')\n"


@pytest.fixture
def client(root, cache):
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "callground_server", "mcp", "--python", sys.executable],
        cwd=str(root),
        env={**os.environ, "CALLGROUND_CACHE_DIR": str(cache)},
    )
    return Client(stdio_client(parameters))


async def call(session, tool, **arguments):
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


async def test_tools_cost_little_context(client):
    async with client as session:
        tools = (await session.list_tools()).tools
        assert {tool.name for tool in tools} == {"verify", "signature_of", "find_symbol", "suggest_call"}
        cost = sum(
            len(json.dumps(tool.model_dump(include={"name", "description", "input_schema"}, exclude_none=True)))
            for tool in tools
        )
        assert cost < 4000  # about a thousand tokens
        assert all(tool.annotations.read_only_hint for tool in tools)


async def test_verify(client, root):
    async with client as session:
        answer = await call(session, "verify", code=BAD)
        assert answer["gate"]["decision"] == "block"
        assert answer["ungrounded"][0]["code"] == "unknown-member"
        assert (await call(session, "verify", code="client.send('a', 'b')", at="app/mail.py:14"))["gate"]["passed"]
        answer = await call(session, "verify", code="client.sned('a', 'b')", at="app/mail.py:14", repair=True)
        assert answer["repaired"] == {"<stdin>": "client.send('a', 'b')\n"}
        files = {"app/a.py": "def helper(a): ...\n", "app/b.py": "from app.a import helper\nhelper()\n"}
        assert (await call(session, "verify", files=files))["arity_errors"][0]["file"] == "app/b.py"
        edits = [{"file": "app/mail.py", "old": "return client", "new": "return client.beam()"}]
        assert (await call(session, "verify", edits=edits))["ungrounded"][0]["callee"] == "client.beam"
        tools = [{"name": "weather", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}]
        calls = [{"name": "weather", "arguments": {"town": "x"}}]
        assert (await call(session, "verify", calls=calls, tools=tools))["arity_errors"][0]["code"] == "unknown-keyword"
        # It follows changes of files.
        mail = root / "app" / "mail.py"
        mail.write_text(mail.read_text().replace("def send", "def teleport"))
        assert (await call(session, "verify", code=BAD.replace("'a'", "'a', 'b'")))["gate"]["passed"]


async def test_look_before_you_write(client):
    async with client as session:
        answer = await call(session, "signature_of", name="connect")
        assert answer["signatures"][0]["signature"] == "connect(host: str, port: int = 25)"
        answer = await call(session, "signature_of", name="json.dumps")
        assert answer["signatures"][0]["signature"].startswith("dumps(")
        answer = await call(session, "find_symbol", query="send")
        assert answer["found"][0]["file"] == "app/mail.py"


async def test_a_question_that_cannot_be_answered_is_said(client):
    async with client as session:
        result = await session.call_tool("verify", {})
        assert result.is_error
        assert "nothing to verify" in result.content[0].text
        assert (await call(session, "verify", code="x = 1"))["gate"]["passed"]


def test_without_the_package_there_is_one_clear_message(root, monkeypatch, capsys):
    from callground_server.cli.gate import main

    monkeypatch.chdir(root)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    assert main(["mcp"]) == 2
    assert "pip install 'callground[agents]'" in capsys.readouterr().err
