"""Filling a call, with a ranker whose weights stand here: what the bundled one has learned is not looked at."""

from __future__ import annotations

import numpy as np
import pytest

from callground.caller.argument_features import INDEX, NAMES, SIZE
from callground.caller.argument_ranker import FILE, Ranker, RankerUnavailable
from callground.caller.arguments import fill, whole_confidence
from callground.caller.encoder import Encoder, EncoderUnavailable
from callground.caller.spans import ParameterScores, SegmentScores
from callground.caller.tools import ToolParameter, ToolSpec

WEIGHTS = {
    "name just before": 4.0, "name before": 2.0, "name just after": 3.0, "from quoted": 1.5, "from name": 1.0,
    "cut name": -2.0, "begins request": -3.0, "from at start": 3.0, "to at end": 3.0, "sense fits": 2.0,
    "sense clashes": -4.0, "form fits": 3.0, "member said": 5.0, "true name said": 5.0, "false name negated": 5.0,
    "order agrees": 0.5, "from number": 0.5, "none": 1.5, "none required": -0.6, "head score clipped": 2.0,
    "raw percent": -3.0, "unit fits": 2.0, "inside of another": -2.0, "array several": 2.5, "after preposition": 1.0,
    "from phrase": -0.5, "cut phrase": -1.0,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    direct = np.zeros(SIZE, np.float32)
    for name, weight in WEIGHTS.items():
        direct[INDEX[name]] = weight
    whole = {"bias": 0.0, "sum": 1.0, "least": 0.0, "count": 0.0, "several": -3.0}
    ranker = Ranker(
        NAMES, np.zeros((SIZE, 1), np.float32), np.zeros(1, np.float32), np.concatenate([[0], direct]), 4.0, whole
    )
    ranker.save(tmp_path / FILE)
    return tmp_path


@pytest.fixture
def filled(folder):
    """Fills without the network."""

    def go(request, *parameters, scope=None):
        return fill(request, ToolSpec("tool", parameters), Encoder(folder), scope)

    return go


def test_typed_values(filled):
    result = filled(
        "set width 40 and ratio 0.5, name 'a b', keep ratio",
        ToolParameter("width", "integer"),
        ToolParameter("ratio", "number"),
        ToolParameter("name"),
        ToolParameter("keep", "boolean"),
    )
    assert result.values == {"width": 40, "ratio": 0.5, "name": "a b", "keep": True}
    assert result.missing == []
    assert 0 < result.confidence <= 1
    assert result.spans["name"] == (34, 37)
    assert result.reasons["width"] == "'40' at 10"


def test_a_member_of_an_enum(filled):
    result = filled("sort by price desc", ToolParameter("order", enum=("price_asc", "price_desc")))
    assert result.values == {"order": "price_desc"}


def test_directions(filled):
    result = filled("fly from Oslo to Rome", ToolParameter("destination"), ToolParameter("origin"))
    assert result.values == {"destination": "Rome", "origin": "Oslo"}


def test_the_same_value_twice_is_given_twice(filled):
    result = filled("add 7 and 7", ToolParameter("a", "integer"), ToolParameter("b", "integer"))
    assert result.values == {"a": 7, "b": 7}
    assert sorted(result.spans.values()) == [(4, 5), (10, 11)]


def test_what_is_not_said_is_left_out(filled):
    result = filled("name 'x'", ToolParameter("name"), ToolParameter("limit", "integer", required=False, default=5))
    assert result.values == {"name": "x"}
    assert result.reasons["limit"] == "left to its default"


def test_a_required_argument_that_is_not_said_is_missing(filled):
    result = filled("please do it", ToolParameter("count", "integer"))
    assert (result.values, result.missing, result.confidence) == ({}, ["count"], 0.0)
    assert result.reasons["count"] == "not said"


def test_a_required_argument_with_a_default_is_not_missing(filled):
    assert filled("please do it", ToolParameter("count", "integer", default=3)).missing == []
    assert filled("please do it", ToolParameter("count", "integer", "Count. Default is 3.")).missing == []


@pytest.mark.parametrize("name", ["_private", "__dunder__", "a.b", "größe_ä"])
def test_identifiers_keep_their_spelling(filled, name):
    result = filled(f"rename the variable {name} now", ToolParameter("variable", description="Identifier to rename"))
    assert result.values == {"variable": name}


def test_a_date_in_the_form_asked_for(filled):
    result = filled("the day is April 2nd, 2023", ToolParameter("day", description="Date as YYYY-MM-DD"))
    assert result.values == {"day": "2023-04-02"}


def test_several_actions_are_flagged_and_lower_the_confidence(filled):
    parameter = ToolParameter("name")
    one = filled("Use the name 'x'.", parameter)
    two = filled("Use the name 'x'. Then delete the file.", parameter)
    assert (one.several_actions, two.several_actions) == (False, True)
    assert two.values == one.values
    assert two.confidence < one.confidence


def test_a_tool_without_parameters(filled):
    result = filled("go")
    assert (result.values, result.missing, result.confidence) == ({}, [], 0.5)


def test_an_empty_request(filled):
    assert filled("", ToolParameter("a"), ToolParameter("b", "boolean", required=False)).missing == ["a"]


class _Network(Encoder):
    """A span head that points at one piece of the request for every parameter."""

    def __init__(self, folder, piece, error=False):
        super().__init__(folder)
        self.piece, self.error = piece, error

    def spans_available(self):
        return None

    def parameter_scores(self, request, tool, names=None):
        if self.error:
            raise EncoderUnavailable("damaged")
        places = [(at, at + 1) for at in range(len(request))]
        start, end = np.full(len(places), -9.0, np.float32), np.full(len(places), -9.0, np.float32)
        first = request.index(self.piece)
        start[first], end[first + len(self.piece) - 1] = 9, 9
        return {arg.name: ParameterScores(places, SegmentScores(start, end, (0.0, 0.0, 0.0))) for arg in tool.args}


def test_the_head_finds_what_no_pattern_sees(folder):
    tool = ToolSpec("remind", [ToolParameter("what")])
    request = "remind me to take it out again tomorrow"
    assert fill(request, tool, _Network(folder, "take it out again")).values == {"what": "take it out again"}


def test_a_head_that_cannot_run_is_done_without(folder):
    tool = ToolSpec("remind", [ToolParameter("what")])
    request = "say 'hello' tomorrow"
    assert fill(request, tool, _Network(folder, "tomorrow", error=True)).values == {"what": "hello"}


def test_without_weights_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("CALLGROUND_CALLER_MODEL", str(tmp_path))
    with pytest.raises(RankerUnavailable, match=FILE):
        fill("x", ToolSpec("t", [ToolParameter("a")]))


def test_the_confidence_falls_with_each_doubt():
    weights = {"bias": 1.0, "sum": 1.0, "least": 0.5, "count": 0.0, "several": -1.0}
    sure = whole_confidence([0.99, 0.99], False, weights)
    assert sure > whole_confidence([0.99, 0.5], False, weights) > whole_confidence([0.5, 0.5], False, weights)
    assert sure > whole_confidence([0.99, 0.99], True, weights)
    assert 0 <= whole_confidence([0.0] * 50, True, weights) < 1e-6
