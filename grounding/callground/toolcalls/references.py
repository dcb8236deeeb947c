"""References from one step of a plan to the result of another.

There is no standard for them.  Read are the spellings that are in use: ``$ID.path``, ``${ID.path}``,
``{{ID.path}}``, ``#E1`` and objects such as ``{"$ref": "ID.path"}``.  A text is taken for a reference only
when it names a step of this plan, or is spelt as the plan's own steps are: ``$9`` in a plan of ``$1`` and
``$2``.  Anything else is a text like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from callground.toolcalls.calls import ToolCall
from callground.toolcalls.json_text import Path

_ID = r"(?P<id>[A-Za-z0-9_-]+)(?P<rest>(?:[.\[][^{}$]*)?)"
_WHOLE = [
    re.compile(rf"\$(?:steps?\.)?{_ID}"),
    re.compile(r"#(?P<id>E\d+)(?P<rest>)"),
]
# ${ID.path}, ${{ID.path}} and {{ID.path}}, each also with `steps.` before the name.
_INSIDE = re.compile(rf"(?:\$\{{\{{?|\{{\{{)\s*(?P<prefix>(?:steps?[.\[])?){_ID}\s*\}}\}}?")
_OBJECT_KEYS = ("$ref", "$step", "$result", "$from", "from_step")
_DIGITS = re.compile(r"\d+")


class Reference(NamedTuple):
    """One reference."""

    path: Path
    """Inside the arguments: the value that is (or holds) the reference."""
    target: str
    """The step that it names."""
    text: str
    whole: bool
    """The value is nothing but the reference, so its type is that of the result."""
    explicit: bool
    """It cannot be anything else than a reference."""
    result_path: tuple[str, ...] = ()
    """What is taken from the result."""
    absolute: Path = ()
    """From the top of the plan, for a reference that does not stand in the arguments."""


class Found(NamedTuple):
    """A reference and the steps that it may mean."""

    reference: Reference
    steps: tuple[int, ...]
    """Empty: there is no such step."""
    calls: tuple[ToolCall, ...] = ()


class Steps:
    """The names of a plan's steps."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._by_name: dict[str, list[ToolCall]] = {}
        for call in calls:
            for name in {call.id, call.group} - {""}:
                self._by_name.setdefault(name, []).append(call)
        self.numbered = not self._by_name
        """No step has a name: they go by their numbers."""
        self._calls = calls
        self._shapes = {_DIGITS.sub("#", name) for name in self._by_name if _DIGITS.search(name)}
        self._count = max((call.step for call in calls), default=-1) + 1

    def resolve(self, reference: Reference, *, from_zero: bool = False) -> Found | None:
        """What a reference means; None when it is none."""
        calls = self._by_name.get(reference.target)
        if calls:
            return Found(reference, tuple(sorted({call.step for call in calls})), tuple(calls))
        number = number_of(reference.target)
        if self.numbered and number is not None:
            step = number - (0 if from_zero else 1)
            hit = tuple(call for call in self._calls if call.step == step)
            return Found(reference, (step,) if hit else (), hit)
        if reference.explicit or _DIGITS.sub("#", reference.target) in self._shapes:
            return Found(reference, ())
        return None


def number_of(name: str) -> int | None:
    """The number of a step without a name: ``3``, ``E3``, ``step3``, ``step_3``."""
    match = re.fullmatch(r"(?:E|step[_-]?|call[_-]?|t)?(\d{1,4})", name, re.IGNORECASE)
    return int(match[1]) if match is not None else None


def references(value: Any, path: Path = ()) -> Iterator[Reference]:
    """What may be a reference in a value, however deep."""
    stack: list[tuple[Any, Path]] = [(value, path)]
    while stack:
        item, place = stack.pop()
        if isinstance(item, str):
            yield from _in_text(item, place)
        elif isinstance(item, list):
            stack += [(each, (*place, index)) for index, each in enumerate(item)]
        elif isinstance(item, Mapping):
            found = _object(item, place)
            if found is not None:
                yield found
            else:
                stack += [(each, (*place, key)) for key, each in item.items()]


def _object(item: Mapping[str, Any], place: Path) -> Reference | None:
    key = next((key for key in _OBJECT_KEYS if key in item), None)
    if key is None or len(item) > 2 or isinstance(item[key], bool) or not isinstance(item[key], str | int):
        return None
    text = str(item[key])
    if text.startswith(("#/", "http:", "https:")) or text == "#":
        return None  # a JSON Schema's own reference
    match = re.fullmatch(rf"\$?(?:steps?\.)?{_ID}", text)
    if match is None:
        return None
    return Reference(place, match["id"], text, True, True, _parts(match["rest"]))


def _in_text(text: str, place: Path) -> Iterator[Reference]:
    for pattern in _WHOLE:
        match = pattern.fullmatch(text.strip())
        if match is not None:
            yield Reference(place, match["id"], text.strip(), True, False, _parts(match["rest"]))
            return
    for match in _INSIDE.finditer(text):
        whole = match[0] == text.strip()
        yield Reference(place, match["id"], match[0], whole, bool(match["prefix"]), _parts(match["rest"]))


def _parts(rest: str) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[.\[\]'\"]+", rest.strip()) if part)
