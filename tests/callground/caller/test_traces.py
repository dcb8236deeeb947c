"""Logs of agents as teacher rows."""

from __future__ import annotations

import json

import pytest

from callground.caller.traces import LogTeacher, read_log, read_traces


def anthropic(request, *calls):
    """A conversation: each call is (name, input, whether it failed)."""
    messages = [{"role": "user", "content": request}]
    for number, (name, given, failed) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "let me see"}, use]})
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok", "is_error": failed}
        messages.append({"role": "user", "content": [result]})
    messages.append({"role": "assistant", "content": "done"})
    return messages


def openai(request, name, arguments, content):
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": request},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": content},
        {"role": "assistant", "content": "done"},
    ]


def mcp(request, name, arguments, result, number=1):
    params = {"name": name, "arguments": arguments, "_meta": {"request": request}}
    return [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params},
        {"jsonrpc": "2.0", "id": number, **result},
    ]


GOOD = {"find x": {"tool": "search", "args": {"q": "x"}}}


@pytest.mark.parametrize(
    "log",
    [
        anthropic("find x", ("search", {"q": "x"}, False)),
        openai("find x", "search", '{"q": "x"}', "3 hits"),
        mcp("find x", "search", {"q": "x"}, {"result": {"content": []}}),
        {"messages": anthropic("find x", ("search", {"q": "x"}, False))},
        [{"messages": openai("find x", "search", '{"q": "x"}', "3 hits")}],
    ],
    ids=["anthropic", "openai", "mcp", "one conversation", "a list of them"],
)
def test_one_call_that_went_well_is_a_row(log):
    traces = read_traces(log)
    assert traces.single() == GOOD
    assert traces.ledger.counts == {}
    assert traces.ledger.used == 1


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (anthropic("find x", ("search", {"q": "x"}, True)), "failed"),
        (openai("find x", "search", '{"q": "x"}', '{"error": "no such index"}'), "failed"),
        (openai("find x", "search", '{"q": "x"}', "Traceback (most recent call last)"), "failed"),
        (openai("find x", "search", '{"q": ', "ok"), "bad-arguments"),
        (mcp("find x", "search", {"q": "x"}, {"error": {"code": -1}}), "failed"),
        (mcp("find x", "search", {"q": "x"}, {"result": {"isError": True}}), "failed"),
        (anthropic("find x", ("search", {"q": "x"}, False))[:2], "no-result"),
        ([{"role": "user", "content": "find x"}], "no-result"),
        (["hello"], "not-a-message"),
    ],
)
def test_what_did_not_go_well_is_left_out_and_counted(log, reason):
    traces = read_traces(log)
    assert traces.turns == []
    assert traces.ledger.counts == {reason: 1}


def test_calls_without_a_request_are_counted():
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {}}}
    assert read_traces([call]).ledger.counts == {"no-request": 1}


def test_a_second_try_takes_the_place_of_a_failed_one():
    log = anthropic("find x", ("search", {"query": "x"}, True), ("search", {"q": "x"}, False))
    assert read_traces(log).single() == GOOD


def test_several_calls_are_a_plan_and_no_row():
    log = anthropic("find x and open it", ("search", {"q": "x"}, False), ("open", {"id": 3}, False))
    traces = read_traces(log)
    assert traces.single() == {}
    steps = [{"tool": "search", "args": {"q": "x"}}, {"tool": "open", "args": {"id": 3}}]
    assert traces.plans() == {"find x and open it": {"steps": steps}}


def test_an_answer_without_calls_says_no_tool():
    talk = [{"role": "user", "content": "thanks"}, {"role": "assistant", "content": "you are welcome"}]
    assert read_traces(talk).single() == {"thanks": {"tool": None, "args": {}}}


def test_a_conversation_of_several_turns_gives_several_rows():
    log = [*anthropic("find x", ("search", {"q": "x"}, False)), *anthropic("find y", ("search", {"q": "y"}, True))]
    traces = read_traces(log)
    assert traces.single() == GOOD
    assert traces.ledger.counts == {"failed": 1}


def test_files_are_json_or_json_lines():
    one, other = (json.dumps({"messages": anthropic(f"find {q}", ("search", {"q": q}, False))}) for q in "xy")
    traces = read_log(f"{one}\nnot json\n\n{other}\n")
    assert list(traces.single()) == ["find x", "find y"]
    assert traces.ledger.counts == {"not-a-message": 1}
    lines = "\n".join(json.dumps(line) for line in mcp("find x", "search", {"q": "x"}, {"result": {}}))
    assert read_log(lines).single() == GOOD


def test_a_log_teaches_what_it_knows_only():
    teacher = LogTeacher(read_traces(anthropic("find x", ("search", {"q": "x"}, False))))
    assert teacher.requests == ["find x"]
    assert teacher("find x") == GOOD["find x"]
    with pytest.raises(KeyError):
        teacher("find z")
