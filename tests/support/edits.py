"""Edits of real modules as people and assistants make them, chosen by numbers so that they can be repeated."""

from __future__ import annotations

import ast
from collections.abc import Callable

Edit = Callable[[str, int], str]


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _lines(text: str) -> list[str]:
    return text.split("\n")


def rename_function(text: str, number: int) -> str:
    """A function or method gets another name; its callers are not told."""
    tree = _parsed(text)
    functions = _functions(tree) if tree else []
    if not functions:
        return text
    node = functions[number % len(functions)]
    lines = _lines(text)
    lines[node.lineno - 1] = lines[node.lineno - 1].replace(f"def {node.name}", f"def {node.name}_renamed", 1)
    return "\n".join(lines)


def add_parameter(text: str, number: int) -> str:
    """A function needs one argument more."""
    tree = _parsed(text)
    functions = _functions(tree) if tree else []
    if not functions:
        return text
    node = functions[number % len(functions)]
    lines = _lines(text)
    row = lines[node.lineno - 1]
    inside = "self, needed, " if "(self, " in row else "self, needed" if "(self" in row else "needed, "
    old = "(self, " if "(self, " in row else "(self" if "(self" in row else "("
    lines[node.lineno - 1] = row.replace(f"def {node.name}{old}", f"def {node.name}({inside}", 1)
    return "\n".join(lines)


def remove_parameter(text: str, number: int) -> str:
    """A function takes its last argument no more."""
    tree = _parsed(text)
    functions = [f for f in _functions(tree) if len(f.args.args) > 1 and not f.args.defaults] if tree else []
    if not functions:
        return text
    node = functions[number % len(functions)]
    last = node.args.args[-1]
    lines = _lines(text)
    row = lines[last.lineno - 1]
    lines[last.lineno - 1] = row[: last.col_offset].rstrip(" ,") + row[last.end_col_offset or 0 :]
    return "\n".join(lines)


def delete_statement(text: str, number: int) -> str:
    """A top-level statement goes."""
    tree = _parsed(text)
    if tree is None or not tree.body:
        return text
    node = tree.body[number % len(tree.body)]
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    lines = _lines(text)
    del lines[first - 1 : node.end_lineno]
    return "\n".join(lines)


def delete_method(text: str, number: int) -> str:
    """A method goes."""
    tree = _parsed(text)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)] if tree else []
    methods = [m for c in classes if len(c.body) > 1 for m in c.body if isinstance(m, ast.FunctionDef)]
    if not methods:
        return text
    node = methods[number % len(methods)]
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = _lines(text)
    del lines[first - 1 : node.end_lineno]
    return "\n".join(lines)


def swap_statements(text: str, number: int) -> str:
    """Two neighbours change places."""
    tree = _parsed(text)
    if tree is None or len(tree.body) < 2:
        return text
    index = number % (len(tree.body) - 1)
    starts = [min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", []))]) for s in tree.body]
    one, other = tree.body[index], tree.body[index + 1]
    if starts[index + 1] <= (one.end_lineno or 0):
        return text
    lines = _lines(text)
    a = lines[starts[index] - 1 : one.end_lineno]
    between = lines[one.end_lineno or 0 : starts[index + 1] - 1]
    b = lines[starts[index + 1] - 1 : other.end_lineno]
    lines[starts[index] - 1 : other.end_lineno] = [*b, *between, *a]
    return "\n".join(lines)


def insert_comment(text: str, number: int) -> str:
    """A line is put in; everything below moves."""
    lines = _lines(text)
    tree = _parsed(text)
    place = tree.body[number % len(tree.body)].lineno - 1 if tree and tree.body else 0
    first = (
        min(
            [
                place,
                *(d.lineno - 1 for d in getattr(tree.body[number % len(tree.body)], "decorator_list", [])),
            ]
        )
        if tree and tree.body
        else 0
    )
    lines.insert(first, f"# a remark, number {number % 7}")
    return "\n".join(lines)


def half_typed(text: str, number: int) -> str:
    """Somebody is in the middle of a line."""
    lines = _lines(text)
    place = number % (len(lines) + 1)
    lines.insert(place, ["def broken(:", "x = foo(", "class", "    return self.", "if True"][number % 5])
    return "\n".join(lines)


def append_call(text: str, number: int) -> str:
    """A function with calls, some of them invented."""
    return text + (
        f"\n\ndef added_{number % 97}(value):\n"
        f"    invented_{number % 5}(value)\n"
        f"    return added_{number % 89}(value, {number % 3})\n"
    )


def append_subclass(text: str, number: int) -> str:
    """A subclass of a class of the module, with a method that its base may call."""
    tree = _parsed(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree else []
    if not classes:
        return text
    base = classes[number % len(classes)].name
    methods = [m.name for c in classes for m in c.body if isinstance(m, ast.FunctionDef)] or ["close"]
    method = methods[number % len(methods)]
    return text + f"\n\nclass Sub{number % 11}({base}):\n    def {method}_more(self):\n        return self.{method}()\n"


def append_patch(text: str, number: int) -> str:
    """An attribute is stored on a class from outside."""
    tree = _parsed(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree else []
    if not classes:
        return text
    base = classes[number % len(classes)].name
    return text + f"\n\n{base}.missing_{number % 4} = lambda self: None\n"


def open_up(text: str, number: int) -> str:
    """A class answers to every name."""
    tree = _parsed(text)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)] if tree else []
    if not classes:
        return text
    node = classes[number % len(classes)]
    lines = _lines(text)
    lines.insert(node.end_lineno or 0, f"{' ' * 4}def __getattr__(self, name):\n        return name")
    return "\n".join(lines)


def stop_early(text: str, number: int) -> str:
    """What stands below is never reached."""
    tree = _parsed(text)
    if tree is None or not tree.body:
        return text
    node = tree.body[number % len(tree.body)]
    lines = _lines(text)
    lines.insert(node.end_lineno or 0, "raise SystemExit(0)")
    return "\n".join(lines)


def drop_import(text: str, number: int) -> str:
    """An import goes."""
    tree = _parsed(text)
    imports = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)] if tree else []
    if not imports:
        return text
    node = imports[number % len(imports)]
    lines = _lines(text)
    del lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(lines)


EDITS: tuple[Edit, ...] = (
    rename_function,
    add_parameter,
    remove_parameter,
    delete_statement,
    delete_method,
    swap_statements,
    insert_comment,
    half_typed,
    append_call,
    append_subclass,
    append_patch,
    open_up,
    stop_early,
    drop_import,
)
