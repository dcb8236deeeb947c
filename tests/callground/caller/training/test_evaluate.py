"""The development figures, with vectors made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from callground.caller.training.corpus import Group, MinedTool, Pair, write
from callground.caller.training.evaluate import CANDIDATES, area, beside, development, evaluate, report

WORDS = ["red", "green", "blue", "grey"]


def by_words(texts):
    rows = np.array([[float(word in text.split()) for word in WORDS] + [0.1] for text in texts], np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_area():
    assert area(np.array([2.0, 3.0]), np.array([0.0, 1.0])) == 1
    assert area(np.array([0.0]), np.array([1.0, 2.0])) == 0
    assert area(np.array([1.0, 1.0]), np.array([1.0])) == 0.5
    assert np.isnan(area(np.array([]), np.array([1.0])))


def test_figures_of_a_source():
    tools = [MinedTool(word) for word in WORDS]
    group = Group("x", "colours", tools, [Pair("red", 0), Pair("green please", 1), Pair("blue", 3), Pair("grey", 3)])
    (result,) = evaluate(by_words, {"x": [(group, pair) for pair in group.pairs]})
    assert (result.source, result.requests) == ("x", 4)
    assert result.first == 0.75
    assert result.first_of_all == 0.75
    assert result.five_of_all == 1
    # Three of four are near 1 where the tool is there; without it the best is 1 for "blue" and low for the others.
    assert result.there == pytest.approx((3 * 3 + 3 * 0.5 + 3 + 0.5) / 16, abs=0.13)


def test_the_tools_beside_are_those_named_alike():
    tools = [MinedTool(f"thing_{at}") for at in range(40)] + [MinedTool("get_red"), MinedTool("get_green")]
    chosen = beside(Group("x", "y", tools), 40)
    assert chosen[:2] == [40, 41]
    assert len(chosen) == CANDIDATES


def test_only_development_groups_and_the_same_rows_each_time():
    groups = [Group("x", str(at), [MinedTool("t")], [Pair(f"r{n}", 0) for n in range(9)]) for at in range(300)]
    rows = development(groups, each=20)
    assert len(rows["x"]) == 20
    assert all(group.for_development() for group, _ in rows["x"])
    assert rows == development(groups, each=20)


def test_a_file_without_development_groups_is_an_error(tmp_path):
    names = (name for name in map(str, range(100)) if not Group("x", name).for_development())
    write([Group("x", next(names), [MinedTool("t")], [Pair("r", 0)])], tmp_path / "groups.jsonl")
    with pytest.raises(ValueError, match="no development group"):
        report(tmp_path, tmp_path / "groups.jsonl")
