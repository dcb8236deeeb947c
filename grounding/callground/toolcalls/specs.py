"""Tool specs out of their forms: MCP, OpenAI, Anthropic, Gemini, Bedrock, plain JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from callground.toolcalls.schemas import Schema, normalized, type_name

_SCHEMA_KEYS = ("inputSchema", "input_schema", "parameters", "args_schema", "schema")
_LISTS = ("tools", "functions", "functionDeclarations", "function_declarations", "function")
_OPENERS = (
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "propertyNames",
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "dependentSchemas",
)
"""With one of these the schema itself says (or may say) which other arguments it takes."""


@dataclass(frozen=True)
class ToolSpec:
    """One tool: its name and what it takes."""

    name: str
    schema: Schema | None = None
    """JSON Schema of the arguments, in the standard's own words; None when nothing is known of them."""
    description: str = ""
    form: str = "plain"
    """``mcp``, ``openai``, ``anthropic``, ``gemini``, ``bedrock``, ``plain``, ``schema`` or ``python``."""
    result: Schema | None = None
    """JSON Schema of the result, where the spec has one."""
    source: str = ""
    """Where it is defined, for evidence: ``tools.json`` or ``app/mail.py:12``."""
    location: tuple[str, int] | None = None
    """(absolute path, line), where it has one."""
    notes: tuple[str, ...] = field(default=())
    """What of the spec itself could not be used."""

    @property
    def properties(self) -> Mapping[str, Schema]:
        """The named parameters."""
        return self.schema.get("properties", {}) if self.schema is not None else {}

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters without which a call is not complete."""
        return tuple(self.schema.get("required", ())) if self.schema is not None else ()

    @property
    def closed(self) -> bool:
        """Whether an argument that is not among `properties` is a fault.

        A list of named parameters is a signature: it is closed unless the schema says something about
        other arguments (``additionalProperties``, ``$ref``, alternatives), which then decides by itself.
        """
        schema = self.schema
        if schema is None or "properties" not in schema:
            return False
        return not any(key in schema for key in _OPENERS)

    @property
    def signature(self) -> str:
        """``name(city: string, unit: string = "c")``, required parameters first as they are listed."""
        if self.schema is None:
            return f"{self.name}(...)"
        parts = []
        for name, schema in self.properties.items():
            text = f"{name}: {type_name(schema)}"
            if name not in self.required:
                text += f" = {schema['default']!r}" if "default" in schema else " (optional)"
            parts.append(text)
        if not self.closed and self.schema.get("additionalProperties") is not False:
            parts.append("...")
        return f"{self.name}({', '.join(parts)})"


class Specs(NamedTuple):
    """The tools that a plan may call."""

    tools: Mapping[str, ToolSpec]
    problems: tuple[str, ...] = ()
    """Entries that could not be read as a tool."""


def read_specs(data: Any, source: str = "") -> Specs:
    """Tool specs out of parsed JSON, whatever form it has.

    Understood are an MCP ``tools/list`` result (with or without its envelope), the ``tools`` or
    ``functions`` of an OpenAI, Anthropic, Gemini or Bedrock request, single definitions, lists of them,
    a plain JSON Schema with a title, and a mapping of names to definitions or schemas.
    """
    tools: dict[str, ToolSpec] = {}
    problems: list[str] = []
    for item in _items(data, problems):
        spec = _spec(item, source)
        if spec is None:
            problems.append(f"not a tool definition: {_short(item)}")
            continue
        known = tools.get(spec.name)
        if known is not None and known.schema != spec.schema:
            # Which of the two a call means is not known: its name is real, its arguments are not judged.
            problems.append(f"`{spec.name}` is defined twice, differently: its arguments are not judged")
            spec = ToolSpec(spec.name, None, spec.description, spec.form, None, source)
        problems += [f"`{spec.name}`: {note}" for note in spec.notes]
        tools[spec.name] = spec
    return Specs(tools, tuple(problems))


def _items(data: Any, problems: list[str]) -> Iterator[Any]:
    """Every single definition in the data."""
    if isinstance(data, list):
        for item in data:
            yield from _items(item, problems)
        return
    if not isinstance(data, Mapping):
        problems.append(f"not a tool definition: {_short(data)}")
        return
    result = data.get("result")
    if isinstance(result, Mapping) and "tools" in result:
        yield from _items(result["tools"], problems)
        return
    for key in _LISTS:
        if isinstance(data.get(key), list):
            yield from _items(data[key], problems)
            return
    if isinstance(data.get("tools"), Mapping):
        yield from _items(data["tools"], problems)
        return
    if _named(data) or _is_schema(data):
        yield data
        return
    if data and all(isinstance(value, Mapping) for value in data.values()):
        # A mapping of names to definitions or to schemas of arguments.
        for name, value in data.items():
            if _is_schema(value) and not any(key in value for key in _SCHEMA_KEYS):
                yield {"name": name, "parameters": value}
            else:
                yield {"name": name, **value}
        return
    yield data


def _named(data: Mapping[str, Any]) -> bool:
    if isinstance(data.get("name"), str):
        return True
    for key in ("function", "toolSpec"):
        inner = data.get(key)
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            return True
    return False


def _is_schema(data: Mapping[str, Any]) -> bool:
    if "$schema" in data:
        return True
    return "properties" in data and isinstance(data["properties"], Mapping)


def _spec(data: Any, source: str) -> ToolSpec | None:
    if not isinstance(data, Mapping):
        return None
    form = "plain"
    if isinstance(data.get("function"), Mapping):
        data, form = data["function"], "openai"
    elif isinstance(data.get("toolSpec"), Mapping):
        data, form = data["toolSpec"], "bedrock"
    elif "inputSchema" in data:
        form = "mcp"
    elif "input_schema" in data:
        form = "anthropic"
    elif data.get("type") == "function":
        form = "openai"
    elif not isinstance(data.get("name"), str):
        return _schema_spec(data, source)
    name = data.get("name")
    if not isinstance(name, str) or not name:
        return None
    raw = next((data[key] for key in _SCHEMA_KEYS if data.get(key) is not None), None)
    if isinstance(raw, Mapping) and set(raw) == {"json"}:  # Bedrock
        raw = raw["json"]
    schema, notes = _arguments(raw)
    result = data.get("outputSchema", data.get("output_schema", data.get("response")))
    return ToolSpec(
        name=name,
        schema=schema,
        description=_text(data.get("description")),
        form=form,
        result=normalized(result)[0] if isinstance(result, Mapping) else None,
        source=source,
        notes=notes,
    )


def _schema_spec(data: Mapping[str, Any], source: str) -> ToolSpec | None:
    """A plain JSON Schema that stands for the tool of its title."""
    name = data.get("title")
    if not isinstance(name, str) or not name:
        identity = data.get("$id")
        name = identity.rstrip("/#").rpartition("/")[2].removesuffix(".json") if isinstance(identity, str) else ""
    if not name or not _is_schema(data):
        return None
    schema, notes = _arguments(data)
    return ToolSpec(name, schema, _text(data.get("description")), "schema", None, source, notes=notes)


def _arguments(raw: Any) -> tuple[Schema | None, tuple[str, ...]]:
    if raw is None or isinstance(raw, bool):
        return None, ()
    if not isinstance(raw, Mapping):
        return None, (f"its parameters are not a schema: {_short(raw)}",)
    schema, notes = normalized(raw)
    if schema.get("type", "object") != "object":
        return None, (*notes, "its parameters are not an object: they are not judged")
    return schema, notes


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
