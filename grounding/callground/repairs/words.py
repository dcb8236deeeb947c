"""What names are made of, and how much two names have in common.

A name is cut into parts at underscores and at changes of case.  The parts of two names are matched one to
one: equal parts, plural and singular, verbs of one family (``tables/verbs.txt``), short forms
(``tables/abbreviations.txt``), a part that begins or holds another, and parts that are nearly spelt alike.
How much of *both* names is explained in that way is the likeness; a likeness of the letters alone counts
where it is high, which is what a slip of the keyboard looks like.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from callground.repairs import distance

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")

# Words that say little about what a name means: they join the others, or stand before very many names.
_LIGHT = frozenset(
    "a all an and any as at be by do each for from get has if in into is it none not of on one only or set "
    "the to with".split()
)
_TYPO = 0.75
"""Letters alike that make two words the same word, misspelt."""


class Likeness(NamedTuple):
    """How much of two names is the same, from 0 to 1, and in which way."""

    score: float
    reason: str


class Tables(NamedTuple):
    """The package's tables of words."""

    families: dict[str, dict[str, float]]
    """Verb -> related verbs, each with how near it is."""
    short: dict[str, frozenset[str]]


def parts(name: str) -> tuple[str, ...]:
    """``getItemCount`` and ``get_item_count`` -> ``get``, ``item``, ``count``."""
    return _cached_parts(name)


@lru_cache(maxsize=65_536)
def _cached_parts(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PARTS.findall(name))


def plain(name: str) -> str:
    """The letters of a name without case and underscores."""
    return name.replace("_", "").lower()


def read_table(name: str) -> list[str]:
    """The lines of one of the package's tables, without comments."""
    text = (resources.files("callground.repairs") / "tables" / name).read_text("utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


@lru_cache(maxsize=1)
def tables() -> Tables:
    """The tables of verbs and short forms, read once."""
    families: dict[str, dict[str, float]] = {}
    for line in read_table("verbs.txt"):
        head, *others = line.split()
        for other in others:
            # The head of a line is what the line is about; the others are near each other through it.
            families.setdefault(head, {})[other] = families.setdefault(other, {})[head] = 0.85
        for one in others:
            for other in others:
                if one != other:
                    families[one].setdefault(other, 0.65)
    short: dict[str, set[str]] = {}
    for line in read_table("abbreviations.txt"):
        words = line.split()
        for word in words:
            short.setdefault(word, set()).update(w for w in words if w != word)
    return Tables(families, {word: frozenset(meanings) for word, meanings in short.items()})


def related_verbs(verb: str) -> dict[str, float]:
    """Verbs of the same families, with how near they are."""
    return tables().families.get(verb, {})


@lru_cache(maxsize=65_536)
def relation(one: str, other: str) -> tuple[float, str]:
    """How far one part of a name stands for another (0 to 1), and why."""
    if one == other:
        return 1.0, "same"
    if one.rstrip("s") == other.rstrip("s") and min(len(one), len(other)) > 2:
        return 0.95, "plural"
    found = tables()
    near = found.families.get(one, {}).get(other, 0.0)
    if near:
        return near, "verb"
    if other in found.short.get(one, ()):
        return 0.8, "short"
    less, more = sorted((one, other), key=len)
    if len(less) >= 3 and more.startswith(less):
        # The more of the word is there, the surer: `config` in `configuration`.
        return 0.6 + 0.35 * len(less) / len(more), "short"
    if len(less) >= 4:
        alike = distance.similarity(one, other, _TYPO)
        if alike:
            return alike * 0.95, "spelling"
        if less in more:
            return 0.55 + 0.3 * len(less) / len(more), "inside"
        ending = _ending(one, other)
        if ending >= 4:
            # Words that were put together without a mark: `factorplot`, `catplot`.
            return 0.2 + 0.5 * ending / len(more), "ending"
    return 0.0, ""


def _ending(one: str, other: str) -> int:
    """How many letters two words have in common at their end."""
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count


@lru_cache(maxsize=65_536)
def weight(part: str) -> float:
    """How much a part says: long words more than short ones, joining words little."""
    return float(min(len(part), 10) ** 0.7 * (0.45 if part in _LIGHT else 1.0))


def likeness(wrong: str, real: str) -> Likeness:
    """How likely `real` is what `wrong` means, by the words and letters of both."""
    one, other = plain(wrong), plain(real)
    if not one or not other:
        return Likeness(0.0, "")
    if one == other:
        return Likeness(1.0, "the same letters")
    letters = distance.similarity(one, other, 0.0)
    shared, reason = _matched(parts(wrong), parts(real))
    # Letters count where nearly all agree: short names are alike by chance.
    longest = max(len(one), len(other))
    slip = longest >= 4 and (1 - letters) * longest < 1.01
    typed = letters if slip or letters >= 0.6 + 0.9 / longest else 0.0
    if typed >= shared:
        return Likeness(min(0.99, typed + 0.02), "nearly the same letters")
    return Likeness(min(0.99, 0.96 * shared + 0.04 * letters), reason)


def _matched(wrong: tuple[str, ...], real: tuple[str, ...]) -> tuple[float, str]:
    """The share of both names that is explained by parts that stand for one another."""
    if not wrong or not real:
        return 0.0, ""
    pairs = sorted(
        ((relation(w, r), i, j) for i, w in enumerate(wrong) for j, r in enumerate(real)),
        # Joining words last, so that what they are matched with is decided by the rest.
        key=lambda p: (-p[0][0], -weight(real[p[2]]), abs(p[1] - p[2])),
    )
    taken_wrong: dict[int, float] = {}
    taken_real: dict[int, float] = {}
    said: list[str] = []
    order: list[tuple[int, int]] = []
    for (near, how), i, j in pairs:
        if not near or i in taken_wrong or j in taken_real:
            continue
        if how == "verb" and i > 0 and j > 0:
            near *= 0.8
        taken_wrong[i] = taken_real[j] = near
        order.append((i, j))
        said.append(_said(wrong[i], real[j], how))
    whole_wrong = sum(weight(w) for w in wrong)
    whole_real = sum(weight(r) for r in real)
    explained = sum(near * weight(wrong[i]) for i, near in taken_wrong.items()) / whole_wrong
    kept = sum(near * weight(real[j]) for j, near in taken_real.items()) / whole_real
    if not explained or not kept:
        return 0.0, ""
    # A made-up name is a real one with something added more often than one with something left out.
    share = 1.64 * kept * explained / (0.64 * kept + explained)
    if kept > 0.99 and any(part not in _LIGHT for part in real):
        # The whole real name stands in the made-up one.
        share += 0.25 * (1 - share)
    order.sort()
    if any(a[1] > b[1] for a, b in pairwise(order)):
        share *= 0.95
    return share, "; ".join(said)


def _said(wrong: str, real: str, how: str) -> str:
    if how == "same":
        return f"both say `{real}`"
    return {
        "plural": f"`{real}` and `{wrong}` differ in number",
        "verb": f"`{real}` is a verb for `{wrong}`",
        "short": f"`{min(wrong, real, key=len)}` is short for `{max(wrong, real, key=len)}`",
        "spelling": f"`{real}` is spelt like `{wrong}`",
        "ending": f"`{real}` and `{wrong}` end alike",
        "inside": f"`{max(wrong, real, key=len)}` holds `{min(wrong, real, key=len)}`",
    }[how]
