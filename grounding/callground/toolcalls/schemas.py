"""JSON Schemas as tool definitions have them, brought to the standard's own words.

Tool definitions are written by hand and by generators of other languages: ``"type": "dict"``, ``"STRING"``,
``"required": true`` on a property.  What the standard does not know is translated where its meaning is
plain, else left out: a keyword that is not understood must never make a fault.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})

_SPELLINGS = {
    "dict": "object",
    "dictionary": "object",
    "map": "object",
    "hashmap": "object",
    "struct": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "arraylist": "array",
    "str": "string",
    "char": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "short": "integer",
    "byte": "integer",
    "bigint": "integer",
    "int32": "integer",
    "int64": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "numeric": "number",
    "bool": "boolean",
    "none": "null",
    "nonetype": "null",
    "nil": "null",
}

_CLASSES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": (int, float),
    "boolean": bool,
    "null": type(None),
}

_SUBSCHEMA = frozenset(
    "additionalProperties items not if then else contains propertyNames unevaluatedProperties "
    "unevaluatedItems additionalItems".split()
)
_SUBSCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_COUNTS = frozenset("minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains".split())
_PLAIN = frozenset(
    "description title default examples $comment $schema $id $anchor $dynamicAnchor deprecated readOnly "
    "writeOnly const".split()
)
# A repeated group that holds a repetition can take for ever on a short text: such a pattern is not tried.
_EXPLODES = re.compile(r"\([^()]*[+*}][^()]*\)[+*{]|\([^()]*\|[^()]*\)[+*{]|\(.*\(.*[+*}].*\).*\)[+*{]")
_DEEPEST = 60


def normalized(raw: Schema) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The schema in standard words, and what was left out of it."""
    notes: dict[str, None] = {}
    return _object(raw, notes, 0), tuple(notes)


def type_name(schema: Any) -> str:
    """A type for people: ``string``, ``array of integer``, ``"a" | "b"``."""
    if not isinstance(schema, Mapping):
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        shown = " | ".join(repr(choice) for choice in choices[:6])
        return shown + (" | ..." if len(choices) > 6 else "")
    if "const" in schema:
        return repr(schema["const"])
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return " | ".join(kinds)
    if kinds == "array" and isinstance(schema.get("items"), Mapping):
        return f"array of {type_name(schema['items'])}"
    if isinstance(kinds, str):
        return f"{kinds} ({schema['format']})" if "format" in schema else kinds
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(type_name(option) for option in schema[key])
    return "any"


def _object(raw: Schema, notes: dict[str, None], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        notes["it is nested too deeply: what lies deeper is not judged"] = None
        return {}
    out: dict[str, Any] = {}
    nullable = raw.get("nullable") is True
    for key, value in raw.items():
        if key == "type":
            _type(value, nullable, out, notes)
        elif key in _NAMED:
            if isinstance(value, Mapping):
                out[key] = {str(name): _any(each, notes, depth) for name, each in value.items()}
        elif key == "items" and isinstance(value, list):
            # Before 2020 a list of schemas: one for each place.
            out["prefixItems"] = [_any(each, notes, depth) for each in value]
        elif key in _SUBSCHEMA:
            if isinstance(value, Mapping | bool):
                out[key] = _any(value, notes, depth)
        elif key in _SUBSCHEMAS:
            if isinstance(value, list) and value:
                out[key] = [_any(each, notes, depth) for each in value]
        elif key == "required":
            if isinstance(value, list):
                out[key] = [name for name in value if isinstance(name, str)]
        elif key == "enum":
            # `["..."]` and the like are examples, not a closed list.
            if isinstance(value, list) and value and "..." not in value:
                out[key] = [*value, None] if nullable and None not in value else list(value)
        elif key == "$ref":
            # What lies in another document is not fetched: nothing is known of it.
            if isinstance(value, str) and value.startswith("#"):
                out[key] = value
            else:
                notes[f"`{value}` lies elsewhere: what it says is not judged"] = None
        elif key == "pattern":
            _pattern(value, out, notes)
        elif key == "format":
            if isinstance(value, str):
                out[key] = value
        elif _is_limit(key, value) or key in _PLAIN or (key == "uniqueItems" and isinstance(value, bool)):
            out[key] = value
    _required_marks(raw, out)
    if "enum" in out and "type" in out and not any(_fits(choice, out["type"]) for choice in out["enum"]):
        # Written in the wrong place (on the list instead of its items) or with the wrong type: no value
        # could ever fit.
        notes[f"no value of its `enum` is of type {type_name({'type': out['type']})}"] = None
        del out["enum"]
    return out


def _fits(value: Any, kinds: str | list[str]) -> bool:
    return any(isinstance(value, _CLASSES[kind]) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _any(raw: Any, notes: dict[str, None], depth: int) -> Any:
    if isinstance(raw, bool):
        return raw
    if isinstance(raw, Mapping):
        return _object(raw, notes, depth + 1)
    if isinstance(raw, str) and _kind(raw) is not None:  # {"city": "string"}
        return {"type": _kind(raw)}
    return {}


def _type(value: Any, nullable: bool, out: dict[str, Any], notes: dict[str, None]) -> None:
    kinds: list[str] = []
    for kind in value if isinstance(value, list) else [value]:
        known = _kind(kind)
        if known is None:
            if str(kind).lower() not in ("any", "object|any", "mixed", "unknown"):
                notes[f"type {kind!r} is not known: such a value is not judged"] = None
            return
        kinds.append(known)
    if nullable and "null" not in kinds:
        kinds.append("null")
    if kinds:
        out["type"] = kinds[0] if len(kinds) == 1 else list(dict.fromkeys(kinds))


def _kind(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    lowered = value.lower()
    return lowered if lowered in TYPES else _SPELLINGS.get(lowered)


def _is_limit(key: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False  # draft 4 has `"exclusiveMinimum": true`
    if key in _COUNTS:
        return value >= 0 and value == int(value)
    return key in _NUMBERS and not (key == "multipleOf" and value <= 0)


def _pattern(value: Any, out: dict[str, Any], notes: dict[str, None]) -> None:
    try:
        re.compile(value)
    except (re.error, TypeError, OverflowError, RecursionError):
        notes[f"pattern {value!r} cannot be used"] = None
        return
    if len(value) > 500 or _EXPLODES.search(value):
        notes[f"pattern {value[:60]!r} may take too long: it is not tried"] = None
        return
    out["pattern"] = value


def _required_marks(raw: Schema, out: dict[str, Any]) -> None:
    """A ``required`` mark on a property belongs to its parent."""
    properties = raw.get("properties")
    if not isinstance(properties, Mapping) or isinstance(raw.get("required"), list):
        return
    marked = [name for name, each in properties.items() if isinstance(each, Mapping) and each.get("required") is True]
    if marked:
        out["required"] = marked
