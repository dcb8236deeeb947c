"""The faults of tool calls: for each a call that has it and a twin that has not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callground.rules import RULES
from callground.rules.tool_codes import TOOL_CODES
from callground.toolcalls import ground_call, ground_plan, read_calls, read_specs, read_text
from callground.toolcalls.ground import KINDS
from callground.toolcalls.verdicts import file_verdicts
from callground.verdict.model import Reason

TOOLS = read_specs(
    [
        {
            "name": "send",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "to": {"type": "string", "format": "email"},
                    "subject": {"type": "string", "minLength": 1, "maxLength": 20, "pattern": "^[A-Z]"},
                    "priority": {"enum": ["low", "normal", "high"], "default": "normal"},
                    "copies": {"type": "integer", "minimum": 1, "maximum": 9},
                    "when": {"type": "string", "format": "date-time"},
                    "day": {"type": "string", "format": "date"},
                    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
                    "from": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                    "options": {
                        "type": "object",
                        "properties": {"html": {"type": "boolean"}},
                        "required": ["html"],
                        "additionalProperties": False,
                    },
                    "meta": {"type": "object", "properties": {"a": {"type": "integer"}}},
                    "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
                },
                "required": ["to"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "parts": {"type": "array", "items": {"type": "string"}},
                },
                "additionalProperties": False,
            },
        },
        {"name": "find_user", "parameters": {"type": "object", "properties": {"name": {"type": "string"}}}},
        {"name": "anything"},
        {"name": "loop", "parameters": {"$ref": "#/$defs/n", "$defs": {"n": {"$ref": "#/$defs/n"}}}},
        {"name": "lost", "parameters": {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}},
    ],
    "tools.json",
).tools

TO = {"to": "a@b.c"}
# code, wrong arguments, right arguments, path of the fault
TWINS = [
    ("unknown-keyword", {**TO, "subjct": "X"}, {**TO, "subject": "X"}, ("subjct",)),
    (
        "unknown-keyword",
        {**TO, "options": {"html": True, "x": 1}},
        {**TO, "options": {"html": True}},
        ("options", "x"),
    ),
    ("unknown-keyword", {**TO, "x": 1}, {**TO, "meta": {"x": 1}}, ("x",)),
    ("missing-argument", {"subject": "X"}, TO, ("to",)),
    ("missing-argument", {**TO, "options": {}}, {**TO, "options": {"html": False}}, ("options", "html")),
    ("wrong-type", {"to": 5}, TO, ("to",)),
    ("wrong-type", {**TO, "copies": "2"}, {**TO, "copies": 2.0}, ("copies",)),
    ("wrong-type", {**TO, "copies": True}, {**TO, "copies": 1}, ("copies",)),
    ("wrong-type", {**TO, "tags": ["a", 3]}, {**TO, "tags": ["a", "3"]}, ("tags", 1)),
    ("wrong-type", {**TO, "from": 3}, {**TO, "from": None}, ("from",)),
    ("not-in-enum", {**TO, "priority": "urgent"}, {**TO, "priority": "high"}, ("priority",)),
    ("not-in-enum", {**TO, "kind": "c"}, {**TO, "kind": "b"}, ("kind",)),
    ("wrong-format", {"to": "nobody"}, TO, ("to",)),
    ("wrong-format", {**TO, "day": "2024-13-01"}, {**TO, "day": "2024-12-01"}, ("day",)),
    ("wrong-format", {**TO, "when": "tomorrow"}, {**TO, "when": "2024-12-01T10:00:00Z"}, ("when",)),
    ("out-of-range", {**TO, "copies": 0}, {**TO, "copies": 9}, ("copies",)),
    ("out-of-range", {**TO, "subject": ""}, {**TO, "subject": "Hi"}, ("subject",)),
    ("out-of-range", {**TO, "subject": "hi"}, {**TO, "subject": "Hi"}, ("subject",)),
    ("out-of-range", {**TO, "tags": list("abcd")}, {**TO, "tags": list("abc")}, ("tags",)),
]


def judge(arguments, name="send"):
    (call,) = read_calls({"name": name, "arguments": arguments}).calls
    return ground_call(call, TOOLS)


@pytest.mark.parametrize(("code", "wrong", "right", "path"), TWINS)
def test_twins(code, wrong, right, path):
    assert judge(right).status == "grounded"
    outcome = judge(wrong)
    assert code in [fault.code for fault in outcome.faults]
    (fault,) = [fault for fault in outcome.faults if fault.code == code and fault.path == path]
    assert outcome.status == ("ungrounded" if KINDS[code] == "ungrounded" else "arity")
    assert fault.message


def test_every_code_is_known_to_the_settings():
    assert set(KINDS) <= {*RULES, *TOOL_CODES}
    assert set(TOOL_CODES) <= set(KINDS)


def test_unknown_tool_with_the_nearest_real_ones():
    outcome = judge(TO, "sned")
    assert (outcome.status, outcome.faults[0].code) == ("ungrounded", "unknown-tool")
    assert outcome.faults[0].suggestions[0] == "send"
    assert judge(TO, "mcp__mail__send").faults[0].suggestions == ("send",)


def test_not_json_and_given_twice():
    (outcome,) = ground_plan(read_text('{"name": "send", "arguments": "{\'to\': 1}"}'), TOOLS)
    assert [fault.code for fault in outcome.faults] == ["not-json"]
    (outcome,) = ground_plan(read_text('{"name": "send", "arguments": {"to": "a@b.c", "to": "d@e.f"}}'), TOOLS)
    assert [fault.code for fault in outcome.faults] == ["duplicate-argument"]


@pytest.mark.parametrize("name", ["anything", "loop", "lost"])
def test_a_schema_that_says_nothing_is_no_fault(name):
    outcome = judge({"a": 1}, name)
    assert (outcome.status, outcome.reason) == ("abstained", Reason.UNKNOWN_SIGNATURE)


def test_the_names_are_known_where_the_values_are_not():
    assert [(fault.code, fault.name) for fault in judge({"b": 1}, "lost").faults] == [("unknown-keyword", "b")]


def test_a_declared_default_fits_whatever_the_type_says():
    tools = read_specs({"f": {"type": "object", "properties": {"a": {"type": "string", "default": None}}}}).tools
    (call,) = read_calls({"name": "f", "arguments": {"a": None}}).calls
    assert ground_call(call, tools).status == "grounded"


def test_without_the_validator_names_are_judged_and_values_are_not(monkeypatch):
    import sys

    from callground.toolcalls import validate

    monkeypatch.setitem(sys.modules, "jsonschema", None)
    validate._validator.cache_clear()
    outcome = judge(TO)
    assert (outcome.status, outcome.reason) == ("abstained", Reason.UNKNOWN_SIGNATURE)
    assert "`jsonschema`, which is not installed" in outcome.detail
    assert judge(TO, "nope").status == "ungrounded"


# -- references between steps


def plan(*steps):
    return ground_plan(read_calls({"steps": list(steps)}), TOOLS)


def step(name, reference, tool="find_user", argument="name"):
    return {"id": name, "name": tool, "arguments": {argument: reference}}


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("$s1", None),
        ("$s1.id", None),
        ("$s1.parts[0]", None),
        ("$s1.parts.0", None),
        ("$s1.result.id", None),
        ("${s1.id}", None),
        ("{{ s1.id }}", None),
        ("{{steps.s1.id}}", None),
        ("Mail {{s1.id}} went out", None),
        ({"$ref": "s1.id"}, None),
        ("$s2", "later-step"),
        ("$s3", "later-step"),
        ("${s3.x}", "later-step"),
        ("$s9", "unknown-step"),
        ("Hello {{steps.nobody.name}}", "unknown-step"),
        ({"$ref": "nobody"}, "unknown-step"),
        ({"$step": "s7"}, "unknown-step"),
        ("$s1.idd", "unknown-result"),
        # What only looks like one.
        ("$HOME", None),
        ("costs $5", None),
        ("$other", None),
        ("${VARIABLE}", None),
        ("{{name}}", None),
        ("#E1", None),
    ],
)
def test_references(reference, code):
    steps = [step("s1", "a@b.c", "send", "to"), step("s2", reference), step("s3", "x")]
    _, outcome, _ = plan(*steps)
    assert [fault.code for fault in outcome.faults] == ([code] if code else [])


def test_numbered_steps():
    def codes(reference):
        calls = [
            {"name": "find_user", "arguments": {"name": "x"}},
            {"name": "find_user", "arguments": {"name": reference}},
        ]
        return [fault.code for fault in ground_plan(read_calls(calls), TOOLS)[1].faults]

    assert codes("$1") == codes("#E1") == codes("${step1.id}") == []
    assert codes("$2") == codes("#E2") == ["later-step"]
    assert codes("$3") == ["unknown-step"]


def test_calls_of_one_step_do_not_see_each_other():
    pair = [step("a", "x"), step("b", "$a.id")]
    outcomes = ground_plan(read_calls({"steps": [{"parallel": pair}]}), TOOLS)
    assert [fault.code for fault in outcomes[1].faults] == ["later-step"]
    assert "at the same time" in outcomes[1].faults[0].message


def test_what_a_step_says_that_it_needs():
    outcomes = plan(step("a", "x"), {**step("b", "y"), "depends_on": ["a", "c"]}, {**step("c", "z")})
    assert [(fault.code, fault.name) for fault in outcomes[1].faults] == [("later-step", "c")]


def test_a_result_that_is_not_there_yet_fits_every_type_but_not_every_name():
    first = step("s1", "x")
    ok = {
        "id": "s2",
        "name": "send",
        "arguments": {"to": "$s1.mail", "copies": "$s1.n", "priority": "{{s1.p}}"},
    }
    assert plan(first, ok)[1].status == "grounded"
    part = {
        "id": "s2",
        "name": "send",
        "arguments": {"to": "a@b.c", "tags": ["$s1.a"], "options": {"$ref": "s1.o"}},
    }
    assert plan(first, part)[1].status == "grounded"
    text = {"id": "s2", "name": "send", "arguments": {"to": "a@b.c", "copies": "{{s1.n}} or so"}}
    assert [fault.code for fault in plan(first, text)[1].faults] == ["wrong-type"]
    wrong = {"id": "s2", "name": "send", "arguments": {"too": "$s1.mail"}}
    assert {fault.code for fault in plan(first, wrong)[1].faults} == {"unknown-keyword", "missing-argument"}


# -- in the report


def test_places_in_the_text():
    text = '{"steps": [\n  {"name": "sned", "arguments": {}},\n  {"name": "send",\n   "arguments": {"to": "a@b.c", "prio": 1, "copies": 0}}]}'
    read = read_text(text)
    file = file_verdicts(read, ground_plan(read, TOOLS), "plan.json")
    first, second = (verdict.finding for verdict in file.verdicts)
    assert (first.code, first.range) == ("unknown-tool", (2, 11, 2, 17))
    assert (second.code, second.range, second.name) == ("unknown-keyword", (4, 32, 4, 38), "prio")
    assert [(note.code, note.range) for note in file.notes] == [("out-of-range", (4, 53, 4, 54))]
    assert second.evidence == (
        "send(to: string (email), subject: string (optional), priority: 'low' | 'normal' | 'high' = 'normal', "
        "copies: integer (optional), when: string (date-time) (optional), day: string (date) (optional), "
        "tags: array of string (optional), from: string | null (optional), options: object (optional), "
        "meta: object (optional), kind: 'a' | 'b' (optional)) is a tool of tools.json",
    )


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*TOOLS["send"].properties, "other"]),
        st.none() | st.booleans() | st.integers(-3, 20) | st.text(max_size=5) | st.lists(st.integers(), max_size=3),
        max_size=5,
    )
)
def test_agrees_with_the_validator_wherever_it_speaks(arguments):
    """A grounded call is valid; a call that is valid and has known names only is grounded."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = dict(TOOLS["send"].schema)
    checker = jsonschema.FormatChecker(formats=["email", "date"])
    valid = jsonschema.Draft202012Validator(schema, format_checker=checker).is_valid(arguments)
    outcome = judge(arguments)
    if outcome.status == "grounded":
        assert valid
    elif valid:
        assert {fault.code for fault in outcome.faults} <= {"unknown-keyword", "wrong-format"}, json.dumps(arguments)
