"""A request prepared for the filling of arguments: its words with their places, its mentions, its phrases."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

from callground.caller.values import LONGEST_REQUEST, Mention, mentions, set_of

_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?|_")
_COLON = re.compile(r"(?<=\w): *['\"]?(?=\w)(?!\d\d)")
_MARK = re.compile(r"[,;.?!]")
FUNCTION_WORDS = frozenset(
    "a an the and or but if then than that this these those i you he she it we they me him her us them my your his its "
    "our their mine is are was were be been being am do does did done have has had having will would shall should can "
    "could may might must to of in on at by for with from into onto over under about as up down out off between "
    "through during before after above below near within without across per via not no nor so too very just also "
    "please what which who whom whose when where why how there here s t re ve ll d m let want need like using use get "
    "give tell show find know some any all each every both more most other such only own same now".split()
)
LINKS = frozenset("of the and in for de la le du da di von van & a an to on with at 's".split())
"""Words that may stand inside of a name or a phrase."""

LONGEST_PHRASE = 7
"""Words of a phrase that is taken as a value without a model's or a quotation's word for it."""

MOST_PHRASES = 90


def stem(word: str) -> str:
    """A word without its commonest endings: enough to match a parameter's name."""
    word = word.lower()
    for ending in ("ies", "ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def stems(text: str) -> list[str]:
    """The stems of the words of a text."""
    return [stem(word) for word in _WORD.findall(text)]


@dataclass(frozen=True)
class Word:
    """One word of the request: ``text[start:end]``."""

    start: int
    end: int
    shown: str
    stem: str


class RequestText:
    """One request. Everything is made when it is first asked for, and kept."""

    def __init__(self, text: str, scope: tuple[str, ...] = ()) -> None:
        self.text = text[:LONGEST_REQUEST]
        self.scope = scope
        """Identifiers that the request may name."""

    @cached_property
    def words(self) -> list[Word]:
        """All words in their order."""
        return [
            Word(match.start(), match.end(), match.group(), stem(match.group())) for match in _WORD.finditer(self.text)
        ]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems that occur."""
        return frozenset(word.stem for word in self.words)

    @cached_property
    def mentions(self) -> list[Mention]:
        """Values that can be read off the text, and the identifiers in scope that it names."""
        named = [
            Mention(match.start(), match.end(), "code", name)
            for name in self.scope
            for match in re.finditer(rf"(?<![\w.]){re.escape(name)}(?![\w])", self.text)
        ]
        return set_of([*named, *mentions(self.text)]) if named else mentions(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [word.start for word in self.words]

    @cached_property
    def _ends(self) -> list[int]:
        return [word.end for word in self.words]

    def before(self, place: int, count: int = 7) -> list[tuple[str, int]]:
        """Stems of the words that end at or before `place`, nearest first, each with its distance.

        The distance counts words; a mark of punctuation between counts as two.
        """
        last = bisect_right(self._ends, place)
        found, distance, edge = [], 0, place
        for word in reversed(self.words[max(0, last - count) : last]):
            distance += 2 * len(_MARK.findall(self.text[word.end : edge]))
            found.append((word.stem, distance))
            distance, edge = distance + 1, word.start
        return found

    def after(self, place: int, count: int = 4) -> list[tuple[str, int]]:
        """The same for the words that start at or after `place`."""
        first = bisect_left(self._starts, place)
        found, distance, edge = [], 0, place
        for word in self.words[first : first + count]:
            distance += 2 * len(_MARK.findall(self.text[edge : word.start]))
            found.append((word.stem, distance))
            distance, edge = distance + 1, word.end
        return found

    @cached_property
    def phrases(self) -> list[Mention]:
        """Runs of words that could be a value: names, and pieces between function words and marks."""
        return set_of([*self._tails(), *self._names(), *self._chunks()])[:MOST_PHRASES]

    def _tails(self) -> list[Mention]:
        """What follows a colon: to the end of the request, and to the end of the sentence."""
        found = []
        for match in _COLON.finditer(self.text):
            start = match.end()
            end = len(self.text.rstrip(" .\n'\""))
            stop = re.search(r"[.!?](?=\s)|\n", self.text[start:])
            ends = [end] if stop is None else [end, start + stop.start()]
            found += [Mention(start, last, "phrase", self.text[start:last]) for last in ends if last - start > 2]
        return found

    def _names(self) -> list[Mention]:
        """Capitalised words in a row, with link words and single commas between them."""
        found = []
        words, text = self.words, self.text
        capital = [word.shown[0].isupper() or word.shown[0].isdigit() for word in words]
        for first, word in enumerate(words):
            numbered = word.shown[0].isdigit() and first + 1 < len(words) and words[first + 1].shown[0].isupper()
            if not (word.shown[0].isupper() or numbered) or (first == 0 and word.shown.lower() in FUNCTION_WORDS):
                continue
            last = first
            ends = [first]
            while last + 1 < len(words) and last - first < LONGEST_PHRASE:
                gap = text[words[last].end : words[last + 1].start]
                if gap in (" ", "-", ". ", ", ", " & ", "'", "’", "/") and capital[last + 1]:
                    last += 1
                    ends.append(last)
                elif (
                    last + 2 < len(words)
                    and gap == " "
                    and words[last + 1].shown.lower() in LINKS
                    and text[words[last + 1].end : words[last + 2].start] == " "
                    and (capital[last + 2] or words[last + 2].shown.lower() in LINKS)
                ):
                    last += 1
                else:
                    break
            found += [Mention(word.start, words[end].end, "name", text[word.start : words[end].end]) for end in ends]
        return found

    def _chunks(self) -> list[Mention]:
        """Plain words between function words and marks: the whole run, and its ends."""
        found = []
        words, text = self.words, self.text
        for first, word in enumerate(words):
            if word.shown.lower() in FUNCTION_WORDS or word.shown == "_":
                continue
            last = first
            while True:
                if words[last].shown.lower() not in FUNCTION_WORDS:
                    found.append(Mention(word.start, words[last].end, "phrase", text[word.start : words[last].end]))
                if last + 1 >= len(words) or last - first + 1 >= LONGEST_PHRASE:
                    break
                gap = text[words[last].end : words[last + 1].start]
                follower = words[last + 1].shown.lower()
                if gap not in (" ", "-", "'", "/", "_", ".") or (follower in FUNCTION_WORDS and follower not in LINKS):
                    break
                last += 1
        return found
