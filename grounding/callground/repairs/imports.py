"""Edits of import statements: a name is added where a careful person would put it, another one is taken out."""

from __future__ import annotations

import ast
import re
import sys
from typing import NamedTuple

from callground.repairs.asked import Source
from callground.repairs.model import ImportWanted
from callground.resolve.flow import dotted
from callground.text.edits import Edit

_FUTURE, _STDLIB, _THIRD, _FIRST, _RELATIVE = range(5)


class Brought(NamedTuple):
    """How a name gets into a file."""

    text: str
    """What the name is written as in the file."""
    edits: tuple[Edit, ...]
    statement: str
    """The import that is needed, as it is written; empty when the file has it already."""


class _Statement(NamedTuple):
    node: ast.Import | ast.ImportFrom
    offset: int
    """What is added to its lines."""

    @property
    def line(self) -> int:
        return self.node.lineno + self.offset

    @property
    def end_line(self) -> int:
        return (self.node.end_lineno or self.node.lineno) + self.offset


def bring(source: Source, wanted: ImportWanted, *, aliased: bool = False) -> Brought:
    """What it takes to have `wanted` in a file, in the file's own style."""
    statements = _statements(source)
    written = _as_written(source, wanted)
    bound = wanted.alias or wanted.name or wanted.module
    for each in statements:
        node = each.node
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == wanted.module:
                    name = alias.asname or alias.name
                    if not wanted.name:
                        return Brought(name, (), "")
                    if not aliased:
                        return Brought(f"{name}.{wanted.name}", (), "")
        elif wanted.name and _is_from(source, node, wanted.module):
            for alias in node.names:
                if alias.name == wanted.name:
                    return Brought(alias.asname or alias.name, (), "")
    if wanted.name:
        for each in statements:
            node = each.node
            if isinstance(node, ast.ImportFrom) and _is_from(source, node, wanted.module):
                edit = _extended(source, node, each.offset, wanted)
                if edit is not None:
                    return Brought(bound, (edit,), written.text)
    return Brought(bound, (_inserted(source, statements, written),), written.text)


def _statements(source: Source) -> list[_Statement]:
    """The import statements at the head of the file, with those further down before any definition."""
    found: list[_Statement] = []
    for node, offset in source.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.append(_Statement(node, offset))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            break
    return found


def absolute(source: Source, node: ast.ImportFrom) -> str | None:
    """The absolute name of the module that a ``from`` import names."""
    if not node.level:
        return node.module or ""
    package = _package(source)
    if package is None or node.level - 1 > len(package):
        return None
    base = package[: len(package) - (node.level - 1)]
    return ".".join([*base, node.module] if node.module else base)


def _package(source: Source) -> list[str] | None:
    name = source.snapshot.module_of_path(source.path)
    if name is None:
        return None
    parts = name.split(".")
    return parts if source.path.rsplit("/", 1)[-1].startswith("__init__.") else parts[:-1]


def _is_from(source: Source, node: ast.AST, module: str) -> bool:
    return isinstance(node, ast.ImportFrom) and absolute(source, node) == module


def _as_written(source: Source, wanted: ImportWanted) -> ImportWanted:
    """With dots, where the file names its own package by dots and never in full."""
    package = _package(source)
    if not package or not wanted.name or wanted.module.split(".")[0] != package[0]:
        return wanted
    relative = full = False
    for node, _ in source.body:
        if isinstance(node, ast.ImportFrom):
            relative = relative or node.level > 0
            full = full or (not node.level and (node.module or "").split(".")[0] == package[0])
        elif isinstance(node, ast.Import):
            full = full or any(a.name.split(".")[0] == package[0] for a in node.names)
    if full or not relative:
        return wanted
    target = wanted.module.split(".")
    common = 0
    while common < len(package) and common < len(target) and package[common] == target[common]:
        common += 1
    dots = "." * (len(package) - common + 1)
    return wanted._replace(module=dots + ".".join(target[common:]))


# -- into a list of names


def _extended(source: Source, node: ast.ImportFrom, offset: int, wanted: ImportWanted) -> Edit | None:
    if any(alias.name == "*" for alias in node.names):
        return None
    new = wanted.name + (f" as {wanted.alias}" if wanted.alias else "")
    names = [alias.name for alias in node.names]
    place = len(names)
    for key in (_plain_order, _case_order):
        if names == sorted(names, key=key):
            place = next((i for i, name in enumerate(names) if key(name) > key(wanted.name)), len(names))
            break
    text = source.text
    if place < len(names):
        start, _ = source.span(node.names[place], offset)
        indent = _line_indent(text, start)
        gap = " " if indent is None else source.newline + indent
        return Edit(start, start, f"{new},{gap}")
    first, _ = source.span(node.names[0], offset)
    last_start, last = source.span(node.names[-1], offset)
    _, end = source.span(node, offset)
    indent = _line_indent(text, last_start if len(names) > 1 else first)
    comma = re.match(r"\s*,", text[last:end])
    gap = " " if indent is None else source.newline + indent
    if comma is not None:
        behind = last + comma.end()
        # A comment behind the comma belongs to the name before it.
        rest = re.match(r"[ \t]*#[^\r\n]*", text[behind:end])
        behind += rest.end() if rest is not None and indent is not None else 0
        return Edit(behind, behind, f"{gap}{new},")
    return Edit(last, last, f",{gap}{new}")


def _plain_order(name: str) -> tuple[int, str]:
    """isort's own order: constants, classes, functions."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


def _case_order(name: str) -> tuple[int, str]:
    return 0, name.lower()


def _line_indent(text: str, offset: int) -> str | None:
    """The white space before an offset where nothing else stands before it on its line, else None."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    before = text[start:offset]
    return before if before and not before.strip() else None


# -- as a statement of its own


def _inserted(source: Source, statements: list[_Statement], wanted: ImportWanted) -> Edit:
    new = wanted.text
    section = _section(source, wanted.module)
    newline = source.newline
    head = _leading(statements)
    here = [s for s in head if _section_of(source, s.node) == section]
    if here:
        before = [s for s in here if _key(s.node) <= _new_key(wanted)]
        ordered = [_key(s.node) for s in here] == sorted(_key(s.node) for s in here)
        if before or not ordered:
            after = before[-1] if ordered else here[-1]
            return _behind(source, after.end_line, new)
        first = source.lines.offset(here[0].line, 0)
        return Edit(first, first, new + newline)
    lower = [s for s in head if _section_of(source, s.node) < section]
    higher = [s for s in head if _section_of(source, s.node) > section]
    if lower:
        # A blank line stands behind the section before; where others follow they keep theirs.
        return _behind(source, lower[-1].end_line, newline + new)
    if higher:
        first = source.lines.offset(higher[0].line, 0)
        return Edit(first, first, new + newline + newline)
    return _at_head(source, new)


def _leading(statements: list[_Statement]) -> list[_Statement]:
    return statements


def _behind(source: Source, line: int, new: str) -> Edit:
    """On the lines behind a line."""
    index = source.lines
    if line < index.count:
        start = index.offset(line + 1, 0)
        return Edit(start, start, new + source.newline)
    end = len(source.text)
    return Edit(end, end, source.newline + new)


def _at_head(source: Source, new: str) -> Edit:
    """Before the first statement, behind the docstring and the comments at the top."""
    newline = source.newline
    body = source.body
    if body and _is_docstring(body[0][0]):
        node, offset = body[0]
        line = (node.end_lineno or node.lineno) + offset
        edit = _behind(source, line, newline + new)
        following = body[1][0].lineno + body[1][1] if len(body) > 1 else 0
        if following and following - line < 2:
            return edit._replace(text=edit.text + newline)
        return edit
    number = 1
    while source.lines.line(number).startswith("#"):
        number += 1
    if number > 1 and source.lines.line(number).strip():
        # The comments stand right above the code and belong to it, but for what must be at the very top.
        number = 1
        while number <= 2 and re.match(r"#!|#.*coding[:=]", source.lines.line(number)):
            number += 1
    elif number > 1:
        number += 1
    start = source.lines.offset(number, 0)
    definition = body and isinstance(body[0][0], (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    return Edit(start, start, new + newline * (3 if definition else 2))


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _section_of(source: Source, node: ast.Import | ast.ImportFrom) -> int:
    if isinstance(node, ast.ImportFrom):
        if node.level:
            return _RELATIVE
        return _section(source, node.module or "")
    return _section(source, node.names[0].name)


def _section(source: Source, module: str) -> int:
    if module.startswith("."):
        return _RELATIVE
    top = module.partition(".")[0]
    if top == "__future__":
        return _FUTURE
    if top in sys.stdlib_module_names:
        return _STDLIB
    if top == source.module.partition(".")[0]:
        return _FIRST
    located = source.ask(lambda: source.snapshot.module(top))
    return _FIRST if located is not None and located.origin == "workspace" else _THIRD


def _key(node: ast.Import | ast.ImportFrom) -> tuple[bool, str]:
    if isinstance(node, ast.ImportFrom):
        return True, ("." * node.level + (node.module or "")).lower()
    return False, node.names[0].name.lower()


def _new_key(wanted: ImportWanted) -> tuple[bool, str]:
    return bool(wanted.name), wanted.module.lower()


# -- out of a statement


def taken_out(
    source: Source, node: ast.Import | ast.ImportFrom, offset: int, alias: ast.alias, block: list[ast.stmt] | None
) -> Edit:
    """An import without one of its names; the whole statement where that was the only one.

    `block` is the body that the statement stands in: one that would be left empty gets a ``pass``.
    """
    text = source.text
    start, end = source.span(node, offset)
    if len(node.names) == 1:
        if block is not None and len(block) == 1:
            return Edit(start, end, "pass")
        line_start = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
        line_end = _line_end(text, end)
        if text[line_start:start].strip() or text[end:line_end].strip():
            # Others stand on the same line.
            behind = re.match(r"[ \t]*;[ \t]*", text[end:line_end])
            return Edit(start, end + behind.end(), "") if behind else Edit(start, end, "pass")
        return Edit(line_start, _next_line(text, line_end), "")
    place = node.names.index(alias)
    first, last = source.span(alias, offset)
    if place + 1 < len(node.names):
        following, _ = source.span(node.names[place + 1], offset)
        if "#" in text[last:following]:
            comma = text.index(",", last)
            return Edit(first, comma + 1, "")
        return Edit(first, following, "")
    _, before = source.span(node.names[place - 1], offset)
    if "#" in text[before:first]:
        behind_it = re.match(r"\s*,", text[last:end])
        return Edit(first, last + (behind_it.end() if behind_it else 0), "")
    return Edit(before, last, "")


def _line_end(text: str, offset: int) -> int:
    found = re.compile(r"\r\n?|\n").search(text, offset)
    return found.start() if found else len(text)


def _next_line(text: str, offset: int) -> int:
    found = re.compile(r"\r\n?|\n").match(text, offset)
    return found.end() if found else offset


def module_span(source: Source, node: ast.ImportFrom, offset: int) -> tuple[int, int] | None:
    """Where the module's name stands in ``from module import x``, dots included."""
    start, end = source.span(node, offset)
    match = re.match(r"from\s+([.\s]*[\w.]*)\s+import\b", source.text[start:end])
    return (start + match.start(1), start + match.end(1)) if match else None


__all__ = ["Brought", "absolute", "bring", "dotted", "module_span", "taken_out"]
