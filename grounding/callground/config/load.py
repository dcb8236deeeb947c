"""Read settings out of ``pyproject.toml`` or an editor's JSON, naming each one that cannot be used once."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from callground.config.model import DEFAULT, SCOPES, Caller, Config, Problem, Provenance
from callground.config.policy import Policy, read_policy
from callground.rules import RULES, SEVERITIES
from callground.source.disk import read_file

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ROOT_MARKS = ("pyproject.toml", ".git", "setup.cfg", "setup.py")


def is_project(folder: str) -> bool:
    """Whether something in a folder marks it as the root of a project."""
    return any(os.path.lexists(os.path.join(folder, mark)) for mark in _ROOT_MARKS)


def find_root(start: str) -> str:
    """The workspace that `start` lies in.

    The nearest folder upwards with a ``[tool.callground]`` table; else the nearest with a
    ``pyproject.toml``, ``.git``, ``setup.cfg`` or ``setup.py``; else the folder around the package that
    `start` is (or lies in), so that its own imports are found.
    """
    start = os.path.abspath(start)
    # A file, or one that is not there yet, in a folder that is not there yet.
    while not os.path.isdir(start) and os.path.dirname(start) != start:
        start = os.path.dirname(start)
    marked: str | None = None
    folder = start
    while True:
        if marked is None and is_project(folder):
            marked = folder
        if _table(os.path.join(folder, "pyproject.toml"), []):
            return folder
        parent = os.path.dirname(folder)
        # A repository is a border: settings of what lies around it are somebody else's.
        if parent == folder or os.path.lexists(os.path.join(folder, ".git")):
            return marked or _around_package(start)
        folder = parent


def _around_package(folder: str) -> str:
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def load(root: str) -> tuple[Config, tuple[Problem, ...]]:
    """The settings of ``ROOT/pyproject.toml``, with the problems found in them."""
    path = os.path.join(root, "pyproject.toml")
    problems: list[Problem] = []
    table = _table(path, problems)
    config, more = read_settings(table, "pyproject.toml")
    return config, (*problems, *more)


def read_settings(
    settings: object, where: str = "editor settings", base: Config = DEFAULT
) -> tuple[Config, tuple[Problem, ...]]:
    """Lay plain settings over `base`.  Unknown keys and wrong types are reported and change nothing."""
    problems: list[Problem] = []
    if settings is None:
        return base, ()
    if not isinstance(settings, Mapping):
        return base, (Problem(where, "", f"`tool.callground` must be a table, not {_kind(settings)}"),)
    values: dict[str, Any] = {}
    for key, value in settings.items():
        reader = _READERS.get(str(key))
        if reader is None:
            problems.append(Problem(where, str(key), f"unknown setting `{key}`{_near(str(key), _READERS)}"))
            continue
        if value is None:
            continue  # an editor sends null for what is not set

        def report(message: str, key: str = str(key)) -> None:
            problems.append(Problem(where, key, message))

        read = reader(str(key), value, report)
        if read is not None:
            values[str(key).replace("-", "_")] = read
    return replace(base, **values), tuple(problems)


_Report = Callable[[str], None]


def _table(path: str, problems: list[Problem]) -> object:
    try:
        data = tomllib.loads(read_file(path).decode("utf-8-sig"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem("pyproject.toml", "", f"cannot be read: {error}; the default settings are used"))
        return None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(Problem("pyproject.toml", "", f"is not valid TOML: {error}; the default settings are used"))
        return None
    tool = data.get("tool")
    return tool.get("callground") if isinstance(tool, dict) else None


def _kind(value: object) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    return names.get(type(value), type(value).__name__)


def _near(word: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(word.replace("_", "-"), list(known), 1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _scope(key: str, value: object, report: _Report) -> str | None:
    if isinstance(value, str) and value in SCOPES:
        return value
    report(f"`{key}` must be one of {', '.join(map(repr, SCOPES))}, not {value!r}; the default is used")
    return None


def _text(key: str, value: object, report: _Report) -> str | None:
    if isinstance(value, str):
        return value or None
    report(f"`{key}` must be a string, not {_kind(value)}; the default is used")
    return None


def _flag(key: str, value: object, report: _Report) -> bool | None:
    if isinstance(value, bool):
        return value
    report(f"`{key}` must be true or false, not {_kind(value)}; the default is used")
    return None


def _texts(key: str, value: object, report: _Report) -> tuple[str, ...] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    report(f"`{key}` must be a list of strings, not {_kind(value)}; the default is used")
    return None


def _severities(key: str, value: object, report: _Report) -> dict[str, str] | None:
    if not isinstance(value, Mapping):
        report(f"`{key}` must be a table of rule = severity, not {_kind(value)}; the default is used")
        return None
    read: dict[str, str] = {}
    for code, severity in value.items():
        if code not in RULES:
            report(f"`{key}`: unknown rule `{code}`{_near(str(code), RULES)}")
        elif severity not in SEVERITIES:
            report(f"`{key}.{code}` must be one of {', '.join(map(repr, SEVERITIES))}, not {severity!r}")
        else:
            read[str(code)] = str(severity)
    return read


def _ignores(key: str, value: object, report: _Report) -> tuple[tuple[str, tuple[str, ...]], ...] | None:
    if not isinstance(value, Mapping):
        report(f"`{key}` must be a table of pattern = [rules], not {_kind(value)}; the default is used")
        return None
    read: list[tuple[str, tuple[str, ...]]] = []
    for pattern, codes in value.items():
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            report(f"`{key}.{pattern}` must be a list of rule codes, not {_kind(codes)}; it is left out")
            continue
        for code in codes:
            if code not in RULES:
                report(f"`{key}.{pattern}`: unknown rule `{code}`{_near(code, RULES)}")
        read.append((str(pattern), tuple(code for code in codes if code in RULES)))
    return tuple(read)


def _gate(_: str, value: object, report: _Report) -> Policy | None:
    return read_policy(value, report)


def _provenance(key: str, value: object, report: _Report) -> Provenance | None:
    if not isinstance(value, Mapping):
        report(f"`{key}` must be a table of signal = true or false, not {_kind(value)}; the default is used")
        return None
    known = {name.replace("_", "-"): name for name in Provenance.__dataclass_fields__}
    read: dict[str, bool] = {}
    for switch, on in value.items():
        if str(switch) not in known:
            report(f"`{key}`: unknown signal `{switch}`{_near(str(switch), known)}")
        elif not isinstance(on, bool):
            report(f"`{key}.{switch}` must be true or false, not {_kind(on)}; the default is used")
        else:
            read[known[str(switch)]] = on
    return Provenance(**read)


def _caller(key: str, value: object, report: _Report) -> Caller | None:
    if not isinstance(value, Mapping):
        report(f"`{key}` must be a table of its settings, not {_kind(value)}; the default is used")
        return None
    read: dict[str, Any] = {}
    for name, given in value.items():
        if str(name) not in Caller.__dataclass_fields__:
            report(f"`{key}`: unknown setting `{name}`{_near(str(name), Caller.__dataclass_fields__)}")
        elif given is None:
            continue  # an editor sends null for what is not set
        elif name == "enabled" and not isinstance(given, bool):
            report(f"`{key}.{name}` must be true or false, not {_kind(given)}; the default is used")
        elif name == "path" and not isinstance(given, str):
            report(f"`{key}.{name}` must be a string, not {_kind(given)}; the default is used")
        elif name in ("alpha", "delta") and not _is_share(given):
            report(f"`{key}.{name}` must be a number between 0 and 1, not {given!r}; the default is used")
        else:
            read[str(name)] = (given or None) if name == "path" else given
    return Caller(**read)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1


_READERS: dict[str, Callable[[str, object, _Report], object]] = {
    "scope": _scope,
    "python": _text,
    "exclude": _texts,
    "roots": _texts,
    "severity": _severities,
    "per-file-ignores": _ignores,
    "ignore-names": _texts,
    "provenance": _provenance,
    "gate": _gate,
    "caller": _caller,
    "suggestions": _flag,
}
