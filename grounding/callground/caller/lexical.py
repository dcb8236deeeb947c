"""What of a request is said by the words of a tool's definition.

An encoder blurs what a rare word says exactly: a parameter's description, a value of an enum.  Here words are
only cut, lower-cased and freed of a few endings; nothing is learned.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from callground.caller.tools import ToolSpec, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    _Turned = dict[str, NDArray[np.intp]]

# Words that say nothing of which tool is meant: they join the others, or ask politely.
_LIGHT = frozenset(
    "a an and are as at be by can could do does find for from get how i in is it like me my need of on or please "
    "that the this to want what will with would you your".split()
)
_ENDINGS = ("ing", "es", "s", "ed")
_SHORTEST_STEM = 4
_SHORTEST_CHOICE = 3
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_VALUES = re.compile(r"\"[^\"]*\"|'[^']*'(?!\w)|“[^”]*”|`[^`]*`|\S*[\d@/\\]\S*")
_NAMES = re.compile(r"(?<=[\w,;:] )[A-Z]\w*(?: [A-Z]\w*)*")
_CAPITAL = re.compile(r"(?<=[\w,;:] )[A-Z]\w*")


_MOST_KNOWN = 8_192
_lock = Lock()
_known: OrderedDict[str, ToolWords] = OrderedDict()


class ToolWords(NamedTuple):
    """The words of one definition."""

    name: frozenset[str]
    description: frozenset[str]
    parameters: frozenset[str]
    """Of the parameters' names."""
    anywhere: frozenset[str]
    """Also of the parameters' descriptions and of the values of enums."""
    choices: tuple[str, ...]
    """Values of enums and vocabularies, lower-cased."""
    trigrams: frozenset[str]
    """Of the name's letters."""


def stems(text: str) -> list[str]:
    """The words that say something, in order, without their endings."""
    return [_stem(word) for word in words(text).split() if word not in _LIGHT]


def tool_words(tool: ToolSpec) -> ToolWords:
    """The words of a tool's definition.  The last few thousand are remembered."""
    with _lock:
        known = _known.get(tool.key)
        if known is not None:
            _known.move_to_end(tool.key)
            return known
    made = _tool_words(tool)
    with _lock:
        _known[tool.key] = made
        while len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
    return made


def _tool_words(tool: ToolSpec) -> ToolWords:
    name = frozenset(stems(tool.name))
    description = frozenset(stems(tool.description))
    parameters = frozenset(stem for arg in tool.args for stem in stems(arg.name))
    choices = [str(value) for arg in tool.args for value in arg.enum or () if isinstance(value, str)]
    choices += [value for values in tool.vocabulary.values() for value in values]
    told = frozenset(stem for text in (*(arg.description for arg in tool.args), *choices) for stem in stems(text))
    return ToolWords(
        name,
        description,
        parameters,
        name | description | parameters | told,
        tuple(choice.lower() for choice in choices if len(choice) >= _SHORTEST_CHOICE),
        trigrams(words(tool.name)),
    )


def trigrams(text: str) -> frozenset[str]:
    """Every three letters in a row, the text's ends counting as blanks."""
    padded = f" {text} "
    return frozenset(padded[at : at + 3] for at in range(len(padded) - 2))


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def without_values(request: str) -> str:
    """The request without what looks like a value: numbers, quotes, paths, names in the middle of a sentence."""
    return _CAPITAL.sub(" ", _VALUES.sub(" ", request))


def value_mentions(request: str) -> int:
    """How many pieces of a request look like values: numbers, quotes, paths, names in the middle of a sentence."""
    rest, found = _VALUES.subn(" ", request)
    return found + len(_NAMES.findall(rest))


class RequestWords(NamedTuple):
    """The words of one request."""

    all: frozenset[str]
    plain: frozenset[str]
    """Those that do not look like values."""
    trigrams: frozenset[str]
    lowered: str


def request_words(request: str) -> RequestWords:
    """The words of a request."""
    said = frozenset(stems(request))
    plain = frozenset(stems(without_values(request)))
    return RequestWords(said, plain or said, trigrams(" ".join(sorted(set(words(request).split())))), request.lower())


class LexicalIndex:
    """The words of a list of tools, turned over: from a word to the tools that have it."""

    def __init__(self, tools: Sequence[ToolSpec] | Sequence[ToolWords]) -> None:
        import numpy as np

        self.entries = tuple(tool_words(tool) if isinstance(tool, ToolSpec) else tool for tool in tools)
        self._anywhere = _turned(entry.anywhere for entry in self.entries)
        self._name = _turned(entry.name for entry in self.entries)
        self._trigrams = _turned(entry.trigrams for entry in self.entries)
        self._name_sizes = np.array([max(1, len(entry.name)) for entry in self.entries], float)
        self._trigram_sizes = np.array([max(1, len(entry.trigrams)) for entry in self.entries], float)
        self._choices: dict[str, list[int]] = {}
        for place, entry in enumerate(self.entries):
            for choice in set(entry.choices):
                self._choices.setdefault(choice, []).append(place)

    def said(self, request: RequestWords) -> Floats:
        """Share of the request's words that stand anywhere in each definition, shape (tools,)."""
        return self._count(self._anywhere, request.all) / max(1, len(request.all))

    def name_said(self, request: RequestWords) -> Floats:
        """Share of the words of each tool's name that stand in the request, shape (tools,)."""
        shares: Floats = self._count(self._name, request.all) / self._name_sizes
        return shares

    def name_letters(self, request: RequestWords) -> Floats:
        """Share of the letter trigrams of each tool's name that stand in the request, shape (tools,)."""
        shares: Floats = self._count(self._trigrams, request.trigrams) / self._trigram_sizes
        return shares

    def choice_said(self, request: RequestWords) -> Floats:
        """1 where a value of one of the tool's enums stands in the request, shape (tools,)."""
        import numpy as np

        found = np.zeros(len(self.entries))
        for choice, places in self._choices.items():
            if choice in request.lowered:
                found[places] = 1.0
        return found

    def _count(self, turned: _Turned, said: Iterable[str]) -> Floats:
        import numpy as np

        found = np.zeros(len(self.entries))
        for word in said:
            places = turned.get(word)
            if places is not None:
                found[places] += 1.0
        return found


def _turned(sets: Iterable[frozenset[str]]) -> _Turned:
    import numpy as np

    turned: dict[str, list[int]] = {}
    for place, each in enumerate(sets):
        for word in each:
            turned.setdefault(word, []).append(place)
    return {word: np.array(places, np.intp) for word, places in turned.items()}


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + _SHORTEST_STEM:
            return word[: -len(ending)]
    return word
