"""Modules that compute names, and ship a stub of their own that lists all of them.

Two witnesses together: the stub beside the module is closed and lacks the name, and the text of the modules that
compute names does not hold it either.  One of them alone proves nothing: stubs are often not complete, and names
are often put together out of parts.
"""

from __future__ import annotations

import re

from callground.graph.interface import Module, SourceFile
from callground.resolve import modules, openings, pep562
from callground.resolve.evaluator import Evaluator

MAX_MODULES = 60


def refute(ev: Evaluator, module: Module, attr: str) -> bool:
    """Whether the module's own stub and the text that computes names both know nothing of `attr`."""
    stub, source = module.stub, module.source
    if stub is None or source is None or module.partial_stub or attr.startswith("_"):
        return False
    if stub.path.rpartition(".")[0] != source.path.rpartition(".")[0]:
        return False  # somebody else's stub
    if modules.open_reason(ev, module, stub, attr) is not None:
        return False
    word = re.compile(rf"\b{re.escape(attr)}\b")
    texts = _computing(ev, module, attr)
    return texts is not None and not any(word.search(file.text) for file in texts)


def _computing(ev: Evaluator, module: Module, attr: str) -> list[SourceFile] | None:
    """The files whose statements may give the name, star imports followed; None when one cannot be read."""
    found: list[SourceFile] = []
    pending, seen = [module], {module.name}
    while pending:
        current = pending.pop()
        file = current.source
        if file is None or file.facts.error is not None or len(seen) > MAX_MODULES:
            return None
        index = ev.index(file)
        getter = index.bindings("__getattr__") and not pep562.asked(ev, current, file, attr).raises
        if getter or openings.why(ev, current, file, attr):
            found.append(file)
        for _piece, b in index.star_imports():
            target = modules.absolute(current, b.value or "")
            if target is None or target in seen or not ev.alive(b.guards):
                continue
            seen.add(target)
            star = ev.module(target) if ev.snapshot.exists(target) else None
            if star is None:
                return None
            listed, is_open = modules.exports(ev, target)
            if is_open or listed is None or attr in listed:
                pending.append(star)
    return found
