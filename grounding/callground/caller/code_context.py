"""What the code around a place says: where it stands, which names it can use, what they are, what is used nearby.

A place is asked about through a *probe*: the text with a call of a name of ours on the line in question.  The
analysis that judges calls then tells which functions and classes are around it and what each name is there.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from callground.facts.index import index_of
from callground.graph.driver import planned
from callground.graph.indexes import absolute_import
from callground.graph.snapshot import Snapshot
from callground.repairs.asked import Source
from callground.resolve import expressions, hierarchy, names
from callground.resolve.evaluator import MAX_STEPS, Evaluator, OverBudget
from callground.resolve.memo import Memo
from callground.resolve.scopes import Scope
from callground.resolve.values import ClassObject, Instance, ModuleObject, Ref, Values, is_none, unknown
from callground.verdict.model import Reason
from callground.verdict.sites import Site
from callground.verdict.verify import scope_of

PROBE = "__callground_here__"
"""What stands in for the call while its place is looked at."""

MOST_NAMES = 50
MOST_ATTRIBUTES = 25
NAME_STEPS = 500
ALL_STEPS = 3_000
"""Steps of the evaluator that one name, and all names of a place, may cost: types are a help here, no proof."""
_IDENTIFIER = re.compile(r"(?<![\w.])[^\W\d]\w*")
_WORD = re.compile(r"[^\W\d]\w*")
_DEF = re.compile(r"\s*(?:async\s+)?def\s+(\w+)|\s*class\s+(\w+)")
_BUILTINS = frozenset(dir(builtins))
_TARGET = re.compile(r"((?:[^\W\d]\w*)(?:\.[^\W\d]\w*)*)\s*(?::[^=]+)?=\s*\Z")


class Shape(NamedTuple):
    """What is already written of the statement, before the call."""

    prefix: str = ""
    """As written, without the indentation."""
    target: str = ""
    """Last part of the name that the result is given to."""
    awaited: bool = False
    returned: bool = False
    entered: bool = False
    """In the head of a ``with``."""
    looped: bool = False
    """What a ``for`` goes through."""

    @property
    def known(self) -> bool:
        """Whether anything is written."""
        return bool(self.prefix)


def shape_of(prefix: str) -> Shape | None:
    """The shape of a statement of which `prefix` is written; None where no whole call can follow."""
    written = prefix.strip()
    if not written:
        return Shape()
    rest = written
    target = ""
    returned = entered = looped = False
    assigned = _TARGET.match(rest)
    if rest.startswith(("return", "yield")) and re.match(r"(?:return|yield(?:\s+from)?)\b", rest):
        returned = True
        rest = re.sub(r"\A(?:return|yield(?:\s+from)?)\b\s*", "", rest)
    elif re.match(r"(?:async\s+)?with\b", rest):
        entered = True
        rest = re.sub(r"\A(?:async\s+)?with\b\s*", "", rest)
    elif re.match(r"(?:async\s+)?for\b.*\bin\b\s*\Z", rest):
        looped = True
        rest = ""
    elif re.match(r"[^=]*=\s*(?:await\s*)?\Z", rest):
        assigned = _TARGET.match(re.sub(r"await\s*\Z", "", rest))
        if assigned is None:
            return None
        target = assigned[1].rpartition(".")[2]
        rest = "await" if rest.endswith("await") else ""
    awaited = rest.startswith("await")
    if awaited:
        rest = rest[len("await") :].strip()
    if rest:
        return None
    return Shape(written, target, awaited, returned, entered, looped)


class Name(NamedTuple):
    """A name (or ``self.attribute``) that the place can use, and what it is there."""

    text: str
    classes: tuple[Ref, ...]
    """Classes that it may be an instance of; empty where nobody can tell."""
    certain: bool
    """Whether nothing else is possible."""
    distance: int
    """Lines since it was last mentioned."""
    is_class: bool = False
    is_module: bool = False
    parameter: bool = False
    optional: bool = False
    """It may be None."""


@dataclass(eq=False)
class Situation:
    """What is known of one place."""

    path: str
    module: str
    text: str
    """Without the probe."""
    line: int
    """1-based line of the place."""
    request: str
    shape: Shape
    source: Source
    """The text with the probe, as the analysis sees it."""
    site: Site
    scope: Scope
    names: list[Name] = field(default_factory=list)
    receivers: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """(module or path, qualname) of a class -> names of the place that are instances of it or of a subclass."""
    class_names: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """The same for names of the class itself."""
    function: str = ""
    """Name of the function around the place."""
    function_doc: str = ""
    function_line: int = 0
    function_end: int = 0
    is_async: bool = False
    owner: str = ""
    """Qualname of the class around the place."""
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Name in the file -> (absolute module, name there; empty for the module itself)."""
    uses: dict[str, list[int]] = field(default_factory=dict)
    """Word -> lines of the file where it stands, definitions and the request not counted."""
    wanted_below: frozenset[str] = frozenset()
    """Names that are read below the place and bound nowhere: the call's result may be one of them."""


def situation(
    snapshot: Snapshot,
    path: str,
    text: str,
    line: int,
    request: str,
    shape: Shape,
    *,
    memo: Memo | None = None,
    request_lines: tuple[int, int] = (0, -1),
) -> Situation | None:
    """What is known of line `line` (1-based) of a text; None where the code around it does not parse.

    The line must hold nothing but its indentation and what `shape` says is written.
    """
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return None
    indent = _indent(lines, line)
    wanted = _names_above(lines, line, indent)
    probe = _probe(shape, wanted)
    probed = "\n".join([*lines[: line - 1], indent + probe, *lines[line:]])
    source = Source(path, probed, snapshot.with_overlay({path: probed}), memo or Memo())
    pieces = pieces_at(source.snapshot, path, [(line, line)])
    # Only the statement around is walked: `sites` is what the source would find in the whole file.
    source.sites = planned(path, source.snapshot, pieces)
    site = next((s for s in source.sites if s.role == "call" and s.callee == PROBE), None)
    if site is None or not isinstance(site.node, ast.Call):
        return None
    scope = source.ask(lambda: scope_of(site, source.evaluator))
    if scope is None:
        return None
    found = Situation(path, source.module, text, line, request, shape, source, site, scope)
    _read_around(found)
    found.imported = dict(_imports(found))
    found.uses = _uses(lines, line, request_lines)
    found.names = _names(found, wanted)
    _sort_by_class(found)
    return found


def pieces_at(snapshot: Snapshot, path: str, lines: Sequence[tuple[int, int]]) -> list[int] | None:
    """The top-level pieces of an open file that these lines (first, last) touch; None where it is not open."""
    document = snapshot.files.open.get(path)
    if document is None:
        return None
    facts = document.file.facts
    return [
        number
        for number, (start, piece) in enumerate(zip(facts.starts, facts.pieces, strict=True))
        if any(first < start + piece.lines and start <= last for first, last in lines)
    ]


def _probe(shape: Shape, wanted: Sequence[str]) -> str:
    call = f"{PROBE}({', '.join(wanted)})"
    prefix = shape.prefix
    if not prefix:
        return call
    tail = ": pass" if shape.entered or shape.looped else ""
    return f"{prefix} {call}{tail}"


def _indent(lines: Sequence[str], line: int) -> str:
    """The indentation of a line; for an empty one that of the comment above, or of the block it ends."""
    own = lines[line - 1]
    white = own[: len(own) - len(own.lstrip())]
    if own.strip() or white:
        return white
    for number in range(line - 1, 0, -1):
        above = lines[number - 1]
        if above.strip():
            white = above[: len(above) - len(above.lstrip())]
            if above.rstrip().endswith(":") and not above.lstrip().startswith("#"):
                return white + "    "
            return white
    return ""


def _names_above(lines: Sequence[str], line: int, indent: str) -> list[str]:
    """Names that occur in the functions around the place, above it, the nearest first."""
    found: dict[str, None] = {}
    attributes: dict[str, None] = {}
    width = len(indent)
    for number in range(line - 1, 0, -1):
        text = lines[number - 1]
        stripped = text.strip()
        if not stripped or stripped.startswith("#"):
            continue
        white = len(text) - len(text.lstrip())
        for match in _IDENTIFIER.finditer(text):
            word = match[0]
            if keyword.iskeyword(word) or word in _BUILTINS or word in found:
                continue
            behind = text[match.end() : match.end() + 1]
            if behind == "(" or (behind == "=" and text[match.end() : match.end() + 2] != "==" and white > width):
                continue
            if len(found) < MOST_NAMES:
                found[word] = None
        if len(attributes) < MOST_ATTRIBUTES:
            for match in re.finditer(r"\b(self|cls)\.([^\W\d]\w*)\b(?!\s*\()", text):
                attributes[match[0]] = None
        definition = _DEF.match(text)
        if definition is not None and white < width:
            width = white
            if white == 0:
                break
    return [*found, *list(attributes)[:MOST_ATTRIBUTES]]


def _read_around(found: Situation) -> None:
    site = found.site
    for node in site.chain:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.function = node.name
            found.function_doc = ast.get_docstring(node) or ""
            found.function_line = node.lineno + site.offset
            found.function_end = (node.end_lineno or node.lineno) + site.offset
            found.is_async = isinstance(node, ast.AsyncFunctionDef)
    around = found.scope.enclosing_class()
    found.owner = around.ref.qualname if around is not None else ""
    inner = next((n for n in reversed(site.chain) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    body: list[ast.AST] = [inner] if inner is not None else [s for s, _ in found.source.body]
    found.wanted_below = _wanted_below(found, body, inner)


def _wanted_below(found: Situation, body: Sequence[ast.AST], inner: ast.AST | None) -> frozenset[str]:
    """Names read below the probe that nothing binds."""
    bound: set[str] = set(_BUILTINS)
    read: set[str] = set()
    here = found.site.range.line - found.site.offset
    call = found.site.node
    own = {id(node) for node in ast.walk(call)}
    for top in body:
        for node in ast.walk(top):
            if id(node) in own:
                continue
            if isinstance(node, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    if inner is None or node.lineno > here:
                        read.add(node.id)
                else:
                    bound.add(node.id)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(node.name)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                bound.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                bound.add(node.name)
    left = read - bound
    if inner is not None and left:
        index = index_of(found.scope.file.facts)
        left -= index.names()
        if index.star_imports():
            return frozenset()
        for node in found.site.chain:
            if node is not inner and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for inside in ast.walk(node):
                    if isinstance(inside, ast.Name) and not isinstance(inside.ctx, ast.Load):
                        left.discard(inside.id)
                    elif isinstance(inside, ast.arg):
                        left.discard(inside.arg)
    return frozenset(left - {PROBE})


def _imports(found: Situation) -> Iterator[tuple[str, tuple[str, str]]]:
    """What the file's import statements bind, functions around the place included."""
    file = found.scope.file
    package = file.path.rsplit("/", 1)[-1].startswith("__init__.")
    own = None if "/" in found.module else found.module
    index = index_of(file.facts)
    for name in index.names():
        for _, binding in index.bindings(name):
            if binding.kind == "from":
                module = absolute_import(binding.value or "", own, package)
                if module is not None:
                    yield name, (module, binding.path)
            elif binding.kind == "import":
                value = binding.value or ""
                yield name, (value if binding.path == "as" else name, "")
    for node in found.site.chain:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for inner in ast.walk(node):
            if isinstance(inner, ast.ImportFrom):
                module = absolute_import("." * inner.level + (inner.module or ""), own, package)
                for alias in inner.names:
                    if module is not None:
                        yield alias.asname or alias.name, (module, alias.name)
            elif isinstance(inner, ast.Import):
                for alias in inner.names:
                    top = alias.name.split(".")[0]
                    yield alias.asname or top, (alias.name if alias.asname else top, "")


def _uses(lines: Sequence[str], line: int, request_lines: tuple[int, int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    first, last = request_lines
    for number, text in enumerate(lines, start=1):
        if number == line or first <= number <= last:
            continue
        definition = _DEF.match(text)
        defined = (definition[1] or definition[2]) if definition is not None else ""
        for word in _WORD.findall(text):
            if word == defined:
                defined = ""
                continue
            found.setdefault(word, []).append(number)
    return found


def _names(found: Situation, wanted: Sequence[str]) -> list[Name]:
    call = found.site.node
    assert isinstance(call, ast.Call)
    result: list[Name] = []
    ev = found.source.evaluator
    left = ALL_STEPS
    for text, node in zip(wanted, call.args, strict=True):

        def question(node: ast.expr = node, steps: int = min(left, NAME_STEPS)) -> tuple[Values, bool] | None:
            ev.steps = MAX_STEPS - steps
            try:
                return _value(ev, node, found.scope)
            except OverBudget:
                return unknown(Reason.BUDGET), False

        known = found.source.ask(question)
        left -= max(0, ev.steps - (MAX_STEPS - min(left, NAME_STEPS)))
        if known is None:
            continue
        values, parameter = known
        instances = tuple(dict.fromkeys(o.ref for o in values.items if isinstance(o, Instance) and not is_none(o)))
        classes = tuple(dict.fromkeys(o.ref for o in values.items if isinstance(o, ClassObject)))
        modules = [o for o in values.items if isinstance(o, ModuleObject)]
        others = [o for o in values.items if not isinstance(o, (Instance, ClassObject, ModuleObject))]
        if others and not instances:
            # Functions are passed on rarely; they are called under their own names.
            continue
        certain = values.complete and not others
        optional = any(is_none(o) for o in values.items)
        distance = _distance(found, text)
        if instances or not (classes or modules):
            result.append(Name(text, instances, certain, distance, parameter=parameter, optional=optional))
        elif classes:
            result.append(Name(text, classes, certain, distance, is_class=True))
        else:
            result.append(Name(text, (), certain, distance, is_module=True))
    return result


def _value(ev: Evaluator, node: ast.expr, scope: Scope) -> tuple[Values, bool] | None:
    """What a name is at the place, and whether it is a parameter; None where it is not bound there."""
    if isinstance(node, ast.Name):
        found = names.lookup(ev, node, scope)
        if found.missing:
            return None
        flow = ev.flow(scope)
        defs = flow.uses.get(id(node)) if flow is not None else None
        if defs is not None and all(d.kind == "unbound" for d in defs):
            return None
        return found.values, bool(defs) and any(d.kind == "param" for d in defs or ())
    return expressions.value(ev, node, scope), False


def _distance(found: Situation, text: str) -> int:
    word = text.rpartition(".")[2]
    lines = found.uses.get(word)
    if not lines:
        return 200
    place = bisect_left(lines, found.line)
    return found.line - lines[place - 1] if place else 200


def _sort_by_class(found: Situation) -> None:
    ev = found.source.evaluator
    for name in found.names:
        if name.is_module:
            continue
        table = found.class_names if name.is_class else found.receivers
        for ref in name.classes[:4]:
            order = found.source.ask(lambda ref=ref: hierarchy.mro(ev, ref))  # type: ignore[misc]
            for entry in order.entries if order is not None else ():
                at = table.setdefault((entry.ref.module, entry.ref.qualname), [])
                if name.text not in at:
                    at.append(name.text)
