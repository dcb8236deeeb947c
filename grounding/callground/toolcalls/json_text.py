"""JSON text with the place of every value, so that a fault in a plan has a line and a column."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any, NamedTuple

from callground.verdict.model import Range

Path = tuple["str | int", ...]
"""Keys and indexes from the top of a JSON value."""

DEEPEST = 200
"""Levels of nesting that are read; no tool call has as many."""

_SPACE = re.compile(r"[ \t\n\r]*")


class JsonError(ValueError):
    """The text is not JSON; `where` is the place."""

    def __init__(self, message: str, where: Range) -> None:
        super().__init__(message)
        self.where = where


class JsonText(NamedTuple):
    """A value that was read, and where its parts stand in the text."""

    value: Any
    text: str
    spans: dict[Path, tuple[int, int]]
    """Offsets of each value."""
    keys: dict[Path, tuple[int, int]]
    """Offsets of each member's key."""
    duplicates: tuple[Path, ...]
    """Members whose key had been given before in the same object (the last value is the one in `value`)."""

    def value_range(self, path: Path) -> Range:
        """Where the value at `path` stands; of what holds it when that is not known."""
        return self._range(self.spans, path)

    def key_range(self, path: Path) -> Range:
        """Where the key of the member at `path` stands."""
        if path in self.keys:
            return self._range(self.keys, path)
        return self._range(self.spans, path)

    def _range(self, table: dict[Path, tuple[int, int]], path: Path) -> Range:
        while path and path not in table:
            path = path[:-1]
            table = self.spans
        start, end = table.get(path, (0, len(self.text)))
        return span(self.text, start, end)


def span(text: str, start: int, end: int) -> Range:
    """Offsets as lines and columns."""
    starts = [0]
    starts += [match.end() for match in re.finditer(r"\r\n|\n|\r", text)]
    first, last = bisect_right(starts, start) - 1, bisect_right(starts, end) - 1
    return Range(first + 1, start - starts[first], last + 1, end - starts[last])


def read_json(text: str) -> JsonText:
    """Read one JSON value.  Raises JsonError, also for what only Python's reader accepts (``NaN``)."""
    reader = _Reader(text)
    value, end = reader.value(reader.space(0), (), 0)
    end = reader.space(end)
    if end != len(text):
        raise reader.error("there is more text behind the JSON value", end)
    return JsonText(value, text, reader.spans, reader.keys, tuple(reader.duplicates))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_SCALAR = json.JSONDecoder(parse_constant=_no_constant)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.spans: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, tuple[int, int]] = {}
        self.duplicates: list[Path] = []

    def error(self, message: str, at: int) -> JsonError:
        return JsonError(message, span(self.text, min(at, len(self.text)), min(at + 1, len(self.text))))

    def space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match is not None else at

    def value(self, at: int, path: Path, depth: int) -> tuple[Any, int]:
        if depth > DEEPEST:
            raise self.error("the JSON is nested too deeply", at)
        char = self.text[at : at + 1]
        value: Any
        if char == "{":
            value, end = self.object(at, path, depth)
        elif char == "[":
            value, end = self.array(at, path, depth)
        else:
            value, end = self.scalar(at)
        self.spans[path] = (at, end)
        return value, end

    def scalar(self, at: int) -> tuple[Any, int]:
        try:
            return _SCALAR.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self.error(error.msg, error.pos) from None
        except (ValueError, RecursionError) as error:
            raise self.error(str(error), at) from None

    def object(self, at: int, path: Path, depth: int) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        at = self.space(at + 1)
        if self.text[at : at + 1] == "}":
            return found, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                raise self.error("a property name in double quotes is expected", at)
            key, end = self.scalar(at)
            inner = (*path, key)
            if key in found:
                self.duplicates.append(inner)
            self.keys[inner] = (at, end)
            at = self.space(end)
            if self.text[at : at + 1] != ":":
                raise self.error("`:` is expected", at)
            found[key], at = self.value(self.space(at + 1), inner, depth + 1)
            at = self.space(at)
            if self.text[at : at + 1] == "}":
                return found, at + 1
            if self.text[at : at + 1] != ",":
                raise self.error("`,` or `}` is expected", at)
            at = self.space(at + 1)

    def array(self, at: int, path: Path, depth: int) -> tuple[list[Any], int]:
        found: list[Any] = []
        at = self.space(at + 1)
        if self.text[at : at + 1] == "]":
            return found, at + 1
        while True:
            item, at = self.value(at, (*path, len(found)), depth + 1)
            found.append(item)
            at = self.space(at)
            if self.text[at : at + 1] == "]":
                return found, at + 1
            if self.text[at : at + 1] != ",":
                raise self.error("`,` or `]` is expected", at)
            at = self.space(at + 1)
