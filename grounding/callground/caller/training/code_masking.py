"""A file as it was before a statement was written: taken out with all whose only use it was."""

from __future__ import annotations

import ast
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Sequence
from io import StringIO


class Masker:
    """One file, out of which statements can be taken."""

    def __init__(self, text: str, lines: Sequence[str], tree: ast.Module) -> None:
        self._lines = lines
        self._tree = tree
        self._parents: dict[ast.AST, ast.AST] = {}
        self._loads: dict[str, list[ast.Name]] = defaultdict(list)
        self._imports: dict[str, list[tuple[ast.Import | ast.ImportFrom, ast.alias]]] = defaultdict(list)
        self._strings: set[str] = set()
        for parent in ast.walk(tree):
            for child in ast.iter_child_nodes(parent):
                self._parents[child] = parent
            if isinstance(parent, ast.Name) and not isinstance(parent.ctx, ast.Store):
                self._loads[parent.id].append(parent)
            elif isinstance(parent, (ast.Import, ast.ImportFrom)):
                for alias in parent.names:
                    self._imports[alias.asname or alias.name.split(".")[0]].append((parent, alias))
            elif isinstance(parent, ast.Constant) and isinstance(parent.value, str) and len(parent.value) < 200:
                self._strings.update(re.findall(r"\w+", parent.value))
        self._comments = _comment_lines(text)

    def is_imported(self, name: str) -> bool:
        """Whether an import statement binds the name."""
        return name in self._imports

    def is_local(self, name: ast.Name) -> bool:
        """Whether a function around the name binds it itself (as a parameter or by assignment)."""
        function = self._function(name)
        while function is not None:
            args = function.args
            every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
            if any(a is not None and a.arg == name.id for a in every):
                return True
            if any(_stores(inner, name.id) for inner in ast.walk(function)):
                return True
            function = self._function(function)
        return False

    def class_around(self, node: ast.AST) -> str:
        """The name of the top-level class that a node stands in, or nothing."""
        found = ""
        current = self._parents.get(node)
        while current is not None:
            if isinstance(current, ast.ClassDef):
                found = current.name
            current = self._parents.get(current)
        return found

    def without(self, statement: ast.stmt) -> tuple[str, int, str] | None:
        """(text, line for the call, its indentation) with a statement taken out; None where lines are shared."""
        if not self._alone(statement):
            return None
        removed: set[ast.stmt] = {statement}
        aliases: dict[ast.Import | ast.ImportFrom, set[ast.alias]] = defaultdict(set)
        self._spread(removed, aliases)
        gone: set[int] = set()
        changed: dict[int, str] = {}
        for each in removed:
            first, last = _span(each)
            gone.update(range(first, last + 1))
            if each is not statement:
                gone.update(self._comment_block(first))
        for node, names in aliases.items():
            first, last = _span(node)
            gone.update(range(first, last + 1))
            left = [alias for alias in node.names if alias not in names]
            if left:
                reduced = (
                    ast.ImportFrom(node.module, left, node.level)
                    if isinstance(node, ast.ImportFrom)
                    else ast.Import(left)
                )
                changed[first] = self._white(first) + ast.unparse(ast.fix_missing_locations(reduced))
            elif self._emptied(node, removed, aliases):
                changed[first] = self._white(first) + "pass"
        for each in removed:
            if each is not statement and self._emptied(each, removed, aliases):
                changed[_span(each)[0]] = self._white(_span(each)[0]) + "pass"
        indent = self._white(statement.lineno)
        result: list[str] = []
        at = 0
        for number, line in enumerate(self._lines, start=1):
            if number == statement.lineno:
                result.append(indent)
                at = len(result)
            elif number in changed:
                result.append(changed[number])
            elif number not in gone:
                result.append(line)
        return "\n".join(result), at, indent

    def _spread(self, removed: set[ast.stmt], aliases: dict[ast.Import | ast.ImportFrom, set[ast.alias]]) -> None:
        """Add what nothing but the removed statements uses, until there is no more."""
        done: set[tuple[str, int]] = set()
        pending = list(removed)
        while pending:
            current = pending.pop()
            function = self._function(current)
            for node in ast.walk(current):
                if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Store):
                    continue
                key = (node.id, id(function))
                if key in done:
                    continue
                uses = self._loads[node.id]
                if not all(self._within(use, removed) for use in uses):
                    continue
                done.add(key)
                if node.id not in self._strings:
                    for statement, alias in self._imports.get(node.id, ()):
                        if self._alone(statement) and not _is_future(statement):
                            aliases[statement].add(alias)
                if function is not None:
                    for local in _assignments(function, node.id):
                        if local not in removed and self._alone(local):
                            removed.add(local)
                            pending.append(local)

    def _within(self, node: ast.AST, removed: set[ast.stmt]) -> bool:
        current: ast.AST | None = node
        while current is not None:
            if current in removed:
                return True
            current = self._parents.get(current)
        return False

    def _emptied(
        self,
        statement: ast.stmt,
        removed: set[ast.stmt],
        aliases: dict[ast.Import | ast.ImportFrom, set[ast.alias]],
    ) -> bool:
        """Whether a removed statement is the first of a block of which nothing is left."""
        for _, block in ast.iter_fields(self._parents[statement]):
            if isinstance(block, list) and statement in block:
                return block[0] is statement and all(
                    each in removed or (isinstance(each, (ast.Import, ast.ImportFrom)) and not _left(each, aliases))
                    for each in block
                )
        return False

    def _alone(self, statement: ast.stmt) -> bool:
        """Whether nothing else stands on the statement's lines."""
        first, last = _span(statement)
        before = self._lines[first - 1].encode()[: statement.col_offset]
        behind = self._lines[last - 1].encode()[statement.end_col_offset :].decode("utf-8", "replace").strip()
        return not before.strip() and (not behind or behind.startswith("#"))

    def _comment_block(self, line: int) -> Iterator[int]:
        """The lines of the comment right above a line."""
        number = line - 1
        while number >= 1 and number in self._comments:
            yield number
            number -= 1

    def _white(self, line: int) -> str:
        text = self._lines[line - 1]
        return text[: len(text) - len(text.lstrip())]

    def _function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        current = self._parents.get(node)
        while current is not None and not isinstance(current, (ast.FunctionDef, ast.AsyncFunctionDef)):
            current = self._parents.get(current)
        return current


def _left(node: ast.Import | ast.ImportFrom, aliases: dict[ast.Import | ast.ImportFrom, set[ast.alias]]) -> bool:
    return len(aliases.get(node, ())) < len(node.names)


def _is_future(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _span(node: ast.stmt) -> tuple[int, int]:
    return node.lineno, node.end_lineno or node.lineno


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name


def _assignments(function: ast.AST, name: str) -> list[ast.stmt]:
    """The statements that give a local its value, where they are plain assignments; else nothing."""
    found: list[ast.stmt] = []
    for node in ast.walk(function):
        if not _stores(node, name):
            continue
        statement = next(
            (
                each
                for each in ast.walk(function)
                if (isinstance(each, ast.Assign) and len(each.targets) == 1 and each.targets[0] is node)
                or (isinstance(each, ast.AnnAssign) and each.target is node)
            ),
            None,
        )
        if not isinstance(statement, ast.stmt):
            return []
        found.append(statement)
    return found


def _comment_lines(text: str) -> frozenset[int]:
    """Lines that hold nothing but a comment."""
    lines = text.split("\n")
    found: set[int] = set()
    try:
        for token in tokenize.generate_tokens(StringIO(text).readline):
            if token.type == tokenize.COMMENT and lines[token.start[0] - 1].strip().startswith("#"):
                found.add(token.start[0])
    except (tokenize.TokenError, SyntaxError):
        pass  # the file did parse, so what is missing is at its end
    return frozenset(found)
