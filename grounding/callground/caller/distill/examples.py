"""Rows made ready for training: read, aligned, grouped; and the rows that are made out of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from callground.caller.distill.rows import Row
from callground.caller.distill.tagger import KnownValues, Tagged
from callground.caller.distill.text import Reading, groups_of, read, without_values
from callground.caller.distill.values import LIST, Aligned, Writing, align, covers, writing_of
from callground.caller.tools import ToolSpec, tool_text, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Encode = Callable[[Sequence[str]], "Vectors"]
"""Texts -> unit vectors, one row a text."""

NO_TOOL = "\x00none"
SEVERAL = "\x00several"
"""Classes of the selector beside the tools' names (which hold no control characters)."""

JOINTS = (" and then ", " and ", ", then ", "; ", ". ", " and also ", ", and after that ", ". Then ", " & ")

REASONS = (
    " because I want to ",
    " since I have to ",
    " so that I can ",
    ", I need it to ",
    " before we ",
    ", as we plan to ",
    " because somebody wants to ",
)

OPPOSITES: Mapping[str, tuple[str, ...]] = {
    "add": ("remove", "delete", "drop"),
    "insert": ("remove", "delete"),
    "append": ("remove", "drop"),
    "include": ("exclude", "omit"),
    "set": ("unset", "clear", "reset"),
    "put": ("remove", "take away"),
    "create": ("delete", "destroy", "remove"),
    "make": ("delete", "remove"),
    "new": ("old", "existing"),
    "open": ("close", "shut"),
    "start": ("stop", "end", "cancel"),
    "begin": ("stop", "end"),
    "run": ("stop", "cancel", "abort"),
    "execute": ("stop", "abort"),
    "play": ("stop", "pause", "mute"),
    "enable": ("disable",),
    "activate": ("deactivate",),
    "show": ("hide",),
    "display": ("hide",),
    "install": ("uninstall", "remove"),
    "import": ("export",),
    "upload": ("download",),
    "send": ("receive", "unsend"),
    "lock": ("unlock",),
    "connect": ("disconnect",),
    "attach": ("detach",),
    "increase": ("decrease", "reduce"),
    "raise": ("lower",),
    "book": ("cancel",),
    "schedule": ("cancel", "unschedule"),
    "subscribe": ("unsubscribe",),
    "allow": ("forbid", "deny"),
    "accept": ("reject", "decline"),
    "buy": ("sell",),
    "push": ("pull",),
    "load": ("unload",),
    "save": ("discard",),
    "missing": ("unused", "superfluous", "existing"),
}
"""Words that turn an action into another: doing the opposite of what was asked is the worst of errors, and vectors
of a word and of its opposite lie close together."""


@dataclass(frozen=True)
class Example:
    """A row with all that training wants of it."""

    row: Row
    reading: Reading
    vector: Vectors
    found: Mapping[str, Aligned | None]
    """Argument -> where its value stands."""
    group: int


class Made(NamedTuple):
    """A request that was made out of others, to show what the teacher's own do not."""

    text: str
    kind: str
    """The selector's class."""
    sources: tuple[int, ...]
    """Indexes of the rows that it was made from; where the class is a tool, the first has the arguments, and the
    text begins with its request."""


@dataclass(frozen=True)
class Prepared:
    """All rows, and how each argument of each tool is written."""

    examples: tuple[Example, ...]
    writings: Mapping[str, Mapping[str, Writing]]
    made: tuple[Made, ...]
    made_vectors: Vectors


def prepare(
    rows: Sequence[Row],
    tools: Mapping[str, ToolSpec],
    encode: Encode,
    *,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> Prepared:
    """Read, align, embed and group the rows; make the negative rows."""
    readings = [read(row.request) for row in rows]
    found = [
        {name: align(reading, value) for name, value in row.args.items()}
        for row, reading in zip(rows, readings, strict=True)
    ]
    phrasings = [without_values(reading, spans_of(each)) for reading, each in zip(readings, found, strict=True)]
    groups = groups_of(phrasings, [row.tool for row in rows])
    vectors = encoded([reading.masked for reading in readings], encode, progress)
    examples = tuple(
        Example(row, reading, vector, each, group)
        for row, reading, vector, each, group in zip(rows, readings, vectors, found, groups, strict=True)
    )
    writings = {tool.name: _writings(tool, examples) for tool in tools.values()}
    made = (*make_negatives(examples, tools, seed), *make_reasons(examples, seed), *tool_texts(tools))
    return Prepared(examples, writings, made, encoded([read(each.text).masked for each in made], encode, progress))


def encoded(texts: Sequence[str], encode: Encode, progress: Callable[[str, int, int], None] | None = None) -> Vectors:
    """One vector a text; a text that comes twice is encoded once."""
    import numpy as np

    unique = list(dict.fromkeys(texts))
    parts = []
    for at in range(0, len(unique), 64):
        if progress is not None:
            progress("reading requests", at, len(unique))
        parts.append(encode(unique[at : at + 64]))
    if not parts:
        return np.zeros((0, 0), np.float32)
    place = {text: i for i, text in enumerate(unique)}
    out: Vectors = np.vstack(parts)[[place[text] for text in texts]]
    return out


def spans_of(found: Mapping[str, Aligned | None]) -> list[tuple[int, int]]:
    """Every span of a row's values."""
    return [span for item in found.values() if item is not None for places in item.places for span in places]


def _writings(tool: ToolSpec, examples: Sequence[Example]) -> dict[str, Writing]:
    mine = [example for example in examples if example.row.tool == tool.name]
    out = {}
    for arg in tool.args:
        having = [example for example in mine if arg.name in example.row.args]
        out[arg.name] = writing_of(
            [example.row.args[arg.name] for example in having],
            [example.found[arg.name] for example in having],
            len(mine),
        )
    return out


# -- labels of tokens


def labels_of(
    reading: Reading, found: Mapping[str, Aligned | None], writings: Mapping[str, Writing], arguments: Sequence[str]
) -> tuple[int, ...] | None:
    """A label for each token; None when a value that is to be pointed at stands nowhere."""
    labels = [0] * len(reading.tokens)
    taken: list[tuple[int, int]] = []
    for name, item in sorted(found.items(), key=lambda pair: -_length(pair[1])):
        if writings[name].kind != "span":
            continue
        if item is None or (item.normaliser.endswith(LIST) != writings[name].normaliser.endswith(LIST)):
            return None
        index = arguments.index(name)
        for places in item.places:
            free = [span for span in places if not covers(taken, *span)]
            if not free:
                return None
            start, end = min(free, key=lambda span: (not _is_chunk(reading, span), span[0]))
            taken.append((start, end))
            inside = [i for i, token in enumerate(reading.tokens) if start <= token.start and token.end <= end]
            if not inside:
                return None  # it stands behind what is read
            for i in inside:
                labels[i] = 2 * index + 2
            labels[inside[0]] = 2 * index + 1
    return tuple(labels)


def _length(item: Aligned | None) -> int:
    return max((end - start for places in item.places for start, end in places), default=0) if item else 0


def _is_chunk(reading: Reading, span: tuple[int, int]) -> bool:
    starts = {chunk.start for chunk in reading.chunks}
    ends = {chunk.end for chunk in reading.chunks}
    return span[0] in starts and span[1] in ends


def tagged_rows(
    examples: Sequence[Example],
    indexes: Sequence[int],
    writings: Mapping[str, Mapping[str, Writing]],
    by_tool: Mapping[str, Sequence[str]],
    arguments: Sequence[str],
    made: Sequence[Made],
    seed: int,
) -> list[Tagged]:
    """Training rows of the tagger: the teacher's, those with a reason behind, and some with an argument cut out.

    Most come a second time with some of their words unread.
    """
    chance = random.Random(seed)
    out: list[Tagged] = []
    for index in indexes:
        example = examples[index]
        tool = example.row.tool
        if tool is None or not by_tool.get(tool):
            continue
        labels = labels_of(example.reading, example.found, writings[tool], arguments)
        if labels is None:
            continue
        out.append(Tagged(example.reading, tool, labels, index))
        reasons = [each for each in made if each.kind == tool and each.sources[:1] == (index,)]
        for each in reasons:
            reading = read(each.text)
            more = [0] * (len(reading.tokens) - len(labels))
            out.append(Tagged(reading, tool, (*labels, *more), index))
        if chance.random() < 1 / 3:
            cut = _without_one(example, tool, writings[tool], arguments, index, chance)
            if cut is not None:
                out.append(cut)
    return out + [
        each._replace(unread=frozenset(word for word in sorted(set(each.reading.words)) if chance.random() < 0.4))
        for each in out
        if chance.random() < 0.6
    ]


def _without_one(
    example: Example,
    tool: str,
    writings: Mapping[str, Writing],
    arguments: Sequence[str],
    index: int,
    chance: random.Random,
) -> Tagged | None:
    """The request without one of its values and without the words that lead to it: nothing is to be pointed at."""
    names = [name for name, item in example.found.items() if item is not None and writings[name].kind == "span"]
    if not names:
        return None
    name = chance.choice(names)
    item = example.found[name]
    assert item is not None
    start, end = item.places[0][0]
    others = [
        span
        for other, each in example.found.items()
        if other != name and each
        for places in each.places
        for span in places
    ]
    begin = max((b for _, b in others if b <= start), default=start)
    text = example.reading.text[:begin] + example.reading.text[end:]
    if not text.strip():
        return None
    reading = read(text)
    found = {other: align(reading, value) for other, value in example.row.args.items() if other != name}
    if any(item is None for item in found.values()):
        return None
    labels = labels_of(reading, found, writings, arguments)
    return None if labels is None else Tagged(reading, tool, labels, index)


def known_values(examples: Sequence[Example], indexes: Sequence[int], tools: Mapping[str, ToolSpec]) -> KnownValues:
    """The values that each argument has had, and the vocabularies and enumerations of the tools."""
    known = KnownValues()
    for index in indexes:
        for name, value in example_values(examples[index].row.args):
            known.add(name, value, index)
    for tool in tools.values():
        for arg in tool.args:
            usual: list[Any] = [*tool.vocabulary.get(arg.name, ()), *(arg.enum or ())]
            for value in usual:
                known.add(arg.name, str(value), -1)
    return known


def example_values(args: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(argument, text) of each value that is a text."""
    out = []
    for name, value in args.items():
        out += [(name, each) for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    return out


# -- requests that are none of the tools


def make_negatives(examples: Sequence[Example], tools: Mapping[str, ToolSpec], seed: int) -> list[Made]:
    """Two requests in one (a single call would do half of it), and requests for the opposite."""
    chance = random.Random(seed)
    inside = [i for i, example in enumerate(examples) if example.row.tool is not None]
    out: list[Made] = []
    wanted = min(max(len(inside) // 3, 30), 200) if len(inside) >= 8 else 0
    for _ in range(wanted):
        one, other = chance.sample(inside, 2)
        first, second = examples[one].row, examples[other].row
        if first.tool == second.tool and not first.args:
            continue  # the same thing said twice is one action
        head = first.request.rstrip(" .?!;,")
        out.append(Made(head + chance.choice(JOINTS) + second.request, SEVERAL, (one, other)))
    said = {word for i in inside for word in examples[i].reading.words}
    named = {
        word for tool in tools.values() for word in re.findall(r"[a-z]+", (tool.name + " " + tool.description).lower())
    }
    turned: dict[str, Made] = {}
    for i in inside:
        words = examples[i].reading.words
        for chunk, word in zip(examples[i].reading.chunks, words, strict=True):
            others = [w for w in OPPOSITES.get(word, ()) if w not in said and w not in named]
            if not others or covers(spans_of(examples[i].found), chunk.start, chunk.end):
                continue
            text = examples[i].row.request
            new = chance.choice(others)
            made = text[: chunk.start] + (new.capitalize() if chunk.text[:1].isupper() else new) + text[chunk.end :]
            turned.setdefault(read(made).masked, Made(made, NO_TOOL, (i,)))
            break
    opposite = list(turned.values())
    chance.shuffle(opposite)
    return out + opposite[: max(len(inside) // 4, 10)]


def tool_texts(tools: Mapping[str, ToolSpec]) -> list[Made]:
    """What each tool says of itself, as if somebody had asked for it in these words."""
    return [Made(words(tool.name), tool.name, ()) for tool in tools.values()] + [
        Made(tool_text(tool), tool.name, ()) for tool in tools.values()
    ]


def make_reasons(examples: Sequence[Example], seed: int) -> list[Made]:
    """Requests with a reason behind them, which is no action of its own.

    Half of the reasons speak of a value that the request has already named.
    """
    chance = random.Random(seed + 1)
    inside = [i for i, example in enumerate(examples) if example.row.tool is not None]
    if len(inside) < 8:
        return []
    out: list[Made] = []
    for i in chance.sample(inside, max(len(inside) // 8, min(len(inside), 10))):
        row = examples[i].row
        other = chance.randrange(len(examples))
        values = [value for _, value in example_values(row.args)]
        behind = examples[other].row
        if behind.tool == row.tool or other == i:
            continue
        reason = behind.request[:1].lower() + behind.request[1:]
        if values and chance.random() < 0.5:
            reason = f"{reason.split()[0]} {chance.choice(values)}"
        head = row.request.rstrip(" .?!;,")
        if head != row.request[: len(head)] or len(row.request) - len(head) > 1:
            continue
        out.append(Made(head + chance.choice(REASONS) + reason, str(row.tool), (i, other)))
    return out
