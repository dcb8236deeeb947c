"""One action or several."""

from __future__ import annotations

import pytest

from callground.caller.argument_text import RequestText
from callground.caller.several_actions import several_actions


@pytest.mark.parametrize(
    "text",
    [
        "Book a table for two. Also send the address to Ana.",
        "Copy the file and then delete the original",
        "What is the weather in Oslo? And which trains go there today?",
        "Find a hotel in Rome. After that, please order a taxi.",
        "Get the forecast for Oslo. Send the result to my team.",
        "Please retrieve the bill, then print a copy of it",
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
