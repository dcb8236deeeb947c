"""The whole caller without a network: it answers, abstains with a reason, and never lets a wrong call out."""

from __future__ import annotations

import json

import pytest

from caller_fakes import Filled, WordEncoder, model_folder
from callground.caller.answers import answer_json
from callground.caller.bundled import Abstention, BundledCaller, CalibrationError, GateError, Suggestion, Why
from callground.caller.gate import FEATURES, Gate, features
from callground.caller.selection import rank
from callground.caller.tool_vectors import ToolVectors
from callground.caller.tools import ToolParameter, ToolSpec, ToolSpecError

TOOLS = [
    ToolSpec("get_weather", [ToolParameter("city"), ToolParameter("days", "integer", required=False)]),
    ToolSpec("send_mail", ["to", "body"], description="Send an electronic message"),
]


def filler(**known):
    def fill(request, tool, encoder):
        return known.get(tool.name, Filled())

    return fill


@pytest.fixture
def make(tmp_path):
    def build(fill, tools=TOOLS, **options):
        return BundledCaller(tools, WordEncoder(model_folder(tmp_path / "model")), filler=fill, **options)

    return build


OSLO = filler(get_weather=Filled({"city": "Oslo"}, reasons={"city": "said"}))


def test_a_whole_call(make):
    found = make(OSLO).suggest("get weather city Oslo")
    assert isinstance(found, Suggestion)
    assert (found.tool, found.arguments, found.missing, found.certain) == ("get_weather", {"city": "Oslo"}, (), True)
    assert found.score >= found.explanation.guarantee.threshold
    assert found.explanation.likely[0] == "get_weather"


@pytest.mark.parametrize(
    ("fill", "request_", "why"),
    [
        (OSLO, "  ", Why.EMPTY_REQUEST),
        (OSLO, "paint the fence green", Why.NOT_SURE),
        (filler(get_weather=Filled(missing=["city"])), "get weather city", Why.MISSING_ARGUMENT),
        (filler(get_weather=Filled({"city": "x"}, several_actions=True)), "get weather city x", Why.SEVERAL_ACTIONS),
        (filler(get_weather=Filled({"city": "x"}, confidence=0.3)), "get weather city x", Why.UNSURE_ARGUMENTS),
        (filler(get_weather=Filled({"city": 7})), "get weather city 7", Why.NOT_GROUNDED),
        (filler(get_weather=Filled({"city": "x", "town": "x"})), "get weather city x", Why.NOT_GROUNDED),
        (filler(get_weather=Filled({"city": "x", "days": 1.5})), "get weather city x", Why.NOT_GROUNDED),
        (filler(get_weather=Filled({})), "get weather city", Why.NOT_GROUNDED),
    ],
)
def test_why_there_is_no_call(make, fill, request_, why):
    found = make(fill).suggest(request_)
    assert isinstance(found, Abstention)
    assert found.why is why
    assert found.message


def test_without_tools(make):
    assert make(OSLO, tools=[]).suggest("x").why is Why.NO_TOOLS


def test_a_promise_that_is_not_proven_gives_nothing_out(make):
    found = make(OSLO, alpha=0.001).suggest("get weather city Oslo")
    assert found.why is Why.NO_GUARANTEE
    assert "alpha = 0.001" in found.message


def test_asked_the_best_call_comes_with_its_doubts(make):
    unsure = make(filler(get_weather=Filled({"city": "x"}), send_mail=Filled({"to": "a", "body": "b"})))
    assert not unsure.suggest("paint the fence green", ask=True).certain
    incomplete = make(filler(get_weather=Filled(missing=["city"]))).suggest("get weather city", ask=True)
    assert (incomplete.tool, incomplete.arguments, incomplete.missing) == ("get_weather", {}, ("city",))
    assert not incomplete.certain
    wrong = make(filler(get_weather=Filled({"town": "x"}))).suggest("get weather city", ask=True)
    assert wrong.why is Why.NOT_GROUNDED  # not even asked for does an ungrounded call leave


def test_a_stricter_alpha_never_answers_more(make):
    requests = ["get weather city Oslo", "get the weather of some city in Oslo today", "weather", "paint the fence"]
    answered = [
        {request for request in requests if isinstance(make(OSLO, alpha=alpha).suggest(request), Suggestion)}
        for alpha in (0.3, 0.1, 0.05)
    ]
    assert answered[0] >= answered[1] >= answered[2]
    assert answered[0]


def test_two_tools_of_one_name_are_refused(make):
    with pytest.raises(ToolSpecError, match="two tools"):
        make(OSLO, tools=[TOOLS[0], TOOLS[0]])


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("gate.json", "{", GateError),
        ("gate.json", '{"weights": {"a": "x"}, "bias": 0}', GateError),
        ("gate.json", '{"weights": {"a": 1}}', GateError),
        ("gate.json", '{"weights": {}, "bias": 0}', GateError),
        ("calibration.json", "{}", CalibrationError),
        ("calibration.json", "[", CalibrationError),
        ("calibration.json", '{"tools": {"scores": [1]}}', CalibrationError),
    ],
)
def test_damaged_files_by_the_model_are_named(tmp_path, name, content, error):
    folder = model_folder(tmp_path / "model")
    (folder / name).write_text(content)
    with pytest.raises(error, match="calibration" if name == "calibration.json" else "gate"):
        BundledCaller(TOOLS, WordEncoder(folder), filler=OSLO)


def test_the_answer_as_json(make):
    caller = make(OSLO)
    for request in ("get weather city Oslo", "paint the fence green"):
        plain = answer_json(request, caller.suggest(request), caller, explain=True, problems=["x"])
        assert json.loads(json.dumps(plain)) == plain
        assert (plain["suggestion"] is None) != (plain["abstained"] is None)
        assert plain["promise"]["alpha"] == 0.1
        assert [each["name"] for each in plain["candidates"]] == [
            each["name"] for each in plain["explanation"]["candidates"]
        ]
        assert plain["problems"] == ["x"]
        assert set(plain["explanation"]["gate"]) == set(FEATURES)
    assert "explanation" not in answer_json("x", caller.suggest("x"), caller)


# -- the gate


def test_every_feature_is_made_and_small(tmp_path):
    encoder = WordEncoder(model_folder(tmp_path / "model"))
    vectors = ToolVectors(encoder)
    for request in ("get weather city Oslo for 3 days", "?", "x " * 500, "Ünïcode 天気 Oslo"):
        for tools in (TOOLS, TOOLS[:1], [ToolSpec("ping")]):
            made = features(request, rank(request, tools, encoder), vectors, Filled())
            assert set(made) == set(FEATURES)
            assert all(-10 < value < 20 for value in made.values()), made


def test_a_feature_outside_of_what_was_learned_is_drawn_to_its_border():
    gate = Gate({"a": 2.0}, 0.0, ranges={"a": (0.0, 1.0)}, typical={"a": 0.5})
    assert gate.score({"a": 99.0}) == gate.score({"a": 1.0}) > gate.score({"a": 0.5}) == gate.score({})
    again = Gate.from_json(json.loads(json.dumps(gate.to_json())))
    assert again == gate
