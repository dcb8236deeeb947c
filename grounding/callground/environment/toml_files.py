"""Reads TOML files of a project; a file that is absent or broken is empty."""

from __future__ import annotations

import sys
from typing import Any

from callground.source.disk import read_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SIZE_LIMIT = 5_000_000


def read_toml(path: str) -> dict[str, Any]:
    """The content of a TOML file; empty when it cannot be read or is not valid."""
    try:
        content: dict[str, Any] = tomllib.loads(read_file(path, _SIZE_LIMIT).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content


def table(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    """The table below `keys`; empty when there is none of that type."""
    for key in keys:
        inner = data.get(key)
        if not isinstance(inner, dict):
            return {}
        data = inner
    return data


def texts(value: object) -> list[str]:
    """The strings of a list; a single string counts as one."""
    if isinstance(value, str):
        return [value]
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
