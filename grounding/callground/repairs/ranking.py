"""One order over all candidates, with the reasons kept.

A score is the likeness of the names (0 to 100) and what the call itself says: whether its arguments bind,
whether the candidate can be called at all, how far away it lives, how often the workspace uses the name.
Likeness decides which candidates are looked at closely; only for those are signatures worked out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from callground.repairs import candidates as places
from callground.repairs import fit as fits
from callground.repairs import indirect
from callground.repairs.asked import Asked
from callground.repairs.model import Candidate, Ranked
from callground.repairs.words import likeness, parts, plain

NEAR = 66.0
"""Score from which a name is near enough to be named in a message."""
_CLOSER = 14
"""How many of the most like candidates are looked at closely."""
_UNLIKE = 10
"""And how many of the most used ones, when no name is like the wrong one."""

_FAR = frozenset({"workspace"})
_FAR_AWAY = 4
_Looked = tuple[tuple[float, tuple[str, ...]], Candidate]

# How far away a candidate lives.
_DISTANCE = {
    "member": 0.0,
    "module": 0.0,
    "parameter": 0.0,
    "scope": 0.0,
    "imported": 0.0,
    "usual": -1.0,
    "self": -4.0,
    "text": 8.0,
    "builtin": -5.0,
    "workspace": -7.0,
    "module-name": -2.0,
    "submodule": -6.0,
    "used-by": -8.0,
    "function": -6.0,
    "accessor": -2.0,
}


_MAKING = frozenset({"create", "make", "build", "new", "construct", "init"})
_RAISED = ("Error", "Exception", "Warning")


def rank(asked: Asked, found: Iterable[Candidate] | None = None, limit: int = 10) -> list[Ranked]:
    """The candidates for one finding, best first."""
    pool = list(places.of(asked) if found is None else found)
    wrong = asked.name.rpartition(".")[2]
    if not wrong.startswith("__"):
        # Nobody means a special method by a plain name, however much they look alike.
        pool = [c for c in pool if not (c.name.startswith("__") and c.name.endswith("__"))]
    first = sorted(((_first_look(asked, c), c) for c in pool), key=lambda s: (-s[0][0], s[1].text))
    chosen = _worth_a_look(first)
    counted: Counter[str] = Counter()
    if not chosen or chosen[0][0][0] < NEAR:
        # Nothing is like it: what the workspace calls most may be meant.
        counted = indirect.uses(asked)
        by_use = sorted(
            (f for f in first if f not in chosen and f[1].source not in _FAR),
            key=lambda s: (-_uses(asked, s[1].name), -counted[s[1].name], s[1].text),
        )
        chosen += [each for each in by_use if each[1].kind != "variable" or counted[each[1].name]][:_UNLIKE]
    ranked = [_closer(asked, candidate, score, reasons, counted) for (score, reasons), candidate in chosen]
    kept = [each for each in ranked if each is not None]
    kept.sort(key=lambda r: (-r.score, r.candidate.text))
    return kept[:limit]


def _worth_a_look(ordered: list[_Looked]) -> list[_Looked]:
    """The most like ones; of those in other files only the very best, for each costs reading a file."""
    chosen: list[_Looked] = []
    far = 0
    for each in ordered:
        if each[1].source in _FAR:
            far += 1
            if far > _FAR_AWAY:
                continue
        chosen.append(each)
        if len(chosen) == _CLOSER:
            break
    return chosen


def _first_look(asked: Asked, candidate: Candidate) -> tuple[float, tuple[str, ...]]:
    """The score by name and place alone."""
    wrong = asked.name.rpartition(".")[2]
    name = candidate.name
    if candidate.likeness >= 0:
        alike, reason = candidate.likeness, candidate.why
    else:
        alike, reason = likeness(wrong, name)
    score = 100 * alike
    reasons = [f"{reason} ({alike:.2f})" if reason else "the names have nothing in common"]
    place = _DISTANCE.get(candidate.source, 0.0)
    if candidate.source == "builtin" and len(parts(wrong)) > 1:
        # A word like `list` in a longer name names what the thing gives, not what it is.
        place -= 10.0
    if place:
        reasons.append(f"{places.SOURCES[candidate.source]} ({place:+.0f})")
        score += place
    if name.startswith("_") and not wrong.startswith("_"):
        score -= 9
        reasons.append("private (-9)")
    elif wrong.startswith("_") and not name.startswith("_"):
        score -= 4
    called = asked.calls_it is not None
    if called and candidate.kind == "module":
        score -= 25
    elif called and candidate.kind == "variable":
        score -= 6
    if candidate.source not in ("parameter", "module-name", "usual") and _is_type_name(wrong) != _is_type_name(name):
        if _is_type_name(name) and parts(wrong)[:1] and parts(wrong)[0] in _MAKING and called:
            # `create_thread()` makes a `Thread`.
            score += 8
            reasons.append("calling the class makes one (+8)")
        else:
            # One of them names a class, the other a function.
            score -= 10
            reasons.append("written like the other kind of thing (-10)")
    if called and name.endswith(_RAISED) and _is_type_name(name) and not asked.is_raised:
        score -= 10
        reasons.append("an exception, and nothing is raised here (-10)")
    return score, tuple(reasons)


def _closer(
    asked: Asked, candidate: Candidate, score: float, reasons: tuple[str, ...], counted: Counter[str]
) -> Ranked | None:
    fit = fits.of(asked, candidate, receiver=candidate.source == "function")
    if not fit.exists or (candidate.source == "function" and fit.kind == "module"):
        return None
    said = list(reasons)
    if fit.binds is True:
        score += 6
        said.append("the arguments bind (+6)" if asked.calls_it is not None else "it has what is asked of it (+6)")
    elif fit.binds is False:
        score -= 40
        said.append("the arguments do not bind (-40)" if fit.kind != "variable" else "it cannot be called (-40)")
    if fit.types is True:
        score += 3
        said.append("the arguments are of its types (+3)")
    elif fit.types is False:
        score -= 8
        said.append("the arguments are of other types (-8)")
    uses = _uses(asked, candidate.name)
    if uses and candidate.source != "parameter":
        bonus = min(5.0, 1.2 * math.log2(1 + uses))
        score += bonus
        said.append(f"used in {uses} files of the workspace (+{bonus:.1f})")
    own = counted[candidate.name]
    if own and candidate.source != "parameter":
        bonus = min(6.0, 0.8 * math.log2(1 + own))
        score += bonus
        said.append(f"the library itself names it {own} times (+{bonus:.1f})")
    path, line = (fit.path, fit.line) if fit.path else (candidate.path, candidate.line)
    kind = fit.kind or candidate.kind
    placed = candidate._replace(path=path, line=line, kind=kind)
    near = score >= NEAR and fit.binds is not False
    return Ranked(placed, round(score, 1), near, tuple(said), fit.signature, fit.doc, fit.binds)


def _uses(asked: Asked, name: str) -> int:
    """In how many files of the workspace the name stands."""
    return len(asked.source.snapshot.postings.mentions.get(name, ()))


def _is_type_name(name: str) -> bool:
    bare = name.lstrip("_")
    return bare[:1].isupper() and not (bare.isupper() and len(bare) > 1)


__all__ = ["NEAR", "plain", "rank"]
