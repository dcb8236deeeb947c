"""Tools of every form come out the same."""

from __future__ import annotations

import pytest

from callground.caller.tools import (
    ToolParameter,
    ToolSpec,
    ToolSpecError,
    from_function,
    from_json_schema,
    read_tools,
    tool_text,
    words,
)
from callground.facts.model import Function, Param
from callground.toolcalls import ToolCall, ground_call

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Name of the city"},
        "unit": {"anyOf": [{"enum": ["c", "f"], "type": "string"}, {"type": "null"}]},
        "days": {"type": "array", "items": {"enum": ["mon", "tue"], "type": "string"}},
        "limit": {"type": ["null", "integer"], "default": 3},
    },
    "required": ["city"],
}
FORMS = {
    "mcp": {"name": "getWeather", "description": "Weather of a city", "inputSchema": SCHEMA},
    "anthropic": {"name": "getWeather", "description": "Weather of a city", "input_schema": SCHEMA},
    "openai": {
        "type": "function",
        "function": {"name": "getWeather", "description": "Weather of a city", "parameters": SCHEMA},
    },
    "plain": {"name": "getWeather", "description": "Weather of a city", "parameters": SCHEMA},
}


@pytest.mark.parametrize("form", FORMS)
def test_json_definitions(form):
    tool = from_json_schema(FORMS[form])
    city, unit, days, limit = tool.args
    assert city == ToolParameter("city", "string", "Name of the city", True, schema=SCHEMA["properties"]["city"])
    assert (unit.type, unit.enum, unit.required) == ("string", ("c", "f"), False)
    assert (days.type, days.items, days.enum) == ("array", "string", ("mon", "tue"))
    assert (limit.type, limit.default) == ("integer", 3)
    assert tool.required == ("city",)
    assert tool_text(tool) == "get weather: Weather of a city (city, unit, days, limit)"
    assert tool.key == from_json_schema(FORMS["plain"]).key


def test_a_tool_without_a_schema_has_no_arguments():
    tool = from_json_schema({"name": "ping", "description": "Are you there?"})
    assert (tool.args, tool.required, tool_text(tool)) == ((), (), "ping: Are you there?")


def test_a_python_function():
    function = Function(
        name="send",
        qualname="Mailer.send",
        line=1,
        col=0,
        end_line=2,
        params=(
            Param("self", "positional", None, None),
            Param("to", "positional", "str", None),
            Param("retries", "keyword-only", "int | None", "3"),
        ),
        returns=None,
        decorators=(),
        is_async=False,
        is_generator=False,
        body="",
        doc="Send it.",
        type_params=(),
        body_digest="",
    )
    tool = from_function(function, method=True)
    assert tool.name == "Mailer.send"
    assert [(arg.name, arg.type, arg.required, arg.default) for arg in tool.args] == [
        ("to", "string", True, None),
        ("retries", "integer", False, 3),
    ]
    assert tool_text(tool) == "mailer send: Send it. (to, retries)"


def test_a_tool_by_hand_is_judged_like_any_other():
    tool = ToolSpec("pay", ["who", ToolParameter("cents", "integer")], ["who"], {"who": ["ann", "bo"]})
    assert [(arg.name, arg.required) for arg in tool.args] == [("who", True), ("cents", False)]
    assert tool.vocabulary == {"who": ("ann", "bo")}
    spec = {"pay": tool.as_toolcall_spec()}
    assert ground_call(ToolCall("pay", {"who": "ann", "cents": 5}), spec).status == "grounded"
    assert ground_call(ToolCall("pay", {"cents": 5}), spec).faults[0].code == "missing-argument"
    assert ground_call(ToolCall("pay", {"who": "ann", "cents": "five"}), spec).faults[0].code == "wrong-type"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ToolSpec(""), "must not be empty"),
        (lambda: ToolSpec("a\nb"), "control characters"),
        (lambda: ToolSpec(3), "must be a text"),
        (lambda: ToolSpec("a", ["x", "x"]), "two arguments `x`"),
        (lambda: ToolSpec("a", [""]), "an argument of `a`"),
        (lambda: ToolSpec("a", "x"), "not a text"),
        (lambda: ToolSpec("a", ["x"], "x"), "not a text"),
        (lambda: ToolSpec("a", ["x"], ["y"]), "requires `y`"),
        (lambda: ToolSpec("a", ["x"], vocabulary={"y": ["1"]}), "vocabulary for `y`"),
        (lambda: from_json_schema({"description": "no name"}), "not a tool definition"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_its_reason(make, said):
    with pytest.raises(ToolSpecError, match=said):
        make()


def test_a_bad_tool_in_a_list_costs_only_itself():
    tools, problems = read_tools([FORMS["mcp"], {"name": " "}, 7, FORMS["plain"] | {"name": "other"}])
    assert [tool.name for tool in tools] == ["getWeather", "other"]
    assert len(problems) == 2


def test_the_key_follows_what_is_told_of_a_tool():
    keys = {
        ToolSpec("a", ["x"]).key,
        ToolSpec("b", ["x"]).key,
        ToolSpec("a", ["y"]).key,
        ToolSpec("a", ["x"], description="d").key,
        ToolSpec("a", [ToolParameter("x", "integer")]).key,
        ToolSpec("a", [ToolParameter("x", description="d")]).key,
    }
    assert len(keys) == 6


@pytest.mark.parametrize(
    ("identifier", "plain"),
    [
        ("get_userName", "get user name"),
        ("HTTPServer2", "http server2"),
        ("mcp__mail__send", "mcp mail send"),
        ("a.b-c d", "a b c d"),
        ("größe_ändern", "größe ändern"),
        ("___", ""),
    ],
)
def test_words(identifier, plain):
    assert words(identifier) == plain
