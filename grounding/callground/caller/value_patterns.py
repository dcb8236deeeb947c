"""How values look in a text: the patterns and word lists behind `values`."""

from __future__ import annotations

import re

NUMBER_WORDS: dict[str, int] = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
NUMBER_WORDS |= {
    word: 10 * value for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
NUMBER_WORDS |= {"hundred": 100, "thousand": 1000, "million": 1_000_000, "billion": 1_000_000_000, "dozen": 12}

ORDINAL_WORDS: dict[str, int] = {
    word: value
    for value, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}

SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9, "hundred": 1e2}

_WORD = "|".join(NUMBER_WORDS)
NUMBER = re.compile(
    r"(?<![\w.])(?<!\d[-/:,])(?P<sign>[-+])?(?P<money>[$€£¥₹]\s?)?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
    r"(?P<scale>(?:[kK]|bn|mn)\b|M\b|\s(?:hundred|thousand|million|billion)\b)?"
    r"(?![\d_])(?!\.\d)(?!st\b|nd\b|rd\b|th\b)"
)
NUMBER_WORD = re.compile(
    rf"(?<![\w-])(?<!\d\s)(?:a\s+(?=dozen|hundred|thousand|million))?(?:{_WORD})(?:(?:\s+and\s+|\s+|-)(?:{_WORD}))*(?![\w])(?!-(?!year|day|hour|minute|week|month|sided|star|bed|person|way|mile|foot|inch))",
    re.IGNORECASE,
)
ORDINAL = re.compile(
    rf"(?<![\w.])(?:(?P<digits>\d+)(?:st|nd|rd|th)|(?P<word>{'|'.join(ORDINAL_WORDS)})(?=\s+[a-z]))\b", re.IGNORECASE
)

UNITS: dict[str, str] = {"%": "%", "percent": "%", "percentage": "%", "pct": "%"}
for _spellings in (
    "$ dollars dollar usd bucks",
    "€ euros euro eur",
    "£ pounds-sterling gbp",
    "km kilometers kilometres kilometer kilometre kms",
    "m meters metres meter metre",
    "cm centimeters centimetres centimeter centimetre",
    "mm millimeters millimetres",
    "mile miles mi",
    "foot feet ft",
    "inch inches in.",
    "yard yards yd",
    "kg kilograms kilogram kilos kilo kgs",
    "g grams gram",
    "mg milligrams milligram",
    "lb pounds pound lbs",
    "oz ounces ounce",
    "l liters litres liter litre",
    "ml milliliters millilitres",
    "gallon gallons",
    "year years yr yrs",
    "month months",
    "week weeks",
    "day days",
    "night nights",
    "hour hours hr hrs h",
    "minute minutes min mins",
    "second seconds sec secs s",
    "m/s mps",
    "km/h kmh kph",
    "mph",
    "m/s^2 m/s2",
    "degree degrees °",
    "celsius °c °C c",
    "fahrenheit °f °F f",
    "kelvin k",
    "person people persons guests guest adults adult passengers passenger participants",
    "pixel pixels px",
    "watt watts w",
    "volt volts v",
    "ampere amperes amps amp a",
    "joule joules j",
    "newton newtons n",
    "pascal pascals pa",
    "time times",
    "word words",
    "star stars",
    "side sides sided",
    "bedroom bedrooms bed",
    "item items",
    "result results",
):
    _canonical, *_others = _spellings.split()
    UNITS.setdefault(_canonical, _canonical)
    for _other in _others:
        UNITS.setdefault(_other, _canonical)

MONTHS = {name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)}
WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_MONTH = (
    r"(?P<month>(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?))"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:1[5-9]|2[01])\d{2})"
DATE_FORMS = (
    re.compile(
        r"(?<![\w-])(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?(?![\w-])"
    ),
    re.compile(r"(?<![\w/])(?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<year>\d{4}|\d{2})(?![\w/])"),
    re.compile(r"(?<![\w.-])(?P<first>\d{1,2})[-.](?P<second>\d{1,2})[-.](?P<year>\d{4})(?![\w-])"),
    re.compile(rf"\b{_MONTH}\.?,? {_DAY}(?:,? {_YEAR})?\b(?!:)", re.IGNORECASE),
    re.compile(rf"\b(?:the )?{_DAY} (?:of )?{_MONTH}\b\.?(?:,? {_YEAR}\b)?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH}\.?,? {_YEAR}\b", re.IGNORECASE),
)
CLOCK = re.compile(
    r"(?<![\w:.])(?:(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2}))?\s?(?P<half>[ap]\.?m\b\.?)?"
    r"|(?=\s?[ap]\.?m\b)\s?(?P<half_only>[ap]\.?m\b\.?))|(?P<word>noon|midnight))(?![\w:])",
    re.IGNORECASE,
)

PART_OF_DAY = re.compile(
    r"\b(?P<hour>1[0-2]|[1-9])(?::(?P<minute>\d{2}))?(?: o'clock)? "
    r"(?:in the (?P<part>morning|afternoon|evening)|at (?P<night>night))\b",
    re.IGNORECASE,
)

QUOTES = (
    re.compile(r"\"([^\"\n]{1,400})\""),
    re.compile(r"“([^”\n]{1,400})”"),
    re.compile(r"‘([^’\n]{1,400})’(?!\w)"),
    re.compile(r"(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w)){1,400})'(?!\w)"),
    re.compile(r"(?<!`)`([^`\n]{1,400})`"),
    re.compile(r"«([^»\n]{1,400})»"),
)
BRACKETED = re.compile(r"(?<![\w\])}])[\[{(](?=[\s\S]*[\]})])")
URL = re.compile(r"\b(?:https?|ftp|file|s3|gs|ssh|wss?)://[^\s'\"<>`]+|\bwww\.[^\s'\"<>`]+")
EMAIL = re.compile(r"(?<![\w.])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
IP_ADDRESS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?:/\d{1,2})?(?![\d.]*\d)")
PATH = re.compile(
    r"(?<![\w/:.])(?:(?:~|\.{1,2})?/[^\s'\"`,;]+|[A-Za-z]:\\[^\s'\"`,;]+|(?:[\w.-]+/)+[\w.-]*|[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w]))"
)
CODE_WORD = re.compile(
    r"(?<![\w.$@/\\-])(?:"
    r"(?:[^\W\d]\w*\.)+[^\W\d]\w*(?:\(\))?"  # a.b, a.b()
    r"|_{1,2}\w+|[^\W\d]\w*_\w*"  # _private, __dunder__, snake_case
    r"|[^\W\d_]*[a-z][A-Z]\w*"  # camelCase
    r"|(?!\d+(?:st|nd|rd|th)\b)(?=[\w-]*\d)(?=[\w-]*[^\W\d])\w[\w-]*\w"  # AB-12, t3
    r"|[A-Z]{2,}[A-Z0-9]*"  # CONSTANTS, tickers
    r"|[a-z0-9]+(?:-[a-z0-9]+)+"  # api-gateway
    r")(?![\w])"
)
