"""Names and their parts: what counts as alike."""

from __future__ import annotations

import pytest

from callground.repairs import distance
from callground.repairs.words import likeness, parts, plain, read_table, related_verbs, tables


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("get_item_count", ("get", "item", "count")),
        ("getItemCount", ("get", "item", "count")),
        ("HTTPDigestAuth", ("http", "digest", "auth")),
        ("b64encode", ("b", "64", "encode")),
        ("__init__", ("init",)),
        ("größe_von", ("gr", "öß", "e", "von")),
        ("", ()),
    ],
)
def test_parts(name, expected):
    assert parts(name) == expected


@pytest.mark.parametrize(
    ("wrong", "real", "other"),
    [
        # the same words otherwise put, against a name that is nearer by its letters
        ("startsWith", "startswith", "endswith"),
        ("fetch_user", "get_user", "batch_user"),
        ("load_settings_from_file", "load_settings", "load_from_file"),
        ("loadConfig", "load_configuration", "load_cookies"),
        ("item_count", "count_items", "item_colour"),
        # slips of the keyboard
        ("calcualte_total", "calculate_total", "calculate_tax"),
        ("stp", "stop", "step_back"),
        # a real name inside a made-up one
        ("get_array_shape", "shape", "get"),
        ("find_extrema", "argrelextrema", "find_peaks_cwt"),
    ],
)
def test_nearer(wrong, real, other):
    assert likeness(wrong, real).score > likeness(wrong, other).score


def test_likeness_is_between_nothing_and_one():
    assert likeness("a", "a").score == 1.0
    assert likeness("getThing", "get_thing").score == 1.0
    assert likeness("alpha", "zulu").score < 0.3
    assert likeness("", "x").score == 0.0


def test_the_tables_read():
    for name in ("verbs.txt", "abbreviations.txt"):
        assert all(len(line.split()) > 1 for line in read_table(name)), name
    found = tables()
    for verb, others in found.families.items():
        assert verb not in others
        for other in others:
            assert verb in found.families[other], f"{verb} and {other}"
    assert related_verbs("fetch")["get"] > related_verbs("fetch")["obtain"] > 0


def test_plain():
    assert plain("_Get_Item") == "getitem"


WORDS = ["", "a", "ab", "ba", "abc", "acb", "kitten", "sitting", "fetch_page", "fetch", "größe", "grösse"]


def test_the_distance_is_the_same_with_and_without_the_package(monkeypatch):
    if not distance.available():
        pytest.skip("rapidfuzz is not installed")
    fast = {(a, b): distance.similarity(a, b) for a in WORDS for b in WORDS}
    near = distance.nearest("fetch", WORDS, 0.3, 5)
    monkeypatch.setattr(distance, "_fast", lambda: None)
    assert not distance.available()
    for (a, b), expected in fast.items():
        assert distance.similarity(a, b) == pytest.approx(expected)
        assert distance.similarity(a, b, 0.5) == pytest.approx(expected if expected >= 0.5 else 0.0)
    assert distance.nearest("fetch", WORDS, 0.3, 5) == [(i, pytest.approx(s)) for i, s in near]
