"""What the request and the code say for one tool at one place, as numbers with names.

Every feature is 0 where nothing speaks for (or against) the tool, and mostly lies between 0 and 1.  The combiner
weighs them; ``--explain`` shows them under these names.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, log, log1p
from typing import TYPE_CHECKING

from callground.caller.code_context import Situation
from callground.caller.code_tools import CodeTool, ToolTable, name_stems, stems
from callground.caller.tools import words
from callground.graph.snapshot import Snapshot
from callground.repairs.words import related_verbs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FEATURES: dict[str, str] = {
    "cosine": "similarity of the request and the tool, by the encoder",
    "overlap": "share of the request's words that the tool's text holds, its name counted twice",
    "name said": "share of the name's words that the request says, rare words counting more",
    "request named": "share of the request's words that are in the name",
    "request documented": "share of the request's words that are in its documentation",
    "parameters said": "share of the request's words that are names of parameters",
    "class said": "share of its class's words that the request says",
    "written out": "the request holds the name as it is written",
    "phrase": "the request holds the name's words side by side",
    "verb first": "the request begins with the name's first word",
    "verb alike": "the request begins with a word that is often used for the name's first word",
    "object said": "the request holds the name's last word",
    "function named": "share of the name's words in the name of the function around",
    "function documented": "share of the name's words in the documentation of the function around",
    "function alike": "similarity of the function around and the tool, by the encoder",
    "same name": "the function around has this very name",
    "itself": "it is the function around",
    "result read": "a name that is read below and bound nowhere is made of the same words",
    "target alike": "the name that gets the result is made of the same words",
    "words near": "share of the name's words in the lines around",
    "class near": "share of its class's words in the lines around",
    "class in scope": "a name in scope is made of its class's words",
    "same file": "defined in this file",
    "same class": "a method of the class around",
    "receiver": "a method of something in scope, whose type is known",
    "receiver self": "a method of the class around, or of one that it inherits from",
    "class known": "a method that is called on a class which has a name here",
    "imported": "the file imports it by name",
    "module imported": "the file imports its module",
    "same package": "defined in the same folder",
    "path shared": "share of the folders that both files lie in",
    "private elsewhere": "private to another file or class",
    "property": "read as an attribute, not called",
    "is class": "a class",
    "is function": "a function of a module",
    "is method": "a method",
    "no receiver": "a method, and nothing in scope is known to have it",
    "async out of place": "a coroutine, and the function around is none",
    "async in place": "a coroutine in a coroutine",
    "abstract": "abstract",
    "used in file": "how often the file uses the name",
    "used in function": "the function around uses the name elsewhere",
    "used near": "how near the name is used",
    "used elsewhere": "in how many other files the name is used",
    "used in package": "in how many other files of the folder the name is used",
    "never used": "used nowhere yet",
    "helper in wait": "private to this file, and used nowhere yet",
    "name shared": "how many tools have the same name",
    "defined near": "how near it is defined",
    "defined next": "the next definitions under the function around",
    "defined before": "the definitions right above the function around",
    "arguments at hand": "share of its required parameters that are names in scope",
    "arguments at hand any": "share of all its parameters that are names in scope",
    "arguments of type": "share of its required parameters whose type something in scope has",
    "arguments fresh": "a name of the lines just above is one of its parameters",
    "needs nothing": "it can be called without arguments",
    "needs many": "how many arguments it needs",
    "result unused": "it returns nothing, and the place wants its result",
    "awaited": "the place awaits, and it is a coroutine",
    "not awaited": "the place awaits, and it is no coroutine",
    "entered": "the place is a with, and it can be entered",
    "looped": "the place loops, and it is a generator",
    "test code": "it belongs to tests, and the place does not",
}
"""Name -> what it says, in the order of a row."""

COUNT = len(FEATURES)
_NEAR_LINES = 6
_MOST_FILES = 60
_TEST = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)test_[^/]*$|_test\.py$|(?:^|/)conftest\.py$")


@dataclass(eq=False)
class Heard:
    """One place, with what its features need worked out once."""

    situation: Situation
    snapshot: Snapshot
    rarity: dict[str, float]
    request: list[str]
    request_text: str
    first: tuple[str, ...]
    function: frozenset[str]
    documented: frozenset[str]
    below: list[frozenset[str]]
    target: frozenset[str]
    near: frozenset[str]
    scope: list[frozenset[str]]
    names: dict[str, int]
    types: frozenset[str]
    folder: str
    next_defs: dict[int, float] = field(default_factory=dict)
    before_defs: dict[int, float] = field(default_factory=dict)
    files: dict[str, tuple[int, int, bool]] = field(default_factory=dict)
    """Name -> files that use it elsewhere, of them in the same folder, whether more than were counted."""
    is_test: bool = False


def hear(situation: Situation, snapshot: Snapshot, table: ToolTable) -> Heard:
    """Work out what the features of a place need."""
    request = list(dict.fromkeys(stems(situation.request)))
    lines = situation.text.split("\n")
    first = max(0, situation.line - 1 - _NEAR_LINES)
    near: set[str] = set()
    for number in range(first, min(len(lines), situation.line + _NEAR_LINES)):
        if number != situation.line - 1 and not lines[number].lstrip().startswith("#"):
            for word in re.findall(r"[^\W\d]\w*", lines[number]):
                near |= name_stems(word)
    plain = [name for name in situation.names if not name.is_module]
    names: dict[str, int] = {}
    for name in plain:
        last = name.text.rpartition(".")[2].lstrip("_")
        names[last] = min(name.distance, names.get(last, 1000))
    heard = Heard(
        situation,
        snapshot,
        {},
        request,
        words(situation.request),
        tuple(request[:2]),
        name_stems(situation.function) if situation.function else frozenset(),
        frozenset(stems(situation.function_doc[:400])),
        [name_stems(word) for word in situation.wanted_below],
        name_stems(situation.shape.target) if situation.shape.target else frozenset(),
        frozenset(near),
        [name_stems(name.text.rpartition(".")[2]) for name in plain],
        names,
        frozenset(ref.qualname.rpartition(".")[2] for name in plain for ref in name.classes),
        os.path.dirname(situation.path),
        is_test=bool(_TEST.search(situation.path)),
    )
    for word in request:
        heard.rarity[word] = table.rarity(word)
    if situation.function:
        here = sorted(
            t.line for t in (table.tools[i] for i in table.by_path.get(situation.path, ())) if t.kind != "class"
        )
        at = bisect_left(here, situation.function_end)
        for rank, line in enumerate(here[at : at + 3]):
            heard.next_defs[line] = 1 / (rank + 1)
        at = bisect_left(here, situation.function_line)
        for rank, line in enumerate(reversed(here[max(0, at - 3) : at])):
            heard.before_defs[line] = 1 / (rank + 1)
    return heard


def candidates(heard: Heard, table: ToolTable, limit: int, cosines: Floats | None = None) -> list[int]:
    """The tools that are worth a closer look, the likeliest first: by words, by what is in reach, by the encoder."""
    scores: dict[int, float] = {}
    situation = heard.situation
    for word in heard.request:
        weight = heard.rarity[word]
        for index in table.holding.get(word, ()):
            tool = table.tools[index]
            scores[index] = scores.get(index, 0.0) + weight * (
                1.0 if word in tool.name_words else 0.5 if word in tool.owner_words else 0.3
            )
    most = max(scores.values(), default=1.0) or 1.0
    scores = {index: score / most for index, score in scores.items()}
    near = heard.near | heard.function | frozenset().union(*heard.below)

    def add(index: int, bonus: float) -> None:
        scores[index] = scores.get(index, 0.0) + bonus

    for index in table.by_path.get(situation.path, ()):
        add(index, 0.5)
        if table.tools[index].owner == situation.owner and situation.owner:
            add(index, 0.2)
    for name in situation.uses:
        for index in table.by_name.get(name, ()):
            add(index, 0.25)
    for name, (_module, original) in situation.imported.items():
        for index in table.by_name.get(original or name, ()):
            if table.tools[index].kind in ("function", "class"):
                add(index, 0.4)
    for index, tool in enumerate(table.tools):
        if tool.owner and (tool.module, tool.owner) in situation.receivers:
            add(index, 0.3)
        if os.path.dirname(tool.path) == heard.folder and index in scores:
            add(index, 0.05)
        if tool.name_words and tool.name_words <= near:
            add(index, 0.2)
    if cosines is not None and len(cosines):
        for index in cosines.argsort()[::-1][:limit].tolist():
            add(index, float(cosines[index]))
    for index in list(scores):
        if table.tools[index].kind == "property":
            scores[index] -= 0.5
    ranked = sorted(scores, key=lambda index: (-scores[index], index))
    return ranked[:limit]


def rows(
    heard: Heard, table: ToolTable, tools: Sequence[CodeTool], cosines: Sequence[float], alike: Sequence[float]
) -> Floats:
    """The features of some tools at a place: float32 of shape (len(tools), COUNT).

    `cosines` compare each tool with the request, `alike` with the function around; zeros where there is no encoder.
    """
    import numpy as np

    out = np.zeros((len(tools), COUNT), dtype=np.float32)
    for number, tool in enumerate(tools):
        out[number] = _row(heard, table, tool, cosines[number], alike[number])
    return out


def _share(part: Iterable[str], whole: frozenset[str] | set[str], table: ToolTable) -> float:
    """How much of `part` is in `whole`, rare words counting more."""
    total = said = 0.0
    for word in part:
        weight = table.rarity(word)
        total += weight
        if word in whole:
            said += weight
    return said / total if total else 0.0


def _row(heard: Heard, table: ToolTable, tool: CodeTool, cosine: float, alike: float) -> list[float]:
    s = heard.situation
    name_words, request = tool.name_words, heard.request
    asked = frozenset(request)
    total = sum(heard.rarity.values()) or 1.0
    in_name = sum(heard.rarity[word] for word in request if word in name_words) / total
    in_doc = sum(heard.rarity[word] for word in request if word in tool.doc_words) / total
    in_params = sum(heard.rarity[word] for word in request if word in tool.param_words) / total
    every = name_words | tool.owner_words | tool.doc_words | tool.param_words
    overlap = (
        sum(word in every for word in request) / max(1, len(request))
        + 2 * sum(word in asked for word in name_words) / max(1, len(name_words))
    ) / 3
    spoken = words(tool.name)
    parts = spoken.split(" ")
    phrase = len(parts) > 1 and f" {spoken} " in f" {heard.request_text} "
    verb = parts[0] if parts else ""
    verb_stems = name_stems(verb) if verb else frozenset()
    related = related_verbs(verb) if verb else {}
    verb_alike = max((related.get(word, 0.0) for word in heard.request_text.split(" ")[:3]), default=0.0)
    object_words = name_stems(parts[-1]) if parts else frozenset()
    same_file = tool.path == s.path
    same_class = bool(s.owner) and tool.owner == s.owner and same_file
    reach = s.receivers.get((tool.module or tool.path, tool.owner), ()) if tool.owner else ()
    through_self = "self" in reach or "cls" in reach
    on_class = (
        bool(tool.owner)
        and tool.kind in ("classmethod", "staticmethod")
        and ((tool.module or tool.path, tool.owner) in s.class_names or same_class)
    )
    imported = s.imported.get(tool.name)
    by_name = (
        imported is not None
        and not tool.owner
        and (imported[1] == tool.name or not imported[1])
        and (
            imported[0] == tool.module
            or tool.module.startswith(imported[0] + ".")
            or len(table.by_name[tool.name]) == 1
        )
    ) or any(
        original == tool.name and module == tool.module and not tool.owner for module, original in s.imported.values()
    )
    module_imported = (
        bool(tool.module)
        and not same_file
        and any(
            (f"{module}.{original}" if original else module) == tool.module for module, original in s.imported.values()
        )
    )
    folder = os.path.dirname(tool.path)
    method = tool.kind in ("method", "property") and bool(tool.owner)
    uses = s.uses.get(tool.name, [])
    in_function = any(s.function_line <= line <= s.function_end for line in uses) if s.function else False
    elsewhere, package, many = _files(heard, tool)
    unused = not uses and not elsewhere and not many
    distance = abs(tool.line - s.line) if same_file else 0
    required = tool.required
    at_hand = [p for p in required if p.name.lstrip("_") in heard.names]
    named = [p for p in tool.params if p.kind not in ("*args", "**kwargs")]
    typed = sum(bool(p.annotation) and _type_words(p.annotation or "") & heard.types != set() for p in required)
    fresh = any(heard.names.get(p.name.lstrip("_"), 1000) <= 3 for p in named)
    wants = s.shape.target or s.shape.returned
    entered = s.shape.entered and (
        tool.kind == "class" or any("contextmanager" in decorator for decorator in tool.decorators)
    )
    return [
        cosine,
        overlap,
        _share(name_words, asked, table),
        in_name,
        in_doc,
        in_params,
        _share(tool.owner_words, asked, table) if tool.owner else 0.0,
        float(len(tool.name) > 3 and re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", s.request) is not None),
        float(phrase),
        float(bool(verb_stems) and any(word in verb_stems for word in heard.first)),
        float(verb_alike),
        float(len(parts) > 1 and any(word in asked for word in object_words)),
        _share(name_words, heard.function, table) if heard.function else 0.0,
        _share(name_words, heard.documented, table) if heard.documented else 0.0,
        alike,
        float(tool.name == s.function),
        float(same_file and tool.line == s.function_line),
        max((_both(name_words, word) for word in heard.below), default=0.0),
        _both(name_words, heard.target) if heard.target else 0.0,
        _share(name_words, heard.near, table),
        _share(tool.owner_words, heard.near, table) if tool.owner else 0.0,
        float(bool(tool.owner_words) and any(word and word <= tool.owner_words for word in heard.scope)),
        float(same_file),
        float(same_class),
        float(bool(reach) and not through_self),
        float(through_self),
        float(on_class),
        float(by_name),
        float(module_imported),
        float(folder == heard.folder),
        _shared(folder, heard.folder),
        float(tool.private and not same_file and not reach),
        float(tool.kind == "property"),
        float(tool.kind == "class"),
        float(tool.kind == "function"),
        float(bool(tool.owner) and tool.kind != "class"),
        float(method and not reach),
        float(tool.is_async and not s.is_async),
        float(tool.is_async and s.is_async),
        float(any("abstract" in decorator for decorator in tool.decorators)),
        log1p(len(uses)) / 3,
        float(in_function),
        max((exp(-abs(line - s.line) / 20) for line in uses), default=0.0),
        log1p(elsewhere) / 3,
        log1p(package) / 2,
        float(unused),
        float(unused and same_file and tool.name.startswith("_")),
        log(len(table.by_name.get(tool.name, ())) or 1) / 3,
        exp(-distance / 60) if same_file else 0.0,
        heard.next_defs.get(tool.line, 0.0) if same_file and tool.owner in ("", s.owner) else 0.0,
        heard.before_defs.get(tool.line, 0.0) if same_file and tool.owner in ("", s.owner) else 0.0,
        len(at_hand) / len(required) if required else 0.0,
        sum(p.name.lstrip("_") in heard.names for p in named) / len(named) if named else 0.0,
        typed / len(required) if required else 0.0,
        float(fresh),
        float(not required),
        min(len(required), 6) / 6,
        float(bool(wants) and tool.returns == "None"),
        float(s.shape.awaited and tool.is_async),
        float(s.shape.awaited and not tool.is_async),
        float(entered),
        float(s.shape.looped and tool.is_generator),
        float(not heard.is_test and bool(_TEST.search(tool.path))),
    ]


def _both(one: frozenset[str], other: frozenset[str]) -> float:
    """How alike two sets of words are (Jaccard)."""
    return len(one & other) / len(one | other) if one and other else 0.0


def _shared(one: str, other: str) -> float:
    first, second = one.split("/"), other.split("/")
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return same / max(len(first), len(second), 1)


def _type_words(annotation: str) -> set[str]:
    return set(re.findall(r"[A-Z]\w*", annotation))


def _files(heard: Heard, tool: CodeTool) -> tuple[int, int, bool]:
    """How many files but the place's and the tool's own use a name, and how many of them are in the place's folder."""
    found = heard.files.get(tool.name)
    if found is None:
        postings, files = heard.snapshot.postings, heard.snapshot.files
        elsewhere = package = 0
        versions = postings.mentions.get(tool.name, ())
        many = len(versions) > _MOST_FILES
        own = {heard.situation.path}
        for uid in versions[:_MOST_FILES]:
            path = postings.paths.get(uid)
            if path is None or path in own or files.on_disk(path, uid) is None:
                continue
            elsewhere += 1
            package += os.path.dirname(path) == heard.folder
        found = heard.files[tool.name] = (elsewhere, package, many)
    elsewhere, package, many = found
    if tool.path != heard.situation.path and elsewhere:
        # Its own file mentions it by defining it.
        elsewhere -= 1
        package -= os.path.dirname(tool.path) == heard.folder and package > 0
    return elsewhere, package, many
