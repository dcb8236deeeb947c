"""Tools as the caller sees them: out of JSON definitions, out of Python functions, or written by hand."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from callground.toolcalls import specs as toolcall_specs
from callground.toolcalls.python_tools import signature_schema
from callground.toolcalls.schemas import Schema, normalized

if TYPE_CHECKING:
    from callground.facts.model import Function

_CUTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_SPACE = re.compile(r"\s+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SHOWN_PARAMETERS = 12
_SHOWN_DESCRIPTION = 300
"""Characters of a description, and parameters, that `tool_text` shows: more than 64 tokens are not encoded."""


class ToolSpecError(ValueError):
    """A tool that cannot be used; the text says why."""


@dataclass(frozen=True)
class ToolParameter:
    """One argument that a tool takes."""

    name: str
    type: str = "string"
    """JSON Schema's word (``string``, ``integer``, ``number``, ``boolean``, ``array``, ``object``, ``null``),
    or ``any`` where the definition says none."""
    description: str = ""
    required: bool = True
    enum: tuple[Any, ...] | None = None
    """The values that are allowed; of the elements, for an array."""
    default: Any = None
    """The default that the definition names; None when it names none."""
    items: str | None = None
    """Type of an array's elements, in the same words."""
    schema: Schema = field(default_factory=dict, hash=False)
    """All that the definition says (formats, limits, nested members), as JSON Schema."""


@dataclass(frozen=True, init=False)
class ToolSpec:
    """A tool that the caller may suggest.

    `args` may be names or `ToolParameter`s.  `required` names the arguments without which a call is not
    complete; None leaves it to the parameters (a bare name is required).  `vocabulary` lists usual values of
    an argument; unlike an enum it is open.  Raises ToolSpecError for a name that is empty, holds control
    characters or is given twice, and for a required or vocabulary entry that is no argument.
    """

    name: str
    args: tuple[ToolParameter, ...]
    required: tuple[str, ...]
    vocabulary: Mapping[str, tuple[str, ...]] = field(hash=False)
    description: str
    schema: Schema = field(hash=False)
    """JSON Schema of the arguments; made from `args` when it is not given."""
    source: str
    """Where it is defined, for evidence: ``tools.json``, ``app/mail.py:12``."""

    def __init__(
        self,
        name: str,
        args: Iterable[ToolParameter | str] = (),
        required: Iterable[str] | None = None,
        vocabulary: Mapping[str, Iterable[object]] | None = None,
        description: str = "",
        schema: Schema | None = None,
        source: str = "",
    ) -> None:
        _check_name(name, "a tool")
        if isinstance(args, str | bytes) or isinstance(required, str | bytes):
            raise ToolSpecError(f"`{name}`: args and required must be lists of names, not a text")
        given = [arg if isinstance(arg, ToolParameter) else ToolParameter(arg) for arg in args]
        names = [arg.name for arg in given]
        for each in names:
            _check_name(each, f"an argument of `{name}`")
            if names.count(each) > 1:
                raise ToolSpecError(f"`{name}` has two arguments `{each}`")
        if required is not None:
            wanted = tuple(required)
            _check_known(name, "requires", wanted, names)
            given = [replace(arg, required=arg.name in wanted) for arg in given]
        _check_known(name, "has a vocabulary for", vocabulary or (), names)
        usual = {key: tuple(map(str, values)) for key, values in (vocabulary or {}).items()}
        fields = {
            "name": name,
            "args": tuple(given),
            "required": tuple(arg.name for arg in given if arg.required),
            "vocabulary": usual,
            "description": description,
            "schema": _schema_of(given) if schema is None else schema,
            "source": source,
        }
        for key, value in fields.items():
            object.__setattr__(self, key, value)

    @cached_property
    def key(self) -> str:
        """32 hex digits over all that is told of the tool: the key of what is derived from it."""
        args = [[arg.name, arg.type, arg.description, arg.required, str(arg.enum)] for arg in self.args]
        text = json.dumps([self.name, self.description, args, self.vocabulary], ensure_ascii=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def parameter(self, name: str) -> ToolParameter | None:
        """The argument of that name."""
        return next((arg for arg in self.args if arg.name == name), None)

    def as_toolcall_spec(self) -> toolcall_specs.ToolSpec:
        """The same tool as the gate's, which judges calls of it."""
        return toolcall_specs.ToolSpec(self.name, self.schema, self.description, source=self.source)


def words(identifier: str) -> str:
    """``get_userName`` -> ``get user name``."""
    return " ".join(part for part in _CUTS.split(identifier) if part).lower()


def tool_text(tool: ToolSpec) -> str:
    """What the encoder reads of a tool: name in words, description, names of the parameters."""
    text = words(tool.name)
    description = _SPACE.sub(" ", tool.description).strip()
    if description:
        text += f": {description[:_SHOWN_DESCRIPTION]}"
    names = ", ".join(words(arg.name) for arg in tool.args[:_SHOWN_PARAMETERS])
    return f"{text} ({names})" if names else text


def read_tools(data: Any, source: str = "") -> tuple[list[ToolSpec], list[str]]:
    """Tools out of parsed JSON in any form that `callground.toolcalls.read_specs` reads, and the problems met."""
    specs = toolcall_specs.read_specs(data, source)
    problems = list(specs.problems)
    tools: list[ToolSpec] = []
    for spec in specs.tools.values():
        try:
            tools.append(from_toolcall_spec(spec))
        except ToolSpecError as error:
            problems.append(str(error))
    return tools, problems


def from_toolcall_spec(spec: toolcall_specs.ToolSpec) -> ToolSpec:
    """A tool of the gate as a tool of the caller.  Raises ToolSpecError."""
    args = tuple(
        parameter(name, schema, required=name in spec.required) for name, schema in spec.properties.items() if name
    )
    return ToolSpec(spec.name, args, description=spec.description, schema=spec.schema or {}, source=spec.source)


def from_json_schema(definition: Mapping[str, Any], source: str = "") -> ToolSpec:
    """One MCP, OpenAI, Anthropic or plain definition as a tool.  Raises ToolSpecError when it is none."""
    tools, problems = read_tools(definition, source)
    if len(tools) != 1:
        raise ToolSpecError("; ".join(problems) or "this is not one tool definition")
    return tools[0]


def from_function(
    function: Function, *, name: str | None = None, method: bool = False, description: str | None = None
) -> ToolSpec:
    """A Python function as a tool; `method` leaves its first parameter out.  Raises ToolSpecError."""
    schema = signature_schema(function, method=method)
    wanted = schema["required"]
    args = tuple(parameter(each, one, required=each in wanted) for each, one in schema["properties"].items())
    text = function.doc if description is None else description
    return ToolSpec(name or function.qualname, args, description=text, schema=schema)


def parameter(name: str, schema: Schema, *, required: bool) -> ToolParameter:
    """One property of a JSON Schema as a parameter."""
    plain = _plain(schema)
    kind = _kind(plain)
    inner = plain.get("items")
    inner = _plain(inner) if isinstance(inner, Mapping) else {}
    choices = plain.get("enum")
    if choices is None and "const" in plain:
        choices = [plain["const"]]
    if choices is None and kind == "array":
        choices = inner.get("enum")
    description = schema.get("description", plain.get("description", ""))
    return ToolParameter(
        name,
        kind,
        description if isinstance(description, str) else "",
        required,
        tuple(choices) if isinstance(choices, list) and choices else None,
        schema.get("default"),
        _kind(inner) if kind == "array" else None,
        schema,
    )


def _plain(schema: Schema) -> Schema:
    """The first alternative that is not null, where a schema has alternatives only."""
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, list) and "type" not in schema:
            real = [each for each in options if isinstance(each, Mapping) and each.get("type") != "null"]
            return real[0] if real else schema
    return schema


def _kind(schema: Schema) -> str:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        kinds = next((kind for kind in kinds if kind != "null"), None)
    if isinstance(kinds, str):
        return kinds
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and all(isinstance(choice, str) for choice in choices):
        return "string"
    return "object" if "properties" in schema else "array" if "items" in schema else "any"


def _schema_of(args: Sequence[ToolParameter]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for arg in args:
        one: dict[str, Any] = dict(arg.schema)
        if not one:
            if arg.type != "any":
                one["type"] = arg.type
            if arg.items is not None:
                one["items"] = {"type": arg.items} if arg.items != "any" else {}
            if arg.enum is not None:
                target = one.setdefault("items", {}) if arg.type == "array" else one
                target["enum"] = list(arg.enum)
            if arg.default is not None:
                one["default"] = arg.default
        properties[arg.name] = one
    raw = {"type": "object", "properties": properties, "required": [arg.name for arg in args if arg.required]}
    return normalized(raw)[0]


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str):
        raise ToolSpecError(f"the name of {what} must be a text, not {name!r}")
    if not name.strip() or _CONTROL.search(name):
        raise ToolSpecError(f"the name of {what} must not be empty or hold control characters: {name!r}")


def _check_known(tool: str, what: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ToolSpecError(f"`{tool}` {what} `{name}`, which is not among its arguments")
