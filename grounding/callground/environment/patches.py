"""What the files of an installed package store on classes that are not theirs, by their text.

Libraries add methods to other libraries' classes (``DataFrame.progress_apply = ...``) or register names on them
(``register_dataframe_accessor("geo")``).  Reading all of their syntax would take minutes; the few ways to write
this down are looked for in the text.  A wrong yes only means silence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

MOST_BYTES = 80_000_000
"""More text of one package is not looked at."""
_TESTS = frozenset({"tests", "test", "testing", "__pycache__"})

_STORES = re.compile(
    rb"""(?:^|[^\w.])(?:[\w.]*\.)?([A-Z]\w*)\.([A-Za-z_]\w*)[ \t]*=(?!=)"""
    rb"""|setattr\(\s*(?:[\w.]*\.)?([A-Z]\w*)\s*,\s*(?:["'](\w+)["']|[\w.(])"""
    rb"""|\bregister\w*\(\s*["'](\w+)["']"""
)


def stores_in(files: Iterable[str]) -> dict[str, frozenset[str]]:
    """Attribute -> last names of the classes that it is stored on.

    ``"*"`` as an attribute: any; ``"*"`` as a class: on a class that the text does not name.
    """
    found: dict[str, set[str]] = {}
    total = 0
    for path in files:
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError:
            continue
        total += len(text)
        if total > MOST_BYTES:
            break
        for owner, attr, target, name, registered in _STORES.findall(text):
            if owner:
                found.setdefault(attr.decode(), set()).add(owner.decode())
            elif target:
                found.setdefault(name.decode() or "*", set()).add(target.decode())
            elif registered:
                found.setdefault(registered.decode(), set()).add("*")
    return {attr: frozenset(owners) for attr, owners in found.items()}


def python_files(places: Iterable[str]) -> Iterator[str]:
    """The Python files of a package's folders (or the module's own file), tests left out."""
    for place in places:
        if place.endswith(".py"):
            yield place
            continue
        for folder, folders, files in os.walk(place):
            folders[:] = sorted(name for name in folders if name not in _TESTS)
            yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".py"))
