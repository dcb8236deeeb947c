"""A distilled caller behind the doors that suggest calls of tools."""

from __future__ import annotations

import pytest

from callground.caller.bundled import BundledCaller, Suggestion
from callground.caller.encoder import Encoder
from callground.caller.own_caller import BundledProposals, is_distilled
from callground.caller.tool_caller import ToolCaller, distill_tool_caller
from callground.config.model import Caller
from callground_server.gate.suggest import Suggester
from callground_server.gate.wire import RequestError
from tool_requests import make_synth, rule_teacher

pytestmark = pytest.mark.skipif(Encoder().available() is not None, reason=f"no caller: {Encoder().available()}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    train, _, tools = make_synth()
    folder = tmp_path_factory.mktemp("own") / "caller"
    caller = distill_tool_caller(
        rule_teacher, [row["text"] for row in train[:200]], tools, extractor_kw={"field_steps": 8}
    )
    caller.save(folder)
    return folder


@pytest.fixture(scope="module")
def specs(folder):
    return list(ToolCaller.load(folder).tools.values())


@pytest.fixture(scope="module")
def asked(specs):
    """(request, the teacher's answer) with a tool, and the tools as definitions."""
    _train, test, _tools = make_synth()
    rows = [(row["text"], rule_teacher(row["text"])) for row in test]
    found = [tool.as_toolcall_spec() for tool in specs]
    definitions = [{"name": spec.name, "inputSchema": spec.schema} for spec in found]
    return [(text, answer) for text, answer in rows if answer["tool"]], definitions


def test_it_is_asked_first(folder, asked):
    rows, definitions = asked
    suggester = Suggester()
    settings = Caller(path=str(folder))
    answers = [
        (suggester.suggest({"request": text, "tools": definitions}, settings)["suggestion"], answer)
        for text, answer in rows[:40]
    ]
    given = [(found, answer) for found, answer in answers if found is not None]
    right = [
        found for found, answer in given if (found["name"], found["arguments"]) == (answer["tool"], answer["args"])
    ]
    assert len(given) >= 20
    assert len(right) >= 0.9 * len(given)
    bundled = [suggester.suggest({"request": t, "tools": definitions}, Caller())["suggestion"] for t, _a in rows[:40]]
    assert sum(found is not None for found in bundled) < len(given)


def test_other_tools_are_left_to_the_bundled_caller(folder):
    tools = [{"name": "get_weather", "description": "Get the weather forecast of a city",
              "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}]  # fmt: skip
    request = {"request": "Get the weather forecast for the city of Oslo", "tools": tools, "ask": True}
    own = Suggester().suggest(request, Caller(path=str(folder)))
    assert own["suggestion"] == Suggester().suggest(request, Caller())["suggestion"]
    assert own["suggestion"]["name"] == "get_weather"


def test_a_changed_file_is_told(folder, tmp_path, asked):
    copy = tmp_path / "caller"
    copy.mkdir()
    for file in folder.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    assert is_distilled(copy)
    student = copy / "student.json"
    student.write_bytes(student.read_bytes()[:-2] + b" }")
    with pytest.raises(RequestError, match="the caller is off"):
        Suggester().suggest({"request": asked[0][0][0], "tools": asked[1]}, Caller(path=str(copy)))


def test_the_bundled_caller_stands_in(asked, specs):
    proposals = BundledProposals(specs, Encoder())
    text = asked[0][0][0]
    found = BundledCaller(specs, Encoder()).suggest(text, ask=True)
    proposed = proposals.propose(text)
    if isinstance(found, Suggestion) and not found.missing:
        assert proposed == (found.tool, found.arguments, found.score)
    else:
        assert proposed is None


def test_a_tool_that_it_never_saw_is_not_its_to_judge(folder, asked):
    rows, definitions = asked
    other = {"name": "read_barometer", "description": "Read the barometer", "inputSchema": {"type": "object"}}
    suggester, settings = Suggester(), Caller(path=str(folder))
    for text, _answer in rows[:12]:
        request = {"request": text, "tools": [*definitions, other]}
        own, bundled = (suggester.suggest(request, each)["suggestion"] for each in (settings, Caller()))
        assert own == bundled


def test_it_answers_only_what_its_evidence_promises(folder, asked):
    rows, definitions = asked
    suggester, settings = Suggester(), Caller(path=str(folder))
    for text, _answer in rows[:12]:
        request = {"request": text, "tools": definitions, "alpha": 0.001, "delta": 0.0001}
        assert suggester.suggest(request, settings)["suggestion"] is None
