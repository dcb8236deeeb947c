"""Python functions of the workspace as tools: the schema that their signatures make."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from callground.facts.index import index_of
from callground.facts.model import Function, Param
from callground.graph.interface import SourceFile
from callground.graph.queries import CodeGraph, DefinitionSite
from callground.toolcalls.specs import ToolSpec
from callground.verdict.model import Reason

_SCALARS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "None": "null"}
_ARRAYS = {"list", "List", "Sequence", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet"}
_ARRAYS |= {"Iterable", "Collection", "MutableSequence"}
_OBJECTS = {"dict", "Dict", "Mapping", "MutableMapping"}
_WRAPPERS = {"Annotated", "Required", "NotRequired", "Final"}
# What a decorator of these names leaves as it is; after any other the signature is not known.
_HARMLESS = {"staticmethod", "classmethod", "tool", "function_tool", "cache", "lru_cache", "abstractmethod"}
_HARMLESS |= {"override", "final", "beta_tool"}


class WorkspaceTools:
    """Finds a tool among the functions of a workspace, by the name that a call gives."""

    def __init__(self, graph: CodeGraph, load: Callable[[str], SourceFile | None]) -> None:
        self._graph = graph
        self._load = load
        self._known: dict[str, ToolSpec | Reason] = {}

    def __call__(self, name: str) -> ToolSpec | Reason | None:
        """The tool of that name; a reason where several functions have it, or none that is known.

        A workspace is no closed list of tools: a name that it does not define may be a tool of the agent's.
        """
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def names(self) -> Iterable[str]:
        """The names that the workspace defines."""
        return self._graph.snapshot.defined_names()

    def _find(self, name: str) -> ToolSpec | Reason:
        sites = [site for site in self._graph.definition_sites(name) if site.kind in ("function", "class")]
        if len(sites) != 1 or sites[0].kind != "function":
            return Reason.UNKNOWN_SIGNATURE
        found = _row(self._load(sites[0].path), sites[0])
        return python_tool(name, found, sites[0]) if found is not None else Reason.UNKNOWN_SIGNATURE


class _Row(NamedTuple):
    function: Function
    method: bool


def _row(file: SourceFile | None, site: DefinitionSite) -> _Row | None:
    if file is None:
        return None
    index = index_of(file.facts)
    for piece, row in index.functions(site.qualname):
        if index.absolute_line(piece, row.line) == site.line:
            owner = row.qualname.rpartition(".")[0]
            return _Row(row, bool(owner) and bool(index.class_(owner)))
    return None


def python_tool(name: str, row: _Row, site: DefinitionSite) -> ToolSpec:
    """The spec of one function.  One with a decorator that may change its signature has no schema."""
    function = row.function
    decorators = {decorator.partition("(")[0].rpartition(".")[2] for decorator in function.decorators}
    schema = None if decorators - _HARMLESS else signature_schema(function, method=row.method)
    return ToolSpec(
        name=name,
        schema=schema,
        description=function.doc,
        form="python",
        result=annotation_schema(function.returns) or None,
        source=f"{site.path}:{site.line}",
        location=(site.path, site.line),
    )


def signature_schema(function: Function, *, method: bool = False) -> dict[str, Any]:
    """JSON Schema of a function's arguments, given by name."""
    params = list(function.params)
    static = any(decorator.rpartition(".")[2] == "staticmethod" for decorator in function.decorators)
    if method and not static and params and params[0].kind in ("positional", "positional-only"):
        params = params[1:]
    properties: dict[str, Any] = {}
    required: list[str] = []
    closed = True
    for param in params:
        if param.kind == "**kwargs":
            closed = False
        elif param.kind != "*args":
            properties[param.name] = _parameter(param)
            if param.default is None:
                required.append(param.name)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    schema["additionalProperties"] = not closed
    return schema


def _parameter(param: Param) -> dict[str, Any]:
    schema = annotation_schema(param.annotation)
    if param.default is not None:
        try:
            schema["default"] = ast.literal_eval(param.default)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            pass  # an expression: there is a default, and nobody can say which
    return schema


def annotation_schema(annotation: str | None) -> dict[str, Any]:
    """JSON Schema of a type annotation; an empty one for what JSON has no word for."""
    if not annotation:
        return {}
    try:
        return _type(ast.parse(annotation.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _type(node: ast.expr) -> dict[str, Any]:
    if isinstance(node, ast.Constant):
        if node.value is None:
            return {"type": "null"}
        return annotation_schema(node.value) if isinstance(node.value, str) else {}
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right])
    if isinstance(node, ast.Subscript):
        return _subscript(_last(node.value), node.slice)
    name = _last(node)
    if name in _SCALARS:
        return {"type": _SCALARS[name]}
    if name in _ARRAYS:
        return {"type": "array"}
    return {"type": "object"} if name in _OBJECTS else {}


def _subscript(name: str, inner: ast.expr) -> dict[str, Any]:
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if name == "Optional":
        return _union([inner, ast.Constant(None)])
    if name == "Union":
        return _union(parts)
    if name in _WRAPPERS:
        return _type(parts[0])
    if name == "Literal":
        values = [part.value for part in parts if isinstance(part, ast.Constant)]
        return {"enum": values} if len(values) == len(parts) else {}
    if name in _ARRAYS:
        items = _type(parts[0]) if len(parts) == 1 or name not in ("tuple", "Tuple") else {}
        return {"type": "array", "items": items} if items else {"type": "array"}
    if name in _OBJECTS:
        values_schema = _type(parts[1]) if len(parts) == 2 else {}
        extra = {"additionalProperties": values_schema} if values_schema else {}
        return {"type": "object", **extra}
    return {}


def _union(parts: list[ast.expr]) -> dict[str, Any]:
    options = [_type(part) for part in parts]
    # One part that JSON has no word for makes the whole one that nobody can judge.
    return {"anyOf": options} if all(options) else {}


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
