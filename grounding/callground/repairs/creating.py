"""A new function or method where the called one should be: its signature is the call's arguments."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator

from callground.repairs.asked import Asked
from callground.repairs.model import FileEdits, Repair
from callground.resolve import classes
from callground.resolve.scopes import ClassFace
from callground.resolve.values import ClassObject, Instance, ModuleObject
from callground.text.edits import Edit
from callground.text.lines import LineIndex

Texts = Callable[[str], "str | None"]
SCORE = 20.0


def repairs(asked: Asked, texts: Texts) -> Iterator[Repair]:
    """The one place where the missing thing would be defined, if it is the workspace's own."""
    made = _made(asked, texts)
    if made is not None:
        title, path, edit = made
        yield Repair(
            "create", title, (FileEdits(path, (edit,)), *_same_file(asked, path)), ("it is yours to write",), SCORE
        )


def _same_file(asked: Asked, path: str) -> tuple[FileEdits, ...]:
    # Verification looks at the file of the finding, so it is always among the changed ones.
    return () if path == asked.source.path else (FileEdits(asked.source.path, ()),)


def _made(asked: Asked, texts: Texts) -> tuple[str, str, Edit] | None:
    name = asked.name
    if not name.isidentifier() or keyword.iskeyword(name):
        return None
    owner = asked.proof.owner_object
    if asked.code == "unknown-name" and asked.calls_it is not None:
        return _function_above(asked, name)
    if asked.code == "unknown-member" and asked.calls_it is not None:
        if isinstance(owner, (Instance, ClassObject)):
            return _method(asked, texts, owner, name)
        if isinstance(owner, ModuleObject):
            return _function_in(asked, texts, owner.name, name)
    if asked.code == "unknown-import" and isinstance(owner, ModuleObject):
        return _function_in(asked, texts, owner.name, name)
    return None


def _function_above(asked: Asked, name: str) -> tuple[str, str, Edit] | None:
    """Above the statement that calls it: there it is defined whenever it is called."""
    source = asked.source
    for node, offset in source.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) + offset
        last = (node.end_lineno or node.lineno) + offset
        if first <= asked.site.range.line <= last:
            at = source.lines.offset(first, 0)
            body = _definition(asked, name, "", None)
            newline = source.newline
            text = newline.join([*body, "", "", ""])
            return f"Create {_what(name)} `{name}`", source.path, Edit(at, at, text)
    return None


def _function_in(asked: Asked, texts: Texts, module_name: str, name: str) -> tuple[str, str, Edit] | None:
    ev = asked.source.evaluator
    module = asked.source.ask(lambda: ev.module(module_name))
    if module is None or module.origin != "workspace" or module.source is None:
        return None
    path = module.source.path
    text = texts(path)
    if text is None:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    stripped = text.rstrip()
    lead = newline * 3 if stripped else ""
    body = _definition(asked, name, "", None)
    new = lead + newline.join(body) + newline
    return f"Create {_what(name)} `{name}` in {module_name}", path, Edit(len(stripped), len(text), new)


def _method(asked: Asked, texts: Texts, owner: Instance | ClassObject, name: str) -> tuple[str, str, Edit] | None:
    ev = asked.source.evaluator
    rows = asked.source.ask(lambda: classes.faces(ev, owner.ref)) or []
    face: ClassFace | None = next((f for f in rows if not f.file.is_stub), None)
    if face is None or face.module.origin != "workspace" or "#" in face.file.path or "<" in owner.ref.qualname:
        return None
    path = face.file.path
    text = texts(path)
    if text is None:
        return None
    index = LineIndex(text)
    end_line = face.file.facts.starts[face.piece] + face.row.end_line - 1
    indent = _body_indent(index, face)
    newline = "\r\n" if "\r\n" in text else "\n"
    body = _definition(asked, name, indent, "cls" if isinstance(owner, ClassObject) else "self")
    if isinstance(owner, ClassObject):
        body = [f"{indent}@classmethod", *body]
    # Behind the last line of the class that says something.
    while end_line > face.line and not index.line(end_line).strip():
        end_line -= 1
    at = index.offset(end_line, len(index.line(end_line)))
    new = newline + newline + newline.join(body)
    shown = owner.ref.qualname
    return f"Create method `{name}` of `{shown}`", path, Edit(at, at, new)


def _body_indent(index: LineIndex, face: ClassFace) -> str:
    """How the members of a class are indented."""
    start = face.file.facts.starts[face.piece]
    for member in face.row.members:
        line = index.line(start + member.line - 1)
        white = line[: len(line) - len(line.lstrip())]
        if white:
            return white
    own = index.line(face.line)
    return own[: len(own) - len(own.lstrip())] + "    "


def _definition(asked: Asked, name: str, indent: str, first: str | None) -> list[str]:
    """The lines of a ``def`` (a class for a name that is written like one)."""
    call = asked.calls_it
    names = _parameters(call) if call is not None else []
    step = "\t" if indent.startswith("\t") else _step(asked)
    awaited = bool(asked.parents) and isinstance(asked.parents[0], ast.Await)
    if first is None and name[:1].isupper() and not name.isupper():
        if asked.is_raised or name.endswith(("Error", "Exception")):
            return [f"class {name}(Exception):", f'{step}"""TODO: say when."""']
        own = ", ".join(["self", *names])
        return [f"class {name}:", f"{step}def __init__({own}):", f"{step}{step}raise NotImplementedError"]
    listed = ", ".join([*([first] if first else []), *names])
    start = "async def" if awaited else "def"
    return [f"{indent}{start} {name}({listed}):", f"{indent}{step}raise NotImplementedError"]


def _step(asked: Asked) -> str:
    """One step of the file's indentation."""
    match = re.search(r"^([ \t]+)\S", asked.source.text, re.MULTILINE)
    white = match[1] if match else ""
    return white if white in ("  ", "    ", "\t") else "    "


def _parameters(call: ast.Call) -> list[str]:
    """Parameter names for a call's arguments."""
    used: list[str] = []

    def fresh(name: str) -> str:
        name = name.lower() if name.isupper() else name
        name = re.sub(r"\W", "_", name).strip("_") or "value"
        if keyword.iskeyword(name) or name in ("self", "cls") or not name.isidentifier():
            name = "value"
        number, found = 2, name
        while found in used:
            found = f"{name}{number}"
            number += 1
        used.append(found)
        return found

    listed: list[str] = []
    star = False
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            star = True
            listed.append("*" + fresh("args"))
        elif not star:
            listed.append(fresh(_named(argument)))
    for each in call.keywords:
        if each.arg is None:
            listed.append("**" + fresh("kwargs"))
        elif each.arg not in used:
            used.append(each.arg)
            listed.append(each.arg)
    return listed


def _named(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call):
        return _named(node.func)
    if isinstance(node, ast.Constant):
        return {str: "text", int: "number", float: "number", bool: "flag", bytes: "data"}.get(type(node.value), "value")
    if isinstance(node, (ast.List, ast.ListComp, ast.Tuple, ast.Set)):
        return "items"
    if isinstance(node, (ast.Dict, ast.DictComp)):
        return "mapping"
    if isinstance(node, ast.JoinedStr):
        return "text"
    if isinstance(node, ast.Lambda):
        return "function"
    return "value"


def _what(name: str) -> str:
    return "class" if name[:1].isupper() and not name.isupper() else "function"
