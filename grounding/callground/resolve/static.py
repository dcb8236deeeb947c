"""Tests that an environment answers before the program runs: version, platform, TYPE_CHECKING."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_OPS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_OS_NAME = {"win32": "nt", "emscripten": "posix"}


class StaticTests:
    """Evaluates guards for one Python version and platform."""

    def __init__(self, version: tuple[int, int], platform: str) -> None:
        self.version = version
        self.platform = platform
        self._cache: dict[str, bool | None] = {}

    def text(self, test: str) -> bool | None:
        """The truth of a test given as source text; None when it depends on more than the environment."""
        if test not in self._cache:
            node = parse_expression(test)
            self._cache[test] = None if node is None else self.truth(node)
        return self._cache[test]

    def truth(self, node: ast.expr, flag: Callable[[str], bool | None] | None = None) -> bool | None:
        """The truth of a test; None when it depends on more than the environment (TYPE_CHECKING too).

        `flag` gives the truth of a plain name, where that is known.
        """
        if isinstance(node, ast.Name) and flag is not None:
            return flag(node.id)
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.truth(node.operand, flag)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(v, flag) for v in node.values]
            decisive = isinstance(node.op, ast.Or)
            if decisive in parts:
                return decisive
            return None if None in parts else not decisive
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self._value(node.left), self._value(node.comparators[0])
            op = _OPS.get(type(node.ops[0]))
            if left is None or right is None or op is None:
                return None
            try:
                return bool(op(left, right))
            except TypeError:
                return None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            base = self._value(node.func.value)
            if isinstance(base, str) and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
                prefix = node.args[0].value
                return base.startswith(prefix) if isinstance(prefix, str) else None
        return None

    def _value(self, node: ast.expr) -> Any:
        text = _dotted(node)
        if text in ("sys.version_info", "version_info"):
            return (*self.version, 0, "final", 0)
        if text in ("sys.platform", "platform"):
            return self.platform
        if text == "os.name":
            return _OS_NAME.get(self.platform, "posix")
        if text == "sys.version_info.major":
            return self.version[0]
        if text == "sys.version_info.minor":
            return self.version[1]
        if isinstance(node, ast.Subscript) and _dotted(node.value) == "sys.version_info":
            full = (*self.version, 0)
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
                return full[node.slice.value] if node.slice.value in (0, 1) else None
            if isinstance(node.slice, ast.Slice) and isinstance(node.slice.upper, ast.Constant):
                upper = node.slice.upper.value
                return full[:upper] if isinstance(upper, int) and node.slice.lower is None else None
        try:
            return ast.literal_eval(node) if isinstance(node, (ast.Constant, ast.Tuple)) else None
        except ValueError:
            return None


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        head = _dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return node.id if isinstance(node, ast.Name) else ""


def environment_test(node: ast.expr) -> bool:
    """Whether a test asks for the version, the platform or TYPE_CHECKING anywhere."""
    for sub in ast.walk(node):
        if isinstance(sub, ast.Attribute) and sub.attr in ("version_info", "platform", "TYPE_CHECKING", "hexversion"):
            return True
        if isinstance(sub, ast.Name) and sub.id in ("TYPE_CHECKING", "PY2", "PY3", "hexversion", "version_info"):
            return True
        if isinstance(sub, ast.Attribute) and (sub.attr in ("PY2", "PY3") or _dotted(sub) == "os.name"):
            return True
    return False


@lru_cache(maxsize=20_000)
def parse_expression(text: str) -> ast.expr | None:
    """One expression from a row's source text (which may span lines), or None when it does not parse."""
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if text.startswith("*"):
            inner = parse_expression(text[1:])
            return None if inner is None else ast.Starred(value=inner, ctx=ast.Load())
        return None
