"""Near misses of tool calls."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.toolcalls import ground_call, ground_plan, read_calls, read_specs, read_text
from callground.toolcalls.repair import repair, repair_plan

TOOLS = read_specs(
    [
        {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "unit": {"enum": ["celsius", "fahrenheit"]},
                    "days": {"type": "integer", "minimum": 1},
                    "detailed": {"type": "boolean"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["city"],
            },
        },
        {"name": "send_mail", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}},
    ]
).tools
CITY = {"city": "Paris"}

REPAIRED = [
    # name, arguments, what comes out, whether it is certain
    ("getWeather", CITY, CITY, True),
    ("functions.get_weather", CITY, CITY, True),
    ("get_wether", CITY, CITY, True),
    ("get_weather", {"City": "Paris"}, CITY, True),
    ("get_weather", {**CITY, "day": 3}, {**CITY, "days": 3}, True),
    ("get_weather", {"location": "Paris"}, CITY, False),
    ("get_weather", {**CITY, "days": "3"}, {**CITY, "days": 3}, True),
    ("get_weather", {**CITY, "days": "3.0"}, {**CITY, "days": 3.0}, True),
    ("get_weather", {**CITY, "detailed": "true"}, {**CITY, "detailed": True}, True),
    ("get_weather", {**CITY, "unit": "Celsius"}, {**CITY, "unit": "celsius"}, True),
    ("get_weather", {**CITY, "tags": "a"}, {**CITY, "tags": ["a"]}, True),
    ("get_weather", {**CITY, "tags": '["a"]'}, {**CITY, "tags": ["a"]}, True),
    ("get_weather", {"city": 75}, {"city": "75"}, True),
    ("get_weather", "{'city': 'Paris'}", CITY, True),
    ("get_weather", '{"city": "Paris",}', CITY, True),
    ("get_weather", '```json\n{"city": "Paris"}\n```', CITY, True),
    ("get_weather", '{"city": "Paris"', CITY, False),
    ("getWether", {"City": "Paris", "days": "2"}, {**CITY, "days": 2}, True),
]


def judged(name, arguments):
    (call,) = read_calls({"name": name, "arguments": arguments}).calls
    return ground_call(call, TOOLS)


@pytest.mark.parametrize(("name", "arguments", "right", "certain"), REPAIRED)
def test_repaired(name, arguments, right, certain):
    made = repair(judged(name, arguments), TOOLS)
    assert made is not None
    assert (made.call.name, made.call.arguments, made.certain) == ("get_weather", right, certain)
    assert made.changes
    assert ground_call(made.call, TOOLS).status == "grounded"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_weather", CITY),
        ("teleport", CITY),
        ("get_weather", {}),
        ("get_weather", {**CITY, "unit": "kelvin"}),
        ("get_weather", {**CITY, "days": "many"}),
        ("get_weather", {**CITY, "days": 0}),
        ("get_weather", {**CITY, "zzz": 1}),
        ("get_weather", "Paris"),
    ],
)
def test_nothing_that_could_be_meant(name, arguments):
    assert repair(judged(name, arguments), TOOLS) is None


def test_the_plan_keeps_its_form():
    data = {
        "role": "assistant",
        "tool_calls": [
            {"id": "1", "function": {"name": "getWeather", "arguments": '{"City": "Paris"}'}},
            {"id": "2", "function": {"name": "send_mail", "arguments": '{"to": "x"}'}},
        ],
    }
    plan = read_text(json.dumps(data))
    made, repairs = repair_plan(plan, ground_plan(plan, TOOLS), TOOLS)
    assert len(repairs) == 1
    assert made["tool_calls"][0]["function"] == {"name": "get_weather", "arguments": '{"city": "Paris"}'}
    assert made["tool_calls"][1] == data["tool_calls"][1]
    assert plan.data["tool_calls"][0]["function"]["name"] == "getWeather"


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["get_weather", "getweather", "send_mail", "x"]),
    st.dictionaries(
        st.sampled_from(["city", "City", "unit", "days", "day", "tags", "to", "detailed"]),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=6)
        | st.lists(st.text(max_size=2), max_size=2),
        max_size=4,
    ),
)
def test_a_repair_is_always_grounded(name, arguments):
    made = repair(judged(name, arguments), TOOLS)
    if made is not None:
        assert ground_call(made.call, TOOLS).status == "grounded"
