"""What a wrong name may have meant: real things, each from the place where it was found.

Nothing is ranked here.  The names of the very class or module that was asked come first; then what is in
scope, what the workspace defines or imports elsewhere, and what the asked package holds in other modules.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from itertools import pairwise

from callground.graph.interface import Module, NotLoaded, SourceFile
from callground.graph.layers import FileEntry
from callground.repairs.asked import Asked, Source
from callground.repairs.model import Candidate, ImportWanted
from callground.repairs.nametable import table_of
from callground.repairs.words import likeness, plain, read_table
from callground.resolve import classes, hierarchy, modules
from callground.resolve.evaluator import Evaluator
from callground.resolve.flow import dotted
from callground.resolve.values import ClassObject, Instance, ModuleObject, Ref, SuperObject

SOURCES = {
    "member": "a member of the class that was asked",
    "module": "a name of the module that was asked",
    "scope": "a name that is in scope",
    "builtin": "a builtin",
    "self": "a member of the class around the call",
    "workspace": "defined elsewhere in the workspace",
    "imported": "imported elsewhere in the workspace",
    "usual": "what the name usually stands for",
    "submodule": "in another module of the same package",
    "used-by": "in a module that the asked module imports",
    "text": "named by the library's own text about the missing name",
    "function": "a function of the module that has the class",
    "accessor": "behind an attribute of what was asked",
    "parameter": "a parameter of the callee",
    "module-name": "a module that can be imported",
}
"""Where candidates come from."""

_KINDS = {"def": "function", "class": "class", "import": "module", "from": "", "for": "variable"}
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_NEAR_MODULE = 0.72
NEAR_ELSEWHERE = 0.62
"""Likeness from which a name of another place is looked at."""


def of(asked: Asked) -> list[Candidate]:
    """Everything that may be meant."""
    found = list(_of(asked))
    seen: dict[tuple[str, str], Candidate] = {}
    # What is in scope needs no import from elsewhere.
    here = {c.name for c in found if c.source == "scope"}
    for candidate in found:
        if candidate.source == "workspace" and candidate.name in here:
            continue
        if candidate.name and (candidate.text != asked.name or candidate.wanted is not None):
            seen.setdefault((candidate.text, candidate.wanted.module if candidate.wanted else ""), candidate)
    return list(seen.values())


def _of(asked: Asked) -> Iterator[Candidate]:
    proof, source = asked.proof, asked.source
    if proof.signature is not None:
        for param in proof.signature.params:
            if param.kind in ("positional", "keyword-only"):
                yield Candidate(param.name, "parameter", param.name, proof.signature.name, "parameter")
        return
    owner = proof.owner_object
    prefix = _prefix(asked)
    if isinstance(owner, ModuleObject):
        yield from source.ask(lambda: list(module_names(source.evaluator, owner.name, prefix))) or ()
    elif isinstance(owner, (Instance, ClassObject)):
        yield from source.ask(lambda: list(class_members(source.evaluator, owner.ref, prefix))) or ()
    elif isinstance(owner, SuperObject):
        start = owner.start
        members = source.ask(lambda: list(class_members(source.evaluator, start, prefix))) or []
        yield from (each for each in members if each.owner != start.dotted)
    elif proof.code == "unknown-name":
        yield from _in_scope(asked)
        yield from _elsewhere(asked)
    elif proof.code == "unknown-import":
        yield from _modules_like(asked)


def _prefix(asked: Asked) -> str:
    """What stands before the wrong name in the callee (``np.``); empty in an import."""
    node = asked.proof.node
    return f"{asked.text(node.value)}." if isinstance(node, ast.Attribute) else ""


def class_members(ev: Evaluator, ref: Ref, prefix: str) -> Iterator[Candidate]:
    """The members of a class, inherited ones too, the nearest class first."""
    order = hierarchy.mro(ev, ref)
    seen: set[str] = set()
    for entry in order.entries:
        for face in classes.faces(ev, entry.ref):
            start = face.file.facts.starts[face.piece] - 1
            rows = [(b.name, _KINDS.get(b.kind, "variable"), b.line) for b in face.row.members if ev.alive(b.guards)]
            rows += [(a.name, "variable", a.line) for a in face.row.self_attrs]
            for name, kind, line in rows:
                if name in seen or name == "*" or (entry.ref == hierarchy.OBJECT and not name.startswith("__")):
                    continue
                seen.add(name)
                yield Candidate(
                    name,
                    "member",
                    prefix + name,
                    entry.ref.dotted,
                    kind,
                    path=face.file.path,
                    line=start + line,
                )


def module_names(ev: Evaluator, name: str, prefix: str, source: str = "module") -> Iterator[Candidate]:
    """The names of a module, star imports followed, and its submodules."""
    module = ev.module(name)
    if module is None:
        return
    seen: set[str] = set()
    for file in ev.faces(module):
        index = ev.index(file)
        for bound in index.names():
            rows = [(p, b) for p, b in index.bindings(bound) if ev.alive(b.guards)]
            if not rows or bound in seen:
                continue
            seen.add(bound)
            piece, b = rows[-1]
            line = file.facts.starts[piece] + b.line - 1
            yield Candidate(
                bound, source, prefix + bound, name, _KINDS.get(b.kind, "variable"), path=file.path, line=line
            )
    for bound, kind in _brought_in(ev, module):
        if bound not in seen:
            seen.add(bound)
            yield Candidate(bound, source, prefix + bound, name, kind)


def _brought_in(ev: Evaluator, module: Module) -> Iterator[tuple[str, str]]:
    """Names that a module has without binding them: out of star imports, and its submodules."""
    pending, done = [module], {module.name}
    while pending:
        current = pending.pop()
        for file in ev.faces(current):
            index = ev.index(file)
            if current is not module:
                listed, _open = modules.exports(ev, current.name)
                names = listed if listed is not None else [n for n in index.names() if not n.startswith("_")]
                yield from ((name, "") for name in names)
            for _piece, star in index.star_imports():
                target = modules.absolute(current, star.value or "")
                if target and target not in done and ev.alive(star.guards) and ev.snapshot.exists(target):
                    done.add(target)
                    inner = ev.module(target)
                    if inner is not None:
                        pending.append(inner)
    yield from ((name, "module") for name in module.submodules)


# -- a bare name


def _in_scope(asked: Asked) -> Iterator[Candidate]:
    source, ev = asked.source, asked.source.evaluator
    scope = asked.scope
    seen: set[str] = set()
    current = scope
    while current is not None:
        if current.kind == "function":
            flow = ev.flow(current)
            for name in flow.locals if flow is not None else ():
                if name.isidentifier():
                    seen.add(name)
                    yield Candidate(name, "scope", name)
        elif current.kind == "module":
            for each in source.ask(lambda s=current: list(module_names(ev, s.module.name, "", "scope"))) or ():  # type: ignore[misc]
                if each.name not in seen and not (each.kind == "module" and not each.line):
                    yield each
        current = current.parent
    for name in _BUILTINS:
        yield Candidate(name, "builtin", name, "builtins")
    around = scope.enclosing_class() if scope is not None else None
    first = first_parameter(asked)
    if around is not None and first:
        for each in source.ask(lambda: list(class_members(ev, around.ref, f"{first}."))) or ():
            if not each.name.startswith("__"):
                yield each._replace(source="self")


def first_parameter(asked: Asked) -> str:
    """``self`` or ``cls`` where the call stands in a method."""
    chain = asked.site.chain
    for outer, inner in pairwise(chain):
        if isinstance(outer, ast.ClassDef) and isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = [*inner.args.posonlyargs, *inner.args.args]
            static = any(dotted(d) == "staticmethod" for d in inner.decorator_list)
            return arguments[0].arg if arguments and not static else ""
    return ""


def _elsewhere(asked: Asked) -> Iterator[Candidate]:
    """What other files define or import under that name or a like one."""
    source, wrong = asked.source, asked.name
    yield from _imported_elsewhere(source, wrong)
    for row in _usual_imports().get(wrong, ()):
        if source.ask(lambda r=row: source.snapshot.exists(r.module)):  # type: ignore[misc]
            yield Candidate(wrong, "usual", wrong, row.module, "" if row.name else "module", row, likeness=0.95)
    if source.ask(lambda: source.snapshot.exists(wrong)) and wrong != source.module:
        wanted = ImportWanted(wrong)
        yield Candidate(
            wrong, "module-name", wrong, wrong, "module", wanted, likeness=0.97, why=f"there is a module `{wrong}`"
        )
    if asked.calls_it is None:
        yield from _like_modules(asked)
    yield from workspace_names(source, wrong)


def _like_modules(asked: Asked) -> Iterator[Candidate]:
    """For a name of which something is asked (``jsn.loads``): modules whose name is like it."""
    source, wrong = asked.source, asked.name
    tops = source.snapshot.space.finder.submodules("")
    for name in tops:
        if not name.startswith("_") and name != wrong and likeness(wrong, name).score >= _NEAR_MODULE:
            yield Candidate(name, "module-name", name, name, "module", ImportWanted(name))


def workspace_names(source: Source, wrong: str) -> Iterator[Candidate]:
    """Module-level functions and classes of the workspace with a like name, with the import that they need."""
    snapshot = source.snapshot
    names = set(table_of(snapshot).like(wrong))
    for document in snapshot.files.documents():
        names.update(row.name for row in document.index.definitions)
    for name in names:
        alike = likeness(wrong, name).score
        if alike < NEAR_ELSEWHERE:
            continue
        for entry, row in snapshot.definitions(name):
            if row.kind == "import" or "." in row.qualname or entry.path == source.path:
                continue
            if entry.module is None or (_is_test(entry) and not _is_test_path(source.path)):
                continue
            yield Candidate(
                name,
                "workspace",
                name,
                entry.module,
                row.kind,
                ImportWanted(entry.module, name),
                entry.path,
                row.line,
            )


def _imported_elsewhere(source: Source, name: str) -> Iterator[Candidate]:
    """How other files of the workspace come by the very name."""
    seen: set[ImportWanted] = set()
    rows = [(e, r) for e, r in source.snapshot.definitions(name) if r.kind == "import" and e.path != source.path]
    for entry, _row in rows[:8]:
        file = source.ask(lambda e=entry: source.snapshot.file(e.path))  # type: ignore[misc]
        if file is None:
            continue
        for wanted in _imports_of(source, entry, file, name):
            if wanted in seen:
                continue
            seen.add(wanted)
            why = f"{_short_path(entry.path)} imports it so"
            yield Candidate(
                name, "imported", name, wanted.module, "" if wanted.name else "module", wanted, likeness=0.98, why=why
            )


def _imports_of(source: Source, entry: FileEntry, file: SourceFile, name: str) -> Iterator[ImportWanted]:
    module = Module(entry.module or entry.path, "workspace", entry.is_package)
    for _piece, b in source.evaluator.index(file).bindings(name):
        if b.kind == "from":
            target = modules.absolute(module, b.value or "")
            if target:
                yield ImportWanted(target, b.path, "" if b.path == name else name)
        elif b.kind == "import":
            value = b.value or ""
            yield ImportWanted(value, "", name) if b.path == "as" else ImportWanted(value)


_usual: dict[str, tuple[ImportWanted, ...]] = {}


def _usual_imports() -> dict[str, tuple[ImportWanted, ...]]:
    if not _usual:
        for line in read_table("imports.txt"):
            name, module, *attribute = line.split()
            found = attribute[0] if attribute else ""
            alias = name if (found or module) != name else ""
            _usual[name] = (*_usual.get(name, ()), ImportWanted(module, found, alias))
    return _usual


def _short_path(path: str) -> str:
    return "/".join(path.replace("\\", "/").rsplit("/", 2)[-2:])


def _is_test(entry: FileEntry) -> bool:
    return _is_test_path(entry.path)


def _is_test_path(path: str) -> bool:
    pieces = path.replace("\\", "/").split("/")
    return pieces[-1].startswith("test_") or pieces[-1] == "conftest.py" or "tests" in pieces[-3:-1]


# -- a module


def _modules_like(asked: Asked) -> Iterator[Candidate]:
    """Modules whose name is like that of one that does not exist, at the place where it was looked for."""
    source, ev = asked.source, asked.source.evaluator
    parent, _, last = asked.name.rpartition(".")

    def siblings() -> list[str]:
        if parent:
            module = ev.module(parent) if ev.snapshot.exists(parent) else None
            return [f"{parent}.{name}" for name in (module.submodules if module is not None else ())]
        return []

    names = source.ask(siblings) or []
    if not parent:
        names = sorted({e.module.split(".")[0] for e in source.snapshot.files.disk.values() if e.module})
        names += [n for n in sorted(source.snapshot.space.finder.submodules("")) if n not in names]
    for name in names:
        yield Candidate(name.rpartition(".")[2], "module-name", name, parent, "module")
    for entry in source.snapshot.files.disk.values():
        if entry.module and entry.module != source.module and plain(entry.module.rpartition(".")[2]) == plain(last):
            yield Candidate(entry.module.rpartition(".")[2], "module-name", entry.module, "", "module", path=entry.path)


__all__ = ["SOURCES", "NotLoaded", "class_members", "module_names", "of", "workspace_names"]
