"""Function and class rows out of their definitions."""

from __future__ import annotations

import ast

from callground.facts.model import Class, Function, Param
from callground.facts.scopes import ClassBuilder, FunctionNode
from callground.facts.spans import Spans, digest

_LONGEST_DOC = 200


def function_row(node: FunctionNode, qualname: str, is_generator: bool, spans: Spans, base: int) -> Function:
    """The row of a function; `base` is subtracted from its lines."""
    source = spans.source
    return Function(
        node.name,
        qualname,
        node.lineno - base,
        node.col_offset,
        (node.end_lineno or node.lineno) - base,
        _params(node.args, spans),
        source(node.returns) if node.returns is not None else None,
        tuple([source(decorator) for decorator in node.decorator_list]) if node.decorator_list else (),
        node.__class__ is ast.AsyncFunctionDef,
        is_generator,
        _body_kind(node.body),
        _doc(node.body),
        _type_params(node, spans),
        digest(spans.statement(node)),
    )


def class_row(builder: ClassBuilder, spans: Spans, base: int) -> Class:
    """The row of a class whose body has been walked."""
    node = builder.node
    source = spans.source
    return Class(
        node.name,
        builder.qualname,
        node.lineno - base,
        node.col_offset,
        (node.end_lineno or node.lineno) - base,
        tuple([source(expression) for expression in node.bases]),
        tuple([(keyword.arg or "**", source(keyword.value)) for keyword in node.keywords]),
        tuple([source(decorator) for decorator in node.decorator_list]),
        tuple(builder.members),
        tuple(builder.self_attrs),
        tuple(builder.dynamic),
        _doc(node.body),
        _type_params(node, spans),
    )


def _params(arguments: ast.arguments, spans: Spans) -> tuple[Param, ...]:
    params: list[Param] = []
    positional_only = arguments.posonlyargs
    positional = [*positional_only, *arguments.args] if positional_only else arguments.args
    first_default = len(positional) - len(arguments.defaults)
    kind = "positional-only"
    for index, argument in enumerate(positional):
        if index == len(positional_only):
            kind = "positional"
        default = arguments.defaults[index - first_default] if index >= first_default else None
        params.append(_param(argument, kind, default, spans))
    if arguments.vararg is not None:
        params.append(_param(arguments.vararg, "*args", None, spans))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        params.append(_param(argument, "keyword-only", default, spans))
    if arguments.kwarg is not None:
        params.append(_param(arguments.kwarg, "**kwargs", None, spans))
    return tuple(params)


def _param(argument: ast.arg, kind: str, default: ast.expr | None, spans: Spans) -> Param:
    annotation = argument.annotation
    return Param(
        argument.arg,
        kind,
        spans.source(annotation) if annotation is not None else None,
        (spans.short(default) or "...") if default is not None else None,
    )


def _body_kind(body: list[ast.stmt]) -> str:
    rest = body[1:] if _is_constant(body[0], str) else body
    if len(rest) == 1 and isinstance(rest[0], ast.Raise):
        return "raises"
    for node in rest:
        if not isinstance(node, ast.Pass) and not _is_constant(node, type(...)):
            return ""
    return "empty"


def _is_constant(node: ast.stmt, kind: type) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, kind)


def _doc(body: list[ast.stmt]) -> str:
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        text = first.value.value
        if isinstance(text, str):
            return text.strip().partition("\n")[0].rstrip()[:_LONGEST_DOC]
    return ""


def _type_params(node: ast.AST, spans: Spans) -> tuple[str, ...]:
    """PEP 695 parameters (Python 3.12 and later)."""
    parameters = getattr(node, "type_params", None)
    return tuple([spans.source(parameter) for parameter in parameters]) if parameters else ()
