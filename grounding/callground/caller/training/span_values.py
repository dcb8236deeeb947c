"""Values for made-up requests: how a value is said, and what it means.

A sampler gives a pair: the words that stand in the request and the value that the call takes. The words are
written for this project; nothing here is taken out of a data set.
"""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Callable
from typing import Any, NamedTuple


class Said(NamedTuple):
    """A value in a request."""

    words: str
    value: Any
    quotable: bool = False
    """Whether a person might put it in quotes."""


_LISTS: dict[str, str] = {
    "city": "Lisbon|Oslo|Nairobi|San Diego|New Orleans|Kyoto|Montreal|Buenos Aires|Warsaw|Chicago|Cape Town|Hanoi|"
    "Salt Lake City|Marseille|Glasgow|Tampa|Santiago|Helsinki|Mumbai|El Paso|Rio de Janeiro|Turin|Leeds|Boise|"
    "St. Louis|Kuala Lumpur|Zürich|Krakow|Baltimore|Porto|Honolulu|Perth|Tel Aviv|Dakar|Ottawa|Lyon|Reno|Bergen",
    "country": "Portugal|Kenya|Japan|Canada|Poland|South Africa|Vietnam|Chile|Finland|India|Brazil|New Zealand|"
    "Norway|Mexico|South Korea|Egypt|the Netherlands|Peru|Austria|Morocco|Saudi Arabia|Greece|Costa Rica",
    "state": "Oregon|New Jersey|Texas|Vermont|North Carolina|Ohio|Nevada|Georgia|Maine|West Virginia|Utah|Illinois",
    "first": "Maria|Tom|Aisha|Kenji|Olga|Luca|Priya|Sam|Ingrid|Mateo|Chloe|Ahmed|Rosa|Viktor|Linh|Noah|Fatima|Jan",
    "last": "Keller|Okafor|Tanaka|Silva|Petrov|Rossi|Sharma|O'Neill|Larsen|Garcia|Dubois|Hassan|Nguyen|McGregor|"
    "van Dijk|Lindqvist|Moreau|Castillo|Weber|Baker",
    "company": "Acme|Northwind|Globex|Initech|Blue River Foods|Orion Labs|Halden & Sons|Vertex Energy|Contoso|"
    "Pine Street Bank|Lumen Air|Kestrel Motors|Redwood Health|Umbra Media|Tessel|Fjord Shipping",
    "hotel": "Grand Plaza|Hotel Miramar|Seaview Inn|The Old Mill|Park Lodge|Royal Garden Hotel|Alpenhof|Harbour House",
    "restaurant": "Luigi's|The Green Fork|Bombay Palace|Chez Marie|Noodle Bar|Smoke & Oak|Casa Lola|Dragon Garden",
    "title": "Silent Rivers|The Last Lighthouse|Midnight in Ankara|Blue Monday|Echoes|A Winter's Walk|Paper Planes|"
    "The Art of Losing|Stone and Sky|Roadside Songs|Under the Orange Tree|Gravity Falls Twice|Summer Rain|Hollow|"
    "Letters to Nobody|The Clockmaker's Daughter|Dust|Workout Mix|Sunday Morning|Songs for the Road",
    "food": "chicken|rice|tomatoes|sweet potatoes|spinach|black beans|tofu|salmon|pasta|mushrooms|red lentils|eggs|"
    "goat cheese|avocado|cottage cheese|zucchini|coconut milk|broccoli|a margherita pizza|garlic bread|pad thai",
    "product": "wireless headphones|running shoes|coffee maker|office chair|phone case|winter jacket|gaming laptop|"
    "desk lamp|yoga mat|stainless steel bottle|mechanical keyboard|rain boots|garden hose|electric toothbrush",
    "topic": "climate change|machine learning|ancient Rome|renewable energy|breach of contract|trade policy|"
    "quantum computing|space exploration|medical malpractice|linear algebra|electric vehicles|fair use|"
    "World War II|marine biology|the housing market|organic chemistry|data privacy|patent infringement|jazz",
    "event": "team meeting|Dentist|project kick-off|Jazz Night|budget review|the summer festival|yoga class|"
    "Lunch with Ana|Rockfest|parents' evening|Morning run|the cup final|product launch|Symphony No. 5",
    "task": "call the plumber|water the plants|pay the electricity bill|buy milk and bread|renew my passport|"
    "pick up the dry cleaning|send the invoice to Acme|clean the garage|book train tickets|feed the cat|"
    "submit the tax return|change the tires",
    "datewords": "tomorrow|next Friday|on Monday|tonight|this weekend|next week|on Tuesday morning|in two hours|"
    "yesterday|the day after tomorrow|at noon|this evening|last night|next month",
    "language": "Spanish|French|Japanese|German|Swahili|Portuguese|Italian|Korean|Arabic|Dutch|Turkish|English",
    "currency": "USD|EUR|GBP|JPY|CHF|CAD|AUD|SEK|INR|BRL",
    "unit": "meters|kilometers|inches|feet|miles|pounds|kilograms|liters|gallons|ounces|cm|mm|yards|grams",
    "room": "living room|kitchen|bedroom|bathroom|office|hallway|guest room|garage|nursery",
    "weekday": "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday",
    "team": "Manchester City|Lakers|FC Porto|Golden State Warriors|Real Madrid|Chicago Bulls|Ajax|Green Bay Packers|"
    "Juventus|Toronto Raptors|Celtic|Red Sox",
    "job": "data engineer|nurse|graphic designer|accountant|electrician|product manager|software developer|welder|"
    "marketing assistant|physics teacher",
    "car": "Toyota Corolla|VW Golf|Ford F-150|Tesla Model 3|Honda Civic|Fiat Panda|BMW X5",
    "museum": "Louvre|Prado Museum|British Museum|Museum of Modern Art|Rijksmuseum|Uffizi Gallery|Art Institute",
    "landmark": "Museum of Modern Music|Treaty of Verona|Battle of the Two Rivers|Bank of Lapland|Tower of Saint Anne|"
    "University of North Ohio|Declaration of Lisbon|Temple of the Sun|Ministry of Health and Sport|House of Orange|"
    "Festival of Lights|Bridge of Sighs|Court of Human Rights|Palace of the Governors|Statue of Peace|Lake of Glass",
    "identifier": "orders|user_accounts|customer_id|created_at|api-gateway|_cache|sales_2023|web-01|__init__|"
    "billing.invoices|price|load_config|auth-service|churn|iris|ubuntu-22.04|is_active|MAX_RETRIES|db.session|age",
    "login": "octocat|psmith|acme-labs|torvik|jane-doe|hexagon|m_ruiz",
    "repo": "acme/website|torvik/parser|hexagon/core-lib|jane-doe/dotfiles|acme-labs/api",
    "branch": "feature/login|fix-typo|release-2.4|develop|main|hotfix/crash-on-start|docs-update|experiment",
    "ticker": "ACME|NWND|GLBX|TSLA|AMZN|IBM|KO|NVDA|BRK.B|SAP",
    "condition": "age > 30|status = 'open'|price < 100 and stock > 0|country = 'PT'|created_at >= '2023-01-01'",
    "scene": "a fox sleeping in the snow|two astronauts playing chess|a red bicycle leaning on a wall|"
    "an old harbour at sunrise|a castle made of glass|a cat wearing a top hat|a quiet street in the rain",
    "word": "cat|apple|error|foo|blue|Monday|colour|begin|total|old",
    "question": "How satisfied are you?|Would you come again?|What did you like?|How old are you?|Who told you of us?",
    "sentence": "I will be late today|The package arrived broken|See you at the station|Great service and tasty food|"
    "Please send the report by noon|Login fails after update|Happy birthday!|Meeting moved to Thursday|"
    "The app crashes on start|Where is the library?|Good morning, everyone|Rent for May|Invoice 2041|"
    "the show was boring and too long|Quarterly numbers are in|Thanks for your help|Do not forget the keys",
    "number_words": "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve",
    "months": "January|February|March|April|May|June|July|August|September|October|November|December",
}
LISTS: dict[str, list[str]] = {name: words.split("|") for name, words in _LISTS.items()}
_QUOTED = {
    "title",
    "event",
    "task",
    "sentence",
    "identifier",
    "word",
    "scene",
    "condition",
    "branch",
    "question",
    "product",
}
_STATES = ["CA", "NY", "TX", "OR", "FL", "WA", "IL", "MA", "CO", "GA"]


def _integer(r: random.Random, low: str, high: str) -> Said:
    value = r.randint(int(low), int(high))
    if 0 <= value <= 12 and r.random() < 0.3:
        return Said(LISTS["number_words"][value], value)
    return Said(f"{value:,}" if value > 999 and r.random() < 0.3 else str(value), value)


def _float(r: random.Random, low: str, high: str) -> Said:
    value = round(r.uniform(float(low), float(high)), r.choice((0, 1, 1, 2)))
    if value == int(value) and abs(value) >= 1:
        return Said(str(int(value)), value)
    return Said(str(value), value)


def _money(r: random.Random, low: str, high: str) -> Said:
    value = r.randint(int(low), int(high))
    if value > 200:
        value = round(value, -2) if r.random() < 0.7 else value
    number = f"{value:,}" if value > 999 and r.random() < 0.5 else str(value)
    if value >= 2000 and value % 1000 == 0 and r.random() < 0.25:
        number = f"{value // 1000}k"
    form = r.choice(("${}", "${}", "{}", "{} dollars", "{} euros", "€{}"))
    return Said(form.format(number), value)


def _percent(r: random.Random, low: str, high: str) -> Said:
    value = round(r.uniform(float(low), float(high)), r.choice((0, 0, 1)))
    shown = f"{value:g}"
    return Said(r.choice((f"{shown}%", f"{shown}%", f"{shown} percent", f"{shown} %")), value)


def _day(r: random.Random) -> datetime.date:
    return datetime.date(2018, 1, 1) + datetime.timedelta(days=r.randint(0, 3000))


def _date(r: random.Random) -> Said:
    day = _day(r)
    month = LISTS["months"][day.month - 1]
    end = "th" if 10 < day.day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    form = r.choice(
        (
            f"{day.isoformat()}",
            f"{day.isoformat()}",
            f"{month} {day.day}, {day.year}",
            f"{day.day} {month} {day.year}",
            f"{month} {day.day}{end}, {day.year}",
            f"{day.month}/{day.day}/{day.year}" if day.day > 12 else f"{month[:3]} {day.day} {day.year}",
            f"the {day.day}{end} of {month} {day.year}",
        )
    )
    return Said(form, day.isoformat())


def _time(r: random.Random) -> Said:
    hour, minute = r.randint(0, 23), r.choice((0, 0, 15, 30, 45))
    twelve = (hour - 1) % 12 + 1
    half = "am" if hour < 12 else "pm"
    form = r.choice(
        (
            f"{hour:02d}:{minute:02d}",
            f"{twelve}:{minute:02d} {half.upper()}",
            f"{twelve}{half}" if not minute else f"{twelve}:{minute:02d}{half}",
            f"{twelve} {half}" if not minute else f"{twelve}:{minute:02d} {half}",
        )
    )
    return Said(form, f"{hour:02d}:{minute:02d}")


def _person(r: random.Random) -> Said:
    full = f"{r.choice(LISTS['first'])} {r.choice(LISTS['last'])}"
    name = full if r.random() < 0.75 else full.split()[0]
    return Said(name, name)


def _numbers(r: random.Random, number: Callable[[random.Random], Said]) -> Said:
    items = [number(r) for _ in range(r.randint(3, 7))]
    words = ", ".join(item.words for item in items)
    if r.random() < 0.5:
        words = f"[{words}]"
    elif r.random() < 0.6:
        words = ", ".join(item.words for item in items[:-1]) + " and " + items[-1].words
    return Said(words, [item.value for item in items])


def _digits(r: random.Random, low: int, high: int) -> Said:
    value = r.randint(low, high)
    return Said(str(value), value)


def _point(r: random.Random) -> Said:
    pair = [r.randint(-20, 20), r.randint(-20, 20)]
    return Said(r.choice(("({}, {})", "[{}, {}]", "({},{})")).format(*pair), [float(x) for x in pair])


def _matrix(r: random.Random) -> Said:
    width = r.randint(2, 3)
    rows = [[r.randint(0, 9) for _ in range(width)] for _ in range(2)]
    return Said(str(rows), rows)


def _dict(r: random.Random) -> Said:
    keys = r.sample(["env", "team", "X-Trace", "Accept", "owner", "stage", "retries"], r.randint(1, 3))
    value = {key: r.choice(["prod", "json", "blue", "7", "yes"]) for key in keys}
    return Said(str(value) if r.random() < 0.5 else str(value).replace("'", '"'), value)


def _address(r: random.Random) -> Said:
    street = (
        f"{r.randint(2, 990)} {r.choice(['Main Street', 'Oak Avenue', 'Hill Road', 'Broadway', 'Elm St', 'Rue Foch'])}"
    )
    words = street if r.random() < 0.5 else f"{street}, {r.choice(LISTS['city'])}"
    return Said(words, words)


def _place(r: random.Random) -> Said:
    city = r.choice(LISTS["city"])
    words = r.choice((city, f"{city}, {r.choice(_STATES)}", f"{city}, {r.choice(LISTS['country'])}"))
    return Said(words, words)


def _path(r: random.Random) -> Said:
    stem = r.choice(["report", "photo_12", "data", "main", "notes", "clip", "config.local", "backup-2023"])
    folder = r.choice(["", "src/", "/var/log/", "~/Pictures/", "C:\\temp\\", "./out/", "docs/api/"])
    words = folder + stem + r.choice([".txt", ".py", ".jpg", ".mp4", ".csv", ".tar.gz", ".json"])
    return Said(words, words, True)


def _url(r: random.Random) -> Said:
    host = r.choice(["example.com", "api.example.org", "files.example.net", "localhost:8080"])
    words = f"https://{host}/{r.choice(['v1/items', 'data.csv', 'users/42', 'status', 'a/b?page=2'])}"
    return Said(words, words, True)


def _email(r: random.Random) -> Said:
    host = r.choice(["example.com", "acme.example"])
    words = f"{r.choice(LISTS['first']).lower()}.{r.choice(['k', 'silva', 'weber', 'ops'])}@{host}"
    return Said(words, words)


def _code(r: random.Random) -> Said:
    words = r.choice(
        (
            f"{r.choice(['AB', 'ORD', 'ZX', 'S', 'INV'])}-{r.randint(100, 99999)}",
            str(r.randint(10000, 9999999)),
            f"{r.choice(['1Z', 'RX', 'K'])}{r.randint(10000, 999999)}{r.choice('ABCDEF')}",
        )
    )
    return Said(words, words)


def _phone(r: random.Random) -> Said:
    words = (
        f"+{r.randint(1, 99)} {r.randint(100, 999)} {r.randint(1000, 9999)}"
        if r.random() < 0.5
        else f"555-{r.randint(1000, 9999)}"
    )
    return Said(words, words)


def _ip(r: random.Random) -> Said:
    words = ".".join(str(r.randint(1, 254)) for _ in range(4))
    return Said(words, words)


def _clock(r: random.Random) -> Said:
    words = f"{r.randint(0, 1):02d}:{r.randint(0, 59):02d}:{r.randint(0, 59):02d}"
    return Said(words, words)


def _year(r: random.Random) -> Said:
    return _digits(r, 1800, 2023)


_SAMPLERS: dict[str, Callable[[random.Random], Said]] = {
    "date": _date,
    "time": _time,
    "person": _person,
    "numlist": lambda r: _numbers(r, lambda q: _float(q, "0.5", "99")),
    "intlist": lambda r: _numbers(r, lambda q: _digits(q, 0, 200)),
    "point": _point,
    "matrix": _matrix,
    "dict": _dict,
    "address": _address,
    "place": _place,
    "path": _path,
    "url": _url,
    "email": _email,
    "code": _code,
    "phone": _phone,
    "ip": _ip,
    "clock": _clock,
    "year": _year,
}
_RANGED = {"int": _integer, "float": _float, "money": _money, "percent": _percent}


def said(kind: str, r: random.Random) -> Said:
    """A value of a kind, as one says it. `kind` is a sampler with its arguments, as the grammar writes it.

    Raises ValueError for a kind that is not known.
    """
    name, _, rest = kind.strip().partition(" ")
    if name in _RANGED:
        low, high = rest.split()
        return _RANGED[name](r, low, high)
    if name == "choice":
        words = r.choice([word.strip() for word in rest.split(",")])
        return Said(words, words)
    if name == "listof":
        return _list_of(rest, r)
    if name in _SAMPLERS:
        return _SAMPLERS[name](r)
    if name in LISTS:
        words = r.choice(LISTS[name])
        return Said(words, words, name in _QUOTED)
    raise ValueError(f"unknown kind of value: {kind}")


def _list_of(kind: str, r: random.Random) -> Said:
    items: list[str] = []
    for _ in range(r.choice((1, 2, 2, 3, 3, 4))):
        item = said(kind, r).words
        if item not in items:
            items.append(item)
    if r.random() < 0.2:
        shown = [f"'{item}'" for item in items]
    else:
        shown = items
    if len(shown) == 1:
        return Said(shown[0], items)
    joiner = r.choice((" and ", " and ", ", and ", " & ", ", "))
    if r.random() < 0.12:
        return Said("[" + ", ".join(f"'{item}'" for item in items) + "]", items)
    return Said(", ".join(shown[:-1]) + joiner + shown[-1], items)


_WANTS_ISO = re.compile(r"YYYY-MM-DD", re.IGNORECASE)
_WANTS_24H = re.compile(r"HH:MM", re.IGNORECASE)


def fitted(value: Said, kind: str, type_: str, description: str) -> Any:
    """The value as the parameter takes it: in the form its description asks for."""
    name = kind.split(" ")[0]
    if name == "percent":
        as_said = type_ == "integer" or re.search(r"percent", description, re.IGNORECASE)
        return value.value if as_said else round(value.value / 100, 6)
    if name == "date" and not _WANTS_ISO.search(description):
        return value.words
    if name == "time" and not _WANTS_24H.search(description):
        return value.words
    if type_ in ("integer",) and isinstance(value.value, float):
        return int(value.value)
    if type_ in ("float", "number") and isinstance(value.value, int):
        return float(value.value)
    return value.value
