"""The gate's questions as plain functions: does a call fit a signature, do installed packages have a name."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from callground.graph.queries import Signature
from callground.text_blocks import extract_code_block
from callground.toolcalls.calls import ToolCall
from callground.verdict.report import Entry

Resolver = Callable[[str], "bool | None"]
"""Whether a dotted name exists; None when that is not certain."""


class Violation(NamedTuple):
    """One way in which a call does not fit."""

    code: str
    """A rule's code: ``callground rule CODE`` prints its page."""
    name: str
    """The argument, or the dotted name that does not exist."""
    message: str
    line: int = 1


def arity_violations(call: str | ast.Call | ToolCall | Mapping[str, Any], signature: Signature) -> list[Violation]:
    """The ways in which a call's arguments do not bind to a signature.

    The call is Python text (``fetch("a", retries=3)``), a tree, a tool call, or a mapping of arguments by
    name.  What a ``*`` or ``**`` in the call could fill in is no violation.
    """
    positional, keywords, open_positional, open_keywords = _arguments(call)
    given = f"`{signature.name}`"
    found: list[Violation] = []
    order = _positional_names(signature)
    if signature.max_positional is not None and positional > signature.max_positional:
        message = f"{given} takes {_plural(signature.max_positional, 'positional argument')}, not {positional}"
        found.append(Violation("too-many-arguments", order[-1] if order else "", message))
    for name in keywords:
        if name in signature.positional_only and signature.accepted_kwargs is not None:
            found.append(Violation("positional-only-as-keyword", name, f"{given} takes `{name}` by position only"))
        elif name in order[:positional]:
            found.append(Violation("duplicate-argument", name, f"{given} is given `{name}` twice"))
        elif signature.accepted_kwargs is not None and name not in signature.accepted_kwargs:
            found.append(Violation("unknown-keyword", name, f"{given} has no parameter `{name}`"))
    missing = []
    if not open_positional:
        missing += [
            name
            for name in signature.required
            if name not in keywords
            and name not in order[:positional]
            and not (open_keywords and name not in signature.positional_only)
        ]
    if not open_keywords:
        missing += [name for name in signature.required_keywords if name not in keywords]
    found += [Violation("missing-argument", name, f"{given} requires `{name}`") for name in missing]
    return found


def _arguments(
    call: str | ast.Call | ToolCall | Mapping[str, Any],
) -> tuple[int, tuple[str, ...], bool, bool]:
    """Number of positionals, keywords, whether there is a star, whether there are two."""
    if isinstance(call, ToolCall):
        call = call.arguments or {}
    if isinstance(call, Mapping):
        return 0, tuple(call), False, False
    if isinstance(call, str):
        node = ast.parse(call.strip(), mode="eval").body
        if not isinstance(node, ast.Call):
            raise ValueError(f"not a call: {call!r}")
        call = node
    plain = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
    keywords = tuple(keyword.arg for keyword in call.keywords if keyword.arg is not None)
    return len(plain), keywords, len(plain) < len(call.args), len(keywords) < len(call.keywords)


def _positional_names(signature: Signature) -> list[str]:
    """The names of the parameters that take positionals, in their order."""
    try:
        (function,) = ast.parse(f"def f{signature.text}: pass").body
    except (SyntaxError, ValueError):
        return list(signature.required)
    assert isinstance(function, ast.FunctionDef)
    return [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]


def _plural(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# -- installed packages


def third_party_violations(
    code: str, resolver: Resolver | None = None, *, python: str | None = None
) -> list[Violation]:
    """Names and calls of installed packages in a piece of code that do not exist or do not fit.

    Without a resolver the code is judged as ``callground verify`` does, in the environment of `python` (else
    the one that is found from the current folder).  With one, the dotted names that the code takes out of
    its imports are asked of it, and nothing else is looked at.
    """
    if resolver is not None:
        names = dict.fromkeys(imported_names(extract_code_block(code) or code))
        return [
            Violation("unknown-member", name, f"there is no `{name}`", line)
            for name, line in names
            if resolver(name) is False
        ]
    return [
        Violation(entry.finding.code, entry.finding.name, entry.finding.message, entry.finding.range.line)
        for entry in _judged(code, python)
    ]


def _judged(code: str, python: str | None) -> Sequence[Entry]:
    from callground.gate.request import Request, answer
    from callground.session import Session

    with Session.open(python=python) as session:
        session.index()
        return answer(session, Request(code=code)).report.third_party


def imported_names(code: str) -> list[tuple[str, int]]:
    """(dotted name, line) of everything that code takes out of its absolute imports."""
    tree = ast.parse(code)
    known: dict[str, str] = {}
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
                found.append((alias.name, node.lineno))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if alias.name != "*":
                    known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                    found.append((f"{node.module}.{alias.name}", node.lineno))
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    stored |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = _dotted(node)
            root = dotted.partition(".")[0] if dotted else ""
            if root in known and root not in stored:
                found.append((known[root] + dotted[len(root) :], node.lineno))
    return sorted(set(found), key=lambda item: (item[1], item[0]))


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def installed_symbol_resolver(python: str | None = None) -> Resolver:
    """A function that says whether a dotted name exists in an environment: `python`'s, else the one found.

    ``requests.Session.get`` is True, ``requests.Session.fetch`` False, a name below something that may have
    more members than its source shows is None.  Nothing is imported or run.
    """
    from callground.gate.request import Request, answer
    from callground.session import Session

    session = Session.open(python=python)
    session.index()
    known: dict[str, bool | None] = {}

    def resolve(name: str) -> bool | None:
        if name not in known:
            known[name] = ask(name)
        return known[name]

    def ask(name: str) -> bool | None:
        parts = name.split(".")
        if not all(part.isidentifier() for part in parts):
            return False
        snapshot = session.workspace.snapshot()
        module = parts[0]
        for end in range(1, len(parts) + 1):
            candidate = ".".join(parts[:end])
            session.workspace.load(candidate)
            if not snapshot.exists(candidate):
                break
            module = candidate
        # A decorator is looked up like any other expression, and does not have to be called.
        lines = [f"import {module}", f"@{name}", "def _(): ..."] if module != name else [f"import {name}"]
        (file,) = answer(session, Request(code="\n".join(lines))).report.files
        statuses = {verdict.status for verdict in file.verdicts}
        if "ungrounded" in statuses:
            return False
        return True if statuses == {"grounded"} else None

    return resolve
