"""What the evaluator remembers: cycles, provisional results, budgets, what was read."""

from __future__ import annotations

import itertools
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callground.resolve import evaluator as evaluator_module
from callground.resolve import memo as memo_module
from callground.resolve.evaluator import MAX_DEPTH, Evaluator, OverBudget
from callground.resolve.memo import Memo
from callground.verdict.model import Reason

Answer = tuple[frozenset[str], bool]


def make() -> Evaluator:
    ev = Evaluator(SimpleNamespace(python_version=(3, 11), platform="linux"))  # type: ignore[arg-type]  # nothing else is asked
    ev.begin()
    return ev


class Graph:
    """Questions that ask each other: each answers with what it reached, and whether it was cut short."""

    def __init__(self, edges: dict[str, str], ev: Evaluator | None = None) -> None:
        self.edges = edges
        self.ev = ev or make()
        self.computed: Counter[str] = Counter()

    def ask(self, key: str) -> Answer:
        def compute() -> Answer:
            self.computed[key] += 1
            self.ev.read("node", key)
            parts = [self.ask(other) for other in self.edges.get(key, "")]
            return frozenset({key}).union(*(p[0] for p in parts)), any(p[1] for p in parts)

        return self.ev.memo(key, compute, lambda reason: (frozenset(), True))

    def begin(self, key: str) -> Answer:
        self.ev.begin()
        return self.ask(key)


def test_an_answer_is_computed_once():
    graph = Graph({"a": "bb", "b": "c"})
    assert graph.ask("a") == graph.ask("a") == (frozenset("abc"), False)
    assert graph.computed == {"a": 1, "b": 1, "c": 1}


def test_a_cycle_is_cut_and_its_head_remembered():
    graph = Graph({"a": "b", "b": "a"})
    assert graph.ask("a") == (frozenset("ab"), True)
    assert set(graph.ev.memo_table.entries) == {"a"}


def test_inside_its_cycle_a_provisional_answer_serves_again():
    graph = Graph({"a": "bcd", "b": "a", "c": "b", "d": "b"})
    graph.ask("a")
    assert graph.computed["b"] == 1


def test_outside_its_cycle_a_provisional_answer_is_worth_nothing():
    graph = Graph({"a": "b", "b": "ac"})
    graph.begin("a")
    graph.ev.memo_table.clear()
    assert graph.begin("b") == (frozenset("abc"), True)


def test_too_deep_is_cut_and_not_remembered():
    names = [chr(0x100 + n) for n in range(MAX_DEPTH + 5)]
    graph = Graph(dict(itertools.pairwise(names)))
    reached, cut = graph.begin(names[0])
    assert cut
    assert reached == frozenset(names[:MAX_DEPTH])
    assert not graph.ev.memo_table.entries
    assert graph.begin(names[10]) == (frozenset(names[10:]), False)


def test_the_reason_of_a_cut_is_said():
    ev = make()
    reasons = []
    inner = lambda: ev.memo("a", lambda: 1, reasons.append)  # noqa: E731 - a question that asks itself
    ev.memo("a", inner, reasons.append)
    assert reasons == [Reason.RECURSION]


def test_steps_are_counted_from_the_beginning_of_a_question(monkeypatch):
    monkeypatch.setattr(evaluator_module, "MAX_STEPS", 5)
    graph = Graph({"a": "bcdefgh", "x": "yz"})
    with pytest.raises(OverBudget):
        graph.begin("a")
    assert graph.begin("x") == (frozenset("xyz"), False)


def test_what_was_read_comes_with_what_is_remembered():
    graph = Graph({"a": "b", "b": "c", "x": "b"})
    graph.begin("a")
    graph.begin("x")
    assert graph.computed["b"] == 1
    assert graph.ev.reads() == {("node", "x"), ("node", "b"), ("node", "c")}


def test_a_change_drops_what_read_it_and_nothing_else():
    memo = Memo()
    memo.put("one", 1, frozenset({("symbol", "m", "a")}))
    memo.put("two", 2, frozenset({("symbol", "m", "a"), ("symbol", "m", "b")}))
    memo.put("three", 3, frozenset({("symbol", "m", "b")}))
    assert memo.invalidate([("symbol", "m", "a"), ("symbol", "m", "c")]) == 2
    assert set(memo.entries) == {"three"}
    assert memo.get("one") is None


def test_a_full_table_is_emptied(monkeypatch):
    monkeypatch.setattr(memo_module, "MAX_ENTRIES", 2)
    memo = Memo()
    for n in range(3):
        memo.put(n, n, frozenset())
    assert set(memo.entries) == {2}


GRAPHS = st.dictionaries(st.sampled_from("abcdef"), st.text("abcdef", max_size=3), max_size=6)


@given(GRAPHS, st.permutations("abcdef"))
def test_an_answer_does_not_depend_on_what_was_asked_before(edges, order):
    shared = Graph(edges)
    for key in order:
        assert shared.begin(key) == Graph(edges).begin(key)
