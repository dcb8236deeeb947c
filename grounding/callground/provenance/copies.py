"""Does an inserted text stand somewhere in the workspace already?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from callground.provenance.history import Source
from callground.provenance.tokens import is_name, words

_COMMENT = re.compile(r"(?m)(?:^|(?<=\s))#[^\"'\n]*$")

MOST_FILES = 20
"""More files that mention every name of a text are common names, not a place that it was copied from."""
MOST_NAMES = 40
LARGEST = 2_000_000
"""Bytes of a file that is looked into."""


class Entry(Protocol):
    """A file of the workspace."""

    @property
    def path(self) -> str:
        """Where it lies."""
        ...


class Mentions(Protocol):
    """Who mentions a name; `callground.graph.snapshot.Snapshot` answers."""

    def mentioning(self, name: str) -> Iterable[Entry]:
        """The files that mention a name."""
        ...


def stands_in(snapshot: Mentions, text: str, opened: Iterable[str]) -> bool:
    """Whether the words of a text stand, one after the other, in a file that is not among `opened`."""
    keys = [word.key for word in words(text)]
    # Files are looked up by what their code mentions, which leaves out comments.
    code = (word.key for word in words(_COMMENT.sub("", text)))
    names = list(dict.fromkeys(key for key in code if is_name(key)))[:MOST_NAMES]
    if len(keys) < 2 or not names:
        return False
    files: set[str] | None = None
    for name in sorted(names, key=len, reverse=True):
        having = {entry.path for entry in snapshot.mentioning(name)}
        files = having if files is None else files & having
        if not files:
            return False
    assert files is not None
    files -= set(opened)
    for path in sorted(files)[:MOST_FILES]:
        try:
            with open(path, "rb") as file:
                data = file.read(LARGEST)
        except OSError:
            continue
        if Source(data.decode("utf-8", "replace")).find(keys) is not None:
            return True
    return False
