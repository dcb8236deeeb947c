"""Logs of agents as data: what was asked, which calls followed, and which of them went well.

Read are conversations in the message formats of Anthropic and OpenAI, logs of MCP (JSON-RPC), and lists or JSON lines
of these.  What cannot be used is left out and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from callground.caller.distill.rows import Ledger

_ERROR_KEYS = ("is_error", "isError")
_REQUEST_KEYS = ("request", "prompt", "query", "userRequest")
"""Where an MCP client may say, in ``params._meta``, what the person asked for."""


class Step(NamedTuple):
    """One call that went well."""

    tool: str
    args: dict[str, Any]


class Turn(NamedTuple):
    """What a person asked for, and all that was called for it."""

    request: str
    steps: tuple[Step, ...]


@dataclass
class Traces:
    """Turns out of logs.

    `ledger` counts turns that were left out: ``failed`` (a call ended in an error and none after it took its
    place), ``no-result`` (the log does not say how a call ended), ``bad-arguments``, ``no-request``, ``not-a-message``.
    """

    turns: list[Turn] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)

    def single(self) -> dict[str, dict[str, Any]]:
        """Request -> a teacher's answer, for turns of one call or none; longer ones are for a planner."""
        out: dict[str, dict[str, Any]] = {}
        for turn in self.turns:
            if len(turn.steps) <= 1:
                tool, args = turn.steps[0] if turn.steps else (None, {})
                out[turn.request] = {"tool": tool, "args": args}
        return out

    def plans(self) -> dict[str, dict[str, Any]]:
        """Request -> ``{"steps": [{"tool", "args"}, ...]}``, for every turn."""
        return {
            turn.request: {"steps": [{"tool": step.tool, "args": step.args} for step in turn.steps]}
            for turn in self.turns
        }


class LogTeacher:
    """A teacher that knows what a log knows.  Raises KeyError for any other request."""

    def __init__(self, traces: Traces) -> None:
        self._answers = traces.single()

    @property
    def requests(self) -> list[str]:
        """What it can be asked."""
        return list(self._answers)

    def __call__(self, request: str) -> dict[str, Any]:
        """The log's answer."""
        return self._answers[request]


def read_log(text: str) -> Traces:
    """Traces out of the text of a file: JSON, or JSON lines.  Lines that are no JSON are counted and left out."""
    traces = Traces()
    try:
        data: list[Any] = [json.loads(text)]
    except ValueError:
        data = []
        for line in text.split("\n"):
            if not line.strip():
                continue
            try:
                data.append(json.loads(line))
            except ValueError:
                traces.ledger.reject(line, "not-a-message", "no JSON")
    _read(data, traces)
    return traces


def read_traces(data: Any) -> Traces:
    """Traces out of parsed JSON."""
    traces = Traces()
    _read([data], traces)
    return traces


def _read(data: list[Any], traces: Traces) -> None:
    loose: list[Mapping[str, Any]] = []
    for item in data:
        inner = _conversation(item)
        if isinstance(item, list) and any(isinstance(each, list) or _conversation(each) is not None for each in item):
            _read(item, traces)
        elif isinstance(item, list) or inner is not None:
            _conversation_turns(list(_messages(item if inner is None else inner, traces)), traces)
        else:
            loose += _messages([item], traces)
    if loose:
        _conversation_turns(loose, traces)


def _conversation(item: Any) -> list[Any] | None:
    """The messages of an object that holds a conversation."""
    if isinstance(item, Mapping):
        for key in ("messages", "conversation", "trace"):
            if isinstance(item.get(key), list):
                inner: list[Any] = item[key]
                return inner
    return None


def _messages(items: Iterable[Any], traces: Traces) -> Iterator[Mapping[str, Any]]:
    for item in items:
        if isinstance(item, Mapping):
            yield item
        else:
            traces.ledger.reject(item, "not-a-message", type(item).__name__)


class _Open:
    """A turn that is being read."""

    def __init__(self, request: str) -> None:
        self.request = request
        self.calls: dict[str, Step | None] = {}
        """Identifier -> the call; None where its arguments are no JSON object."""
        self.ended: dict[str, bool] = {}
        """Identifier -> whether it went well."""
        self.answered = False


def _conversation_turns(messages: list[Mapping[str, Any]], traces: Traces) -> None:
    now: _Open | None = None
    for number, message in enumerate(messages):
        text = _said_by_person(message)
        meta = _asked_in_meta(message)
        if text is not None or meta is not None:
            request = text if text is not None else meta
            if now is not None and (text is not None or now.request != meta):
                _close(now, traces)
                now = None
            now = now or _Open(str(request))
        if text is None:
            for ident, step, ended in _events(message, number):
                if now is None:
                    if step is not ... and ended is None:
                        traces.ledger.reject(step.tool if isinstance(step, Step) else "", "no-request")
                    continue
                if step is not ...:
                    now.calls[ident] = step
                if ended is not None and ident in now.calls:
                    now.ended[ident] = ended
            if now is not None and message.get("role") == "assistant":
                now.answered = True
    if now is not None:
        _close(now, traces)


def _close(turn: _Open, traces: Traces) -> None:
    """A finished turn as data, or as a line of the ledger."""
    if not turn.calls and not turn.answered:
        traces.ledger.reject(turn.request, "no-result", "nobody answered")
        return
    good: list[Step] = []
    failed: list[str] = []
    for ident, step in turn.calls.items():
        if step is None:
            traces.ledger.reject(turn.request, "bad-arguments", "no JSON object")
            return
        if ident not in turn.ended:
            traces.ledger.reject(turn.request, "no-result", step.tool)
            return
        if turn.ended[ident]:
            good.append(step)
            failed = [tool for tool in failed if tool != step.tool]
        else:
            failed.append(step.tool)
    if failed:
        traces.ledger.reject(turn.request, "failed", failed[0])
        return
    traces.turns.append(Turn(turn.request, tuple(good)))
    traces.ledger.used += 1


def _said_by_person(message: Mapping[str, Any]) -> str | None:
    if message.get("role") != "user":
        return None
    content = message.get("content")
    if isinstance(content, str):
        return content.strip() or None
    if isinstance(content, list):
        parts = [
            part["text"]
            for part in content
            if isinstance(part, Mapping)
            and part.get("type") in ("text", "input_text")
            and isinstance(part.get("text"), str)
        ]
        return "\n".join(parts).strip() or None
    return None


def _asked_in_meta(message: Mapping[str, Any]) -> str | None:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    if not isinstance(meta, Mapping):
        return None
    return next((meta[key] for key in _REQUEST_KEYS if isinstance(meta.get(key), str) and meta[key].strip()), None)


def _events(message: Mapping[str, Any], number: int) -> Iterator[tuple[str, Any, bool | None]]:
    """(identifier, the call or ..., whether it went well or None) of everything that a message says of calls."""
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        if part.get("type") == "tool_use":
            yield str(part.get("id")), _step(part.get("name"), part.get("input")), None
        elif part.get("type") == "tool_result":
            yield str(part.get("tool_use_id")), ..., not any(part.get(key) for key in _ERROR_KEYS)
    calls = message.get("tool_calls")
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        if not isinstance(call, Mapping):
            continue
        inner = call.get("function", call)
        if isinstance(inner, Mapping):
            yield str(call.get("id", f"{number}/{place}")), _step(inner.get("name"), inner.get("arguments")), None
    if message.get("role") == "tool":
        yield str(message.get("tool_call_id")), ..., _went_well(message)
    if message.get("type") == "function_call":
        yield str(message.get("call_id")), _step(message.get("name"), message.get("arguments")), None
    elif message.get("type") == "function_call_output":
        yield str(message.get("call_id")), ..., _went_well({"content": message.get("output")})
    if message.get("method") == "tools/call" and isinstance(message.get("params"), Mapping):
        params = message["params"]
        yield str(message.get("id")), _step(params.get("name"), params.get("arguments", {})), None
    elif "method" not in message and "id" in message and ("result" in message or "error" in message):
        result = message.get("result")
        bad = "error" in message or (isinstance(result, Mapping) and any(result.get(key) for key in _ERROR_KEYS))
        yield str(message["id"]), ..., not bad


def _went_well(message: Mapping[str, Any]) -> bool:
    """Whether a result is no error: flagged as one, or a JSON object that has nothing but an ``error`` to tell."""
    if any(message.get(key) for key in _ERROR_KEYS) or message.get("status") == "error":
        return False
    content = message.get("content")
    if isinstance(content, str) and content.lstrip().startswith("{"):
        try:
            data = json.loads(content)
        except ValueError:
            return True
        return not (isinstance(data, dict) and data.get("error"))
    return not (isinstance(content, str) and content.startswith(("Error:", "Traceback (most recent call last)")))


def _step(name: Any, arguments: Any) -> Step | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except ValueError:
            return None
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        return None
    return Step(name, dict(arguments))
