"""Calls and plans out of the forms in which models and agents write them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from callground.toolcalls.json_text import JsonError, JsonText, Path, read_json
from callground.verdict.model import Range

_NAMES = ("name", "tool", "tool_name", "toolName", "function_name", "action")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "kwargs", "tool_input", "toolInput", "action_input")
_STEPS = ("plan", "steps")
_PARALLEL = ("parallel", "calls", "tool_calls", "toolCalls", "tool_uses")
_IDS = ("id", "call_id", "tool_call_id", "step", "step_id")
_NEEDS = ("depends_on", "dependsOn", "dependencies")
_TAGGED = re.compile(r"<(tool_call|function_call|tool_use)>(.*?)</\1>", re.DOTALL)
_FENCED = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*(?:json\w*)?[ \t]*\n(.*?)\n[ \t]*\1", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, as it was asked for."""

    name: str
    arguments: Mapping[str, Any] | None
    """None when they are not a JSON object; `problem` says why."""
    step: int = 0
    """Place in the plan, from 0.  Calls of one step run at the same time."""
    id: str = ""
    """What other steps call this one."""
    path: Path = ()
    """Of the call in the JSON that was read."""
    name_path: Path = ()
    arguments_path: Path = ()
    text: str | None = None
    """The arguments as text, where the form has them as a string."""
    problem: str = ""
    duplicates: tuple[Path, ...] = ()
    """Arguments that are given twice, as paths inside the arguments."""
    group: str = ""
    """What other steps call the whole step, where several calls make one."""
    needs: tuple[tuple[str, Path], ...] = ()
    """Steps that are to be done before, by the call's own word, and where it says so."""
    where: Range | None = None
    """Place in the text, for calls that are not JSON."""
    unsure: str = ""
    """Why the arguments, though they are no JSON object, may be right."""


class Plan(NamedTuple):
    """What is to be called, in order."""

    calls: tuple[ToolCall, ...]
    problems: tuple[tuple[Range, str], ...] = ()
    """What could not be read as a call, and where."""
    source: JsonText | None = None
    """The JSON that the calls were read from."""
    data: Any = None
    """The value that the calls' paths lead into."""
    first_line: int = 1
    """Line of the text on which `source` begins."""

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return max((call.step for call in self.calls), default=-1) + 1


def read_text(text: str) -> Plan:
    """Calls out of a text: JSON, JSON lines, a fenced or tagged block, or calls as Python writes them."""
    try:
        found = read_json(text)
    except JsonError as error:
        return _other_text(text, error)
    return _located(read_calls(found.value), found, 1)


def read_calls(data: Any) -> Plan:
    """Calls out of parsed JSON.

    Understood are OpenAI messages, responses and tool calls, Anthropic ``tool_use`` blocks, MCP
    ``tools/call`` requests, plain ``{"name", "arguments"}`` objects, ReAct's ``action``, lists of these, and
    plans: ``{"steps": [...]}`` with an ``id`` for each step, lists inside it for what runs at the same time.
    """
    reader = _Reader()
    reader.read(data, (), 0)
    calls = tuple(reader.calls)
    problems = [(Range(1, 0, 1, 0), f"not a call: {_short(value)}") for _, value in reader.strangers]
    if not calls and not problems:
        problems.append((Range(1, 0, 1, 0), "there is no call in it"))
    return Plan(calls, tuple(problems), None, data)


def _located(plan: Plan, source: JsonText, first_line: int) -> Plan:
    """The plan with places in a text, and with what only the text shows: members given twice."""
    reader = _Reader()
    reader.read(source.value, (), 0)
    problems = [(source.value_range(path), f"not a call: {_short(value)}") for path, value in reader.strangers]
    if not plan.calls and not problems:
        problems = [(source.value_range(()), "there is no call in it")]
    calls = []
    for call in plan.calls:
        inside = len(call.arguments_path)
        twice = tuple(
            path[inside:]
            for path in source.duplicates
            if call.text is None and len(path) > inside and path[:inside] == call.arguments_path
        )
        calls.append(replace(call, duplicates=(*call.duplicates, *twice)))
    return Plan(tuple(calls), tuple(problems), source, source.value, first_line)


def _other_text(text: str, error: JsonError) -> Plan:
    blocks = [(match.start(2), match[2]) for match in _TAGGED.finditer(text)]
    blocks = blocks or [(match.start(2), match[2]) for match in _FENCED.finditer(text)]
    if not blocks and text.lstrip()[:1] == "{" and "\n" in text.strip():
        blocks = _lines(text)
    if len(blocks) == 1:
        # One block is the whole plan.
        start, inner = blocks[0]
        plan = read_text(inner) if inner != text else Plan((), ((error.where, str(error)),))
        return plan._replace(first_line=text.count("\n", 0, start) + plan.first_line)
    if blocks:
        values = []
        for start, inner in blocks:
            try:
                values.append(read_json(inner).value)
            except JsonError as wrong:
                line = text.count("\n", 0, start) + wrong.where.line
                where = wrong.where._replace(line=line, end_line=line)
                return Plan((), ((where, f"not JSON: {wrong}"),))
        return read_calls(values)
    python = _python(text)
    if python is not None:
        return python
    return Plan((), ((error.where, f"not JSON: {error}"),))


def _lines(text: str) -> list[tuple[int, str]]:
    """JSON lines: one value a line."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            if line.lstrip()[:1] != "{" or line.rstrip()[-1:] != "}":
                return []
            found.append((start, line))
        start += len(line)
    return found if len(found) > 1 else []


class _Reader:
    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.strangers: list[tuple[Path, Any]] = []

    def read(self, data: Any, path: Path, step: int) -> int:
        """Read what stands at `path`; the number of the step after it."""
        if isinstance(data, list):
            return self.sequence(data, path, step)
        if not isinstance(data, Mapping):
            self.strangers.append((path, data))
            return step
        if isinstance(data.get("choices"), list):  # an OpenAI completion
            for index, choice in enumerate(data["choices"]):
                if isinstance(choice, Mapping) and isinstance(choice.get("message"), Mapping):
                    step = self.message(choice["message"], (*path, "choices", index, "message"), step)
            return step
        for key in ("messages", "output"):
            if isinstance(data.get(key), list):  # a conversation; an OpenAI response
                return self.conversation(data[key], (*path, key), step)
        for key in _STEPS:
            if isinstance(data.get(key), list):
                return self.sequence(data[key], (*path, key), step)
            if isinstance(data.get(key), Mapping):
                return self.read(data[key], (*path, key), step)
        if data.get("role") is not None or isinstance(data.get("content"), list):
            return self.message(data, path, step)
        for key in _PARALLEL:
            if isinstance(data.get(key), list):
                before = len(self.calls)
                step = self.parallel(data[key], (*path, key), step)
                group = _identity(data)
                self.calls[before:] = [replace(call, group=group) for call in self.calls[before:]]
                return step
        if self.call(data, path, step):
            return step + 1
        if isinstance(data.get("function_call"), Mapping) and self.call(
            data["function_call"], (*path, "function_call"), step
        ):
            return step + 1
        if not _is_text(data):
            self.strangers.append((path, data))
        return step

    def sequence(self, items: list[Any], path: Path, step: int) -> int:
        for index, item in enumerate(items):
            inner = (*path, index)
            step = self.parallel(item, inner, step) if isinstance(item, list) else self.read(item, inner, step)
        return step

    def parallel(self, items: list[Any], path: Path, step: int) -> int:
        before = len(self.calls)
        for index, item in enumerate(items):
            if not (isinstance(item, Mapping) and self.call(item, (*path, index), step)):
                self.strangers.append(((*path, index), item))
        return step + (len(self.calls) > before)

    def conversation(self, items: list[Any], path: Path, step: int) -> int:
        for index, item in enumerate(items):
            if not isinstance(item, Mapping):
                continue
            if not self.call_item(item, (*path, index), step):
                step = self.message(item, (*path, index), step)
            elif not self.call_item(items[index + 1] if index + 1 < len(items) else None, None, step):
                # Calls that stand next to each other run at the same time.
                step += 1
        return step

    def call_item(self, item: Any, path: Path | None, step: int) -> bool:
        """A ``function_call`` item of an OpenAI response; without a path only whether it is one."""
        if not isinstance(item, Mapping) or item.get("type") != "function_call":
            return False
        return path is None or self.call(item, path, step)

    def message(self, data: Mapping[str, Any], path: Path, step: int) -> int:
        """What one message of a conversation asks for: its calls run at the same time."""
        before = len(self.calls)
        for key in ("tool_calls", "toolCalls"):
            if isinstance(data.get(key), list):
                self.parallel(data[key], (*path, key), step)
        if isinstance(data.get("function_call"), Mapping):
            self.call(data["function_call"], (*path, "function_call"), step)
        content = data.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, Mapping) and block.get("type") in ("tool_use", "server_tool_use"):
                self.call(block, (*path, "content", index), step)
        return step + (len(self.calls) > before)

    def call(self, data: Mapping[str, Any], path: Path, step: int) -> bool:
        """Take one call; False when the object is none."""
        found = _call(data, path)
        if found is None:
            return False
        self.calls.append(replace(found, step=step, id=_identity(data), needs=_needs(data, path)))
        return True


def _identity(data: Mapping[str, Any]) -> str:
    return str(next((data[key] for key in _IDS if isinstance(data.get(key), str | int)), ""))


def _needs(data: Mapping[str, Any], path: Path) -> tuple[tuple[str, Path], ...]:
    found: list[tuple[str, Path]] = []
    for key in _NEEDS:
        listed = data.get(key)
        for index, item in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(item, str | int) and not isinstance(item, bool):
                found.append((str(item), (*path, key, index)))
    return tuple(found)


def _is_text(data: Mapping[str, Any]) -> bool:
    """A part of a conversation that asks for nothing."""
    return data.get("type") in ("text", "thinking", "message", "reasoning", "output_text", "tool_result")


def _call(data: Mapping[str, Any], path: Path) -> ToolCall | None:
    if isinstance(data.get("function"), Mapping):  # OpenAI
        return _call(data["function"], (*path, "function"))
    if data.get("method") == "tools/call" or ("params" in data and "jsonrpc" in data):  # MCP
        params = data.get("params")
        return _call(params, (*path, "params")) if isinstance(params, Mapping) else None
    if isinstance(data.get("toolUse"), Mapping):  # Bedrock
        return _call(data["toolUse"], (*path, "toolUse"))
    if isinstance(data.get("functionCall"), Mapping):  # Gemini
        return _call(data["functionCall"], (*path, "functionCall"))
    if isinstance(data.get("call"), Mapping):
        return _call(data["call"], (*path, "call"))
    key = next((key for key in _NAMES if isinstance(data.get(key), str) and data[key]), None)
    if key is None and isinstance(data.get("function"), str):
        key = "function"
    if key is None:
        return None
    holder = next((each for each in _ARGUMENTS if each in data), None)
    if holder is None:
        return ToolCall(data[key], {}, path=path, name_path=(*path, key), arguments_path=path)
    arguments, text, problem, twice = _arguments(data[holder])
    return ToolCall(
        name=data[key],
        arguments=arguments,
        path=path,
        name_path=(*path, key),
        arguments_path=(*path, holder),
        text=text,
        problem=problem,
        duplicates=twice,
    )


def _arguments(value: Any) -> tuple[Mapping[str, Any] | None, str | None, str, tuple[Path, ...]]:
    if value is None:
        return {}, None, "", ()
    if isinstance(value, Mapping):
        return value, None, "", ()
    if not isinstance(value, str):
        return None, None, f"the arguments are no object but {_short(value)}", ()
    if not value.strip():
        return {}, value, "", ()  # OpenAI's way to say "none"
    try:
        read = read_json(value)
    except JsonError as error:
        place = f" at line {error.where.line}, column {error.where.column + 1}" if len(value) > 20 else ""
        return None, value, f"the arguments are not JSON: {error}{place}", ()
    if not isinstance(read.value, Mapping):
        return None, value, f"the arguments are no object but {_short(read.value)}", ()
    return read.value, value, "", read.duplicates


# -- calls as Python writes them


def _python(text: str) -> Plan | None:
    """``[f(a=1), g(b="x")]`` or one call a line, as some models print them; None if it is not that."""
    try:
        body = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    nodes: list[tuple[ast.expr, int]] = []
    for step, statement in enumerate(body):
        if not isinstance(statement, ast.Expr):
            return None
        value = statement.value
        inner = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        nodes += [(each, step) for each in inner]
    calls = []
    for index, (node, step) in enumerate(nodes):
        if not isinstance(node, ast.Call):
            return None
        calls.append(_python_call(node, step, index))
    data = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return Plan(tuple(calls), (), None, data) if calls else None


def _python_call(node: ast.Call, step: int, index: int) -> ToolCall:
    arguments: dict[str, Any] = {}
    unsure = ""
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        unsure = "arguments by position"
    for keyword in node.keywords:
        try:
            arguments[keyword.arg or "**"] = json.loads(json.dumps(ast.literal_eval(keyword.value)))
        except (ValueError, TypeError, RecursionError, SyntaxError, MemoryError):
            unsure = f"`{keyword.arg}` is an expression"
    return ToolCall(
        name=ast.unparse(node.func),
        arguments=None if unsure else arguments,
        step=step,
        path=(index,),
        name_path=(index, "name"),
        arguments_path=(index, "arguments"),
        where=Range(
            node.lineno,
            node.col_offset,
            node.end_lineno or node.lineno,
            node.end_col_offset or node.col_offset,
        ),
        unsure=unsure,
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
