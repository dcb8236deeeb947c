"""Units of measure in names and descriptions of parameters, and the conversions that are exact by definition."""

from __future__ import annotations

import re

from callground.caller.value_patterns import UNITS

_SIZES: dict[str, tuple[str, float]] = {
    "km": ("length", 1000.0),
    "m": ("length", 1.0),
    "cm": ("length", 0.01),
    "mm": ("length", 0.001),
    "mile": ("length", 1609.344),
    "foot": ("length", 0.3048),
    "inch": ("length", 0.0254),
    "yard": ("length", 0.9144),
    "kg": ("mass", 1.0),
    "g": ("mass", 0.001),
    "mg": ("mass", 0.000001),
    "lb": ("mass", 0.45359237),
    "oz": ("mass", 0.028349523125),
    "l": ("volume", 1.0),
    "ml": ("volume", 0.001),
    "second": ("time", 1.0),
    "minute": ("time", 60.0),
    "hour": ("time", 3600.0),
    "day": ("time", 86400.0),
    "week": ("time", 604800.0),
}
"""Dimension, and size in the dimension's base unit. Months and years have no one size."""

_LETTERS = re.compile(r"[A-Za-z°%$€£]+(?:/[a-z]+)?")
_SHORT = frozenset("m g l a c f k h s w v j n".split())
"""One letter is a unit only after ``in`` or in brackets; elsewhere it is a name."""


def unit_of(told: str) -> str:
    """The one unit that a name and description say, or empty: ``distance_km``, ``Length in meters``."""
    found = []
    for match in _LETTERS.finditer(told.replace("_", " ")):
        word = match.group().lower()
        if word in _SHORT and not re.search(r"(?:\bin |[(\[])$", told[: match.start()]):
            continue
        unit = UNITS.get(word)
        if unit in _SIZES and unit not in found:
            found.append(unit)
    return found[0] if len(found) == 1 else ""


def dimension(unit: str) -> str:
    """``length``, ``mass``, ``volume``, ``time``, or empty."""
    return _SIZES[unit][0] if unit in _SIZES else ""


def converted(value: float, unit: str, wanted: str) -> float | None:
    """The value in the wanted unit; None where it is in it already or cannot be."""
    if unit == wanted or not wanted or dimension(unit) != dimension(wanted) or not dimension(unit):
        return None
    result = value * _SIZES[unit][1] / _SIZES[wanted][1]
    nearest = round(result, 6)
    return int(nearest) if nearest == int(nearest) else nearest
