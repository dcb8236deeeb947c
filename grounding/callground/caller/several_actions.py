"""Whether a request asks for more than one call."""

from __future__ import annotations

import re
from collections.abc import Iterable

from callground.caller.argument_text import FUNCTION_WORDS, RequestText

_SEQUENCE = re.compile(
    r"(?:^|[.;,!?]\s*|\s)(?:and then|then|after that|afterwards|additionally|furthermore|moreover|finally|lastly|"
    r"next|secondly|once (?:that|this|it) is done|also|in addition|as well as|and also)\b[,:]?\s+(?P<after>[A-Za-z']+)",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    r"\b(?:after|once)\b[^,.;?!]{4,90},\s*(?:please|kindly|could|can|would|i(?:'d| would| want| need)|also|let)\b",
    re.IGNORECASE,
)
_ANOTHER = re.compile(r"['\"”’]?(?:,|,? and|,? &|,? as well as) (?P<next>['\"“‘]?[\w$€£])", re.IGNORECASE)
_POLITE = re.compile(
    r"^(?:(?:and|then|also|please|kindly|finally|next|lastly|additionally|after that|afterwards|can|could|would|will|"
    r"you|i|we|need|want|would like|to|'d|like|help|me|us|let|hey|hi)\b[,\s]*)+",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^(?:what|which|how|when|where|who|is|are|does|do|did|will|can|could)\b", re.IGNORECASE)


def several_actions(request: RequestText, used: Iterable[tuple[int, int]] = ()) -> bool:
    """True where a second action is asked for: a second order or question, or a word that opens one.

    `used` are the places of the request that the chosen call's arguments took: what stands inside of one of them
    is a value (a message to send, say) and asks for nothing.
    """
    text = request.text
    inside = [*used, *((mention.start, mention.end) for mention in request.mentions if mention.kind == "quoted")]

    def is_value(place: int) -> bool:
        return any(start <= place < end for start, end in inside)

    for match in _SEQUENCE.finditer(text):
        after = match.group("after").lower()
        if (
            not is_value(match.start("after"))
            and match.start() > 12
            and _opens_action(text[match.start("after") :], after)
        ):
            return True
    for match in _AFTERWARDS.finditer(text):
        if not is_value(match.start()) and match.start() > 12:
            return True
    questions = [match.start() for match in re.finditer(r"\?", text) if not is_value(match.start())]
    if len(questions) > 1 and re.search(r"\w+\W+\w+\W+\w+", text[questions[0] + 1 : questions[1]]):
        return True
    orders = 0
    for match in re.finditer(r"(?:^|(?<=[.!?;])\s+|\n+)(?P<clause>[^.!?;\n]{8,})", text):
        if is_value(match.start("clause")):
            continue
        orders += _is_order(match.group("clause").strip())
    return orders > 1


def value_goes_on(request: RequestText, value: object, end: int, used: Iterable[tuple[int, int]]) -> bool:
    """Whether another value like this one follows behind it, which nothing takes: ``Paris and London`` for one city.

    `end` is where the value ends in the request, `used` are the places of all values that were taken.
    """
    match = _ANOTHER.match(request.text, end)
    if match is None:
        return False
    place = match.start("next")
    follower = match.group("next")
    if any(start <= place + 1 < stop for start, stop in used):
        return False
    if isinstance(value, str):
        quoted = request.text[end : end + 1] in "'\"”’" and request.text[end : end + 1] != ""
        if quoted:
            return follower[0] in "'\"“‘"
        closed = re.match(r"[\w'’.-]+", request.text[place:])
        one_more = closed is not None and "and" in match.group().lower().split()
        return value[:1].isupper() and follower[0].isupper() and one_more
    return isinstance(value, (int, float)) and not isinstance(value, bool) and follower[-1].isdigit()


def _opens_action(rest: str, word: str) -> bool:
    if word in ("please", "i", "can", "could", "let", "would", "we"):
        return True
    follower = re.match(r"[A-Za-z']+\s+(the|a|an|me|my|all|for|its|their|to|how|what|another|it|them)\b", rest)
    return word not in FUNCTION_WORDS and follower is not None


def _is_order(clause: str) -> bool:
    """Whether a clause orders or asks for something, rather than tells: ``Book a room``, not ``The rate is 5%``."""
    bare = _POLITE.sub("", clause)
    polite = bare != clause
    if _ASKS.match(clause):
        return True
    match = re.match(r"(?P<verb>[A-Za-z]+)\s+(?P<next>[\w'\"$]+)", bare)
    if match is None:
        return False
    verb = match.group("verb").lower()
    if verb in FUNCTION_WORDS or verb.endswith(("ing", "ed", "ly")):
        return verb in ("get", "give", "show", "find", "tell", "use") and match.group("next").lower() not in (
            "is",
            "are",
        )
    told = re.match(r"[\w' ]{0,40}\b(?:is|are|was|were|has|have|should|will|must|needs?|wants?|am)\b", bare)
    return told is None and (polite or match.group("next").lower() in ("the", "a", "an", "me", "my", "all", "for"))
