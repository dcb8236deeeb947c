"""Other languages' ways of saying something, turned into Python's: a table, and the edit that it stands for.

``x.length()`` is no misspelt member: the call as a whole becomes ``len(x)``.  The table
(``tables/habits.txt``) is matched by the type of what was asked, the name and the number of arguments.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from callground.repairs import calltext, imports
from callground.repairs.asked import Asked
from callground.repairs.model import Candidate, FileEdits, ImportWanted, Repair
from callground.repairs.words import plain, read_table
from callground.resolve import classes, hierarchy
from callground.resolve.flow import dotted
from callground.resolve.values import ClassObject, Instance, ModuleObject
from callground.text.edits import Edit

SCORE = 97.0
_ROW = re.compile(r"(?P<owner>\S+)/(?P<count>\d+)(?P<more>\+?)\s+->\s+(?P<new>.+)")
_FIELD = re.compile(r"\{(self|module|args|\d)\}")


class Habit(NamedTuple):
    """One row of the table."""

    owner: str
    name: str
    """Plain; for callees without an owner the whole dotted text."""
    arity: int
    more: bool
    new: str


@lru_cache(maxsize=1)
def table() -> dict[str, list[Habit]]:
    """The rows by name."""
    rows: dict[str, list[Habit]] = {}
    for line in read_table("habits.txt"):
        match = _ROW.fullmatch(line)
        assert match is not None, line
        left = match["owner"]
        if left.startswith("name."):
            owner, name = "name", left.removeprefix("name.")
        else:
            owner, _, name = left.rpartition(".")
            name = plain(name)
        rows.setdefault(name, []).append(Habit(owner, name, int(match["count"]), bool(match["more"]), match["new"]))
    return rows


def repairs(asked: Asked) -> Iterator[Repair]:
    """The rows that fit the finding's call, in the table's order."""
    call = asked.call
    if call is None or asked.code not in ("unknown-member", "unknown-name"):
        return
    for row in _rows(asked, call):
        made = _edits(asked, call, row)
        if made is None:
            continue
        edits, new = made
        yield Repair(
            "habit",
            f"Write `{new}`",
            (FileEdits(asked.source.path, tuple(edits)),),
            (f"`{row.name}` is said so in another language or an older Python (tables/habits.txt)",),
            SCORE,
            Candidate(new, "member", new, kind="habit", likeness=SCORE / 100),
            certain=True,
        )


def written(asked: Asked) -> list[str]:
    """What the call would be in Python, by the table; nothing is verified."""
    call = asked.call
    if call is None or asked.code not in ("unknown-member", "unknown-name"):
        return []
    made = [_edits(asked, call, row) for row in _rows(asked, call)]
    return [text for each in made if each is not None for text in [each[1]] if "\n" not in text and len(text) < 80]


def _rows(asked: Asked, call: ast.Call) -> list[Habit]:
    starred = any(isinstance(a, ast.Starred) for a in call.args) or bool(call.keywords)
    count = len(call.args)

    def fits(row: Habit) -> bool:
        return count >= row.arity if row.more else count == row.arity and not starred

    if asked.code == "unknown-name":
        callee = dotted(call.func) or ""
        return [row for row in table().get(callee, ()) if row.owner == "name" and fits(row)]
    if asked.calls_it is None:
        return []
    owners = asked.source.ask(lambda: _owners(asked)) or frozenset()
    rows = [row for row in table().get(plain(asked.name), ()) if row.owner in owners and fits(row)]
    # What is said of the very class goes before what is said of anything with a length.
    return sorted(rows, key=lambda row: row.owner in ("sized", "object"))


def _owners(asked: Asked) -> frozenset[str]:
    """The names under which the table may know what was asked."""
    ev, o = asked.source.evaluator, asked.proof.owner_object
    if isinstance(o, ModuleObject):
        return frozenset({f"module:{o.name}"})
    if isinstance(o, (Instance, ClassObject)) and not isinstance(o, ClassObject):
        found = {entry.ref.dotted for entry in hierarchy.mro(ev, o.ref).entries}
        if classes.find(ev, o.ref, "__len__").found is not None:
            found.add("sized")
        if classes.find(ev, o.ref, "__next__").found is None:
            found.discard("object")
        return frozenset(found)
    return frozenset()


def _edits(asked: Asked, call: ast.Call, row: Habit) -> tuple[list[Edit], str] | None:
    text = asked.source.text
    start, end = asked.span(call)
    arguments = calltext.read(asked)
    if arguments is None or "#" in text[arguments.open : arguments.close]:
        return None
    values = {"args": text[arguments.open + 1 : arguments.close].strip().rstrip(",")}
    for number, node in enumerate(call.args):
        values[str(number)] = asked.text(node)
    if isinstance(call.func, ast.Attribute):
        values["self"] = values["module"] = asked.text(call.func.value)
    nodes: dict[str, ast.expr] = {str(number): node for number, node in enumerate(call.args)}
    if isinstance(call.func, ast.Attribute):
        nodes["self"] = call.func.value

    def fill(match: re.Match[str]) -> str:
        field = match[1]
        value = values[field]
        before, behind = row.new[: match.start()], row.new[match.end() :]
        # Between brackets, commas and colons, and behind an assignment, any expression may stand.
        opened = before == "" or before[-1] in "([:" or before.endswith((", ", "] = ", "n = "))
        alone = opened and (behind == "" or behind[0] in ")],:") and bool(before)
        node = nodes.get(field)
        alone = alone or (isinstance(node, ast.Constant) and not behind.startswith("."))
        if node is not None and not alone and calltext.needs_parentheses(node):
            return f"({value})"
        return value

    new = _FIELD.sub(fill, row.new)
    statement = bool(asked.parents) and isinstance(asked.parents[0], ast.Expr)
    try:
        made = ast.parse(new).body[0]
    except (SyntaxError, IndexError):
        return None
    edits: list[Edit] = []
    if not isinstance(made, ast.Expr):
        # An assignment can only stand where the call was a statement.
        return ([Edit(start, end, new)], new) if statement else None
    if statement and not isinstance(made.value, ast.Call):
        # A value that nobody looks at: the call was made for its effect, which this has not.
        return None
    module = re.match(r"(json|math|functools|random|time|threading)\.", row.new)
    if module is not None:
        brought = imports.bring(asked.source, ImportWanted(module[1]))
        edits += brought.edits
        new = brought.text + new[len(module[1]) :]
    shown = new
    if calltext.needs_parentheses(made.value) and not _loose(asked):
        new = f"({new})"
    return [*edits, Edit(start, end, new)], shown


def _loose(asked: Asked) -> bool:
    """Whether an operator may stand in the call's place without parentheses."""
    parent = asked.parents[0] if asked.parents else None
    if isinstance(parent, ast.Call):
        return True
    return isinstance(
        parent,
        (
            ast.If,
            ast.While,
            ast.Assert,
            ast.Assign,
            ast.AnnAssign,
            ast.Return,
            ast.Expr,
            ast.keyword,
            ast.List,
            ast.Tuple,
        ),
    )
