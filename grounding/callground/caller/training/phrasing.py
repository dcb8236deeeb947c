"""From the sentence that documents a tool to the ways in which a person asks for it.

Documentation says "Returns the open orders of an account."; a person says "show me the open orders", "what are the
open orders of account 7781?", "I need to check something: can you get me the open orders?".  The rewriting is by
rule and by chance (the caller's random numbers), and adds what requests hold and tools do not: politeness, a reason,
values.
"""

from __future__ import annotations

import random
import re

from callground.caller.tools import words

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`])|(?<=[a-z][.!?])(?=[A-Z])|(?<=[a-z][.!?])\s+(?=[a-z]{3})")
_WORD = re.compile(r"[A-Za-z][a-z]+$")
_ARTICLE = re.compile(
    r"^((the|a|an|all|any|every|each|one or more|specific|information (about|on)|details (of|about|for|on)|list of) )+",
    re.I,
)

_ASK_FOR_DATA = ("get", "show", "show me", "give me", "find", "fetch", "look up", "tell me", "retrieve", "check", "see")
_VERBS = {
    "get": _ASK_FOR_DATA,
    "retrieve": _ASK_FOR_DATA,
    "return": _ASK_FOR_DATA,
    "fetch": _ASK_FOR_DATA,
    "obtain": _ASK_FOR_DATA,
    "provide": _ASK_FOR_DATA,
    "describe": ("describe", "show", "show me", "get", "give me details on", "tell me about"),
    "list": ("list", "show", "show me", "get", "give me", "what are", "which are", "display"),
    "search": ("search", "look", "find", "search around"),
    "find": ("find", "look for", "search for", "locate", "look up"),
    "create": ("create", "make", "set up", "add", "build", "start"),
    "add": ("add", "put", "insert", "attach", "include"),
    "insert": ("insert", "add", "put"),
    "delete": ("delete", "remove", "get rid of", "drop", "erase"),
    "remove": ("remove", "delete", "take away", "get rid of"),
    "update": ("update", "change", "modify", "edit", "adjust"),
    "modify": ("modify", "change", "update", "edit"),
    "set": ("set", "change", "make", "configure"),
    "compute": ("compute", "calculate", "work out", "find", "determine"),
    "calculate": ("calculate", "compute", "work out", "find", "figure out"),
    "send": ("send", "send out", "deliver", "dispatch"),
    "start": ("start", "run", "begin", "launch", "kick off"),
    "stop": ("stop", "end", "halt", "shut down"),
    "check": ("check", "see", "verify", "find out", "test"),
    "generate": ("generate", "make", "create", "produce"),
    "convert": ("convert", "turn", "change", "transform"),
    "enable": ("enable", "turn on", "switch on", "activate"),
    "disable": ("disable", "turn off", "switch off", "deactivate"),
    "book": ("book", "reserve", "schedule"),
    "cancel": ("cancel", "call off", "abort"),
}
_DATA_VERBS = {"get", "retrieve", "return", "fetch", "obtain", "provide", "list", "describe"}
_NOT_VERBS = {"this", "its", "is", "was", "has", "does", "as", "us", "class", "access", "process", "alias", "status"}

_OPENINGS = (
    "I want to {}",
    "I'd like to {}",
    "I need to {}",
    "Can you {}?",
    "Could you please {}?",
    "Please {}.",
    "Can you help me {}?",
    "How do I {}?",
    "How can I {}?",
    "Help me {}",
    "I would like you to {}.",
    "Let's {}.",
    "Hi, can you {}?",
    "I have to {} today.",
    "Would you mind helping me to {}?",
    "{}, please",
    "{}",
    "{}.",
    "{}",
    "go ahead and {}",
)
_REASONS = (
    "I'm preparing a report.",
    "I'm planning something for next week.",
    "My manager asked about this.",
    "I just moved to {city}.",
    "I'm going to {city} on {date}.",
    "Hello!",
    "We are short of time.",
    "My name is {person}.",
    "I am working on a project with {person}.",
    "Hey there,",
)
_CITIES = "Boston Paris Tokyo Seoul Nairobi Lima Oslo Munich Toronto Sydney Mumbai Chicago Madrid Austin Cairo".split()
_PEOPLE = "Alice Bob Maria Chen Priya Omar Yuki Lena Carlos Fatima Ivan Sofia Daniel Aisha Tom".split()
_DATES = (
    "tomorrow",
    "next Friday",
    "2023-05-14",
    "March 3rd",
    "12/10/2022",
    "the 5th of June",
    "today",
    "this weekend",
    "8 pm",
)
_NUMBERS = "2 3 5 7 10 12 25 50 100 250 1000 0.5 19.99".split()
_THINGS = "alpha blue-ocean orders main test01 report summer-sale demo primary acme prod widgets invoice-7".split()


def first_sentence(text: str) -> str:
    """The first sentence, in one line, without its full stop."""
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>|``|`", "", text)).strip()
    return _SENTENCE.split(text)[0].rstrip(" .:") if text else ""


def imperative(sentence: str) -> str | None:
    """ "Returns the users." -> "return the users"; None where the first word is no verb."""
    first, _, rest = sentence.partition(" ")
    if not _WORD.match(first) or not rest:
        return None
    verb = first.lower()
    if verb in _NOT_VERBS:
        return None
    stem = _stem(verb)
    if stem is None:
        return None
    return f"{stem} {rest}"


def _stem(verb: str) -> str | None:
    if verb in _VERBS:
        return verb
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zes")):
        return verb[:-2]
    if verb.endswith("s") and not verb.endswith("ss") and len(verb) > 3:
        return verb[:-1]
    return None


_KINDS = (
    (frozenset("city location place region address country destination origin area".split()), _CITIES),
    (frozenset("date time day until since start end from when".split()), _DATES),
    (frozenset("count number size limit amount price age max min rate total width height".split()), _NUMBERS),
    (frozenset("user person author owner customer contact recipient member".split()), _PEOPLE),
)


def value(name: str, chance: random.Random) -> str:
    """Some value for an argument, by what its name says."""
    parts = set(words(name).split())
    if parts & {"mail", "email"}:
        return f"{chance.choice(_PEOPLE).lower()}@example.com"
    if parts & {"url", "uri", "link"}:
        return f"https://example.com/{chance.choice(_THINGS)}"
    if parts & {"file", "path", "filename"}:
        return f"{chance.choice(_THINGS)}.{chance.choice(('txt', 'csv', 'json', 'pdf', 'png'))}"
    if parts & {"id", "ids", "arn", "key", "token"}:
        return chance.choice(("i-{:04x}", "{:06d}", "A{:05d}", "x{:x}")).format(chance.randrange(10**5))
    for kinds, values in _KINDS:
        if parts & kinds:
            return chance.choice(values)
    return chance.choice((*_THINGS, *_PEOPLE))


def _with_values(text: str, args: tuple[str, ...], chance: random.Random) -> str:
    chosen = chance.sample(list(args), min(len(args), chance.choice((1, 1, 2))))
    pieces = []
    for arg in chosen:
        name, given = words(arg), value(arg, chance)
        if chance.random() < 0.3:
            given = f"'{given}'"
        forms = ("for {v}", "{v}", "with {n} {v}", "using {n} {v}", "where {n} is {v}", "{n}: {v}", "in {v}", "to {v}")
        pieces.append(chance.choice(forms).format(n=name, v=given))
    return f"{text.rstrip('.?!')} {' and '.join(pieces)}"


def _as_question(verb: str, rest: str, chance: random.Random) -> str:
    noun = _ARTICLE.sub("", rest).rstrip(".")
    plural = verb == "list" or noun.split(" ")[0].endswith("s")
    if plural:
        return chance.choice(
            ("What are the {}?", "Which {} are there?", "Are there any {}?", "What {} do I have?")
        ).format(noun)
    return chance.choice(("What is the {}?", "What's the {}?", "Do you know the {}?", "Tell me the {}", "{}?")).format(
        noun
    )


def request(sentence: str, args: tuple[str, ...], chance: random.Random) -> str | None:
    """One way of asking for what `sentence` documents, or None where it does not begin with a verb."""
    order = imperative(sentence)
    if order is None:
        return None
    verb, _, rest = order.partition(" ")
    said = rest.split(" ")
    if len(said) > 12:
        # A person does not say it all.
        cut = re.split(r",|;| that | which | when | where | if | using | based on | specified by | so that ", rest)[0]
        rest = cut if len(cut.split(" ")) >= 2 else " ".join(said[:12])
    rest = re.sub(r"\b(specified|given|provided|one or more|the requested)\b ?", "", rest)
    if verb in _DATA_VERBS and chance.random() < 0.3:
        text = _as_question(verb, rest, chance)
    else:
        spoken = chance.choice(_VERBS[verb]) if verb in _VERBS and chance.random() < 0.7 else verb
        text = chance.choice(_OPENINGS).format(f"{spoken} {rest}")
    if args and chance.random() < 0.6:
        text = _with_values(text, args, chance)
    if chance.random() < 0.15:
        reason = chance.choice(_REASONS).format(
            city=chance.choice(_CITIES), date=chance.choice(_DATES), person=chance.choice(_PEOPLE)
        )
        text = f"{reason} {text}"
    return text[0].upper() + text[1:] if chance.random() < 0.6 else text


def polite(order: str, chance: random.Random) -> str:
    """An order ("list the users of a group") as a person may put it."""
    order = order.rstrip(" .:")
    if not order or chance.random() < 0.4:
        return order
    return chance.choice(_OPENINGS).format(order[0].lower() + order[1:])
