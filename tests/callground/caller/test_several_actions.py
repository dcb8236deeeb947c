"""One action or several."""

from __future__ import annotations

import pytest

from callground.caller.argument_text import RequestText
from callground.caller.several_actions import several_actions, value_goes_on


@pytest.mark.parametrize(
    "text",
    [
        "Book a table for two. Also send the address to Ana.",
        "Copy the file and then delete the original",
        "What is the weather in Oslo? And which trains go there today?",
        "Find a hotel in Rome. After that, please order a taxi.",
        "Get the forecast for Oslo. Send the result to my team.",
        "Please retrieve the bill, then print a copy of it",
        "Please check the device AB-1. After checking, please stop its task.",
    ],
)
def test_several(text):
    assert several_actions(RequestText(text))


@pytest.mark.parametrize(
    "text",
    [
        "Book a table for two at Luigi's",
        "I'm planning a trip. What is the weather in Oslo?",
        "Calculate the payment. The rate is 5% and the term is 10 years.",
        "Play some music, please",
        "I also like jazz",
        "",
    ],
)
def test_one(text):
    assert not several_actions(RequestText(text))


def test_what_is_said_inside_of_a_value_asks_for_nothing():
    text = "Send Ana the message 'Call me. Then buy the milk. Where are you? Who is there?'"
    assert not several_actions(RequestText(text))
    plain = "Tell Ana call me. Then buy the milk."
    assert several_actions(RequestText(plain))
    assert not several_actions(RequestText(plain), [(plain.index("call"), len(plain))])


@pytest.mark.parametrize(
    ("text", "value", "wanted"),
    [
        ("the weather in Paris and London", "Paris", True),
        ("the weather in Paris, London and Rome", "London", True),
        ("the weather in Paris and in the evening", "Paris", False),
        ("the words 'a b' and 'c d'", "a b", True),
        ("for 5 and 7 people", 5, True),
        ("for 5 people and more", 5, False),
        ("Paris", "Paris", False),
    ],
)
def test_one_parameter_with_two_values(text, value, wanted):
    end = text.index(str(value)) + len(str(value))
    assert value_goes_on(RequestText(text), value, end, [(end - len(str(value)), end)]) is wanted


def test_a_second_value_that_is_taken_is_no_second_action():
    text = "between Paris and London"
    assert not value_goes_on(RequestText(text), "Paris", 13, [(8, 13), (18, 24)])
