"""The values that a parameter could get, typed as it wants them."""

from __future__ import annotations

import numpy as np
import pytest

from callground.caller.argument_candidates import candidates, coded_values, enumerations, member_place
from callground.caller.argument_text import RequestText
from callground.caller.spans import ParameterScores, SegmentScores
from callground.caller.tools import ToolParameter


def values(text, **parameter):
    return [each.value for each in candidates(RequestText(text), ToolParameter("p", **parameter))]


def test_whole_numbers_only_for_an_integer():
    assert values("2 of 3.0 and 4.5", type="integer") == [2, 3]
    assert all(type(value) is int for value in values("2 of 3.0", type="integer"))


def test_what_is_too_large_for_a_number_is_none():
    for kind in ("integer", "number"):
        assert values("1e999 and " + "9" * 400, type=kind) == []
        assert all(each == [2] for each in values("[1e999, 2]", type="array", items=kind))


def test_numbers_for_a_number():
    assert values("2 of 4.5", type="number") == [2.0, 4.5]


def test_a_share_in_both_forms():
    assert values("at 5%", type="number") == [0.05, 5.0]
    assert values("at 5%", type="integer") == [5]


def test_a_unit_is_converted_where_the_description_names_another():
    assert values("run 2 km", type="integer", description="Distance in meters") == [2, 2000]
    assert values("wait 2 hours", type="integer", description="Timeout in minutes") == [2, 120]
    assert values("wait 2 hours", type="integer", description="Timeout in hours") == [2]
    assert values("in 2 months", type="integer", description="Number of days") == [2]


def test_both_truth_values_for_a_boolean():
    assert values("anything", type="boolean") == [True, False]


def test_every_member_of_an_enum_with_its_place():
    parameter = ToolParameter("order", enum=("price_asc", "rating", 3))
    found = candidates(RequestText("sort by Price asc"), parameter)
    assert [(each.value, each.start, each.end) for each in found] == [
        ("price_asc", 8, 17),
        ("rating", -1, -1),
        (3, -1, -1),
    ]


def test_a_member_is_not_found_inside_of_a_word():
    assert member_place("the cargo", "car") is None
    assert member_place("the car, go", "car") == (4, 7)


@pytest.mark.parametrize(
    ("about", "wanted"),
    [
        ("Day as YYYY-MM-DD", "2023-04-02"),
        ("Day, e.g. 2020-01-31", "2023-04-02"),
        ("Day (MM/DD/YYYY)", "04/02/2023"),
        ("Day in DD.MM.YYYY", "02.04.2023"),
    ],
)
def test_a_date_in_the_form_that_is_asked_for(about, wanted):
    assert wanted in values("on April 2nd, 2023", description=about)


def test_a_date_without_its_year_is_not_put_into_another_form():
    found = values("on April 2nd", description="Day as YYYY-MM-DD")
    assert "April 2nd" in found
    assert not any(str(value)[:4].isdigit() for value in found)


def test_a_time_in_the_form_that_is_asked_for():
    assert "17:30" in values("at 5:30 pm", description="Start as HH:MM")
    assert "05:30 PM" in values("at 17:30", description="Start, such as '9:15 AM'")


def test_names_and_phrases_of_plain_words():
    found = values("find vegan pad thai in New York, NY for Ana O'Neill")
    assert {"vegan pad thai", "pad thai", "New York", "New York, NY", "Ana O'Neill"} <= set(found)


@pytest.mark.parametrize("name", ["_private", "__dunder__", "a.b", "größe_ä"])
def test_an_identifier_as_it_is_spelled(name):
    assert name in values(f"rename {name} please")


def test_identifiers_in_scope_are_candidates_though_they_look_like_words():
    request = RequestText("copy path to the copy of path", ("path",))
    places = [each.start for each in candidates(request, ToolParameter("p")) if each.kind == "code"]
    assert places == [5, 25]


@pytest.mark.parametrize(
    ("text", "items", "wanted"),
    [
        ("I have eggs, red lentils and garlic bread from the store", "string", ["eggs", "red lentils", "garlic bread"]),
        ("tag it with 'a b' and 'c'", "string", ["a b", "c"]),
        ("mean of 1, 2 and 3", "integer", [1, 2, 3]),
        ("mean of [1, 2.5]", "number", [1.0, 2.5]),
        ("the matrix [[1, 2], [3, 4]]", "array", [[1, 2], [3, 4]]),
        ("only tofu", "string", ["tofu"]),
    ],
)
def test_lists(text, items, wanted):
    assert wanted in values(text, type="array", items=items)


def test_a_list_of_numbers_takes_no_words():
    assert values("eggs and bread", type="array", items="integer") == []


def test_members_said_make_the_list_of_an_enum():
    found = values("with balcony and the pool", type="array", items="string", enum=("pool", "garden", "balcony"))
    assert found[0] == ["balcony", "pool"]


def test_a_mapping_for_an_object():
    assert values('with headers {"a": "b"}', type="object") == [{"a": "b"}]


def test_the_head_adds_what_no_pattern_sees():
    text = "remind me to take it out again tomorrow"
    places = [(at, at + len(word)) for at, word in ((text.index(w), w) for w in text.split())]
    start, end = np.full(len(places), -5.0, np.float32), np.full(len(places), -5.0, np.float32)
    start[3], end[6] = 5, 5
    scores = ParameterScores(places, SegmentScores(start, end, (0.0, 0.0, 0.0)))
    found = candidates(RequestText(text), ToolParameter("p"), scores)
    assert found[0].value == "take it out again"
    assert found[0].kind == "head"
    assert "take it out again" not in values(text)


def test_readings_of_an_enumeration():
    text = "order tofu, red lentils and bread now please"
    assert {"tofu, red lentils and bread", "order tofu, red lentils and bread"} <= {
        text[start:end] for start, end in enumerations(text)
    }


def test_codes_that_the_description_explains():
    about = "Service, for example 1 represents cleaning, 2 represents ironing"
    assert coded_values(about) == {"1": "cleaning", "2": "ironing"}
    assert coded_values("Size, e.g. 5 for five") == {}
    open_ended = candidates(RequestText("2 people for cleaning"), ToolParameter("p", "integer", about))
    assert [(each.value, each.note) for each in open_ended] == [(1, "coded"), (2, "")]
    closed = candidates(RequestText("2 people for cleaning"), ToolParameter("p", "integer", about, enum=(1, 2)))
    # The 2 of the request counts people: it does not stand for ironing.
    assert [(each.value, each.start) for each in closed] == [(1, 13), (2, -1)]


def test_a_day_and_a_time_in_one_value():
    found = values("on the 20th of June 2022 at 5 in the afternoon", description="Moment as 'dd/mm/yyyy HH:MM'")
    assert "20/06/2022 17:00" in found
    assert "2022-06-20T17:00:00" in values("17:00 on 2022-06-20", description="Start (YYYY-MM-DDTHH:MM:SS)")


def test_what_follows_a_colon():
    found = values("create a todo: go for a walk at 9 pm. Thanks")
    assert {"go for a walk at 9 pm", "go for a walk at 9 pm. Thanks"} <= set(found)
