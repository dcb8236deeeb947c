"""What the bundled weights fill: plain requests, most of which must be right."""

from __future__ import annotations

import pytest

from callground.caller.arguments import fill
from callground.caller.encoder import Encoder
from callground.caller.tools import ToolParameter, ToolSpec

TRIP = ToolSpec(
    "book_trip",
    [
        ToolParameter("origin", "string", "City where the trip starts"),
        ToolParameter("destination", "string", "City where the trip ends"),
        ToolParameter("date", "string", "Day of travel (YYYY-MM-DD)", required=False),
        ToolParameter("travellers", "integer", "Number of travellers", required=False, default=1),
        ToolParameter("transport", "string", "Means of transport", required=False, enum=("train", "plane", "bus")),
    ],
    description="Books a trip between two cities",
)
LOAN = ToolSpec(
    "loan_cost",
    [
        ToolParameter("amount", "number", "Amount that is borrowed, in euros"),
        ToolParameter("years", "integer", "Term in years"),
        ToolParameter("rate", "number", "Yearly interest rate in percent"),
    ],
    description="What a loan costs in all",
)
MAIL = ToolSpec(
    "send_note",
    [
        ToolParameter("to", "string", "E-mail address of the receiver"),
        ToolParameter("text", "string", "Text of the note"),
        ToolParameter("urgent", "boolean", "Whether it is urgent", required=False, default=False),
    ],
    description="Sends a note",
)
RENAME = ToolSpec(
    "rename_symbol",
    [
        ToolParameter("old", "string", "Identifier to rename"),
        ToolParameter("new", "string", "New name of the identifier"),
    ],
    description="Renames an identifier",
)
CASES = [
    (TRIP, "Book a trip from Leipzig to Ghent", {"origin": "Leipzig", "destination": "Ghent"}),
    (
        TRIP,
        "I want to go from Ghent to Leipzig by train on May 3rd, 2024",
        {"origin": "Ghent", "destination": "Leipzig", "transport": "train", "date": "2024-05-03"},
    ),
    (
        TRIP,
        "We are 4 travellers going from Bath to York by bus",
        {"origin": "Bath", "destination": "York", "travellers": 4, "transport": "bus"},
    ),
    (LOAN, "What does a loan of 25,000 euros cost over 12 years at 4%?", {"amount": 25000.0, "years": 12, "rate": 4.0}),
    (LOAN, "I borrow $9000 for 3 years with 5.5 percent interest", {"amount": 9000.0, "years": 3, "rate": 5.5}),
    (
        MAIL,
        "Send a note to ida@mail.example saying 'The boat has left'",
        {"to": "ida@mail.example", "text": "The boat has left"},
    ),
    (RENAME, "Rename _load_all to load_everything", {"old": "_load_all", "new": "load_everything"}),
    (RENAME, "rename the identifier a.b to __init__", {"old": "a.b", "new": "__init__"}),
]


@pytest.fixture(scope="module")
def encoder():
    return Encoder()


def right(encoder):
    return [fill(request, tool, encoder).values == wanted for tool, request, wanted in CASES]


def test_most_plain_requests_are_filled_right(encoder):
    assert encoder.spans_available() is None
    assert sum(right(encoder)) >= len(CASES) - 2


def test_many_are_without_the_network():
    assert sum(right(None)) >= len(CASES) // 2


def test_what_is_not_said_is_missing(encoder):
    filled = fill("Book a trip please", TRIP, encoder)
    assert set(filled.missing) == {"origin", "destination"}
    assert filled.confidence == 0.0


def test_a_right_call_is_surer_than_one_that_lacks_words(encoder):
    sure = fill("Book a trip from Leipzig to Ghent", TRIP, encoder)
    vague = fill("Ghent Leipzig maybe, or something like that, whatever", TRIP, encoder)
    assert sure.confidence > vague.confidence


def test_two_cities_for_one_are_several_actions(encoder):
    assert fill("Rename foo_a and foo_b to bar_c. Then delete the file.", RENAME, encoder).several_actions
