"""The real names that a wrong one may have meant, by their spelling alone."""

from __future__ import annotations

import builtins
import difflib
import re
from collections.abc import Iterable

from callground.verdict.model import Finding, Suggestion

LIMIT = 3
"""Most names that are suggested."""

_CLOSE = 0.6
_GAP = 0.15
"""How much farther than the nearest another name may be."""

_NAMING = frozenset({"unknown-name", "unknown-import", "unknown-member", "unknown-keyword"})
"""Rules whose finding is about a name that has neighbours."""

# Functions and types that every supported interpreter has; exceptions come and go.
_BUILTINS = frozenset(name for name in dir(builtins) if name.islower() and not name.startswith("_"))


def suggestions(finding: Finding) -> tuple[Suggestion, ...]:
    """What to suggest for a finding: what it has, else the nearest of its candidates."""
    if finding.suggestions or finding.code not in _NAMING:
        return finding.suggestions
    name = finding.name.rpartition(".")[2]
    candidates: Iterable[str] = finding.candidates
    if finding.code == "unknown-name":
        candidates = {*candidates, *_BUILTINS}
    return tuple(Suggestion(text) for text in nearest(name, candidates))


def nearest(name: str, candidates: Iterable[str], limit: int = LIMIT) -> list[str]:
    """The candidates that are spelt like `name`, the nearest first.

    Compared are letters without regard to case and underscores, and the words that names are made of:
    ``get_items`` is near ``getItems`` and ``items``.  Private names are near to private names only.
    """
    plain, words = _plain(name), _words(name)
    if not plain:
        return []
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(plain)
    scored: list[tuple[float, str]] = []
    for candidate in set(candidates):
        if candidate == name or (candidate.startswith("_") and not name.startswith("_")):
            continue
        other = _plain(candidate)
        shared = len(words & _words(candidate)) / max(len(words), 1)
        matcher.set_seq1(other)
        # The cheap upper bounds first: a module may have thousands of names.
        if not shared and (matcher.real_quick_ratio() < _CLOSE or matcher.quick_ratio() < _CLOSE):
            continue
        score = max(matcher.ratio(), 0.5 * matcher.ratio() + 0.5 * shared)
        if score >= _CLOSE:
            scored.append((-score, candidate))
    ranked = sorted(scored)[:limit]
    return [candidate for score, candidate in ranked if score <= ranked[0][0] + _GAP]


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _words(name: str) -> frozenset[str]:
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return frozenset(part.lower() for part in parts if len(part) > 1)
