"""``callground distill``, from the files of a team to a folder that answers."""

from __future__ import annotations

import http.server
import json
import threading

import pytest

from callground.caller import tool_caller
from callground.caller.teachers import ModelTeacher, TeacherError, teacher_from
from callground.caller.tools import ToolSpec
from callground_server.cli import main
from callground_server.cli.distill import read_requests
from tool_requests import TOOLS, make_synth, rule_teacher
from word_encoder import WordEncoder


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with tools and requests, and an encoder that needs no model."""
    monkeypatch.setattr(tool_caller, "Encoder", WordEncoder)
    monkeypatch.chdir(tmp_path)
    definitions = [
        {
            "name": tool["name"],
            "inputSchema": {
                "type": "object",
                "properties": {arg: {"type": "string"} for arg in tool["args"]},
                "required": tool["required"],
            },
        }
        for tool in TOOLS
        if tool["name"] in KEPT
    ]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": definitions}))
    requests = some_requests()
    (tmp_path / "requests.jsonl").write_text("".join(json.dumps({"request": text}) + "\n" for text in requests))
    return tmp_path


KEPT = ("find_references", "go_to_definition", None)


def some_requests():
    return [row["text"] for row in make_synth()[0] if row["tool"] in KEPT][:90]


def log_of(requests):
    lines = []
    for text in requests:
        answer = rule_teacher(text)
        messages = [{"role": "user", "content": text}]
        if answer["tool"]:
            use = {"type": "tool_use", "id": "t", "name": answer["tool"], "input": answer["args"]}
            result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
            messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        messages.append({"role": "assistant", "content": "done"})
        lines.append(json.dumps({"messages": messages}))
    return "\n".join(lines)


def test_a_log_is_learnt_from_and_the_folder_answers(desk, capsys):
    (desk / "log.jsonl").write_text(log_of(some_requests()))
    status = main(["distill", "--tools", "tools.json", "--teacher", "log.jsonl", "--out", "mine", "--seed", "1"])
    out = capsys.readouterr().out
    assert "90 of 90 answers of the teacher used" in out
    assert "find_references" in out
    assert "symbol: span" in out
    assert status in (0, 1)
    caller = tool_caller.ToolCaller.load(desk / "mine", encoder=WordEncoder())
    emitted = caller.report()["evidence"]["emitted"]
    assert (status == 0) == (emitted > 0)
    assert f"emitted {emitted} calls" in out
    assert {"reliability.svg", "risk_coverage.svg"} <= {each.name for each in (desk / "mine").iterdir()}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--tools", "none.json", "--teacher", "json:loads", "--requests", "requests.jsonl"], "none.json"),
        (["--tools", "tools.json", "--teacher", "json:loads"], "--requests is needed"),
        (["--tools", "tools.json", "--teacher", "json:no_such", "--requests", "requests.jsonl"], "no_such"),
        (["--tools", "tools.json", "--teacher", "nowhere", "--requests", "requests.jsonl"], "no address, no file"),
        (["--tools", "tools.json", "--teacher", "json:loads", "--requests", "requests.jsonl"], "can be used; raised"),
        (["--tools", "requests.jsonl", "--teacher", "json:loads"], "requests.jsonl"),
        (["--tools", "tools.json", "--teacher", "json:loads", "--requests", "tools.json"], "tools.json:1"),
    ],
)
def test_what_cannot_be_learnt_is_said(desk, capsys, given, said):
    assert main(["distill", *given, "--out", "mine"]) == 2
    assert said in capsys.readouterr().err
    assert not (desk / "mine").exists()


# -- a model behind an address


class _Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][0]["content"]
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        call = {"function": {"name": "find", "arguments": json.dumps({"q": text})}}
        calls = {"none": [], "two": [call, call]}.get(text, [call])
        data = json.dumps({"choices": [{"message": {"tool_calls": calls}}]} if text != "odd" else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def model():
    server = http.server.HTTPServer(("localhost", 0), _Model)
    server.seen = []
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_model_is_asked_as_openai_is(model, monkeypatch):
    monkeypatch.setenv("CALLGROUND_TEACHER_KEY", "k")
    teacher = teacher_from(f"http://localhost:{model.server_port}/v1/", [ToolSpec("find", ["q"])], model="m")
    assert isinstance(teacher, ModelTeacher)
    assert teacher("x") == {"tool": "find", "args": {"q": "x"}}
    assert teacher("none") == {"tool": None, "args": {}}
    with pytest.raises(ValueError, match="2 calls at once"):
        teacher("two")
    with pytest.raises(ValueError, match="no message"):
        teacher("odd")
    path, key, body = model.seen[0]
    assert (path, key, body["model"]) == ("/v1/chat/completions", "Bearer k", "m")
    assert body["tools"][0]["function"]["name"] == "find"


@pytest.mark.parametrize("word", ["os:sep", "no.such.module:f", "a b:c", "callground"])
def test_what_is_no_teacher_is_refused(word):
    with pytest.raises(TeacherError):
        teacher_from(word, [])


def test_a_broken_line_is_no_request(tmp_path):
    file = tmp_path / "requests.jsonl"
    file.write_text('{"request": "one\u2028two"}\nplain words\n', encoding="utf-8")
    assert read_requests(file) == ["one\u2028two", "plain words"]
    file.write_text('"good"\n{"request": "turn on the')
    with pytest.raises(Exception, match=r"requests.jsonl:2: "):
        read_requests(file)
