"""What a request says: numbers, dates, times, quotes, paths, identifiers, lists."""

from __future__ import annotations

import datetime
import time

import pytest

from callground.caller.values import dates, items_of, mentions, numbers, parts_of_day, quoted, times


def values(found):
    return [each.value for each in found]


def of_kind(text, kind):
    return [(text[each.start : each.end], each.value) for each in mentions(text) if each.kind == kind]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1,200.50 apples", [(1200.5, "word")]),
        ("a loan of $40k", [(40000, "$")]),
        ("2.5 million km", [(2500000, "km")]),
        ("it grew 5% or 7 percent", [(5, "%"), (7, "%")]),
        ("-3 degrees and +4", [(-3, "degree"), (4, "")]),
        ("three hundred and twenty-five people", [(325, "person")]),
        ("a dozen eggs", [(12, "word")]),
        ("the 3rd row", [(3, "ordinal")]),
        ("the second row", [(2, "ordinal")]),
        ("x=5, r=4.5cm", [(5, ""), (4.5, "cm")]),
        ("1e-3 mol", [(0.001, "word")]),
        ("a 5-year plan", [(5, "year")]),
        ("Seven Samurai", [(7, "word")]),
        ("He saw Formula One", []),
        ("version 1.2.3 of t3x", []),
        ("no numbers here", []),
        ("1e999 and 9e307 billion", []),
    ],
)
def test_numbers(text, wanted):
    assert [(each.value, each.unit) for each in numbers(text)] == wanted


def test_a_value_that_stands_twice_is_found_twice():
    text = "add 7 and 7"
    assert [(each.start, each.end) for each in numbers(text)] == [(4, 5), (10, 11)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("on 2024-03-09", datetime.date(2024, 3, 9)),
        ("on 4/22/2023", datetime.date(2023, 4, 22)),
        ("on 22/4/2023", datetime.date(2023, 4, 22)),
        ("on March 9, 2024", datetime.date(2024, 3, 9)),
        ("on the 9th of March 2024", datetime.date(2024, 3, 9)),
        ("on 9 Mar 2024", datetime.date(2024, 3, 9)),
        ("on July 4th", None),
        ("in May 2022", None),
        ("on February 30, 2021", None),
    ],
)
def test_dates(text, wanted):
    found = list(dates(text))
    assert found
    assert found[0].value == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("at 5 pm", [datetime.time(17)]),
        ("at 12:30 a.m.", [datetime.time(0, 30)]),
        ("at 17:30", [datetime.time(17, 30)]),
        ("from 00:01:02 to noon", [datetime.time(0, 1, 2), datetime.time(12)]),
        ("at 25:99", []),
        ("at 13 pm", []),
    ],
)
def test_times(text, wanted):
    assert values(times(text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("at 5 in the afternoon or 9:30 in the morning", [datetime.time(17), datetime.time(9, 30)]),
        ("at 2 at night", [datetime.time(2)]),
        ("at 11 at night", [datetime.time(23)]),
        ("5 of them in the afternoon", []),
    ],
)
def test_parts_of_the_day(text, wanted):
    assert values(parts_of_day(text)) == wanted


def test_quotes_of_all_kinds_and_no_apostrophes():
    text = "don't say 'it's fine' or \"two words\", `code` or “these” when the dogs' owner isn't in"
    assert values(quoted(text)) == ["two words", "these", "it's fine", "code"]


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("see https://a.example/b?c=1.", "url", ["https://a.example/b?c=1"]),
        ("to jo.k@a.example, please", "email", ["jo.k@a.example"]),
        ("ping 10.0.0.1 now", "ip", ["10.0.0.1"]),
        ("open ./src/x.py and C:\\temp\\a.txt", "path", ["./src/x.py", "C:\\temp\\a.txt"]),
        ("read data.tar.gz", "path", ["data.tar.gz"]),
    ],
)
def test_addresses_and_paths(text, kind, wanted):
    assert [shown for shown, _ in of_kind(text, kind)] == wanted


@pytest.mark.parametrize(
    "name", ["_private", "__dunder__", "a.b", "snake_case", "camelCase", "größe_ä", "us-east-1", "MAX_RETRIES", "AB-12"]
)
def test_identifiers_keep_their_spelling(name):
    assert name in [shown for shown, _ in of_kind(f"rename {name} to x", "code")]


def test_lists_and_mappings_as_python_and_json_write_them():
    text = "use [1, 2.5], (3, 4), [[1, 2], [3, 4]], {\"a\": true} and ['x', 'y']"
    assert [value for _, value in of_kind(text, "list")] == [
        [1, 2.5],
        [3, 4],
        [[1, 2], [3, 4]],
        [1, 2],
        [3, 4],
        ["x", "y"],
    ]
    assert [value for _, value in of_kind(text, "mapping")] == [{"a": True}]


def test_numbers_in_a_row_are_a_list():
    assert of_kind("the mean of 3, 4.5 and 7.", "list") == [("3, 4.5 and 7", [3, 4.5, 7])]


def test_elements_of_a_list():
    assert items_of("eggs, 'goat cheese', and bread & butter") == ["eggs", "goat cheese", "bread", "butter"]


@pytest.mark.parametrize(
    "text", ["(" * 3000, "[" * 3000 + "]", "a." * 2000, "one " * 900, "-" * 4000, "'" * 3000, "\0\ud800"]
)
def test_strange_requests_neither_fail_nor_hang(text):
    begun = time.thread_time()
    mentions(text)
    assert time.thread_time() - begun < 30
