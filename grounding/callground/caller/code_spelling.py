"""How a tool is written at a place: its receiver or import, the statement around the call, its signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from callground.caller import code_arguments
from callground.caller.code_context import Situation
from callground.caller.code_tools import CodeTool
from callground.facts.model import Param
from callground.repairs.imports import bring
from callground.repairs.model import ImportWanted
from callground.resolve import signatures
from callground.resolve.values import ClassObject, Ref
from callground.text.edits import Edit


@dataclass(frozen=True)
class Spelling:
    """One way to write the callee at a place."""

    text: str
    receiver: str = ""
    edits: tuple[Edit, ...] = ()
    import_: str = ""


def spellings(place: Situation, tool: CodeTool) -> Iterator[Spelling]:
    """How a tool can be called at a place, the best way first."""
    home = tool.module or tool.path
    if tool.owner and tool.kind in ("method", "classmethod", "staticmethod"):
        key = (home, tool.owner)
        holders = place.receivers.get(key, [])
        for receiver in sorted(holders, key=lambda text: _nearness(place, text)):
            yield Spelling(f"{receiver}.{tool.name}", receiver)
        if tool.kind != "method":
            for name in sorted(place.class_names.get(key, []), key=lambda text: _nearness(place, text)):
                yield Spelling(f"{name}.{tool.name}", name)
            for inner in _top_level(place, tool, tool.owner):
                yield Spelling(f"{inner.text}.{tool.name}", inner.text, inner.edits, inner.import_)
        return
    yield from _top_level(place, tool, tool.qualname)


def _top_level(place: Situation, tool: CodeTool, qualname: str) -> Iterator[Spelling]:
    """How something at the top of a module (or in a class there) is named in the file."""
    top, _, rest = qualname.partition(".")
    tail = f".{rest}" if rest else ""
    if tool.path == place.path:
        yield Spelling(qualname)
        return
    if not tool.module:
        return
    for name, (module, original) in sorted(place.imported.items()):
        if original == top and module == tool.module:
            yield Spelling(f"{name}{tail}")
            return
    if top.startswith("_"):
        return
    for name, (module, original) in sorted(place.imported.items()):
        if (f"{module}.{original}" if original else module) == tool.module:
            yield Spelling(f"{name}.{qualname}", name)
    brought = place.source.ask(lambda: bring(place.source, ImportWanted(tool.module, top), aliased=False))
    if brought is not None:
        yield Spelling(f"{brought.text}{tail}", "", brought.edits, brought.statement)


def _nearness(place: Situation, text: str) -> tuple[bool, int, int, str]:
    if text in ("self", "cls"):
        return False, -1, 0, text
    name = next((name for name in place.names if name.text == text), None)
    if name is None:
        return True, 1000, 0, text
    return not name.certain, name.distance, text.count("."), text


def parameters(place: Situation, tool: CodeTool) -> Sequence[Param]:
    """The parameters that a call has to bind; for a class without a constructor of its own the inherited ones."""
    if tool.kind != "class" or tool.params:
        return tool.params
    ev = place.source.evaluator
    ref = Ref(tool.module or tool.path, tool.qualname)
    found = place.source.ask(lambda: signatures.constructor(ev, ClassObject(ref)))
    if found is None or not found.groups or not found.groups[0]:
        return ()
    return found.groups[0][0].params


def statement_of(place: Situation, tool: CodeTool, call: str) -> str:
    """The statement that a call stands in: what is typed of it, ``await``, a name for the result."""
    shape = place.shape
    if shape.prefix:
        return f"{shape.prefix} {call}" + (":" if shape.entered or shape.looped else "")
    if tool.is_async and place.is_async:
        call = f"await {call}"
    name = code_arguments.result_name(place, tool.name, tool.returns)
    return f"{name} = {call}" if name else call


def signature_text(tool: CodeTool) -> str:
    """The signature as people read it."""
    parts: list[str] = []
    star = False
    for param in tool.params:
        if param.kind == "keyword-only" and not star:
            parts.append("*")
            star = True
        mark = {"*args": "*", "**kwargs": "**"}.get(param.kind, "")
        star = star or param.kind == "*args"
        text = mark + param.name
        if param.annotation:
            text += f": {param.annotation}"
        if param.default is not None:
            text += f" = {param.default}" if param.annotation else f"={param.default}"
        parts.append(text)
    returns = f" -> {tool.returns}" if tool.returns and tool.kind != "class" else ""
    return f"{tool.name}({', '.join(parts)}){returns}"


def line_span(text: str, line: int) -> tuple[int, int]:
    """Offsets of a 1-based line, without its end."""
    start = 0
    for _ in range(line - 1):
        start = text.index("\n", start) + 1
    end = text.find("\n", start)
    return start, len(text) if end < 0 else end
