"""What a library itself says about a name that it does not have where it was asked for.

Four places, asked only when nothing near was found: the library's own text about removed names, other
modules of the same package (where the name may live now, or be imported from), modules that the asked one
imports, and for a method the function of that name beside its class.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from callground.graph.interface import Module, SourceFile
from callground.repairs.asked import Asked
from callground.repairs.model import Candidate, ImportWanted
from callground.repairs.words import likeness, parts, plain
from callground.resolve import modules
from callground.resolve.values import ClassObject, Instance, ModuleObject

_DEPTH = 3
_MOST_MODULES = 400
_MOST_READ = 12
_LIKE = 0.72
_QUIET = re.compile(r"^(_|tests?$|testing$|conftest$|setup$|vendor|compat$|.*_test$)")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.]*")


def of(asked: Asked, near: bool) -> list[Candidate]:
    """Candidates from further away, each with the import that it needs.

    With `near`, a near name is known: then only the library's own text is asked.
    """
    found: list[Candidate] = []
    owner = asked.proof.owner_object
    if isinstance(owner, ModuleObject):
        module = asked.source.ask(lambda: asked.source.evaluator.module(owner.name))
        if module is not None:
            found += _said(asked, module)
            if near:
                return found
            found += _in_package(asked, module)
            found += _in_imported(asked, module)
    elif near:
        return found
    elif isinstance(owner, Instance):
        found += _functions(asked, owner)
    elif asked.code == "unknown-import" and owner is None:
        found += _same_name_elsewhere(asked)
    # Of one thing at several places, the place that is nearest to the top.
    best: dict[str, Candidate] = {}
    for each in found:
        known = best.get(each.name)
        if known is None or (each.owner.count("."), each.owner) < (known.owner.count("."), known.owner):
            best[each.name] = each
    return list(best.values())


# -- the library's own text


def _said(asked: Asked, module: Module) -> Iterator[Candidate]:
    """Names of the module that its own text puts beside the missing one: a table of removed names, a message."""
    source, wrong = asked.source, asked.name
    if len(wrong) < 3 or wrong in module.name.split("."):
        # The library's own name stands in all of its texts.
        return
    texts = _texts(asked, module)
    seen: set[str] = set()
    prefix = _prefix(asked)
    for text in texts:
        for sentence in _sentences(text, wrong):
            for word in _IDENTIFIER.findall(sentence):
                last = word.rstrip(".").rpartition(".")[2]
                if last == wrong or last in seen or len(last) < 2:
                    continue
                seen.add(last)
                got = source.ask(lambda n=last: modules.import_from(source.evaluator, module.name, n))  # type: ignore[misc]
                if got is None or got.found is None or not _code_like(sentence, word):
                    continue
                said = " ".join(sentence.strip("rfbu\"' ").split())[:120]
                yield Candidate(last, "text", prefix + last, module.name, likeness=0.9, why=f"the library says: {said}")


def _texts(asked: Asked, module: Module) -> list[str]:
    """The module's own texts that name the missing thing, and those of its helpers for removed names."""
    source, wrong = asked.source, asked.name.rpartition(".")[2]
    texts = [f.text for f in (module.source, module.stub) if f is not None and wrong in f.text]
    for name in sorted(module.submodules):
        if name.startswith("_") and re.search(r"expired|deprecat|removed|compat|alias|migrat", name):
            inner = source.ask(lambda n=name: source.evaluator.module(f"{module.name}.{n}"))  # type: ignore[misc]
            if inner is not None and inner.source is not None and wrong in inner.source.text:
                texts.append(inner.source.text)
    return texts


def mentioned(asked: Asked) -> bool:
    """Whether the library that was asked knows the missing name: it was there once, or is for other versions.

    Then a name that is only spelt like it need not be what was meant.
    """
    if asked.proof.version_guard:
        return True
    owner = asked.proof.owner_object
    name = owner.name if isinstance(owner, ModuleObject) else ""
    if isinstance(owner, (Instance, ClassObject)):
        name = owner.ref.module
    module = asked.source.ask(lambda: asked.source.evaluator.module(name)) if name else None
    if module is None or module.origin == "workspace":
        return False
    word = re.compile(rf"\b{re.escape(asked.name.rpartition('.')[2])}\b")
    return any(word.search(text) for text in _texts(asked, module))


def _code_like(sentence: str, word: str) -> bool:
    """Whether a word of a sentence is meant as code: in backticks, dotted, or called."""
    place = sentence.find(word)
    return (
        "." in word.strip(".")
        or sentence[place - 1 : place] in ("`", "'", '"')
        or sentence[place + len(word) : place + len(word) + 1] in ("`", "(")
    )


def _sentences(text: str, wrong: str) -> Iterator[str]:
    """Strings that stand beside the missing name as a key, or that name it."""
    key = re.compile(rf"""["']{re.escape(wrong)}["']\s*:\s*\(?\s*((?:[rfbu]?["'](?:[^"'\\]|\\.)*["']\s*)+)""")
    for match in key.finditer(text):
        yield match[1]
    for match in re.finditer(rf"""["'](?:[^"'\n]*[`.])?{re.escape(wrong)}\b[^"'\n]*["']""", text):
        around = text[max(0, match.start() - 80) : match.end() + 160]
        if re.search(r"deprecat|removed|instead|renamed|moved", around, re.IGNORECASE):
            yield match[0]


# -- other modules


def _in_package(asked: Asked, module: Module) -> list[Candidate]:
    """The name, or one very like it, in the other modules of the same package."""
    top = module.name.partition(".")[0]
    inside = _holding(asked, module.name if module.is_package else top, module.name)
    if not inside and module.name != top:
        inside = _holding(asked, top, module.name)
    return inside


def _holding(asked: Asked, package: str, besides: str) -> list[Candidate]:
    source, ev, wrong = asked.source, asked.source.evaluator, asked.name.rpartition(".")[2]
    telling = [part.encode() for part in parts(wrong) if len(part) >= 4] or [plain(wrong).encode()]
    hits: list[tuple[int, str]] = []
    for name in walk(asked, package):
        if name == besides:
            continue
        text = raw(asked, name)
        if text is None:
            continue
        exact = re.search(rf"\b{re.escape(wrong)}\b".encode(), text) is not None
        low = text.lower()
        if exact or all(part in low for part in telling):
            hits.append((0 if exact else 1, name))
    found: list[Candidate] = []
    for _order, name in sorted(hits, key=lambda h: (h[0], h[1].count("."), h[1]))[:_MOST_READ]:
        inner = source.ask(lambda n=name: ev.module(n))  # type: ignore[misc]
        for file in (inner.source, inner.stub) if inner is not None else ():
            if file is not None and inner is not None:
                found += _named_in(asked, inner, file, "submodule")
    return found


def _named_in(asked: Asked, module: Module, file: SourceFile, place: str) -> Iterator[Candidate]:
    """Names of one module that are the missing one or very like it; imported ones are taken where they come from."""
    wrong = asked.name.rpartition(".")[2]
    index = asked.source.evaluator.index(file)
    for name in index.names():
        if name.startswith("_") and not wrong.startswith("_"):
            continue
        alike = likeness(wrong, name)
        if alike.score < _LIKE:
            continue
        _piece, b = index.bindings(name)[-1]
        home, real = module.name, name
        if b.kind == "from":
            target = modules.absolute(module, b.value or "")
            if target is None or any(part.startswith("_") for part in target.split(".")):
                continue
            home, real = target, b.path
        elif b.kind == "import":
            continue
        kind = {"def": "function", "class": "class"}.get(b.kind, "variable")
        wanted = ImportWanted(home, real)
        why = f"{home} has it" if name == wrong else f"{home} has `{real}`; {alike.reason}"
        yield Candidate(
            real, place, reached(asked, home, real), home, kind, wanted, file.path, likeness=alike.score, why=why
        )


def reached(asked: Asked, home: str, name: str) -> str:
    """The callee's text for a name of another module: through the asked package where it leads there."""
    owner = asked.proof.owner_object
    node = asked.proof.node
    if isinstance(owner, ModuleObject) and isinstance(node, ast.Attribute):
        if home.startswith(owner.name + "."):
            return f"{asked.text(node.value)}{home[len(owner.name) :]}.{name}"
    return name


def walk(asked: Asked, package: str, private: bool = False) -> Iterator[str]:
    """Public modules of a package (with `private`: and those behind them), the nearest to its top first."""
    space = asked.source.snapshot.space
    pending = [(package, 0)]
    count = 0
    while pending and count < _MOST_MODULES:
        name, depth = pending.pop(0)
        count += 1
        yield name
        if depth >= _DEPTH:
            continue
        for child in sorted(space.finder.submodules(name)):
            if not _QUIET.match(child.lstrip("_") if private else child):
                pending.append((f"{name}.{child}", depth + 1))


def raw(asked: Asked, name: str) -> bytes | None:
    """A module's text, unread by anybody: most modules are ruled out by a look for the word."""
    located = asked.source.snapshot.space.finder.locate(name)
    path = located.path or located.stub_path if located is not None else None
    if path is None or not path.endswith((".py", ".pyi")):
        path = located.stub_path if located is not None else None
    if path is None or not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            return file.read(2_000_000)
    except OSError:
        return None


def _in_imported(asked: Asked, module: Module) -> Iterator[Candidate]:
    """The very name in a module that the asked one imports (``flask.helpers`` -> ``werkzeug.utils``)."""
    source, ev = asked.source, asked.source.evaluator
    if module.source is None:
        return
    names = source.snapshot.space.imports_of(module.source, module.name, module.is_package)
    top = module.name.partition(".")[0]
    wrong = asked.name.encode()
    for name in sorted(names):
        if name.partition(".")[0] == top or not source.ask(lambda n=name: ev.snapshot.exists(n)):  # type: ignore[misc]
            continue
        text = raw(asked, name)
        if text is None or re.search(rb"\b" + re.escape(wrong) + rb"\b", text) is None:
            continue
        got = source.ask(lambda n=name: modules.import_from(ev, n, asked.name))  # type: ignore[misc]
        inner = source.ask(lambda n=name: ev.module(n))  # type: ignore[misc]
        if got is None or got.found is None or inner is None:
            continue
        for file in (inner.source, inner.stub):
            if file is not None:
                for each in _named_in(asked, inner, file, "used-by"):
                    if each.name == asked.name:
                        # From where the asked module itself has what is next to it: the public door.
                        yield each._replace(owner=name, wanted=ImportWanted(name, asked.name))


def _same_name_elsewhere(asked: Asked) -> list[Candidate]:
    """``from gone import name``: the name in another module of the same package, or of the workspace."""
    node, alias = asked.site.node, asked.site.alias
    if not isinstance(node, ast.ImportFrom) or alias is None or alias.name == "*":
        return []
    top = asked.name.partition(".")[0]
    if not asked.source.ask(lambda: asked.source.snapshot.exists(top)):
        return []
    asked_for = _Renamed(asked, alias.name)
    return [c for c in _holding(asked_for, top, asked.name) if c.name == alias.name]


class _Renamed(Asked):
    """The same finding, asked about another name."""

    def __init__(self, asked: Asked, name: str) -> None:
        super().__init__(asked.source, asked.site, asked.proof)
        self._name = name

    @property
    def name(self) -> str:
        """The name that is looked for."""
        return self._name


# -- functions beside a class


def _functions(asked: Asked, owner: Instance) -> Iterator[Candidate]:
    """``array.isin(x)`` -> ``numpy.isin(array, x)``: functions of the modules that stand around the class."""
    source, ev, wrong = asked.source, asked.source.evaluator, asked.name
    if asked.calls_it is None or owner.ref.module == "builtins":
        return
    pieces = owner.ref.module.split(".")
    homes = dict.fromkeys([owner.ref.module, pieces[0]])
    for home in homes:
        module = source.ask(lambda h=home: ev.module(h))  # type: ignore[misc]
        if module is None:
            continue
        for name in source.ask(lambda h=home: modules.all_names(ev, h)) or ():  # type: ignore[misc]
            if name.startswith("_") or name in module.submodules:
                continue
            alike = likeness(wrong, name)
            if alike.score < _LIKE:
                continue
            yield Candidate(
                name,
                "function",
                f"{home}.{name}",
                home,
                "function",
                likeness=alike.score,
                why=f"{home} has it as a function; {alike.reason}",
            )


def _prefix(asked: Asked) -> str:
    node = asked.proof.node
    return f"{asked.text(node.value)}." if isinstance(node, ast.Attribute) else ""
