"""Names one step away from where they were looked for: behind an accessor, in the words of a docstring."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from callground.repairs import library
from callground.repairs.asked import Asked
from callground.repairs.model import Candidate, ImportWanted
from callground.repairs.words import likeness, parts
from callground.resolve import classes, expressions, hierarchy, members, modules
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import ClassFace
from callground.resolve.static import parse_expression
from callground.resolve.values import ClassObject, Instance, ModuleObject, Obj

_PROPERTIES = re.compile(r"(?:^|[._])(?:cached_?property|property|cache_readonly|lazyattribute)\b")
_MOST_PROPERTIES = 25
_NEARBY = 80
"""Characters in which the words of a name have to stand together."""
_DOCUMENTED = 0.74
_READ = 600_000
"""Bytes of a library's text in which uses of its names are counted."""
_COUNTED_MODULES = 30


# -- behind an accessor


def behind_accessors(asked: Asked, near: bool) -> list[Candidate]:
    """``series.split`` -> ``series.str.split``: attributes of the class whose own class has the very name.

    With `near`, a near name is known: then what properties give is not worked out.
    """
    owner = asked.proof.owner_object
    if not isinstance(owner, Instance) or not isinstance(asked.proof.node, ast.Attribute):
        return []
    return asked.source.ask(lambda: list(_behind(asked, owner, near))) or []


def _behind(asked: Asked, owner: Instance, near: bool) -> Iterator[Candidate]:
    ev, wrong = asked.source.evaluator, asked.name
    assert isinstance(asked.proof.node, ast.Attribute)
    prefix = asked.text(asked.proof.node.value)
    seen: set[str] = set()
    tried = 0
    for entry in hierarchy.mro(ev, owner.ref).entries:
        if entry.ref == hierarchy.OBJECT:
            continue
        for face in classes.faces(ev, entry.ref):
            for b in face.row.members:
                if b.name in seen or b.name.startswith("_") or not ev.alive(b.guards):
                    continue
                if b.kind in ("assign", "annassign"):
                    given: Iterable[Obj] = _made_with(ev, face, b.value)
                elif b.kind == "def" and not near and tried < _MOST_PROPERTIES and _is_property(ev, face, b.name):
                    tried += 1
                    found = members.of(ev, owner, b.name).found
                    given = found.items if found is not None else ()
                else:
                    continue
                seen.add(b.name)
                inner = next((o for o in given if _has(ev, o, owner, wrong)), None)
                if inner is not None:
                    where = inner.ref.dotted if isinstance(inner, (Instance, ClassObject)) else ""
                    yield Candidate(
                        wrong,
                        "accessor",
                        f"{prefix}.{b.name}.{wrong}",
                        where,
                        likeness=0.95,
                        why=f"`.{b.name}` has it",
                    )


def _made_with(ev: Evaluator, face: ClassFace, value: str | None) -> list[Obj]:
    """Instances of the classes that a descriptor in a class body was made with."""
    node = parse_expression(value) if value and "(" in value else None
    if not isinstance(node, ast.Call):
        return []
    scope = ev.class_scope(face)
    made: list[Obj] = []
    for argument in node.args:
        if isinstance(argument, (ast.Name, ast.Attribute)):
            items = expressions.value(ev, argument, scope).items
            made += [Instance(o.ref) for o in items if isinstance(o, ClassObject)]
    return made


def _is_property(ev: Evaluator, face: ClassFace, name: str) -> bool:
    rows = ev.index(face.file).functions(f"{face.row.qualname}.{name}")
    return any(_PROPERTIES.search(d) for _piece, row in rows for d in row.decorators)


def _has(ev: Evaluator, o: Obj, owner: Instance, name: str) -> bool:
    if not isinstance(o, Instance) or o.ref == owner.ref or o.ref.module == "builtins":
        return False
    return members.of(ev, o, name).found is not None


# -- in the words of a docstring


def documented(asked: Asked) -> list[Candidate]:
    """Functions of the asked package whose documentation holds every word of the missing name, side by side.

    ``numpy.rolling_window`` -> ``sliding_window_view``: "Also known as rolling or moving window".
    """
    owner = asked.proof.owner_object
    words = [part for part in parts(asked.name) if len(part) >= 4]
    if not isinstance(owner, ModuleObject) or len(words) < 2:
        return []
    top = owner.name.partition(".")[0]
    pattern = re.compile(_together(words).encode(), re.IGNORECASE | re.DOTALL)
    names: dict[str, None] = {}
    for module in library.walk(asked, top, private=True):
        text = library.raw(asked, module)
        if text is None or any(word.encode() not in text.lower() for word in words):
            continue
        for match in pattern.finditer(text):
            above = re.findall(
                rb"^(?:def|class) (\w+)", text[max(0, match.start() - 6_000) : match.start()], re.MULTILINE
            )
            if above and not above[-1].startswith(b"_"):
                names[above[-1].decode()] = None
    found = []
    for name in names:
        if name == asked.name:
            continue
        home = _door(asked, top, name)
        if home is not None:
            alike = likeness(asked.name, name).score
            why = f"the documentation of `{name}` speaks of {' '.join(words)}"
            callee = library.reached(asked, home, name)
            wanted = ImportWanted(home, name)
            score = _DOCUMENTED + 0.15 * alike
            found.append(Candidate(name, "submodule", callee, home, "function", wanted, likeness=score, why=why))
    return found


def _together(words: list[str]) -> str:
    """All words in any order near each other; two orders are enough for the few words that names have."""
    gap = rf"\W.{{0,{_NEARBY}}}?\b"
    return "|".join(r"\b" + gap.join(map(re.escape, order)) for order in (words, words[::-1]))


def _door(asked: Asked, top: str, name: str) -> str | None:
    """The public module, nearest to the top, from which a name of the package can be imported."""
    ev = asked.source.evaluator
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    for module in library.walk(asked, top):
        text = library.raw(asked, module)
        if text is None or word.search(text) is None:
            continue
        got = asked.source.ask(lambda m=module: modules.import_from(ev, m, name))  # type: ignore[misc]
        if got is not None and got.found is not None:
            return module
    return None


# -- how much a library uses its own names


def uses(asked: Asked) -> Counter[str]:
    """How often the library that was asked names each attribute in its own text: what is used most is meant most."""
    owner = asked.proof.owner_object
    texts: list[bytes] = []
    if isinstance(owner, ModuleObject):
        top = owner.name.partition(".")[0]
        names = [owner.name, *(m for m in library.walk(asked, owner.name) if m != owner.name)]
        if owner.name != top:
            names.append(top)
        for name in names[:_COUNTED_MODULES]:
            text = library.raw(asked, name)
            if text is not None:
                texts.append(text)
    elif isinstance(owner, (Instance, ClassObject)):
        texts = asked.source.ask(lambda: _class_texts(asked.source.evaluator, owner)) or []
    counted: Counter[str] = Counter()
    room = _READ
    for text in texts:
        counted.update(each.decode() for each in re.findall(rb"(?<![\d\s])\.([A-Za-z_]\w*)", text[:room]))
        room -= len(text)
        if room <= 0:
            break
    return counted


def _class_texts(ev: Evaluator, owner: Instance | ClassObject) -> list[bytes]:
    texts: dict[str, bytes] = {}
    for entry in hierarchy.mro(ev, owner.ref).entries:
        for face in classes.faces(ev, entry.ref):
            if not face.file.is_stub:
                texts.setdefault(face.file.path, face.file.text.encode("utf-8", "replace"))
    return list(texts.values())
