"""Whether a call of a tool is real: the tool, its arguments, and the results that it builds on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from callground.toolcalls.calls import Plan, ToolCall
from callground.toolcalls.json_text import Path
from callground.toolcalls.references import Found, Reference, Steps, number_of, references
from callground.toolcalls.specs import ToolSpec
from callground.toolcalls.validate import Breach, CannotJudge, NoValidator, breaches, shown
from callground.verdict.model import Reason
from callground.verdict.nearest import nearest

Lookup = Callable[[str], "ToolSpec | Reason | None"]
"""A tool by its name: its spec, None when there is no such tool, or why that is not known."""


class Fault(NamedTuple):
    """One way in which a call is wrong.  It is a proof, not a guess."""

    code: str
    message: str
    path: Path = ()
    """Inside the arguments."""
    place: str = "value"
    """What is marked: ``name`` (the tool's), ``call``, ``key`` or ``value`` (of the argument at `path`)."""
    name: str = ""
    """The wrong name, argument or step."""
    suggestions: tuple[str, ...] = ()
    absolute: Path = ()
    """From the top of the plan, for what does not stand in the arguments."""


class Outcome(NamedTuple):
    """What was decided about one call."""

    call: ToolCall
    status: str
    """``grounded``, ``ungrounded``, ``arity`` or ``abstained``."""
    faults: tuple[Fault, ...] = ()
    reason: Reason | None = None
    detail: str = ""
    spec: ToolSpec | None = None


def ground_plan(plan: Plan | Sequence[ToolCall], tools: Mapping[str, ToolSpec] | Lookup) -> list[Outcome]:
    """The outcome of each call of a plan, references between its steps included.

    `tools` are all the tools that there are, or a function that finds one.
    """
    calls = plan.calls if isinstance(plan, Plan) else tuple(plan)
    lookup, names = _lookup(tools)
    links = _links(calls)
    return [_judge(call, lookup, names, links.get(index, ())) for index, call in enumerate(calls)]


def ground_call(call: ToolCall, tools: Mapping[str, ToolSpec] | Lookup) -> Outcome:
    """The outcome of one call that stands by itself."""
    lookup, names = _lookup(tools)
    return _judge(call, lookup, names, ())


def _lookup(tools: Mapping[str, ToolSpec] | Lookup) -> tuple[Lookup, tuple[str, ...]]:
    if isinstance(tools, Mapping):
        return tools.get, tuple(tools)
    return tools, ()


def _judge(call: ToolCall, lookup: Lookup, names: Sequence[str], links: Sequence[Found]) -> Outcome:
    found = lookup(call.name)
    if isinstance(found, Reason):
        return Outcome(call, "abstained", (), found, f"the tool `{call.name}`")
    faults = [fault for link in links for fault in _link_faults(call, link, lookup)]
    if found is None:
        near = tuple(nearest(call.name, names)) or tuple(_same_last_name(call.name, names))
        fault = Fault("unknown-tool", f"there is no tool `{call.name}`", (), "name", call.name, near)
        return Outcome(call, "ungrounded", (fault, *faults))
    if call.arguments is None:
        if call.unsure:
            return _decided(call, faults, found, (Reason.UNSUPPORTED, call.unsure))
        return _decided(call, [Fault("not-json", call.problem, (), "value"), *faults], found)
    faults = [*_duplicates(call), *faults]
    if found.schema is None:
        return _decided(call, faults, found, (Reason.UNKNOWN_SIGNATURE, f"`{call.name}` has no schema"))
    try:
        broken = breaches(call.arguments, found.schema)
    except (CannotJudge, NoValidator) as error:
        faults += _unknown(call, found, set())  # the names are known, whatever the values are
        return _decided(call, faults, found, (Reason.UNKNOWN_SIGNATURE, str(error)))
    open_paths = [(link.reference.path, link.reference.whole) for link in links if not link.reference.absolute]
    faults += [_fault(breach, found) for breach in broken if not _covered(breach, open_paths)]
    faults += _unknown(call, found, {fault.path for fault in faults if fault.code == "unknown-keyword"})
    faults.sort(key=lambda fault: _ORDER.get(fault.code, 9))
    return _decided(call, faults, found)


# The fault that explains the others comes first: it is the one that a report shows on the call.
_ORDER = {"duplicate-argument": 0, "unknown-keyword": 1, "missing-argument": 2}


def _decided(call: ToolCall, faults: Iterable[Fault], spec: ToolSpec, why: tuple[Reason, str] | None = None) -> Outcome:
    found = tuple(faults)
    if found:
        kinds = {KINDS[fault.code] for fault in found}
        return Outcome(call, "ungrounded" if "ungrounded" in kinds else "arity", found, spec=spec)
    if why is not None:
        return Outcome(call, "abstained", (), *why, spec=spec)
    return Outcome(call, "grounded", spec=spec)


KINDS = {
    "unknown-tool": "ungrounded",
    "unknown-step": "ungrounded",
    "later-step": "ungrounded",
    "unknown-result": "ungrounded",
    "unknown-keyword": "arity",
    "missing-argument": "arity",
    "duplicate-argument": "arity",
    "wrong-type": "arity",
    "not-in-enum": "arity",
    "wrong-format": "arity",
    "out-of-range": "arity",
    "not-json": "arity",
}
"""Code of a fault -> kind of finding."""


def _duplicates(call: ToolCall) -> list[Fault]:
    return [
        Fault("duplicate-argument", f"`{path[-1]}` is given twice", path, "key", str(path[-1]))
        for path in call.duplicates
    ]


def _unknown(call: ToolCall, spec: ToolSpec, known: set[Path]) -> list[Fault]:
    """Arguments that the tool does not list, where the list is closed by being a signature."""
    if not spec.closed or call.arguments is None:
        return []
    unknown = [name for name in call.arguments if name not in spec.properties and (name,) not in known]
    return [_unknown_argument(name, (name,), spec, tuple(spec.properties)) for name in unknown]


def _unknown_argument(name: str, path: Path, spec: ToolSpec, real: Sequence[str]) -> Fault:
    holder = f"`{spec.name}`" if len(path) == 1 else f"`{_dotted(path[:-1])}` of `{spec.name}`"
    message = f"{holder} has no argument `{name}`" if len(path) == 1 else f"{holder} has no member `{name}`"
    return Fault("unknown-keyword", message, path, "key", name, tuple(nearest(name, real)))


def _fault(breach: Breach, spec: ToolSpec) -> Fault:
    name = str(breach.path[-1]) if breach.path else ""
    if breach.code == "unknown-keyword":
        return _unknown_argument(name, breach.path, spec, breach.expected)
    if breach.code == "missing-argument":
        where = "" if len(breach.path) == 1 else f" in `{_dotted(breach.path[:-1])}`"
        message = f"`{spec.name}` requires `{name}`{where}"
        return Fault(breach.code, message, breach.path, "call" if not where else "value", name)
    near: tuple[str, ...] = ()
    if breach.code == "not-in-enum" and isinstance(breach.expected, list):
        texts = [choice for choice in breach.expected if isinstance(choice, str)]
        near = tuple(nearest(str(breach.value), texts) or texts[:3])
    subject = f"`{_dotted(breach.path)}`" if breach.path else "the arguments"
    subject += f" of `{spec.name}`"
    return Fault(breach.code, f"{subject}: {breach.message}", breach.path, "value", name, near)


def _covered(breach: Breach, holes: Iterable[tuple[Path, bool]]) -> bool:
    """Whether a breach is about a value that is not known before another step has run."""
    named = breach.code in ("missing-argument", "unknown-keyword")
    for hole, whole in holes:
        if breach.path[: len(hole)] == hole and len(breach.path) > len(hole):
            return True  # inside the reference itself
        if named:
            continue
        if breach.path == hole and (whole or breach.code != "wrong-type"):
            # A text with a result in it is a text, whatever the result.
            return True
        if hole[: len(breach.path)] == breach.path and (breach.alternatives or breach.code == "not-in-enum"):
            return True
    return False


def _same_last_name(name: str, names: Iterable[str]) -> list[str]:
    """``functions.send`` for ``send``, ``mcp__mail__send`` for ``send``."""
    last = _last(name)
    return sorted(other for other in names if _last(other) == last)[:3]


def _last(name: str) -> str:
    for mark in ("__", ".", "/", ":"):
        name = name.rpartition(mark)[2] or name
    return name.lower()


# -- references between steps


def _links(calls: Sequence[ToolCall]) -> dict[int, list[Found]]:
    """The references of each call that are references."""
    steps = Steps(calls)
    if len(calls) < 2 and steps.numbered:
        return {}  # nothing says that it is part of a plan: `$1` is a text
    candidates: dict[int, list[Reference]] = {}
    for index, call in enumerate(calls):
        found = list(references(call.arguments)) if call.arguments is not None else []
        found += [Reference((), name, name, False, True, (), path) for name, path in call.needs]
        candidates[index] = found
    from_zero = steps.numbered and any(
        number_of(reference.target) == 0 for found in candidates.values() for reference in found
    )
    resolved: dict[int, list[Found]] = {}
    for index, found in candidates.items():
        for reference in found:
            link = steps.resolve(reference, from_zero=from_zero)
            if link is not None:
                resolved.setdefault(index, []).append(link)
    return resolved


def _link_faults(call: ToolCall, link: Found, lookup: Lookup) -> list[Fault]:
    reference = link.reference
    if not link.steps:
        return [_link_fault("unknown-step", reference, "refers to a step that the plan does not have")]
    if min(link.steps) >= call.step:
        same = min(link.steps) == call.step
        when = "runs at the same time" if same else "comes later"
        if same and any(other is call for other in link.calls):
            when = "is this call itself"
        return [_link_fault("later-step", reference, f"refers to the result of a step that {when}")]
    return _result_faults(link, lookup)


def _link_fault(code: str, reference: Reference, what: str) -> Fault:
    message = f"{shown(reference.text)} {what}"
    return Fault(code, message, reference.path, "value", reference.target, (), reference.absolute)


def _result_faults(link: Found, lookup: Lookup) -> list[Fault]:
    """A member of a result that the tool's own result schema rules out."""
    reference = link.reference
    if len(link.calls) != 1 or not reference.result_path:
        return []
    spec = lookup(link.calls[0].name)
    schema: Any = spec.result if isinstance(spec, ToolSpec) else None
    parts = list(reference.result_path)
    if parts and parts[0] in ("result", "output", "outputs", "response", "structuredContent"):
        if not (isinstance(schema, Mapping) and parts[0] in schema.get("properties", {})):
            parts.pop(0)
    for part in parts:
        if not isinstance(schema, Mapping):
            return []
        if schema.get("type") == "array":
            if not part.isdigit():
                return []
            schema = schema.get("items")
            continue
        members = schema.get("properties")
        if not isinstance(members, Mapping):
            return []
        if part not in members:
            if schema.get("additionalProperties") is not False:
                return []
            message = f"the result of `{link.calls[0].name}` has no member `{part}`"
            near = tuple(nearest(part, members))
            return [Fault("unknown-result", message, reference.path, "value", part, near)]
        schema = members[part]
    return []


def _dotted(path: Path) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
