"""Module namespaces: what a module's names are, and the proof that it has no such name."""

from __future__ import annotations

import re

from callground.facts.model import Binding
from callground.graph.interface import Module, SourceFile
from callground.resolve import classes, names, openings, patches, pep562, stub_witness, tables
from callground.resolve.evaluator import Evaluator
from callground.resolve.known import Attributes, Keys, ModuleValue
from callground.resolve.values import (
    MISSING,
    ClassObject,
    Member,
    ModuleObject,
    Ref,
    Values,
    Why,
    instance,
    join,
    known,
    unknown,
)
from callground.verdict.model import Reason

_MODULE_TYPE = Ref("types", "ModuleType")


def absolute(module: Module, source: str) -> str | None:
    """The absolute name of a ``from`` clause's module as seen in `module`; None above the top package."""
    if not source.startswith("."):
        return source
    dots = len(source) - len(source.lstrip("."))
    parts = module.name.split(".")
    drop = dots - (1 if module.is_package else 0)
    if drop >= len(parts) + (0 if drop else 1):
        return None
    base = parts[: len(parts) - drop]
    rest = source[dots:]
    return ".".join([*base, rest] if rest else base)


def import_value(ev: Evaluator, name: str) -> Values:
    """The module object of a dotted name."""
    ev.read("module", name)
    if ev.snapshot.exists(name):
        return known(ModuleObject(name))
    return unknown(Reason.UNKNOWN_IMPORT, name)


def imported_value(ev: Evaluator, name: str, bound_as: str) -> Values:
    """The value that ``import a.b`` binds (`bound_as` empty: to ``a``), or ``import a.b as c`` (`bound_as` is "as").

    Code behind an import that fails does not run: what the top module holds says nothing about it.
    """
    value = import_value(ev, name)
    if bound_as == "as" or "." not in name:
        return value
    top = import_value(ev, name.split(".")[0])
    return top if value.items else top.opened(Reason.UNKNOWN_IMPORT, name)


def from_value(ev: Evaluator, module: Module, source: str, name: str) -> Values:
    """The value that ``from source import name`` binds in `module`."""
    target = absolute(module, source)
    if target is None:
        return unknown(Reason.UNKNOWN_IMPORT, source)
    sub = f"{target}.{name}"
    if target == module.name and module.is_package and (name in module.submodules or ev.snapshot.exists(sub)):
        # A package takes its own submodule: asking the package for it would only come back here.
        return import_value(ev, sub)
    found = import_from(ev, target, name)
    if found.found is not None:
        return found.found
    if found.why is not None:
        return unknown(*found.why)
    return unknown(Reason.UNKNOWN_IMPORT, f"{target}.{name}")


def import_from(ev: Evaluator, target: str, name: str) -> Member:
    """What ``from target import name`` gives: an attribute of the module, else its submodule."""
    ev.read("module", target)
    if not ev.snapshot.exists(target):
        return Member(why=Why(Reason.UNKNOWN_IMPORT, target))
    module = ev.module(target)
    if module is None:
        return Member(why=Why(Reason.UNKNOWN_IMPORT, target))
    found = member(ev, target, name, importing=True)
    sub = f"{target}.{name}"
    if found.found is not None:
        both = name in module.submodules and found.found != known(ModuleObject(sub))
        if both:
            # While the package is being imported the name may still be the submodule.
            ev.read("module", sub)
            return Member(join(found.found, known(ModuleObject(sub))))
        return found
    if name in module.submodules or ev.snapshot.exists(sub):
        ev.read("module", sub)
        return Member(known(ModuleObject(sub)))
    ev.read("module", sub)
    return found


def member(ev: Evaluator, name: str, attr: str, importing: bool = False) -> Member:
    """The attribute `attr` of module `name`."""
    ev.read("symbol", name, attr)
    return ev.memo(
        ("member", name, attr, importing),
        lambda: _member(ev, name, attr, importing),
        lambda reason: Member(why=Why(reason)),
    )


def _member(ev: Evaluator, name: str, attr: str, importing: bool) -> Member:
    module = ev.module(name)
    if module is None:
        return Member(why=Why(Reason.UNKNOWN_IMPORT, name))
    ev.read("symbol", name, attr)
    found: list[Values] = []
    guarded = ""
    for file in ev.faces(module):
        if file.is_stub and not _stub_exports(ev, file, attr):
            continue
        values = global_values(ev, module, file, attr, None)
        if values is None:
            star = star_lookup(ev, module, file, attr)
            values = star.found if star is not None else None
        if values is not None:
            found.append(values)
            if values.complete and values.items:
                break
        guarded = guarded or _guard_of(ev, file, attr)
    if found:
        best = next((v for v in found if v.items), found[0])
        if module.also:
            best = best.opened(Reason.UNKNOWN_IMPORT, f"{name} may also be {module.also[0]}")
        return Member(patches.perhaps_replaced(ev, best, attr))
    if module.also:
        return Member(why=Why(Reason.UNKNOWN_IMPORT, f"{name} may also be {module.also[0]}"))
    if attr in module.submodules or (module.is_package and ev.snapshot.exists(f"{name}.{attr}")):
        return _submodule(ev, module, attr)
    if attr in names.MODULE_DUNDERS:
        cls = names.MODULE_DUNDERS[attr]
        return Member(known(instance(cls)) if cls else unknown(Reason.UNKNOWN_TYPE))
    given = _given(ev, module, attr)
    if given is not None:
        return Member(given)
    for file in ev.faces(module):
        # The standard library's stubs are checked against it for public names: its tricks are all in them.
        if (
            module.origin == "stdlib"
            and module.stub is not None
            and file is not module.stub
            and not attr.startswith("_")
        ):
            continue
        why = open_reason(ev, module, file, attr)
        if why is not None and not (file is module.source and stub_witness.refute(ev, module, attr)):
            return Member(why=Why(*why))
    if attr.startswith("__") and attr.endswith("__"):
        base = classes.instance_member(ev, _MODULE_TYPE, attr)
        if base.found is not None:
            return Member(base.found)
    if module.is_namespace and not ev.faces(module):
        return MISSING
    if not ev.faces(module):
        return Member(why=Why(Reason.COMPILED, name))
    if module.compiled and module.probed is None:
        return Member(why=Why(Reason.COMPILED, name))
    if module.source is None and module.probed is None and module.origin != "stdlib" and not _stub_package(module):
        return Member(why=Why(Reason.STUB_ONLY, name))
    patched = (
        patches.patch_reason(ev, name, attr, name) or (not guarded and _written_otherwise(ev, module, attr)) or None
    )
    if patched is not None:
        return Member(why=patched)
    return Member(guarded=guarded)


def _given(ev: Evaluator, module: Module, attr: str) -> Values | None:
    """What the module's ``__getattr__`` gives for a name, where that is one known thing."""
    file = module.source
    if file is None or not ev.index(file).bindings("__getattr__") or attr.startswith("__"):
        return None
    value = pep562.asked(ev, module, file, attr).value
    if isinstance(value, ModuleValue):
        return import_value(ev, value.name)
    if value is None or (value.module, value.name) == (module.name, attr):
        return None
    found = import_from(ev, value.module, value.name)
    return found.found if found.found is not None else unknown(Reason.OPEN_MODULE, f"{module.name}.__getattr__")


def _written_otherwise(ev: Evaluator, module: Module, attr: str) -> Why | None:
    """The text defines the name in a way that the facts do not show: in a string that is executed, in dead code."""
    if module.source is None or attr not in module.source.text:
        return None
    text = re.escape(attr)
    if re.search(rf"\b(?:def|class)\s+{text}\b|^\s*{text}\s*=[^=]", module.source.text, re.MULTILINE):
        return Why(Reason.OPEN_MODULE, f"the text of {module.name} defines {attr}")
    return None


def _stub_exports(ev: Evaluator, file: SourceFile, attr: str) -> bool:
    """False for what a stub only imports for itself (PEP 484: ``import x as x`` and ``__all__`` re-export)."""
    rows = ev.index(file).bindings(attr)
    if not rows or any(b.kind not in ("from", "import") for _piece, b in rows):
        return True
    listed, is_open, _sources = ev.index(file).exports()
    if is_open or (listed is not None and attr in listed):
        return True
    return re.search(rf"\b{re.escape(attr)}\s+as\s+{re.escape(attr)}\b", file.text) is not None


def _stub_package(module: Module) -> bool:
    return module.origin == "workspace" and module.stub is not None


def _guard_of(ev: Evaluator, file: SourceFile, attr: str) -> str:
    for _piece, b in ev.index(file).bindings(attr):
        if not ev.alive(b.guards):
            return next((g for g in b.guards if "version" in g or "platform" in g), "")
    return ""


def library_patch(ev: Evaluator, owner: str, attr: str, *, registered: bool) -> Why | None:
    """Whether an installed package that the workspace imports stores that attribute on a class of that name.

    `registered`: names that a package registers somewhere count too.
    """
    ev.read("imported", "*")
    owners = {owner.rpartition(".")[2], "*"} if registered else {owner.rpartition(".")[2]}
    if ev.snapshot.library_stores(attr) & owners:
        return Why(Reason.MONKEY_PATCHED, f"{owner}.{attr} is stored by a package")
    return None


def _submodule(ev: Evaluator, module: Module, attr: str) -> Member:
    """A submodule is an attribute of its package once somebody has imported it."""
    return Member(known(ModuleObject(f"{module.name}.{attr}")))


def reaching(ev: Evaluator, file: SourceFile, name: str, before: int | None) -> list[tuple[int, Binding]] | None:
    """The rows that may give `name` its value at a line of the module (None: at its end); None when there are none.

    A row outside every condition hides the rows above it, at a line; from inside a function any row may be current.
    """
    starts = file.facts.starts
    kept: list[tuple[int, Binding]] = []
    seen = False
    for piece, b in ev.index(file).bindings(name):
        if not ev.alive(b.guards):
            continue
        seen = True
        if before is not None and starts[piece] + b.line - 1 >= before and "loop" not in b.guards:
            continue
        if b.kind == "del":
            if not b.guards:
                kept = []
            continue
        plain = not b.guards or all(_always(ev, g) for g in b.guards)
        if plain and b.kind != "augassign" and (before is not None or b.kind in ("def", "class", "import", "from")):
            kept = [k for k in kept if before is None and k[1].kind not in ("def", "class", "import", "from")]
        if b.kind == "def" and kept and _overloads(ev, file, piece, b):
            pass
        if b.kind == "augassign" and before is None and kept:
            pass
        kept.append((piece, b))
    if kept:
        return kept
    if seen and before is not None:
        return reaching(ev, file, name, None)
    return None


def _always(ev: Evaluator, guard: str) -> bool:
    if guard.startswith("if:"):
        return ev.static.text(guard[3:]) is True
    if guard.startswith("else:"):
        return ev.static.text(guard[5:]) is False
    return guard in ("with", "try-else", "finally")


def _overloads(ev: Evaluator, file: SourceFile, piece: int, b: Binding) -> bool:
    return any("overload" in d for _p, f in ev.index(file).functions(b.value or b.name) for d in f.decorators)


def global_values(ev: Evaluator, module: Module, file: SourceFile, name: str, before: int | None) -> Values | None:
    """The values of a module's global name; None when the file does not bind it."""
    ev.read("symbol", module.name, name)

    def compute() -> Values | None:
        rows = reaching(ev, file, name, before)
        if rows is None:
            return None
        scope = ev.module_scope(module, file)
        parts: list[Values] = []
        defs: set[str] = set()
        for piece, b in rows:
            if b.kind == "def":
                if (b.value or b.name) in defs:
                    continue
                defs.add(b.value or b.name)
            parts.append(names.evaluate_binding(ev, module, file, piece, b, scope))
        return join(*parts)

    return ev.memo(
        ("global", module.name, file.path, file.digest, name, before), compute, lambda reason: unknown(reason)
    )


def star_lookup(ev: Evaluator, module: Module, file: SourceFile, name: str) -> Member | None:
    """A name brought in by ``from m import *``: found, or why it may be; None when no star import can bring it."""
    stars = ev.index(file).star_imports()
    perhaps: Member | None = None
    for _piece, b in reversed(stars):
        if not ev.alive(b.guards):
            continue
        target = absolute(module, b.value or "")
        if target is None or target == module.name:
            continue
        ev.read("module", target)
        if not ev.snapshot.exists(target):
            perhaps = Member(why=Why(Reason.STAR_IMPORT, target))
            continue
        exported, is_open = exports(ev, target)
        listed = name in exported if exported is not None else not name.startswith("_")
        if listed or is_open:
            # Where it cannot be told what is exported: what the module has, it may hand on, and nothing else.
            found = member(ev, target, name, importing=True)
            if found.found is not None:
                return found
            if found.why is not None:
                perhaps = Member(why=found.why)
    return perhaps


def exports(ev: Evaluator, name: str) -> tuple[frozenset[str] | None, bool]:
    """(the names in ``__all__`` or None without one, whether the list may be longer)."""
    ev.read("module", name)

    def compute() -> tuple[frozenset[str] | None, bool]:
        module = ev.module(name)
        if module is None:
            return None, True
        for file in (module.source, module.stub, module.probed):
            if file is None:
                continue
            computed = _computed_exports(ev, module, file)
            if computed is not None:
                return computed, False
            if ev.index(file).exports().open and _lists_itself(ev, module, file):
                return None, False
            listed, is_open, sources = ev.index(file).exports()
            if listed is None and not sources:
                return None, is_open
            names_: set[str] = set(listed or ())
            for source in sources:
                target = _export_source(ev, module, file, source)
                if target is None:
                    is_open = True
                    continue
                more, more_open = exports(ev, target)
                names_ |= more or set()
                is_open = is_open or more_open or more is None
            return frozenset(names_), is_open
        return None, True

    return ev.memo(("exports", name), compute, lambda reason: (None, True))


def _computed_exports(ev: Evaluator, module: Module, file: SourceFile) -> frozenset[str] | None:
    """The names of an ``__all__`` that is made of tables and loops; None when it is plain or cannot be told."""
    if not ev.index(file).exports().open:
        return None
    known = tables.table(ev, module, file, "__all__")
    if not isinstance(known, Keys) or not known.exact:
        return None
    return frozenset(n for n in known.values if isinstance(n, str))


def _lists_itself(ev: Evaluator, module: Module, file: SourceFile) -> bool:
    """``__all__ = [n for n in dir() if not n.startswith("_")]``: as good as none."""
    return tables.table(ev, module, file, "__all__") == Attributes(module.name)


def _export_source(ev: Evaluator, module: Module, file: SourceFile, source: str) -> str | None:
    """The module meant by ``mod`` in ``__all__ += mod.__all__``."""
    head, _, rest = source.partition(".")
    values = global_values(ev, module, file, head, None)
    if values is None or len(values.items) != 1 or not isinstance(values.items[0], ModuleObject):
        return None
    base = values.items[0].name
    return f"{base}.{rest}" if rest else base


def open_reason(ev: Evaluator, module: Module, file: SourceFile, attr: str = "") -> Why | None:
    """Why the module may have names that the file does not show."""
    facts = file.facts
    if facts.error is not None:
        reason = Reason.SYNTAX_NEWER if facts.error == "syntax-newer-than-server" else Reason.SYNTAX_ERROR
        return Why(reason, file.path)
    index = ev.index(file)
    written = openings.why(ev, module, file, attr)
    if written:
        return Why(Reason.OPEN_MODULE, f"{module.name}: {written}")
    if any(p.masked for p in facts.pieces):
        return Why(Reason.SYNTAX_ERROR, module.name)
    getters = index.bindings("__getattr__")
    if getters and not (attr and pep562.asked(ev, module, file, attr).raises):
        return Why(Reason.OPEN_MODULE, f"{module.name}.__getattr__")
    for _piece, b in index.star_imports():
        target = absolute(module, b.value or "")
        if target is None or target == module.name or not ev.alive(b.guards):
            continue
        if not ev.snapshot.exists(target):
            return Why(Reason.STAR_IMPORT, target)
        listed, is_open = exports(ev, target)
        if is_open and not attr:
            return Why(Reason.STAR_IMPORT, target)
        if not is_open and listed is not None and attr and attr not in listed:
            continue
        star = ev.module(target)
        if star is None or not ev.faces(star) or (star.compiled and star.probed is None):
            return Why(Reason.COMPILED, target)
        if star.name != module.name:
            for inner in ev.faces(star):
                why = ev.memo(
                    ("star-open", target, inner.path, attr),
                    lambda s=star, i=inner: open_reason(ev, s, i, attr),  # type: ignore[misc]  # defaults bind the loop's values
                    lambda reason: None,
                )
                if why is not None:
                    return why
    return None


def all_names(ev: Evaluator, name: str) -> tuple[str, ...]:
    """Public names of a module, for suggestions: rows, star imports and submodules."""
    module = ev.module(name)
    if module is None:
        return ()
    found: dict[str, None] = {}
    for file in ev.faces(module):
        found.update(dict.fromkeys(n for n in ev.index(file).names() if n != "*"))
        for _piece, b in ev.index(file).star_imports():
            target = absolute(module, b.value or "")
            if target and target != name and ev.snapshot.exists(target):
                exported, _open = exports(ev, target)
                found.update(dict.fromkeys(exported or ()))
    found.update(dict.fromkeys(module.submodules))
    return tuple(found)


def as_class(values: Values) -> ClassObject | None:
    """The class when the values are exactly one class."""
    if len(values.items) == 1 and isinstance(values.items[0], ClassObject):
        return values.items[0]
    return None
