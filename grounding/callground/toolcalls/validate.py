"""Arguments against a schema.  The one door to the package ``jsonschema``."""

from __future__ import annotations

import datetime
import ipaddress
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from callground.toolcalls.json_text import Path
from callground.toolcalls.schemas import Schema, type_name

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

LONGEST = 10_000
"""Texts longer than this are not matched against a ``pattern``."""


class NoValidator(Exception):
    """The package ``jsonschema`` is not installed."""

    def __str__(self) -> str:
        return "arguments of tools are judged with the package `jsonschema`, which is not installed"


class CannotJudge(Exception):
    """The schema itself cannot be used; the text says why."""


class Breach(NamedTuple):
    """One way in which a value does not fit its schema."""

    code: str
    """``unknown-keyword``, ``missing-argument``, ``wrong-type``, ``not-in-enum``, ``wrong-format``,
    ``out-of-range``."""
    path: Path
    """Of the value that is wrong; for a missing or unknown member the path of that member."""
    message: str
    expected: Any = None
    """The list of values, the type's or the format's name, the limit."""
    value: Any = None
    """What is wrong."""
    alternatives: bool = False
    """Several schemas were tried and none fits: what lies deeper in the value counts too."""


def breaches(value: Any, schema: Schema) -> list[Breach]:
    """Every way in which `value` does not fit, the outermost first.

    Raises NoValidator without the package, CannotJudge when the schema is broken or has no end.
    """
    try:
        found = [breach for error in _validator(_Frozen(schema)).iter_errors(value) for breach in _read(error)]
    except ImportError:
        raise NoValidator from None
    except RecursionError:
        raise CannotJudge("the schema refers to itself without end") from None
    except Exception as error:  # noqa: BLE001 - a schema can be wrong in more ways than anyone has listed
        # Unresolvable references, keywords with values that the validator does not expect.
        raise CannotJudge(f"the schema cannot be used: {type(error).__name__}: {error}") from None
    unique = {(breach.code, breach.path): breach for breach in reversed(found)}
    for path in [path for code, path in unique if code == "wrong-type"]:
        unique.pop(("not-in-enum", path), None)  # it says the same once more
    return sorted(unique.values(), key=lambda breach: (len(breach.path), [str(part) for part in breach.path]))


# -- the validator


class _Frozen:
    """A schema as a key for the cache: equal schemas of one identity only, which is what repeats."""

    __slots__ = ("schema",)

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def __hash__(self) -> int:
        return id(self.schema)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and other.schema is self.schema


@lru_cache(maxsize=512)
def _validator(key: _Frozen) -> Validator:
    import jsonschema
    import referencing
    from jsonschema.validators import validator_for

    schema = dict(key.schema)
    schema.pop("$id", None)  # an address that nothing is fetched from
    checker = jsonschema.FormatChecker(formats=())
    for name, check in FORMATS.items():
        checker.checks(name)(check)
    made = validator_for(schema, default=jsonschema.Draft202012Validator)
    # An empty registry: a reference into another document fails instead of being fetched.
    registry: referencing.Registry[Any] = referencing.Registry()
    validator: Validator = made(schema, format_checker=checker, registry=registry)
    return validator


def _on_text(check: Callable[[str], bool]) -> Callable[[object], bool]:
    """A format says something about texts only."""
    return lambda value: not isinstance(value, str) or check(value)


def _parses(read: Callable[[str], object]) -> Callable[[object], bool]:
    def check(text: str) -> bool:
        try:
            read(text)
        except (ValueError, OverflowError):
            return False
        return True

    return _on_text(check)


_CLOCK = re.compile(r"[0-2]\d:[0-5]\d(:[0-6]\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _date_time(text: str) -> object:
    day, clock = text[:10], text[11:]
    if not _DAY.fullmatch(day) or text[10:11] not in ("T", "t", " ") or not _CLOCK.fullmatch(clock):
        raise ValueError
    return datetime.date.fromisoformat(day)


def _date(text: str) -> object:
    if not _DAY.fullmatch(text):
        raise ValueError
    return datetime.date.fromisoformat(text)


# Checked is what is wrong beyond doubt; a format that is not here is not judged.
FORMATS: dict[str, Callable[[object], bool]] = {
    "date": _parses(_date),
    "date-time": _parses(_date_time),
    "time": _on_text(lambda text: _CLOCK.fullmatch(text) is not None),
    "email": _on_text(lambda text: re.fullmatch(r"[^@\s]+@[^@\s]+", text) is not None),
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "uuid": _parses(uuid.UUID),
    "uri": _on_text(lambda text: re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S", text) is not None),
}

# -- what the validator's errors mean

_LIMITS = {
    "minimum": "is less than the minimum of {}",
    "maximum": "is greater than the maximum of {}",
    "exclusiveMinimum": "must be greater than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "is not a multiple of {}",
    "minLength": "is shorter than {} characters",
    "maxLength": "is longer than {} characters",
    "minItems": "has fewer than {} items",
    "maxItems": "has more than {} items",
    "minProperties": "has fewer than {} members",
    "maxProperties": "has more than {} members",
    "pattern": "does not match {!r}",
    "uniqueItems": "holds an item twice",
}


def _read(error: Any) -> Iterable[Breach]:
    path: Path = tuple(error.absolute_path)
    keyword, limit, value = error.validator, error.validator_value, error.instance
    if _is_default(error):
        return
    if keyword == "required":
        for name in limit:
            if name not in value:
                yield Breach("missing-argument", (*path, name), f"`{name}` is required", name)
    elif keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(value, Mapping):
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        for name in value:
            if name not in known and not any(re.search(pattern, name) for pattern in patterns):
                yield Breach("unknown-keyword", (*path, name), f"there is no `{name}`", sorted(known))
    elif keyword == "type":
        yield Breach("wrong-type", path, f"{shown(value)} is no {type_name({'type': limit})}", limit, value)
    elif keyword in ("enum", "const"):
        choices = limit if keyword == "enum" else [limit]
        yield Breach("not-in-enum", path, f"{shown(value)} is not one of {_listed(choices)}", choices, value)
    elif keyword == "format":
        yield Breach("wrong-format", path, f"{shown(value)} is no {limit}", limit, value)
    elif keyword in ("anyOf", "oneOf"):
        yield from _alternatives(error, path)
    elif keyword == "pattern" and isinstance(value, str) and len(value) > LONGEST:
        return
    elif keyword in _LIMITS:
        yield Breach("out-of-range", path, f"{shown(value)} {_LIMITS[keyword].format(limit)}", limit, value)
    elif error.context:
        for inner in error.context:
            yield from _read(inner)
    else:
        yield Breach("out-of-range", path, f"{shown(value)} does not fit `{keyword}`", limit, value, True)


def _is_default(error: Any) -> bool:
    """What a schema names as its default fits, whatever the rest of it says."""
    schema = error.schema
    return isinstance(schema, Mapping) and "default" in schema and schema["default"] == error.instance


def _alternatives(error: Any, path: Path) -> Iterable[Breach]:
    """None of several schemas fits: the one that comes nearest says why."""
    options: dict[int, list[Any]] = {}
    for inner in error.context:
        options.setdefault(inner.schema_path[0], []).append(inner)
    if not options:  # oneOf, and more than one fits
        message = f"{shown(error.instance)} fits more than one of the alternatives"
        yield Breach("out-of-range", path, message, None, error.instance, True)
        return
    right_type = [
        errors for errors in options.values() if not any(e.validator == "type" and not e.path for e in errors)
    ]
    if len(right_type) == 1:
        for inner in right_type[0]:
            yield from _read(inner)
        return
    wanted = type_name({error.validator: error.validator_value})
    code = "not-in-enum" if right_type and _all_enums(right_type) else "wrong-type"
    yield Breach(code, path, f"{shown(error.instance)} is none of: {wanted}", wanted, error.instance, True)


def _all_enums(options: Iterable[list[Any]]) -> bool:
    return all(len(errors) == 1 and errors[0].validator in ("enum", "const") for errors in options)


def shown(value: Any) -> str:
    """A value in a message, cut short."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _listed(choices: Iterable[Any]) -> str:
    texts = [repr(choice) for choice in choices]
    return ", ".join(texts[:8]) + (f" and {len(texts) - 8} more" if len(texts) > 8 else "")
