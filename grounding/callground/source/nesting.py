"""How deep an expression is nested, for the one Python whose parser does not look after itself."""

from __future__ import annotations

import re
import sys

DEEPEST_CHAIN = 10_000
"""Longest chain of operators, calls or attributes in one expression that Python 3.10 is given."""

_SHORTEST_RISK = 2 * DEEPEST_CHAIN

_TOKEN = re.compile(
    r'''"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'''
    r"""|\'\'\'[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*\'\'\'"""
    r"""|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|\#[^\n]*"""
    r"""|[(\[{]|[)\]}]|[,;:=\n]|[-+*/%@&|^~.<>]+""",
    re.DOTALL,
)


def too_deep(text: str) -> bool:
    """Whether parsing `text` could overflow the C stack.

    Measured on 3.10, 3.11, 3.12 and 3.13 with chains of up to 200,000 links: brackets, unary
    operators, lambdas and blocks end in a SyntaxError or a MemoryError everywhere.  Chains that
    grow to the left (``1+1+...``, ``x.a.b...``, ``f()()...``) end in a RecursionError from 3.11
    on, but 3.10 turns the tree into objects without a check and dies by a segmentation fault.
    """
    if sys.version_info >= (3, 11) or len(text) < _SHORTEST_RISK:
        return False
    return longest_chain(text) > DEEPEST_CHAIN


def longest_chain(text: str) -> int:
    """An upper bound of the links of the longest chain of operators and trailers in `text`."""
    longest = 0
    links = 0
    outer: list[int] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        first = token[0]
        if first in "([{":
            outer.append(links)
            links = 0
        elif first in ")]}":
            links = (outer.pop() if outer else 0) + 1
        elif first == "\n":
            if not outer:
                links = 0
        elif first in ",;:=":
            links = 0
        elif first not in "\"'#":
            links += 1
        if links > longest:
            longest = links
    return longest
