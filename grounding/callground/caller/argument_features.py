"""What can be said of a candidate as the value of a parameter: one row of numbers, which the ranker weighs.

The features speak of kinds, types, places and words in general; no name of a tool or a value occurs in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from callground.caller.argument_candidates import ARRAY, BOOLEAN, ENUM, INTEGER, NUMBER, OBJECT, STRING, Candidate
from callground.caller.argument_senses import ENDS, LIMITS, NEGATION, PLACES, SENSES, STARTS, ParameterSense, sense_of
from callground.caller.argument_text import FUNCTION_WORDS, RequestText, stem, stems
from callground.caller.spans import ParameterScores
from callground.caller.tools import ToolSpec, words
from callground.caller.units import dimension
from callground.caller.value_patterns import UNITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

GROUPS = (INTEGER, NUMBER, STRING, ENUM, BOOLEAN, ARRAY, OBJECT)
KINDS = (
    "number", "date", "time", "quoted", "name", "phrase", "list", "mapping", "url", "email", "path", "ip", "code",
    "head", "member", "boolean", "items", "default",
)  # fmt: skip

_GROWS_LEFT = re.compile(r"[A-Z][\w'’.&-]* (?:of|of the|the|and|&|de|du|von|van|for) $")
_GROWS_RIGHT = re.compile(r" (?:of|of the|of a|de|du|von|van|&) [A-Z]")
_AFTER_COMMA = re.compile(r", [A-Z]")
_HOLDS_LINK = re.compile(r"[A-Z][\w'’.&-]* (?:of|of the|of a|de|du|von|van|the) [A-Z]")
_LOWER = re.compile(r"\b(?:at least|minimum|min|more than|over|above|from|greater than|no less than|starting)\b")
_UPPER = re.compile(r"\b(?:at most|maximum|max|less than|under|below|up to|no more than|within|cheaper than)\b")

NAMES: tuple[str, ...] = (
    *(f"is {group}" for group in GROUPS), *(f"from {kind}" for kind in KINDS), "none", "none required",
    "none has default", "none group numeric", "none group text", "none words of name said", "none margin",
    "none margin required", "none no head", "name just before", "name before", "about before", "name just after",
    "name after", "about after", "name before with is", "as name", "other's name nearer", "from at start",
    "to at end", "from at end", "to at start", "place after in", "between first start", "and second end",
    "lower bound fits", "upper bound fits", "bound clashes", "limit", "sense date", "sense time", "sense fits",
    "sense clashes", "sense name", "sense code", "sense text", "form fits", "raw though form", "fraction wanted",
    "percent wanted", "raw percent", "fraction unsaid", "raw unsaid", "unit fits", "unit clashes",
    "unit word in name", "unit word in about", "unit is money", "money wanted", "converted", "ordinal",
    "example equal", "example in about", "example capitals agree", "example digits agree", "example comma agrees",
    "has examples", "order agrees", "order distance", "one for one", "only one", "share of kind",
    "inside of another", "inside of quoted", "holds another", "touches quote mark", "words", "words above four",
    "capital", "all capitals", "begins request", "ends request", "ends clause", "begins with function word",
    "cut name", "cut phrase", "name grows left", "name grows right", "name goes on after comma", "name holds link",
    "digits", "symbols", "said words are tool's", "said words are parameter's", "opening verb", "after preposition",
    "after colon", "followed by noun", "place in request", "head", "head score", "head score clipped", "head best",
    "head against best", "head above none", "no head", "head starts", "head ends", "member said",
    "member words said", "member only one said", "member default", "member label", "member label best",
    "member label margin", "member prefix said", "member longer said", "member coded", "true", "false",
    "true name said", "true name negated", "false name negated", "false name said", "true default", "false default",
    "true label", "false label", "boolean required", "true about said", "required", "has default", "equals default",
    "optional and named", "optional and head", "array items numeric", "array several", "array one",
    "array from list", "array links", "array is long", "array name plural",
)  # fmt: skip
INDEX = {name: at for at, name in enumerate(NAMES)}
SIZE = len(NAMES)


class FeatureMaker:
    """The features of all candidates of one request and tool."""

    def __init__(
        self,
        request: RequestText,
        tool: ToolSpec,
        options: dict[str, list[Candidate]],
        scores: dict[str, ParameterScores] | None,
    ) -> None:
        self.request = request
        self.options = options
        self.scores = scores or {}
        self.senses = {arg.name: sense_of(arg) for arg in tool.args}
        self.tool_words = frozenset(stems(words(tool.name))) | frozenset(stems(tool.description))
        self.lower = request.text.lower()
        self.quotes = [m for m in request.mentions if m.kind == "quoted"]
        self.solid = [
            m
            for m in request.mentions
            if m.kind in ("date", "time", "url", "email", "path", "ip", "mapping", "quoted")
            or (m.kind == "list" and request.text[m.start] in "[(")
        ]
        self.peers: dict[str, list[str]] = {}
        for arg in tool.args:
            group = self.senses[arg.name].group
            self.peers.setdefault("numeric" if group in (INTEGER, NUMBER) else group, []).append(arg.name)
        self.all_names = [(name, sense.name) for name, sense in self.senses.items()]

    def rows(self, name: str) -> Floats:
        """Features of a parameter's candidates and, in the last row, of leaving it out: (candidates + 1, SIZE)."""
        import numpy as np

        sense, found = self.senses[name], self.options[name]
        rows = np.zeros((len(found) + 1, SIZE), np.float32)
        head = self.scores.get(name)
        best = head.best(1)[0][2] if head is not None and head.places else None
        spans = [head.span(each.start, each.end) if head is not None and each.start >= 0 else None for each in found]
        order = self._order(name, found)
        members = self._members(found, head)
        for at, each in enumerate(found):
            values: dict[str, float] = {f"from {each.kind}": 1.0}
            if sense.group == BOOLEAN:
                self._boolean(values, sense, each, head)
            else:
                if each.start >= 0:
                    self._place(values, sense, each, name)
                    self._shape(values, sense, each)
                    self._order_features(values, each, order)
                self._fit(values, sense, each)
                if sense.group == ENUM:
                    self._member(values, sense, each, at, members)
                if sense.group == ARRAY:
                    self._array(values, sense, each)
                self._head(values, spans[at], best, each, head, sense)
            self._common(values, sense)
            for key, value in values.items():
                rows[at, INDEX[key]] = value
        none: dict[str, float] = {}
        self._none(none, sense, best, head)
        self._common(none, sense)
        for key, value in none.items():
            rows[-1, INDEX[key]] = value
        return rows

    def _common(self, values: dict[str, float], sense: ParameterSense) -> None:
        values[f"is {sense.group}"] = 1.0
        values["required"] = float(sense.parameter.required)
        values["has default"] = float(sense.default is not None)

    def _none(
        self,
        values: dict[str, float],
        sense: ParameterSense,
        best: float | None,
        head: ParameterScores | None,
    ) -> None:
        required = sense.parameter.required
        values["none"] = 1.0
        values["none required"] = float(required)
        values["none has default"] = float(sense.default is not None)
        values["none group numeric"] = float(sense.group in (INTEGER, NUMBER))
        values["none group text"] = float(sense.group in (STRING, ARRAY))
        said = len(sense.name & self.request.stems) / max(1, len(sense.name))
        values["none words of name said"] = said
        if head is None:
            values["none no head"] = 1.0
            return
        margin = -(best or 0.0) if sense.group != BOOLEAN else head.scores.label[0] - max(head.scores.label[1:])
        if sense.group == ENUM and head.options:
            margin = min(margin, -max(one.label[1] - one.label[0] for one in head.options.values()))
        values["none margin"] = _clip(margin / 5)
        values["none margin required"] = _clip(margin / 5) * required

    def _head(
        self,
        values: dict[str, float],
        score: float | None,
        best: float | None,
        each: Candidate,
        head: ParameterScores | None,
        sense: ParameterSense,
    ) -> None:
        if head is None:
            values["no head"] = 1.0
            return
        if score is None or best is None:
            return
        values["head"] = 1.0
        values["head score"] = score / 10
        values["head score clipped"] = _clip(score / 4)
        values["head best"] = float(score >= best - 1e-4)
        values["head against best"] = max(-3.0, (score - best) / 4)
        values["head above none"] = float(score > 0)
        values["optional and head"] = float(score > 0 and not sense.parameter.required)
        first = [index for index, place in enumerate(head.places) if place[1] > each.start]
        last = [index for index, place in enumerate(head.places) if place[0] < each.end]
        if first and last:
            values["head starts"] = max(-3.0, float(head.scores.start[first[0]] - head.scores.start.max()) / 3)
            values["head ends"] = max(-3.0, float(head.scores.end[last[-1]] - head.scores.end.max()) / 3)

    def _place(self, values: dict[str, float], sense: ParameterSense, each: Candidate, name: str) -> None:
        before = self.request.before(each.start)
        after = self.request.after(each.end)
        text = self.request.text
        here = text[max(0, each.start - 3) : each.start].strip(" '\"([")
        if here in (":", "="):
            values["after colon"] = 1.0
        near = next((distance for word, distance in before if word in sense.name), None)
        values["name just before"] = float(near == 0)
        values["name before"] = 0.0 if near is None else 1 / (1 + near)
        values["about before"] = _nearest(before, sense.about)
        values["name just after"] = float(bool(after) and after[0][0] in sense.name and after[0][1] == 0)
        values["name after"] = _nearest(after[:3], sense.name)
        values["about after"] = _nearest(after[:3], sense.about)
        if near is not None and any(word in _LINKING for word, distance in before if distance < near):
            values["name before with is"] = 1.0
        if len(after) > 1 and after[0][0] in ("as", "for") and any(word in sense.name for word, _ in after[1:4]):
            values["as name"] = 1.0
        own = values["name before"] + values["name after"]
        others = 0.0
        for other, other_name in self.all_names:
            distinct = other_name - sense.name
            if other != name and distinct:
                others = max(others, _nearest(before, distinct) + _nearest(after[:3], distinct))
        values["other's name nearer"] = max(-1.0, min(1.0, others - own))
        link = next(
            (
                word
                for word, _ in before[:2]
                if word
                in (
                    "from",
                    "to",
                    "in",
                    "at",
                    "between",
                    "and",
                    "into",
                    "until",
                    "near",
                    "for",
                    "by",
                    "on",
                    "with",
                    "of",
                )
            ),
            "",
        )
        starts, ends = bool(sense.name & STARTS), bool(sense.name & ENDS)
        if link == "from":
            values["from at start"], values["from at end"] = float(starts), float(ends)
        if link in ("to", "into", "until"):
            values["to at end"], values["to at start"] = float(ends), float(starts)
        if link == "between":
            values["between first start"] = 1.0 if starts else -1.0 if ends else 0.0
        if link == "and" and any(word == "between" for word, _ in before):
            values["and second end"] = 1.0 if ends else -1.0 if starts else 0.0
        if link in ("in", "at", "near", "for") and sense.name & PLACES:
            values["place after in"] = 1.0
        values["after preposition"] = float(bool(link))
        window = self.lower[max(0, each.start - 22) : each.start]
        if sense.group in (INTEGER, NUMBER):
            low, high = _LOWER.search(window) is not None, _UPPER.search(window) is not None
            wants_low, wants_high = (
                "min" in sense.name or "minimum" in sense.name,
                "max" in sense.name or "maximum" in sense.name,
            )
            values["lower bound fits"] = float(low and wants_low)
            values["upper bound fits"] = float(high and wants_high)
            values["bound clashes"] = float((low and wants_high) or (high and wants_low))
            values["limit"] = float(bool(sense.name & LIMITS))
        values["followed by noun"] = float(
            bool(after) and after[0][0] not in FUNCTION_WORDS and text[each.end : each.end + 1] == " "
        )
        values["place in request"] = each.start / max(1, len(text))
        if not sense.parameter.required:
            values["optional and named"] = float(own > 0)

    def _shape(self, values: dict[str, float], sense: ParameterSense, each: Candidate) -> None:
        text = self.request.text
        shown = text[each.start : each.end]
        parts = shown.split()
        values["words"] = min(len(parts), 10) / 5
        values["words above four"] = float(len(parts) > 4)
        values["capital"] = float(shown[:1].isupper())
        values["all capitals"] = float(shown.isupper() and len(shown) > 1)
        values["begins request"] = float(each.start == 0)
        values["ends request"] = float(not text[each.end :].strip(" .?!'\""))
        values["ends clause"] = float(re.match(r"\W*(?:[.,;:?!]|$)", text[each.end :]) is not None)
        first = parts[0].lower().strip("'\",.") if parts else ""
        values["begins with function word"] = float(first in FUNCTION_WORDS)
        values["digits"] = float(any(char.isdigit() for char in shown))
        values["symbols"] = float(any(char in "_/@\\#{}<>=" for char in shown))
        own = stems(shown)
        values["said words are tool's"] = sum(word in self.tool_words for word in own) / max(1, len(own))
        values["said words are parameter's"] = sum(word in sense.name for word in own) / max(1, len(own))
        values["opening verb"] = float(
            each.start < 3 or (bool(self.request.words) and each.start == self.request.words[0].start)
        )
        values["touches quote mark"] = float(text[each.start - 1 : each.start] in "'\"`“‘" and each.start > 0)
        for other in self.solid:
            if (
                other.start <= each.start
                and each.end <= other.end
                and (other.start, other.end) != (each.start, each.end)
            ):
                values["inside of another"] = 1.0
                if other.kind == "quoted":
                    values["inside of quoted"] = 1.0
            elif (
                each.start <= other.start
                and other.end <= each.end
                and (other.start, other.end) != (each.start, each.end)
            ):
                values["holds another"] = 1.0
        if each.kind in ("name", "phrase", "head", "items"):
            before, after = text[: each.start], text[each.end :]
            if each.kind == "name":
                values["cut name"] = float(bool(re.search(r"[A-Z][\w']* $", before) or re.match(r" [A-Z]", after)))
            values["name grows left"] = float(_GROWS_LEFT.search(before[-40:]) is not None and shown[:1].isupper())
            values["name grows right"] = float(_GROWS_RIGHT.match(after) is not None)
            values["name goes on after comma"] = float(_AFTER_COMMA.match(after) is not None and shown[:1].isupper())
            values["name holds link"] = float(_HOLDS_LINK.search(shown) is not None)
            left = re.search(r"([\w'-]+) $", before)
            right = re.match(r" ([\w'-]+)", after)
            values["cut phrase"] = float(left is not None and left.group(1).lower() not in FUNCTION_WORDS) + float(
                right is not None and right.group(1).lower() not in FUNCTION_WORDS
            )

    def _fit(self, values: dict[str, float], sense: ParameterSense, each: Candidate) -> None:
        kind = each.kind
        values["sense date"], values["sense time"] = float("date" in sense.senses), float("time" in sense.senses)
        values["sense name"], values["sense code"], values["sense text"] = (
            float("name" in sense.senses), float("code" in sense.senses), float("text" in sense.senses),
        )  # fmt: skip
        fits = any(kind in SENSES[name][1] for name in sense.senses)
        values["sense fits"] = float(fits)
        special = kind in ("date", "time", "url", "email", "path", "ip")
        values["sense clashes"] = float(special and not fits)
        if kind in ("date", "time"):
            wanted = sense.has_date_form if kind == "date" else sense.has_time_form
            values["form fits"] = float(wanted and each.note == "formatted")
            values["raw though form"] = float(wanted and each.note != "formatted")
        if each.unit == "%":
            fraction = each.note == "fraction"
            values["fraction wanted"] = float(fraction and sense.percent == "fraction")
            values["percent wanted"] = float(not fraction and sense.percent == "percent")
            values["raw percent"] = float(not fraction and sense.percent == "fraction")
            values["fraction unsaid"] = float(fraction and not sense.percent)
            values["raw unsaid"] = float(not fraction and not sense.percent)
        if each.unit and each.unit not in ("word", "%", "ordinal"):
            names = _unit_words(each.unit)
            values["unit word in name"] = float(bool(names & sense.name))
            values["unit word in about"] = float(bool(names & sense.about) or each.unit == sense.unit)
            values["unit fits"] = float(bool(sense.unit) and each.unit == sense.unit)
            values["unit clashes"] = float(bool(sense.unit) and dimension(each.unit) != dimension(sense.unit))
        values["unit is money"] = float(each.unit in ("$", "€", "£"))
        values["money wanted"] = float(each.unit in ("$", "€", "£") and sense.money)
        values["member coded"] = float(each.note == "coded")
        values["converted"] = float(each.note == "converted")
        values["ordinal"] = float(each.unit == "ordinal")
        if isinstance(each.value, str) and sense.examples:
            self._examples(values, sense, each.value)
        if sense.default is not None and not isinstance(each.value, (list, dict)):
            values["equals default"] = float(str(each.value).lower() == str(sense.default).lower())

    def _examples(self, values: dict[str, float], sense: ParameterSense, value: str) -> None:
        values["has examples"] = 1.0
        low = value.lower()
        values["example equal"] = float(any(low == example.lower() for example in sense.examples))
        values["example in about"] = float(len(low) > 2 and low in sense.parameter.description.lower())
        count = len(sense.examples)
        values["example capitals agree"] = (
            sum(example[:1].isupper() == value[:1].isupper() for example in sense.examples) / count
        )
        digits = any(char.isdigit() for char in value)
        values["example digits agree"] = (
            sum(any(char.isdigit() for char in example) == digits for example in sense.examples) / count
        )
        values["example comma agrees"] = float(any("," in example for example in sense.examples) == ("," in value))

    def _order(self, name: str, found: Sequence[Candidate]) -> tuple[list[int], int, int]:
        """Where numbers (or quotes, or names) start, the parameter's place among its peers, and how many peers."""
        group = self.senses[name].group
        peers = self.peers["numeric" if group in (INTEGER, NUMBER) else group]
        kinds = ("number",) if group in (INTEGER, NUMBER) else ("quoted",) if self.quotes else ("name",)
        if group == ARRAY and any(each.kind == "list" for each in found):
            kinds = ("list",)
        starts = sorted({each.start for each in found if each.kind in kinds and each.start >= 0})
        return starts, peers.index(name), len(peers)

    def _order_features(self, values: dict[str, float], each: Candidate, order: tuple[list[int], int, int]) -> None:
        starts, place, count = order
        if each.start not in starts:
            return
        rank = starts.index(each.start)
        values["order agrees"] = float(rank == place)
        values["order distance"] = min(abs(rank - place), 4) / 4
        values["one for one"] = float(len(starts) == count)
        values["only one"] = float(len(starts) == 1)
        values["share of kind"] = 1 / len(starts)

    def _members(self, found: Sequence[Candidate], head: ParameterScores | None) -> list[tuple[float, float]]:
        """For each candidate the share of its words that is said, and the head's opinion."""
        result = []
        for each in found:
            parts = [part for part in stems(words(str(each.value))) if part not in FUNCTION_WORDS]
            share = sum(part in self.request.stems for part in parts) / max(1, len(parts))
            option = head.options.get(str(each.value)) if head is not None else None
            result.append((share, option.label[1] - option.label[0] if option is not None else 0.0))
        return result

    def _member(
        self,
        values: dict[str, float],
        sense: ParameterSense,
        each: Candidate,
        at: int,
        members: list[tuple[float, float]],
    ) -> None:
        share, label = members[at]
        said = each.start >= 0
        values["member said"] = float(said)
        values["member words said"] = share
        values["member only one said"] = float(share > 0 and sum(other[0] > 0 for other in members) == 1)
        values["member default"] = float(sense.default is not None and str(each.value) == str(sense.default))
        values["member label"] = _clip(label / 5)
        values["member label best"] = float(label >= max(other[1] for other in members) and label != 0.0)
        values["member label margin"] = _clip(
            (label - max((other[1] for index, other in enumerate(members) if index != at), default=0.0)) / 5
        )
        low = str(each.value).lower()
        prefix = len(low) > 3 and any(word.shown.lower().startswith(low[:4]) for word in self.request.words)
        values["member prefix said"] = float(prefix)
        values["member longer said"] = min(len(low), 20) / 20 * float(said)

    def _boolean(
        self, values: dict[str, float], sense: ParameterSense, each: Candidate, head: ParameterScores | None
    ) -> None:
        key = "true" if each.value else "false"
        named = sense.name - frozenset(
            stem(word) for word in ("is", "use", "include", "with", "has", "enable", "only", "allow", "show")
        )
        said = [index for index, word in enumerate(self.request.words) if word.stem in named]
        share = len({self.request.words[index].stem for index in said}) / max(1, len(named))
        negated = any(
            word.shown.lower() in NEGATION
            for index in said
            for word in self.request.words[max(0, index - 4) : index + 3]
        )
        values[key] = 1.0
        values[f"{key} name said"] = share * (not negated)
        values[f"{key} name negated"] = share * negated
        values[f"{key} default"] = float(sense.default is each.value)
        values["equals default"] = float(sense.default is each.value)
        values["boolean required"] = float(sense.parameter.required) * (1.0 if each.value else -1.0)
        if each.value:
            values["true about said"] = len(sense.about & self.request.stems) / max(1, len(sense.about))
        if head is None:
            values["no head"] = 1.0
            return
        label = head.scores.label
        values[f"{key} label"] = _clip((label[1 if each.value else 2] - label[2 if each.value else 1]) / 5)
        values["head"] = 1.0
        values["head score clipped"] = _clip((label[1 if each.value else 2] - label[0]) / 5)

    def _array(self, values: dict[str, float], sense: ParameterSense, each: Candidate) -> None:
        value = each.value if isinstance(each.value, list) else []
        values["array items numeric"] = float(sense.parameter.items in ("integer", "number"))
        values["array several"] = float(len(value) > 1)
        values["array one"] = float(len(value) == 1)
        values["array is long"] = float(any(isinstance(item, str) and len(item.split()) > 4 for item in value))
        values["array from list"] = float(each.kind == "list")
        shown = self.request.text[each.start : each.end] if each.start >= 0 else ""
        values["array links"] = float(len(re.findall(r",|\band\b|&", shown))) / 5
        values["array name plural"] = float(sense.parameter.name.endswith("s"))


_LINKING = frozenset(("is", "of", "are", "equal", "be", "to", "as", "at", "call", "nam", "titl"))


def _nearest(around: Sequence[tuple[str, int]], wanted: frozenset[str]) -> float:
    """1 for a wanted word right beside, less for one farther off, 0 for none."""
    return max((1 / (1 + distance) for word, distance in around if word in wanted), default=0.0)


def _clip(value: float) -> float:
    return max(-3.0, min(3.0, value))


@lru_cache(maxsize=256)
def _unit_words(unit: str) -> frozenset[str]:
    return frozenset(stem(word) for word, canonical in UNITS.items() if canonical == unit and len(word) > 1)
