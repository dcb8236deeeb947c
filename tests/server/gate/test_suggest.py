"""Suggestions of tool calls through every door: the command, the MCP server, HTTP, and the daemon's engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from callground.caller.bundled import CALIBRATION_FILE, KIND
from callground.caller.encoder import Encoder, default_model
from callground.caller.gate import GATE_FILE
from callground.config import read_settings
from callground.config.model import Caller
from callground_server.cli import main
from callground_server.gate.engine import Engine, RequestError
from callground_server.gate.suggest import unavailable

TOOLS = [
    {
        "name": "get_weather",
        "description": "Get the weather forecast of a city",
        "inputSchema": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Name of the city"}},
            "required": ["city"],
        },
    },
    {
        "name": "send_email",
        "description": "Send an email message to a person",
        "inputSchema": {
            "type": "object",
            "properties": {
                "recipient": {"type": "string", "description": "Email address of the recipient"},
                "subject": {"type": "string"},
            },
            "required": ["recipient"],
        },
    },
]
WEATHER = "Get the weather forecast for the city of Oslo"


def _missing() -> str:
    why = Encoder().available()
    files = [name for name in (GATE_FILE, CALIBRATION_FILE) if not (default_model() / name).is_file()]
    return why or (f"the model lacks {', '.join(files)}" if files else "")


with_model = pytest.mark.skipif(bool(_missing()), reason=f"there is no caller here: {_missing()}")


@pytest.fixture
def engine(root, cache):
    made = Engine(python=sys.executable, cache=str(cache), root=str(root), confined=True)
    yield made
    made.close()


@pytest.fixture
def tools(tmp_path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps({"tools": TOOLS}))
    return str(file)


@with_model
def test_asked_the_right_tool_comes_with_its_argument(engine):
    answer = engine.suggest({"request": WEATHER, "tools": TOOLS, "ask": True, "explain": True})
    assert answer["suggestion"]["name"] == "get_weather"
    assert answer["suggestion"]["arguments"] == {"city": "Oslo"}
    assert answer["candidates"][0]["name"] == "get_weather"
    assert answer["candidates"][0]["share"] > 0.5
    assert answer["explanation"]["calibration"]["rows"] > 100


@with_model
@pytest.mark.parametrize(
    "request_", ["How many planets does the sun have?", "Book two seats for the opera on Friday", "def f(x): return x"]
)
def test_what_fits_no_tool_gives_no_call(engine, request_):
    answer = engine.suggest({"request": request_, "tools": TOOLS})
    assert answer["suggestion"] is None
    assert answer["abstained"]["reason"] in ("not-sure", "missing-argument", "several-actions", "unsure-arguments")


@with_model
@pytest.mark.parametrize("request_", ["0" * 20_000, "x " * 9_000, "\ud800", "\0", "天気 " * 3_000, "?" * 5_000])
def test_odd_requests_break_nothing(engine, request_):
    answer = engine.suggest({"request": request_, "tools": TOOLS, "ask": True, "explain": True})
    assert (answer["suggestion"] is None) != (answer["abstained"] is None)


@with_model
def test_a_looser_promise_answers_at_least_as_much(engine):
    requests = [WEATHER, "Send an email to ann@example.org", "weather oslo?", "Play some music"]
    answered = [
        sum(
            engine.suggest({"request": text, "tools": TOOLS, "alpha": alpha})["suggestion"] is not None
            for text in requests
        )
        for alpha in (0.02, 0.1, 0.3)
    ]
    assert answered == sorted(answered)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ([], "JSON object"),
        ({}, "`request`"),
        ({"request": 3, "tools": TOOLS}, "`request`"),
        ({"request": "x"}, "`tools`"),
        ({"request": "x", "tools": TOOLS, "alpha": 1}, "`alpha`"),
        ({"request": "x", "tools": TOOLS, "delta": "0.1"}, "`delta`"),
        ({"request": "x", "tools": TOOLS, "ask": 1}, "`ask`"),
        ({"request": "x", "tools": TOOLS, "what": 1}, "unknown member: what"),
        ({"request": "x" * 30_000, "tools": TOOLS}, "longer than"),
    ],
)
def test_a_request_that_cannot_be_answered_is_said(engine, request_, said):
    with pytest.raises(RequestError, match=said):
        engine.suggest(request_)


@with_model
@pytest.mark.parametrize("tools_", [[], {}, [3], "x", [{"description": "no name"}]])
def test_tools_that_are_none(engine, tools_):
    with pytest.raises(RequestError, match="holds no tool"):
        engine.suggest({"request": "x", "tools": tools_})


def test_switched_off_or_without_a_model_there_is_one_clear_message(engine, root, tmp_path):
    assert "switched off" in unavailable(Caller(enabled=False))
    (tmp_path / "empty").mkdir()
    assert "everything else works" in unavailable(Caller(path=str(tmp_path / "empty")))
    (root / "pyproject.toml").write_text("[tool.callground.caller]\nenabled = false\n")
    with pytest.raises(RequestError, match=r"caller\.enabled"):
        engine.suggest({"request": "x", "tools": TOOLS})
    (root / "pyproject.toml").write_text('[tool.callground.caller]\npath = "nowhere"\n')
    with pytest.raises(RequestError, match="everything else works"):
        engine.suggest({"request": "x", "tools": TOOLS})
    assert engine.verify({"code": "print(1)"})["gate"]["passed"]


def test_settings():
    config, problems = read_settings({"caller": {"enabled": False, "alpha": 0.2, "delta": 0.01, "path": "model"}})
    assert config.caller == Caller(False, 0.2, 0.01, "model")
    assert problems == ()
    config, problems = read_settings({"caller": {"alpha": 2, "delta": True, "enabled": 1, "path": 3, "alhpa": 0.1}})
    assert config.caller == Caller()
    assert len(problems) == 5
    assert "did you mean `alpha`" in problems[-1].message
    assert read_settings({"caller": 1})[1][0].message.startswith("`caller` must be a table")


def test_the_off_switch_is_for_editors_too(root, monkeypatch, capsys):
    assert read_settings({})[0].suggests
    assert not read_settings({"suggestions": False})[0].suggests
    assert not read_settings({"caller": {"enabled": False}})[0].suggests
    monkeypatch.chdir(root)
    (root / "pyproject.toml").write_text("[tool.callground.caller]\nenabled = false\n")
    assert main(["suggest", "send it", "--at", str(root / "app" / "mail.py") + ":1"]) == 2
    assert "switched off" in capsys.readouterr().err


# -- the command


@with_model
def test_the_command(tools, root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    monkeypatch.setenv("CALLGROUND_NO_DAEMON", "1")
    assert main(["suggest", WEATHER, "--tools", tools, "--ask"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0]) == {
        "name": "get_weather",
        "arguments": {"city": "Oslo"},
    }
    assert main(["suggest", "Paint the fence", "--tools", tools, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["suggestion"] is None
    assert main(["suggest", WEATHER, "--tools", tools, "--ask", "--explain"]) == 0
    shown = capsys.readouterr().out
    assert "name_said" in shown
    assert "calibrated on" in shown


@with_model
def test_a_batch_has_one_answer_a_line(tools, tmp_path, root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    monkeypatch.setenv("CALLGROUND_NO_DAEMON", "1")
    lines = [{"request": WEATHER, "ask": True}, {"request": ""}, {"request": WEATHER, "tools": TOOLS[1:]}, 7]
    batch = tmp_path / "batch.jsonl"
    batch.write_text("\n".join(map(json.dumps, lines)) + "\n\n{broken\n")
    assert main(["suggest", "--tools", tools, "--batch", str(batch)]) == 1
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(answers) == 5
    assert answers[0]["suggestion"]["name"] == "get_weather"
    assert answers[1]["abstained"]["reason"] == "empty-request"
    assert answers[2]["suggestion"] is None
    assert ["error" in answer for answer in answers] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x"], "give --tools"),
        (["x", "--tools", "none.json"], "none.json"),
        (["--tools", "{tools}"], "give the request"),
        (["x", "--tools", "{tools}", "--at", "a.py:1"], "without --tools"),
        (["x", "--tools", "{tools}", "--root", "nowhere"], "no such folder"),
    ],
)
def test_usage(arguments, said, tools, root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    monkeypatch.setenv("CALLGROUND_NO_DAEMON", "1")
    assert main(["suggest", *(argument.format(tools=tools) for argument in arguments)]) == 2
    assert said in capsys.readouterr().err


def test_the_contract_is_printed(capsys):
    assert main(["schema", "suggest"]) == 0
    page = capsys.readouterr().out
    for reason in ("not-sure", "no-guarantee", "several-actions", "missing-argument", "not-grounded"):
        assert f"`{reason}`" in page


# -- real clients


@with_model
async def test_an_mcp_client(root, cache):
    pytest.importorskip("mcp", reason="the extra `agents` is not installed")
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "callground_server", "mcp", "--python", sys.executable],
        cwd=str(root),
        env={**os.environ, "CALLGROUND_CACHE_DIR": str(cache)},
    )
    async with Client(stdio_client(parameters)) as session:
        result = await session.call_tool("suggest_call", {"request": WEATHER, "tools": TOOLS, "ask": True})
        assert not result.is_error, result.content
        assert result.structured_content["suggestion"]["arguments"] == {"city": "Oslo"}
        refused = await session.call_tool("suggest_call", {"request": WEATHER, "tools": []})
        assert refused.is_error
        assert "holds no tool" in refused.content[0].text


@with_model
def test_an_http_client(root):
    httpx = pytest.importorskip("httpx")
    process = subprocess.Popen(
        [sys.executable, "-m", "callground_server", "serve", "--port", "0", "--python", sys.executable],
        cwd=root,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        assert " serves " in line, line
        with httpx.Client(base_url=line.split()[1], timeout=60) as client:
            answer = client.post("/suggest", json={"request": WEATHER, "tools": TOOLS, "ask": True})
            assert (answer.status_code, answer.json()["suggestion"]["name"]) == (200, "get_weather")
            assert client.post("/suggest", json={"request": WEATHER}).status_code == 422
            assert client.post("/suggest", content=b"{").status_code == 415
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@with_model
def test_the_record_in_the_model_folder_keeps_its_promise_by_its_own_rows():
    from callground.caller.bundled import load_calibration

    record = load_calibration(default_model(), KIND)
    found = record.guarantee()
    assert found is not None, "the default settings would never answer"
    reached = [row for row in record.rows if row.score >= found.threshold]
    assert (len(reached), sum(row.wrong for row in reached)) == (found.answered, found.wrong)
    assert found.wrong / found.answered < found.bound <= 0.1
