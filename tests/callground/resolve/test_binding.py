"""Binding of arguments agrees with Python's own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callground.facts.model import Param
from callground.resolve import signatures as signatures_module
from callground.resolve.binding import Shape, problems

ORDER = ["positional-only", "positional", "*args", "keyword-only", "**kwargs"]


@st.composite
def signatures(draw) -> tuple[Param, ...]:
    """Parameters in an order that Python allows."""
    kinds = sorted(draw(st.lists(st.sampled_from(ORDER), max_size=6)), key=ORDER.index)
    kinds = [k for i, k in enumerate(kinds) if k not in ("*args", "**kwargs") or k not in kinds[:i]]
    params = []
    defaulted = False
    for name, kind in zip("abcdef", kinds, strict=False):
        default = None
        if kind in ("positional-only", "positional"):
            defaulted = defaulted or draw(st.booleans())
            default = "1" if defaulted else None
        elif kind == "keyword-only":
            default = draw(st.sampled_from([None, "1"]))
        params.append(Param(name, kind, None, default))
    return tuple(params)


KEYWORDS = st.lists(st.sampled_from("abcdefg"), max_size=4, unique=True)


def binds(params: tuple[Param, ...], positional: int, keywords: list[str]) -> bool:
    """Whether a real function with these parameters takes the arguments.

    (``inspect.Signature.bind`` of older Pythons refuses ``f(a=1)`` for ``def f(a=0, /, **rest)``; Python does not.)
    """
    text = signatures_module.Signature(params, "f", "").text
    space: dict[str, object] = {}
    exec(f"def {text}: pass", space)
    function = space["f"]
    assert callable(function)
    try:
        function(*range(positional), **dict.fromkeys(keywords))
    except TypeError:
        return False
    return True


@given(signatures(), st.integers(0, 6), KEYWORDS)
def test_plain_arguments_bind_as_in_python(params, positional, keywords):
    found = problems(params, Shape(positional, tuple(keywords), star=False, double_star=False))
    assert (not found) == binds(params, positional, keywords)


@given(signatures(), st.integers(0, 4), KEYWORDS, st.booleans(), st.booleans())
def test_stars_are_refused_only_where_nothing_they_bring_would_help(params, positional, keywords, star, double_star):
    found = problems(params, Shape(positional, tuple(keywords), star, double_star))
    fillings = [
        (extra, more)
        for extra in (range(5) if star else (0,))
        for more in (subsets(set("abcdef") - set(keywords)) if double_star else [()])
    ]
    if found:
        assert not any(binds(params, positional + extra, [*keywords, *more]) for extra, more in fillings)


def subsets(names: set[str]) -> list[tuple[str, ...]]:
    out: list[tuple[str, ...]] = [()]
    for name in sorted(names):
        out += [(*s, name) for s in out]
    return out


def test_the_most_telling_problem_comes_first():
    params = (Param("host", "positional", None, None), Param("port", "positional", None, None))
    found = problems(params, Shape(0, ("hots",), star=False, double_star=False))
    assert [(p.code, p.name) for p in found] == [
        ("unknown-keyword", "hots"),
        ("missing-argument", "host"),
        ("missing-argument", "port"),
    ]


def test_a_name_given_twice():
    params = (Param("host", "positional", None, None),)
    found = problems(params, Shape(1, ("host",), star=False, double_star=False))
    assert [p.code for p in found] == ["duplicate-argument"]
    found = problems(params, Shape(0, ("host", "host"), star=False, double_star=False))
    assert [p.code for p in found] == ["duplicate-argument"]
