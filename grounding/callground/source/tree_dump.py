"""Prints syntax trees as JSON: what a newer Python runs for an older one that reads its users' code.

Runs on the user's interpreter, by its path and alone (``-I -S``): standard library only, nothing of callground.
Nothing of the text is compiled or executed.  On standard input and output: four bytes of length, big end first, then
that many bytes.  A question is a text in UTF-8; the answer is ``{"tree": NODE}`` or ``{"error": [message, line,
column, end line]}``.  A NODE is ``[class name, fields, positions]``, a constant ``["=", kind, text]``.
"""

import ast
import json
import os
import struct
import sys
from typing import Any

POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def dumped(value: Any) -> Any:
    """A node, a list or a plain value, as JSON can hold it."""
    if isinstance(value, ast.AST):
        fields = {name: dumped(each) for name, each in ast.iter_fields(value) if each is not None and each != []}
        return [type(value).__name__, fields, [getattr(value, name, None) for name in POSITIONS]]
    if isinstance(value, list):
        return {"list": [dumped(each) for each in value]}
    if value is None or value is True or value is False or value is Ellipsis:
        return ["=", "name", repr(value)]
    if isinstance(value, str):
        return ["=", "str", value]
    if isinstance(value, bytes):
        return ["=", "bytes", value.decode("latin-1")]
    return ["=", type(value).__name__, repr(value)]


def answer(text: str) -> Any:
    """The answer to one text."""
    try:
        return {"tree": dumped(ast.parse(text))}
    except SyntaxError as error:
        where = [error.lineno or 0, error.offset or 0, getattr(error, "end_lineno", None) or 0]
        return {"error": [error.msg or "invalid syntax", *where]}
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        return {"error": [str(error) or type(error).__name__, 0, 0, 0]}


def main() -> None:
    """Answer until the input ends."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a parser may print must not get between the answers.
    os.dup2(2, 1)
    sys.setrecursionlimit(5000)
    while True:
        head = source.read(4)
        if len(head) < 4:
            return
        text = source.read(struct.unpack(">I", head)[0]).decode("utf-8", "surrogatepass")
        data = json.dumps(answer(text)).encode("ascii")
        target.write(struct.pack(">I", len(data)) + data)
        target.flush()


if __name__ == "__main__":
    main()
