"""What is learned from together."""

from __future__ import annotations

from collections import Counter

import pytest

from callground.caller.training.batches import CLUSTER, Batches, Example, same
from callground.caller.training.corpus import Group, MinedTool, Pair


def a_group(source, name, count=30):
    tools = [
        MinedTool(f"{verb}_{noun}", f"About {verb} {noun}")
        for noun in "abcdefghij"[: count // 3]
        for verb in ("get", "add", "drop")
    ]
    return Group(source, name, tools, [Pair(f"{name} please {tool.name}", at) for at, tool in enumerate(tools)])


def groups_for(training: bool):
    named = (Group("seal", f"group{at}") for at in range(1000))
    return [a_group("seal", group.name) for group in named if group.for_development() is not training][:6]


def test_a_batch_has_each_tool_once_and_groups_beside_each_other():
    rows = Batches(groups_for(True), size=24).batch(0)
    assert len(rows) == 24
    assert len({row.identity for row in rows}) == 24
    assert max(Counter(row.identity[0] for row in rows).values()) >= CLUSTER


def test_a_request_stands_beside_its_tool():
    for number in range(5):
        for row in Batches(groups_for(True), size=24).batch(number):
            assert row.request.endswith(row.identity[1])
            assert row.tool.startswith(row.identity[1].replace("_", " "))


def test_the_same_number_gives_the_same_batch():
    one, other = (Batches(groups_for(True), seed=3) for _ in range(2))
    assert one.batch(7) == other.batch(7)
    assert one.batch(7) != one.batch(8)


def test_development_groups_are_not_learned():
    ours, theirs = groups_for(True), groups_for(False)
    seen = {row.identity[0] for number in range(20) for row in Batches([*ours, *theirs]).batch(number)}
    assert seen == {group.name for group in ours}


def test_descriptions_are_kept_away_where_the_request_was_made_from_them():
    told, real = groups_for(True), groups_for(True)
    for group in told:
        group.pairs = [Pair(pair.request, pair.tool, told=True) for pair in group.pairs]

    def share(groups):
        rows = [row for number in range(30) for row in Batches(groups).batch(number)]
        return sum(": About" in row.tool or ": about" in row.tool for row in rows) / len(rows)

    assert share(told) < 0.5 < share(real) < 1


def test_rows_that_may_answer_each_other():
    rows = [Example("a", "x", ("g", "1")), Example("a", "y", ("g", "2")), Example("b", "y", ("h", "2"))]
    assert set(same(rows)) == {(0, 1), (1, 0), (1, 2), (2, 1)}


def test_no_groups_is_an_error():
    with pytest.raises(ValueError, match="no group"):
        Batches(groups_for(False))
