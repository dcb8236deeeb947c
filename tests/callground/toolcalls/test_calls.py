"""Calls and plans in every form, with their places in the text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.toolcalls import ground_plan, read_calls, read_specs, read_text
from callground.toolcalls.json_text import JsonError, read_json

ARGUMENTS = {"city": "Paris"}
TEXT = json.dumps(ARGUMENTS)
CHAT = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": TEXT}}
BLOCK = {"type": "tool_use", "id": "t1", "name": "weather", "input": ARGUMENTS}

ONE = {
    "plain": {"name": "weather", "arguments": ARGUMENTS},
    "plain, arguments as text": {"name": "weather", "arguments": TEXT},
    "tool and args": {"tool": "weather", "args": ARGUMENTS},
    "react": {"thought": "hm", "action": "weather", "action_input": ARGUMENTS},
    "hook": {"tool_name": "weather", "tool_input": ARGUMENTS},
    "openai call": CHAT,
    "openai message": {"role": "assistant", "content": None, "tool_calls": [CHAT]},
    "openai completion": {"choices": [{"message": {"role": "assistant", "tool_calls": [CHAT]}}]},
    "openai legacy": {"role": "assistant", "function_call": {"name": "weather", "arguments": TEXT}},
    "openai response": {
        "output": [
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": TEXT},
        ]
    },
    "anthropic block": BLOCK,
    "anthropic message": {"role": "assistant", "content": [{"type": "text", "text": "Sure"}, BLOCK]},
    "mcp": {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "weather", "arguments": ARGUMENTS},
    },
    "gemini": {"functionCall": {"name": "weather", "args": ARGUMENTS}},
    "bedrock": {"toolUse": {"toolUseId": "x", "name": "weather", "input": ARGUMENTS}},
    "a list": [{"name": "weather", "arguments": ARGUMENTS}],
    "a plan": {"steps": [{"id": "s1", "tool": "weather", "arguments": ARGUMENTS}]},
    "a plan of calls": {"plan": [{"id": "s1", "call": {"name": "weather", "arguments": ARGUMENTS}}]},
}
TEXTS = {
    "python": "weather(city='Paris')",
    "python list": '[weather(city="Paris")]',
    "tagged": f'Let me look.\n<tool_call>\n{{"name": "weather", "arguments": {TEXT}}}\n</tool_call>',
    "fenced": f'I will call:\n```json\n{{"name": "weather", "arguments": {TEXT}}}\n```\n',
}


@pytest.mark.parametrize("data", ONE.values(), ids=ONE)
def test_one_call(data):
    for plan in (read_calls(data), read_text(json.dumps(data, indent=1))):
        (call,) = plan.calls
        assert (call.name, call.arguments, call.problem, plan.problems) == ("weather", ARGUMENTS, "", ())


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_one_call_in_text(text):
    plan = read_text(text)
    (call,) = plan.calls
    assert (call.name, call.arguments) == ("weather", ARGUMENTS)


@pytest.mark.parametrize("arguments", ["", None, {}, "{}"])
def test_no_arguments(arguments):
    (call,) = read_calls({"name": "now", "arguments": arguments}).calls
    assert (call.arguments, call.problem) == ({}, "")
    (call,) = read_calls({"name": "now"}).calls
    assert call.arguments == {}


def test_steps():
    two = [CHAT, {**CHAT, "id": "c2"}]
    plan = read_calls(
        {
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "tool_calls": two},
                {"role": "tool", "tool_call_id": "c1", "content": "{}"},
                {"role": "assistant", "content": [BLOCK]},
            ]
        }
    )
    assert [(call.step, call.id) for call in plan.calls] == [(0, "c1"), (0, "c2"), (1, "t1")]
    plan = read_calls(
        {
            "steps": [
                {"id": "a", "name": "f"},
                [{"name": "g"}, {"name": "h"}],
                {"id": "b", "parallel": [{"name": "i"}, {"name": "j"}]},
            ]
        }
    )
    assert [(call.name, call.step, call.group) for call in plan.calls] == [
        ("f", 0, ""),
        ("g", 1, ""),
        ("h", 1, ""),
        ("i", 2, "b"),
        ("j", 2, "b"),
    ]
    assert plan.steps == 3
    calls = [{"type": "function_call", "name": "f", "arguments": "{}"}] * 2
    plan = read_calls({"output": [*calls, {"type": "message", "content": []}, calls[0]]})
    assert [call.step for call in plan.calls] == [0, 0, 1]
    plan = read_text('{"name": "f"}\n{"name": "g"}\n')
    assert [call.step for call in plan.calls] == [0, 1]


@pytest.mark.parametrize("text", ["{", "{'name': 'f'}", "[1, 2]", "3", "", "hello there", '{"a": NaN}', '{"x": 1}'])
def test_what_is_no_call_is_a_problem(text):
    plan = read_text(text)
    assert plan.calls == ()
    assert plan.problems


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{'city': 'Paris'}", "not JSON"),
        ('{"city": "Paris"', "not JSON"),
        ('["Paris"]', "no object"),
        ([1], "no object"),
        (3, "no object"),
    ],
)
def test_arguments_that_are_no_json_object(arguments, said):
    (call,) = read_calls({"name": "weather", "arguments": arguments}).calls
    assert call.arguments is None
    assert said in call.problem


def test_places_and_members_given_twice():
    text = '{\n  "name": "f",\n  "arguments": {"a": 1,\n    "a": [true, "é"]}\n}'
    read = read_json(text)
    assert read.value["arguments"] == {"a": [True, "é"]}
    assert read.duplicates == (("arguments", "a"),)
    assert read.value_range(("name",)) == (2, 10, 2, 13)
    assert read.key_range(("arguments", "a")) == (4, 4, 4, 7)
    assert read.value_range(("arguments", "a", 1)) == (4, 16, 4, 19)
    assert read.value_range(("arguments", "nothing")) == read.value_range(("arguments",))
    (call,) = read_text(text).calls
    assert call.duplicates == (("a",),)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "arguments", "function", "steps", "tool_calls", "content", "type", "x", "$ref"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_our_reader_reads_what_pythons_does(value, indent):
    text = json.dumps(value, indent=indent)
    assert read_json(text).value == json.loads(text)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='{}[]",:01.e-+truefalsnl \n\\u', max_size=30))
def test_our_reader_refuses_what_pythons_does(text):
    try:
        expected = json.loads(text)
    except (ValueError, RecursionError):
        with pytest.raises(JsonError):
            read_json(text)
    else:
        assert read_json(text).value == expected


@settings(max_examples=400, deadline=None)
@given(VALUES, VALUES)
def test_any_json_as_calls_and_as_tools_has_an_answer(calls, tools):
    specs = read_specs(tools)
    for plan in (read_calls(calls), read_text(json.dumps(calls))):
        for outcome in ground_plan(plan, specs.tools):
            assert outcome.status in ("grounded", "ungrounded", "arity", "abstained")
