"""Which real names a wrong one may have meant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from callground.verdict.model import Finding, Range, Suggestion
from callground.verdict.nearest import nearest, suggestions


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("fecth", ["fetch", "close"], ["fetch"]),
        ("getItems", ["get_items", "item"], ["get_items"]),
        ("fetch_page", ["fetch", "host"], ["fetch"]),
        ("max_retries", ["path", "retries"], ["retries"]),
        ("load", ["loads", "load_all", "dumps"], ["loads", "load_all"]),
        ("run", ["_run", "__run__"], []),
        ("_runs", ["_run"], ["_run"]),
        ("trim", ["strip", "upper"], ["strip"]),
        ("wholly", ["strip", "upper"], []),
        ("x", [], []),
        ("_", ["a"], []),
        ("same", ["same", "some"], ["some"]),
        ("abcd", ["abca", "abcb", "abcc", "abce"], ["abca", "abcb", "abcc"]),
    ],
)
def test_nearest(name, candidates, expected):
    assert nearest(name, candidates) == expected


def test_many_candidates_are_no_burden():
    assert nearest("needle", [f"hay_{n}" for n in range(20_000)] + ["needles"]) == ["needles"]


FOUND = Finding(
    "unknown-member",
    "ungrounded",
    "error",
    Range(1, 0, 1, 1),
    "a.fecth",
    "a",
    False,
    "",
    (),
    name="fecth",
    candidates=("fetch",),
)


def test_a_finding_gets_its_neighbours():
    assert suggestions(FOUND) == (Suggestion("fetch"),)


def test_what_a_finding_has_is_kept():
    assert suggestions(replace(FOUND, suggestions=(Suggestion("x"),))) == (Suggestion("x"),)


def test_builtins_are_near_to_unknown_names():
    assert suggestions(replace(FOUND, code="unknown-name", name="sortd", candidates=())) == (Suggestion("sorted"),)


def test_parameters_are_no_suggestion_for_a_missing_one():
    assert suggestions(replace(FOUND, code="missing-argument")) == ()
