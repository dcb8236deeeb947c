"""Attributes that something stores on modules and classes from outside."""

from __future__ import annotations

import re

from callground.resolve import modules
from callground.resolve.evaluator import Evaluator
from callground.resolve.values import (
    ClassObject,
    FunctionObject,
    Ref,
    Values,
    Why,
)
from callground.verdict.model import Reason

_COPIED = re.compile(r"[\w.]+\.__dict__(\.copy\(\))?")
"""``x.__dict__ = y.__dict__``: no attribute that another object had not."""


def patch_reason(ev: Evaluator, owner: str, attr: str, home: str = "") -> Why | None:
    """Whether some workspace file, or the owner's own module, stores that attribute on what may be the owner."""
    ev.read("stores", attr)
    last = owner.rsplit(".", 1)[-1]
    for _module, store in ev.snapshot.stores(attr):
        return Why(Reason.MONKEY_PATCHED, f"{store.receiver}.{attr}")
    own = home_stores(ev, home) if home else frozenset()
    if attr in own:
        return Why(Reason.MONKEY_PATCHED, f"{home} stores .{attr}")
    if any(_handed_to(ev, home, name[1:], last) for name in own if name.startswith("*")):
        return Why(Reason.MONKEY_PATCHED, f"{home} sets attributes by name")
    ev.read("stores", "*")
    for where, store in ev.snapshot.stores("*"):
        receiver = store.receiver.rsplit(".", 1)[-1]
        if (
            receiver == last
            or _names_it(ev, where, store.receiver, owner)
            or (not _COPIED.fullmatch(store.value or "") and stands_for(ev, where, store.receiver, last))
        ):
            return Why(Reason.MONKEY_PATCHED, f"setattr({store.receiver}, ...)")
    return None


def home_stores(ev: Evaluator, home: str) -> frozenset[str]:
    """The attributes that a module stores on other things than a method's first parameter.

    ``*f`` says that the function ``f`` sets attributes of computed names on a local.
    """

    ev.read("module", home)
    module = ev.module(home) if ev.snapshot.exists(home) else None
    if module is None or module.source is None or module.origin == "stdlib":
        return frozenset()
    source = module.source

    def compute() -> frozenset[str]:
        found: set[str] = set()
        for piece in source.facts.pieces:
            for store in piece.attr_stores:
                if store.attr != "*":
                    found.add(store.attr)
                elif store.receiver.isidentifier() and store.scope:
                    found.add("*" + store.scope.rsplit(".", 1)[-1])
        return frozenset(found)

    # By its text: no key tells that a function's body stores something else now.
    return ev.memo(("home-stores", home, source.digest), compute, lambda reason: frozenset())


def _handed_to(ev: Evaluator, home: str, function: str, name: str) -> bool:
    """Whether the module's text calls the function with the name among the arguments."""
    module = ev.module(home)
    if module is None or module.source is None:
        return False
    return re.search(rf"(?<!def )\b{re.escape(function)}\([^)]*\b{re.escape(name)}\b", module.source.text) is not None


def handed_over(ev: Evaluator, ref: Ref) -> Why | None:
    """Whether a function's own module hands it to something, which may set attributes on it."""
    module = ev.module(ref.module)
    if module is None or module.source is None:
        return None
    ev.read("text", ref.module)
    last = re.escape(ref.qualname.rsplit(".", 1)[-1])
    # A name among arguments, or given to a parameter.
    handed = re.search(rf"[(,=]\s*(?:\w+\.)*{last}\s*[,)]", module.source.text)
    return Why(Reason.MONKEY_PATCHED, f"{ref.qualname} is handed over") if handed is not None else None


def _names_it(ev: Evaluator, where: str, receiver: str, owner: str) -> bool:
    head = receiver.split(".", 1)[0]
    if not head.isidentifier() or head in ("self", "cls"):
        return False
    module = ev.module(where)
    if module is None or module.source is None:
        return False
    for _piece, b in ev.index(module.source).bindings(head):
        if b.kind in ("import", "from"):
            target = modules.absolute(module, b.value or "") or ""
            full = f"{target}.{b.path}" if b.kind == "from" else target
            if full == owner or full.rsplit(".", 1)[-1] == owner.rsplit(".", 1)[-1]:
                return True
    return False


def stands_for(ev: Evaluator, where: str, name: str, last: str) -> bool:
    """Whether a local name may hold a class, or an instance that it made, by the text of its module."""
    if not name.isidentifier():
        return False
    module = ev.module(where)
    if module is None or module.source is None:
        return False
    source = module.source

    def compute() -> bool:
        text = source.text
        if last not in text:
            return False
        # `x = Class(`, `x=Class` as a default, `x: Class`
        given = rf"\b{re.escape(name)}\s*(?::[^=\n]*)?=\s*(?:\w+\.)*{re.escape(last)}\b"
        declared = rf"\b{re.escape(name)}\s*:\s*['\"]?(?:\w+\.)*{re.escape(last)}\b"
        return re.search(f"{given}|{declared}", text) is not None

    return ev.memo(("stands-for", where, source.digest, name, last), compute, lambda reason: False)


def perhaps_replaced(ev: Evaluator, values: Values, attr: str) -> Values:
    """A class or function under whose name the workspace stores something on some module is not certain any more."""
    own = [o for o in values.items if isinstance(o, (ClassObject, FunctionObject)) and o.ref.qualname == attr]
    if not own:
        return values
    ev.read("stores", attr)
    for where, store in ev.snapshot.stores(attr):
        if _may_be_module(ev, where, store.receiver):
            return values.opened(Reason.MONKEY_PATCHED, f"{store.receiver}.{attr}")
    return values


def _may_be_module(ev: Evaluator, where: str, receiver: str) -> bool:
    """Whether the receiver of a store may be a module: imported, or a local of a function."""
    head = receiver.split(".", 1)[0]
    if head in ("self", "cls"):
        return False
    module = ev.module(where)
    if module is None or module.source is None:
        return True
    rows = ev.index(module.source).bindings(head)
    return not rows or any(b.kind in ("import", "from") for _piece, b in rows)
