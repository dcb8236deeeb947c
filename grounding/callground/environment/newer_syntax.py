"""Parsing by the user's interpreter, where its Python is newer than this one and the workspace is trusted.

One child for each interpreter, started by the first text that needs it, in isolation; it only parses.
"""

from __future__ import annotations

import ast
import json
import logging
import sys
from importlib import resources

from callground.environment.child import Conversation
from callground.environment.model import Environment
from callground.source.foreign import Unreadable, tree_of
from callground.source.parse import Parsed, use_newer

log = logging.getLogger(__name__)

Newer = tuple[str, tuple[int, int]]
"""(executable, version) of an interpreter that may be asked."""

_SECONDS = 20.0
"""For one text: five megabytes take about six."""

_parsers: dict[str, NewerParser] = {}


class NewerParser:
    """Asks one interpreter for trees."""

    def __init__(self, python: str) -> None:
        self._talk = Conversation(python, [str(resources.files("callground.source") / "tree_dump.py")], _SECONDS)

    def __call__(self, text: str) -> Parsed | None:
        """What that Python makes of a text; None when it gives no answer."""
        data = self._talk.ask(text.encode("utf-8", "surrogatepass"))
        if data is None:
            return None
        try:
            answer = json.loads(data)
            if "error" in answer:
                message, line, column, end_line = answer["error"]
                return Parsed(None, "syntax-error", str(message), int(line), int(column), int(end_line))
            tree: ast.Module = tree_of(answer["tree"])
            return Parsed(tree)
        except (ValueError, KeyError, TypeError, RecursionError, Unreadable) as error:
            log.warning("a tree of a newer Python could not be read: %s", error)
            return None

    def close(self) -> None:
        """End the child."""
        self._talk.close()


def newer_of(environment: Environment) -> Newer | None:
    """The environment's interpreter, if it may be started and knows syntax that this Python does not."""
    version = (environment.version[0], environment.version[1])
    if not environment.trusted or environment.python is None or version <= sys.version_info[:2]:
        return None
    return environment.python, version


def use(newer: Newer | None) -> None:
    """From now on texts that this Python cannot parse are given to that interpreter as well."""
    if newer is None:
        return
    python, version = newer
    parser = _parsers.get(python)
    if parser is None:
        parser = _parsers[python] = NewerParser(python)
    use_newer(version, parser)
