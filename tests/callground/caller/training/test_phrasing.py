"""From documentation to requests."""

from __future__ import annotations

import random

import pytest

from callground.caller.training.phrasing import first_sentence, imperative, polite, request, value


@pytest.mark.parametrize(
    ("sentence", "order"),
    [
        ("Returns the open orders", "return the open orders"),
        ("Copies a file", "copy a file"),
        ("Searches all mails", "search all mails"),
        ("List the users", "list the users"),
        ("Processes a payment", "process a payment"),
        ("This is a remark", None),
        ("A list of users", None),
        ("Is it there", None),
        ("Deletes", None),
        ("", None),
    ],
)
def test_a_sentence_becomes_an_order(sentence, order):
    assert imperative(sentence) == order


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Deletes a role. The role must be empty.", "Deletes a role"),
        ("Deletes a role.The role must be empty.", "Deletes a role"),
        ("<p>Deletes a <b>role</b>.</p>", "Deletes a role"),
        ("Reads a\n  file", "Reads a file"),
        ("", ""),
    ],
)
def test_the_first_sentence(text, first):
    assert first_sentence(text) == first


def test_requests_keep_what_the_sentence_is_about():
    for seed in range(200):
        made = request("Deletes the invoices of a customer", ("customer_id", "dry_run"), random.Random(seed))
        assert made is not None
        assert "invoices of a customer" in made


def test_requests_are_put_in_many_ways():
    made = {request("Lists the invoices", (), random.Random(seed)) for seed in range(200)}
    assert len(made) > 40
    assert any(str(text).endswith("?") for text in made)


def test_a_question_has_no_article_left_over():
    for seed in range(300):
        made = request("Retrieves information about a specific boxer", (), random.Random(seed))
        assert " the a " not in f" {made} "


def test_the_same_chance_gives_the_same_request():
    one, other = (request("Sends a mail", ("to", "subject"), random.Random(7)) for _ in range(2))
    assert one == other


def test_what_does_not_begin_with_a_verb_is_no_request():
    assert request("A mail", (), random.Random(0)) is None


def test_orders_may_stay_as_they_are():
    made = {polite("List the users", random.Random(seed)) for seed in range(100)}
    assert "List the users" in made
    assert any("list the users" in text for text in made)


@pytest.mark.parametrize(("name", "part"), [("user_mail", "@"), ("page_url", "https://"), ("file_path", ".")])
def test_values_look_like_what_their_name_says(name, part):
    assert all(part in value(name, random.Random(seed)) for seed in range(20))
