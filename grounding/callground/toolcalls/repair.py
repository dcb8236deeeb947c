"""The call that was meant: near misses of tool calls, each repair judged again before it is offered."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from callground.toolcalls.calls import Plan, ToolCall
from callground.toolcalls.ground import Fault, Outcome, ground_call
from callground.toolcalls.json_text import JsonError, Path, read_json
from callground.toolcalls.specs import ToolSpec
from callground.verdict.nearest import nearest

ROUNDS = 12
"""Faults of one call that are repaired one after the other."""


class Repaired(NamedTuple):
    """A call that is grounded after some changes."""

    call: ToolCall
    changes: tuple[str, ...]
    """What was changed, for people."""
    certain: bool
    """Nothing else can have been meant: it may be used unseen."""


class _Change(NamedTuple):
    call: ToolCall
    text: str
    certain: bool


def repair_plan(plan: Plan, outcomes: list[Outcome], tools: Mapping[str, ToolSpec]) -> tuple[Any, list[Repaired]]:
    """The plan's data with each call repaired that can be, and the repairs; the given data stays as it is."""
    data = copy.deepcopy(plan.data)
    repairs: list[Repaired] = []
    for outcome in outcomes:
        repaired = repair(outcome, tools)
        if repaired is not None:
            repairs.append(repaired)
            _write(data, outcome.call, repaired.call)
    return data, repairs


def repair(outcome: Outcome, tools: Mapping[str, ToolSpec]) -> Repaired | None:
    """The nearest grounded call; None where there is nothing to repair or no way to do it.

    References between steps are not repaired: which result was meant is not in the call.
    """
    call, faults = outcome.call, list(outcome.faults)
    if not faults or any(fault.code in ("unknown-step", "later-step", "unknown-result") for fault in faults):
        return None
    changes: list[str] = []
    certain = True
    for _ in range(ROUNDS):
        if not faults:
            return Repaired(call, tuple(changes), certain)
        change = next(_changes(call, faults, tools), None)
        if change is None:
            return None
        call = change.call
        changes.append(change.text)
        certain = certain and change.certain
        faults = list(ground_call(call, tools).faults)
    return None


def _changes(call: ToolCall, faults: list[Fault], tools: Mapping[str, ToolSpec]) -> Iterator[_Change]:
    """Ways to take away the first fault."""
    for fault in faults:
        if fault.code == "unknown-tool":
            yield from _tool(call, tools)
        elif fault.code == "not-json":
            yield from _text(call)
        elif fault.code == "unknown-keyword":
            yield from _argument(call, fault, faults, tools[call.name])
        elif fault.code in ("wrong-type", "not-in-enum"):
            yield from _value(call, fault, tools[call.name])
        return


def _tool(call: ToolCall, tools: Mapping[str, ToolSpec]) -> Iterator[_Change]:
    same = [name for name in tools if _plain(name) == _plain(call.name)]
    last = [name for name in tools if _plain(_last(name)) == _plain(_last(call.name))]
    near = nearest(call.name, tools)
    for names, sure in ((same, True), (last, True), (near, len(near) == 1)):
        fitting = [name for name in names if not ground_call(replace(call, name=name), tools).faults]
        if fitting:
            yield _renamed(call, fitting[0], sure and len(fitting) == 1 and len(names) == 1)
            return
        if names and sure:
            # Its arguments are wrong too: they come after it.
            yield _renamed(call, names[0], len(names) == 1)
            return


def _renamed(call: ToolCall, name: str, certain: bool) -> _Change:
    return _Change(replace(call, name=name), f"`{call.name}` is called `{name}`", certain)


def _argument(call: ToolCall, fault: Fault, faults: list[Fault], spec: ToolSpec) -> Iterator[_Change]:
    if len(fault.path) != 1 or call.arguments is None:
        return
    wrong = str(fault.path[0])
    free = [name for name in spec.properties if name not in call.arguments]
    same = [name for name in free if _plain(name) == _plain(wrong)]
    near = [name for name in nearest(wrong, spec.properties) if name in free]
    missing = [other.name for other in faults if other.code == "missing-argument" and len(other.path) == 1]
    unknown = sum(other.code == "unknown-keyword" for other in faults)
    chosen, certain = None, False
    if len(same) == 1:
        chosen, certain = same[0], True
    elif near:
        chosen, certain = near[0], len(near) == 1
    elif len(missing) == 1 and unknown == 1:
        # The one argument that is missing is the one that has another name.
        chosen = missing[0]
    if chosen is not None:
        arguments = {(chosen if name == wrong else name): value for name, value in call.arguments.items()}
        yield _Change(_with(call, arguments), f"`{wrong}` is called `{chosen}`", certain)


def _value(call: ToolCall, fault: Fault, spec: ToolSpec) -> Iterator[_Change]:
    """The same value in the type, or in the spelling, that the schema has."""
    if call.arguments is None or not fault.path:
        return
    value = _at(call.arguments, fault.path)
    schema = _schema_at(spec.schema or {}, fault.path)
    for other, certain in _readings(value, schema):
        arguments = _replaced(call.arguments, fault.path, other)
        changed = _with(call, arguments)
        if not any(each.path == fault.path for each in ground_call(changed, {call.name: spec}).faults):
            yield _Change(changed, f"{_short(value)} is written {_short(other)}", certain)
            return


def _readings(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, bool]]:
    """Values that say the same as `value`, and whether they say nothing else."""
    choices = schema.get("enum", [])
    if isinstance(value, str):
        same = [choice for choice in choices if isinstance(choice, str) and _plain(choice) == _plain(value)]
        if len(same) == 1:
            yield same[0], True
        near = nearest(value, [choice for choice in choices if isinstance(choice, str)])
        if len(near) == 1:
            yield near[0], False
        text = value.strip()
        if text.lower() in ("true", "false"):
            yield text.lower() == "true", True
        if text.lower() in ("null", "none"):
            yield None, True
        for read in (int, float):
            try:
                number = read(text)
            except ValueError:
                continue
            if number == number and abs(number) != float("inf"):
                yield number, True
        if text[:1] in ("{", "["):
            try:
                yield read_json(text).value, True
            except JsonError:
                pass
    elif isinstance(value, bool):
        yield str(value).lower(), True
        yield str(value), True
    elif isinstance(value, int | float):
        yield str(value), True
        if isinstance(value, float) and value.is_integer():
            yield int(value), True
    if not isinstance(value, list):
        yield [value], True


def _text(call: ToolCall) -> Iterator[_Change]:
    """Arguments that are nearly JSON: a Python literal, a fence around them, a comma too much."""
    if call.text is None:
        return
    text = call.text.strip()
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    for read in (json.loads, ast.literal_eval):
        for attempt in (text, text + "}", text.removesuffix(",")):
            try:
                value = json.loads(json.dumps(read(attempt)))
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
            if isinstance(value, dict):
                certain = attempt == text
                yield _Change(_with(call, value), "the arguments are written as JSON", certain)
                return


# -- parts


def _with(call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    text = json.dumps(arguments, ensure_ascii=False) if call.text is not None else None
    return replace(call, arguments=arguments, text=text, problem="", duplicates=())


def _write(data: Any, old: ToolCall, new: ToolCall) -> None:
    """Put a repaired call in the place of the old one."""
    if not old.name_path:
        return
    _set(data, old.name_path, new.name)
    if old.arguments_path != old.path:
        _set(data, old.arguments_path, new.text if old.text is not None else new.arguments)


def _set(data: Any, path: Path, value: Any) -> None:
    for part in path[:-1]:
        data = data[part]
    data[path[-1]] = value


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _replaced(value: Any, path: Path, other: Any) -> Any:
    value = copy.deepcopy(value)
    _set(value, path, other)
    return value


def _schema_at(schema: Any, path: Path) -> Mapping[str, Any]:
    for part in path:
        if not isinstance(schema, Mapping):
            return {}
        if isinstance(part, int):
            schema = schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(part, {})
    return schema if isinstance(schema, Mapping) else {}


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _last(name: str) -> str:
    for mark in ("__", ".", "/", ":"):
        name = name.rpartition(mark)[2] or name
    return name


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
