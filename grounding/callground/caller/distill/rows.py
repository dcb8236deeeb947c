"""A teacher's answers as training rows: validated, and what is wrong with the others in a ledger."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from callground.caller.distill.values import same
from callground.caller.tools import ToolSpec, ToolSpecError, read_tools
from callground.toolcalls import ToolCall, ground_call

Teacher = Callable[[str], Any]
"""Request -> ``{"tool": name or None, "args": {...}}``."""

LONGEST_REQUEST = 4000
"""Characters; a longer request is not learnt from and not answered."""

_SHOWN = 200

_LATER = re.compile(r"\$-\d+[\w.\[\]]*")
"""The result of an earlier step of a plan: what type it has is not known yet."""


class Row(NamedTuple):
    """What the teacher does with one request."""

    request: str
    tool: str | None
    """None: no tool."""
    args: Mapping[str, Any]


class Rejected(NamedTuple):
    """An answer that was left out, and why."""

    request: str
    reason: str
    """A key of `Ledger.counts`."""
    detail: str


@dataclass
class Ledger:
    """What became of the teacher's answers.  Every request is counted once."""

    used: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """``raised``, ``timed-out``, ``not-an-answer``, ``unknown-tool``, ``bad-arguments``, ``not-a-request``,
    ``duplicate`` (asked before, same answer), ``contradicts`` (asked before, another answer)."""
    rejected: list[Rejected] = field(default_factory=list)
    """The first 200 of them."""

    def reject(self, request: object, reason: str, detail: str = "") -> None:
        """Count one that is left out."""
        self.counts[reason] += 1
        if len(self.rejected) < _SHOWN:
            self.rejected.append(Rejected(str(request)[:_SHOWN], reason, detail[:_SHOWN]))

    @property
    def asked(self) -> int:
        """All that were looked at."""
        return self.used + self.counts.total()

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "asked": self.asked,
            "used": self.used,
            "left_out": dict(sorted(self.counts.items())),
            "examples": [list(item) for item in self.rejected[:20]],
        }


class BadAnswer(ValueError):
    """A teacher's answer that cannot be used: ``reason`` is a key of `Ledger.counts`."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class TeacherTimeout(TimeoutError):
    """The teacher took longer than it may."""


def ask(teacher: Teacher, request: str, timeout: float | None = None) -> Any:
    """The teacher's answer as it is.  Raises whatever the teacher raises, TeacherTimeout after `timeout` seconds.

    With a timeout the teacher runs in a thread of its own; one that never ends is left behind there.
    """
    if timeout is None:
        return teacher(request)
    box: dict[str, Any] = {}

    def run() -> None:
        try:
            box["answer"] = teacher(request)
        except BaseException as error:  # noqa: BLE001 - it is raised again where it was asked for
            box["error"] = error

    thread = threading.Thread(target=run, name="callground-teacher", daemon=True)
    thread.start()
    thread.join(timeout)
    if thread.is_alive():
        raise TeacherTimeout(f"no answer in {timeout:g} s")
    if "error" in box:
        raise box["error"]
    return box.get("answer")


def read_answer(answer: Any, request: str, tools: Mapping[str, ToolSpec]) -> Row:
    """An answer as a row.  Raises BadAnswer when it is none, or calls what does not exist."""
    if not isinstance(answer, Mapping) or "tool" not in answer:
        raise BadAnswer("not-an-answer", f"{type(answer).__name__}, not a mapping with `tool`")
    name = answer["tool"]
    args = answer.get("args")
    if args is None:
        args = {}
    if not isinstance(args, Mapping):
        raise BadAnswer("bad-arguments", f"args is {type(args).__name__}, not a mapping")
    if name is None:
        if args:
            raise BadAnswer("bad-arguments", "no tool, but arguments")
        return Row(request, None, {})
    if not isinstance(name, str) or name not in tools:
        raise BadAnswer("unknown-tool", repr(name))
    plain = dict(args)
    fault = fault_of(tools[name], plain)
    if fault:
        raise BadAnswer("bad-arguments", fault)
    return Row(request, name, plain)


def fault_of(tool: ToolSpec, args: Mapping[str, Any]) -> str:
    """Why a call does not fit its tool; empty when it does."""
    known = {arg.name for arg in tool.args}
    strange = [name for name in args if name not in known]
    if strange:
        return f"`{tool.name}` takes no `{strange[0]}`"
    missing = [name for name in tool.required if name not in args]
    if missing:
        return f"`{tool.name}` needs `{missing[0]}`"
    outcome = ground_call(ToolCall(tool.name, dict(args)), {tool.name: tool.as_toolcall_spec()})
    for fault in outcome.faults:
        value = args.get(str(fault.path[0])) if fault.path else None
        if not (isinstance(value, str) and _LATER.fullmatch(value)):
            return fault.message
    return ""


def learnable(request: object) -> bool:
    """Whether a request is one that can be learnt from."""
    return isinstance(request, str) and bool(request.strip()) and len(request) <= LONGEST_REQUEST


def label(
    teacher: Teacher,
    requests: Sequence[Any],
    tools: Mapping[str, ToolSpec],
    *,
    timeout: float | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[list[Row], Ledger]:
    """Ask the teacher about every request; the rows that can be learnt from, and the ledger of the others."""
    ledger = Ledger()
    answers: list[Row] = []
    seen: dict[str, Any] = {}
    for number, request in enumerate(requests):
        if progress is not None:
            progress("asking the teacher", number, len(requests))
        if not learnable(request):
            ledger.reject(request, "not-a-request", "empty, too long, or no text")
            continue
        if request in seen:
            ledger.reject(request, "duplicate")
            continue
        seen[request] = None
        try:
            answers.append(read_answer(ask(teacher, request, timeout), request, tools))
        except BadAnswer as error:
            ledger.reject(request, error.reason, error.detail)
        except TimeoutError as error:
            ledger.reject(request, "timed-out", str(error))
        except Exception as error:  # noqa: BLE001 - a teacher may fail in any way; its other answers count
            ledger.reject(request, "raised", f"{type(error).__name__}: {error}")
    ledger.used = len(answers)
    return answers, ledger


def merge(rows: Iterable[Row], ledger: Ledger) -> list[Row]:
    """Rows of several sources as one: the same request counts once, and not at all where the answers differ."""
    first: dict[str, Row] = {}
    torn: set[str] = set()
    for row in rows:
        known = first.setdefault(row.request, row)
        if known is row:
            continue
        if known.tool == row.tool and same(dict(known.args), dict(row.args)):
            ledger.reject(row.request, "duplicate")
        else:
            torn.add(row.request)
            ledger.reject(row.request, "contradicts", f"{known.tool} and {row.tool}")
    kept = [row for row in first.values() if row.request not in torn]
    for request in torn:
        ledger.reject(request, "contradicts", "its first answer")
    ledger.used = len(kept)
    return kept


def as_specs(tools: Iterable[ToolSpec | Mapping[str, Any]]) -> dict[str, ToolSpec]:
    """Tools in any form by name.  Raises ToolSpecError for one that is none, and for a name that comes twice.

    A mapping is an MCP, OpenAI or Anthropic definition, or ``{"name", "args", "required", "vocabulary"}``.
    """
    out: dict[str, ToolSpec] = {}
    for tool in tools:
        if isinstance(tool, ToolSpec):
            made = [tool]
        elif isinstance(tool, Mapping) and "args" in tool and isinstance(tool.get("name"), str):
            made = [
                ToolSpec(
                    tool["name"],
                    tool["args"],
                    tool.get("required"),
                    tool.get("vocabulary"),
                    tool.get("description", ""),
                )
            ]
        else:
            made, problems = read_tools(tool)
            if problems:
                raise ToolSpecError("; ".join(problems))
        for each in made:
            if each.name in out:
                raise ToolSpecError(f"there are two tools `{each.name}`")
            out[each.name] = each
    if not out:
        raise ToolSpecError("there is no tool")
    return out
