"""Orders of bases agree with CPython's."""

from __future__ import annotations

import random

import pytest

from callground.resolve import hierarchy
from desk import Desk, main

SEEDS = range(40)


def classes_of(seed: int) -> list[tuple[str, tuple[str, ...]]]:
    """(name, bases) of some classes: each has some of those above it as bases, in any order."""
    rng = random.Random(seed)
    made: list[tuple[str, tuple[str, ...]]] = []
    for n in range(rng.randint(3, 9)):
        usable = [name for name, _bases in made]
        bases = tuple(rng.sample(usable, min(len(usable), rng.choice([0, 1, 1, 2, 2, 3]))))
        made.append((f"S{seed}_{n}", bases))
    return made


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """What CPython makes of every class (None: it refuses), and a desk over the same text."""
    real: dict[str, type | None] = {}
    text = ""
    for seed in SEEDS:
        for name, bases in classes_of(seed):
            text += f"class {name}({', '.join(bases)}):\n    pass\n\n\n"
            parents = [real[b] for b in bases]
            try:
                real[name] = None if None in parents else type(name, tuple(p for p in parents if p), {})
            except TypeError:
                real[name] = None
    with Desk(tmp_path_factory.mktemp("mro"), {"main.py": text}, tmp_path_factory.mktemp("cache")) as desk:
        yield real, desk


@pytest.mark.parametrize("seed", SEEDS)
def test_random_hierarchies(seed, world):
    real, desk = world
    for name, _bases in classes_of(seed):
        order = desk.ask(lambda ev, name=name: hierarchy.mro(ev, main(name)))
        cls = real[name]
        if cls is None:
            assert order.whys
        else:
            assert not order.whys
            assert [e.ref.qualname for e in order.entries] == [c.__name__ for c in cls.__mro__]


def test_some_are_refused_by_python(world):
    real, _desk = world
    assert 0 < sum(cls is None for cls in real.values()) < len(real) / 2


def test_type_arguments_are_carried_up(tmp_path):
    text = """
        from typing import Generic, TypeVar
        T = TypeVar("T")
        U = TypeVar("U")
        class One(Generic[T]): ...
        class Two(One[list[U]], Generic[U]): ...
        class Three(Two[str]): ...
        """
    with Desk(tmp_path, {"main.py": text}, tmp_path / ".cache") as desk:
        order = desk.ask(lambda ev: hierarchy.mro(ev, main("Three")))
        shown = {e.ref.qualname: [i.ref.qualname for a in e.args for i in a.items] for e in order.entries}
        assert shown == {"Three": [], "Two": ["str"], "One": ["list"], "Generic": [], "object": []} or shown == {
            "Three": [],
            "Two": ["str"],
            "One": ["list"],
            "object": [],
        }


def test_a_class_above_itself_is_no_endless_road(tmp_path):
    text = "class A(B): ...\nclass B(A): ...\n"
    with Desk(tmp_path, {"main.py": text}, tmp_path / ".cache") as desk:
        for name in "AB":
            order = desk.ask(lambda ev, name=name: hierarchy.mro(ev, main(name)))
            assert order.entries[0].ref == main(name)
            assert order.whys
