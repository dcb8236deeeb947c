"""Tool specs in every form that they are written in."""

from __future__ import annotations

import pytest

from callground.toolcalls import read_specs
from callground.toolcalls.schemas import normalized

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
NAMED = {"name": "weather", "description": "The weather."}

FORMS = {
    "mcp": ({"tools": [{**NAMED, "inputSchema": SCHEMA}]}, "mcp"),
    "mcp with its envelope": (
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**NAMED, "inputSchema": SCHEMA}]}},
        "mcp",
    ),
    "openai chat": ([{"type": "function", "function": {**NAMED, "parameters": SCHEMA}}], "openai"),
    "openai responses": ([{"type": "function", **NAMED, "parameters": SCHEMA, "strict": True}], "openai"),
    "openai request": (
        {"model": "m", "tools": [{"type": "function", "function": {**NAMED, "parameters": SCHEMA}}]},
        "openai",
    ),
    "openai functions": ({"functions": [{**NAMED, "parameters": SCHEMA}]}, "plain"),
    "anthropic": ([{**NAMED, "input_schema": SCHEMA}], "anthropic"),
    "anthropic request": ({"tools": [{**NAMED, "input_schema": SCHEMA}]}, "anthropic"),
    "gemini": ({"tools": [{"functionDeclarations": [{**NAMED, "parameters": SCHEMA}]}]}, "plain"),
    "bedrock": ({"tools": [{"toolSpec": {**NAMED, "inputSchema": {"json": SCHEMA}}}]}, "bedrock"),
    "plain": ({**NAMED, "parameters": SCHEMA}, "plain"),
    "json schema": ({"title": "weather", "description": "The weather.", **SCHEMA}, "schema"),
    "json schema by id": (
        {"$id": "https://x/weather.json", "description": "The weather.", **SCHEMA},
        "schema",
    ),
    "mapping of names to schemas": ({"weather": {"description": "The weather.", **SCHEMA}}, "plain"),
    "mapping of names to definitions": (
        {"weather": {"description": "The weather.", "parameters": SCHEMA}},
        "plain",
    ),
}


@pytest.mark.parametrize(("data", "form"), FORMS.values(), ids=FORMS)
def test_one_tool(data, form):
    specs = read_specs(data, "tools.json")
    assert specs.problems == ()
    (tool,) = specs.tools.values()
    assert tool.name == "weather"
    assert tool.form == form
    assert set(tool.properties) == {"city", "days"}
    assert tool.required == ("city",)
    assert tool.closed
    if form != "plain" or "parameters" in str(data):
        assert tool.source == "tools.json"
    assert tool.signature == "weather(city: string, days: integer (optional))"


@pytest.mark.parametrize(
    "data",
    [
        {"name": "bash"},
        {"name": "bash", "parameters": None},
        {"name": "bash", "parameters": {}},
        {"name": "bash", "input_schema": {"type": "object"}},
        {"name": "bash", "parameters": {"type": "object", "properties": {}, "additionalProperties": True}},
        {"name": "bash", "parameters": {"type": "object", "properties": {"a": {}}, "patternProperties": {}}},
        {"name": "bash", "parameters": {"properties": {"a": {}}, "$ref": "#/$defs/x"}},
        {"type": "bash_20250124", "name": "bash"},
    ],
)
def test_open_schemas(data):
    (tool,) = read_specs(data).tools.values()
    assert not tool.closed


def test_no_parameters_is_a_signature_too():
    (tool,) = read_specs({"name": "now", "parameters": {"type": "object", "properties": {}}}).tools.values()
    assert tool.closed


@pytest.mark.parametrize("data", [None, 3, "x", [1], [{}], {"name": ""}, {"a": 1}, [{"description": "x"}]])
def test_what_is_no_tool_is_a_problem(data):
    specs = read_specs(data)
    assert specs.tools == {}
    assert specs.problems


def test_a_name_with_two_definitions_is_real_and_its_arguments_are_not_judged():
    first, other = {**NAMED, "parameters": SCHEMA}, {**NAMED, "parameters": {**SCHEMA, "required": []}}
    specs = read_specs([first, other])
    assert specs.tools["weather"].schema is None
    assert "defined twice" in specs.problems[0]
    assert read_specs([first, first]).problems == ()


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "STRING"}, {"type": "string"}),
        ({"type": ["float", "None"]}, {"type": ["number", "null"]}),
        ({"type": "any"}, {}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "array", "items": {"type": "tuple"}}, {"type": "array", "items": {"type": "array"}}),
        ({"properties": {"a": "integer"}}, {"properties": {"a": {"type": "integer"}}}),
        ({"required": True}, {}),
        ({"properties": {"a": {"required": True}}}, {"properties": {"a": {}}, "required": ["a"]}),
        ({"exclusiveMinimum": True, "minimum": 3}, {"minimum": 3}),
        ({"maxLength": -1, "minimum": "3"}, {}),
        ({"enum": []}, {}),
        ({"enum": ["a", "..."]}, {}),
        ({"pattern": "("}, {}),
        ({"pattern": "(a+)+$"}, {}),
        ({"pattern": "^[a-z]+$"}, {"pattern": "^[a-z]+$"}),
        ({"$ref": "https://example.org/x.json"}, {}),
        ({"x-extra": 1, "minimum": 1}, {"minimum": 1}),
        # Nothing could ever fit: written in the wrong place.
        ({"type": "array", "enum": ["a", "b"]}, {"type": "array"}),
        ({"type": "boolean", "enum": ["True", "False"]}, {"type": "boolean"}),
    ],
)
def test_dialects_are_brought_to_the_standards_words(raw, made):
    assert normalized(raw)[0] == made


def test_depth_has_an_end():
    schema: dict = {}
    for _ in range(500):
        schema = {"properties": {"a": schema}}
    assert normalized(schema)[1]
