"""Units in descriptions, and conversions that are exact."""

from __future__ import annotations

import pytest

from callground.caller.units import converted, unit_of


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        ("distance_km", "km"),
        ("Length in meters", "m"),
        ("Weight (in kg)", "kg"),
        ("Mass in g", "g"),
        ("the value of a", ""),
        ("from miles to kilometers", ""),
        ("Number of items", ""),
    ],
)
def test_the_unit_that_is_told(told, wanted):
    assert unit_of(told) == wanted


@pytest.mark.parametrize(
    ("value", "unit", "wanted", "result"),
    [
        (2, "hour", "minute", 120),
        (1.5, "km", "m", 1500),
        (12, "inch", "cm", 30.48),
        (3, "km", "km", None),
        (3, "km", "kg", None),
        (3, "year", "day", None),
        (3, "", "m", None),
        (3, "m", "", None),
    ],
)
def test_conversion(value, unit, wanted, result):
    assert converted(value, unit, wanted) == result
