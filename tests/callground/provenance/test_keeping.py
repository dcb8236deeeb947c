"""What is kept between sessions, what is forgotten, and which calls are in scope."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callground.facts.store import Store
from callground.provenance import persist
from callground.provenance.copies import stands_in
from callground.provenance.intervals import AI, HUMAN, Span, Spans, Stamp, normal
from callground.provenance.scope import Place, forgotten, rewritten

BY_AI = Stamp(AI, "insertion", 0.7, "tool")
MINE = Stamp(HUMAN, "by-hand")


class Memory(dict):
    def get_json(self, namespace: str, key: str) -> object:
        return self.get((namespace, key))

    def put_json(self, namespace: str, key: str, value: object) -> None:
        self[namespace, key] = value


def test_a_text_is_found_again_whatever_its_file(tmp_path: Path) -> None:
    spans = (Span(0, 3, BY_AI), Span(5, 9, MINE))
    with Store(tmp_path) as store:
        persist.save(store, "some text here", spans)
        persist.save(store, "another", ())
    with Store(tmp_path) as store:
        assert persist.load(store, "some text here") == spans
        assert persist.load(store, "another") == ()
        assert persist.load(store, "never seen") is None


@given(st.text(st.sampled_from("ab\r\n"), max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_line_ends_may_differ(text: str, one: int, other: int) -> None:
    low, high = sorted((min(one, len(text)), min(other, len(text))))
    store = Memory()
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    persist.save(store, text, normal([Span(low, high, BY_AI)]))
    there = persist.load(store, unix) or ()
    picked = "".join(unix[span.start : span.end] for span in there)
    assert picked.replace("\n", "") == text[low:high].replace("\n", "").replace("\r", "")
    back = persist.load(store, text) or ()
    picked = "".join(text[span.start : span.end] for span in back)
    assert picked.replace("\n", "").replace("\r", "") == text[low:high].replace("\n", "").replace("\r", "")


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        [],
        {},
        {"v": 2, "stamps": [], "spans": []},
        {"v": 1, "stamps": [["ai", "insertion", 1, ""]], "spans": [[0, 3, 1]]},
        {"v": 1, "stamps": [["?", "insertion", 1, ""]], "spans": []},
        {"v": 1, "stamps": [["ai", "insertion", 1, ""]], "spans": [[3, 0, 0]]},
        {"v": 1, "stamps": [["ai", "insertion", 1, ""]], "spans": [[0, 5, 0], [3, 8, 0]]},
        {"v": 1, "stamps": [["ai"]], "spans": []},
    ],
)
def test_broken_entries_are_none(value: object) -> None:
    store = Memory()
    store.put_json(persist.NAMESPACE, persist.key_of("x"), value)
    assert persist.load(store, "x") is None


TEXT = "first(a, 1)\nsecond(b, 2)\nthird(c, 3)\n"
ALL: Spans = (Span(0, len(TEXT), BY_AI),)


def left(text: str, spans: Spans) -> list[str]:
    return [text[span.start : span.end].strip() for span in spans]


def test_committed_lines_are_forgotten_but_not_findings() -> None:
    assert forgotten(TEXT, ALL, [(1, 3)], []) == ()
    assert left(TEXT, forgotten(TEXT, ALL, [(1, 1), (3, 3)], [])) == ["second(b, 2)"]
    held = [Place(TEXT.index("first"), TEXT.index("first") + 11)]
    assert left(TEXT, forgotten(TEXT, ALL, [(1, 3)], held)) == ["first(a, 1)"]
    assert forgotten(TEXT, ALL, [], []) == ALL


def test_a_statement_written_anew_by_hand_is_forgotten() -> None:
    text = "result = compute_all(rows, key, value, last)\n"
    rest = (Span(text.index("rows"), text.index("rows") + 4, BY_AI),)
    assert rewritten(text, rest, []) == ()
    assert rewritten(text, rest, [Place(9, 40)]) == rest
    ghost = (Span(text.index("compute"), text.index("compute") + 11, BY_AI),)
    assert rewritten(text, ghost, []) == ghost  # the call itself is still theirs
    half = (Span(0, text.index("key"), BY_AI),)
    assert rewritten(text, half, []) == half


class Entry:
    def __init__(self, path: str) -> None:
        self.path = path


class World:
    """Which files mention a name."""

    def __init__(self, *paths: Path) -> None:
        self.paths = paths

    def mentioning(self, name: str) -> list[Entry]:
        return [Entry(str(path)) for path in self.paths if name in path.read_text()]


def test_copies_from_files_that_are_not_open(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text("def f(a):\n    x = load(a,  'k')  # why\n    return x\n")
    other.write_text("load(a)\nx = 1\n")
    world = World(one, other)
    assert stands_in(world, 'x = load(a, "k")\n', [])
    assert not stands_in(world, 'x = load(a, "k")\n', [str(one)])
    assert not stands_in(world, "x = load(a, 3)\n", [])
    assert not stands_in(world, "x = store(a, 'k')\n", [])
    assert not stands_in(world, "", [])
