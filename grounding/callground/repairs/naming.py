"""Repairs of names that do not exist: another callee, another import, or both."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from callground.repairs import imports, library
from callground.repairs.asked import Asked
from callground.repairs.model import Candidate, FileEdits, ImportWanted, Ranked, Repair
from callground.repairs.words import plain
from callground.resolve.values import ModuleObject
from callground.text.edits import Edit

CODES = frozenset({"unknown-name", "unknown-member", "unknown-import"})
OFFERED = 5
"""Most candidates that are offered as repairs."""
SURE = 78.0
"""Score from which a name can be certain."""
AHEAD = 12.0
"""And how far it has to be ahead of the next one."""
_WORTH = 42.0
"""Below this score a name is not worth an offer."""


def repairs(asked: Asked, ranked: Sequence[Ranked]) -> Iterator[Repair]:
    """Ways to write what was meant, the best first.  None of them is verified yet."""
    if asked.code not in CODES:
        return
    sure = certain(asked, ranked)
    for number, each in enumerate(ranked[:OFFERED]):
        if each.score < _WORTH and each.candidate.likeness < 0:
            continue
        made = _one(asked, each)
        if made is not None:
            kind, title, edits, final = made
            yield Repair(
                kind,
                title,
                (FileEdits(asked.source.path, tuple(edits)),),
                each.reasons,
                each.score,
                each.candidate,
                certain=number == 0 and final and (sure or (kind == "remove-import" and each.near)),
            )
    if asked.site.role in ("from", "import"):
        yield from _unused(asked, ranked)


def certain(asked: Asked, ranked: Sequence[Ranked]) -> bool:
    """Whether the first candidate is the only one that can be meant."""
    if not ranked:
        return False
    best = ranked[0]
    if best.score < SURE or not best.near or best.fits is False:
        return False
    if best.candidate.name.startswith("_") and not asked.name.startswith("_"):
        return False
    others = [r for r in ranked[1:] if r.candidate.name != best.candidate.name or r.candidate.wanted is not None]
    if best.candidate.wanted is not None and any(r.candidate.name == best.candidate.name for r in others):
        # The same name in several places: which of them is meant is open.
        return False
    ahead = best.score - max((r.score for r in others), default=0.0)
    same_letters = plain(best.candidate.name) == plain(asked.name.rpartition(".")[2])
    if ahead < (6.0 if same_letters else AHEAD):
        return False
    return _from_here(asked, best.candidate) and (
        same_letters or best.candidate.source == "text" or not library.mentioned(asked)
    )


def _from_here(asked: Asked, candidate: Candidate) -> bool:
    """Whether a name from another module of a library stands where the asked module leads to."""
    if candidate.source != "submodule":
        return True
    owner = asked.proof.owner_object
    below = f"{owner.name}." if isinstance(owner, ModuleObject) else ""
    if below and candidate.owner.startswith(below):
        return "." not in candidate.owner.removeprefix(below)
    if below and candidate.owner.split(".")[0] != below.split(".")[0]:
        # The library itself takes it from there.
        return True
    located = asked.source.ask(lambda: asked.source.evaluator.module(candidate.owner))
    return located is not None and located.origin == "workspace"


_Made = tuple[str, str, list[Edit], bool]
"""Kind, title, edits, and whether nothing is left open by them."""


def _one(asked: Asked, each: Ranked) -> _Made | None:
    candidate = each.candidate
    if asked.site.role in ("from", "import"):
        return _import(asked, candidate)
    if candidate.source == "function":
        return _function(asked, each)
    node = asked.proof.node
    if not isinstance(node, ast.expr):
        return None
    start, end = asked.span(node)
    signature = each.signature.partition("(")[2]
    shown = f"`{candidate.text}({signature}`" if 0 < len(signature) <= 60 else f"`{candidate.text}`"
    if candidate.wanted is not None:
        if "." in candidate.text and asked.source.ask(lambda: asked.source.snapshot.imported_anywhere(candidate.owner)):
            # Reached through the package that is imported already.
            return "replace-callee", f"Replace with {shown}", [Edit(start, end, candidate.text)], True
        return _with_import(asked, candidate, start, end, shown)
    if isinstance(node, ast.Attribute) and candidate.text == f"{asked.text(node.value)}.{candidate.name}":
        start = end - len(node.attr)
        edits = [Edit(start, end, candidate.name)]
    else:
        edits = [Edit(start, end, candidate.text)]
    return "replace-callee", f"Replace with {shown}", edits, True


def _with_import(asked: Asked, candidate: Candidate, start: int, end: int, shown: str) -> _Made:
    wanted = candidate.wanted
    assert wanted is not None
    brought = imports.bring(asked.source, wanted)
    edits = list(brought.edits)
    written = asked.source.text[start:end]
    if brought.text != written:
        edits.append(Edit(start, end, brought.text))
        if not brought.statement:
            return "replace-callee", f"Replace with `{brought.text}`", edits, True
        if brought.text != candidate.text:
            shown = f"`{brought.text}`"
        return "replace-callee", f"Replace with {shown}, {brought.statement}", edits, True
    return "add-import", f"Add `{brought.statement}`", edits, not _imports_back(asked, wanted)


def _imports_back(asked: Asked, wanted: ImportWanted) -> bool:
    """Whether the module imports this file's own: the new import may go round in a circle."""
    source = asked.source
    file = source.ask(lambda: source.snapshot.module(wanted.module))
    if file is None or file.source is None:
        return False
    names = source.snapshot.space.imports_of(file.source, wanted.module, file.is_package)
    return source.module in names


def _function(asked: Asked, each: Ranked) -> _Made | None:
    """``x.isin(y)`` -> ``np.isin(x, y)``."""
    call = asked.calls_it
    if call is None or not isinstance(call.func, ast.Attribute):
        return None
    candidate = each.candidate
    brought = imports.bring(asked.source, ImportWanted(candidate.owner, candidate.name))
    receiver = asked.text(call.func.value)
    start, end = asked.span(call)
    _, func_end = asked.span(call.func)
    rest = asked.source.text[func_end:end]
    opening = rest.index("(")
    inside = rest[opening + 1 :]
    joint = "" if not (call.args or call.keywords) else ", "
    if joint and inside[:1] in "\r\n":
        joint = ","
    new = f"{brought.text}({receiver}{joint}{inside}"
    edits = [*brought.edits, Edit(start, end, new)]
    return "module-function", f"Call `{brought.text}({receiver}, ...)`", edits, False


# -- imports


def _import(asked: Asked, candidate: Candidate) -> _Made | None:
    node, alias = asked.site.node, asked.site.alias
    if alias is None:
        return None
    source = asked.source
    if isinstance(node, ast.ImportFrom):
        if candidate.source == "module-name":
            span = imports.module_span(source, node, asked.site.offset)
            if span is None:
                return None
            target = imports.absolute(source, node) or ""
            if node.level:
                written = "." * node.level + candidate.text.removeprefix(_base(target, node.module))
            else:
                written = candidate.text
            return "rename-import", f"Import from `{written}`", [Edit(*span, written)], True
        if candidate.source in ("submodule", "used-by", "text") and candidate.wanted is not None:
            return _moved(asked, node, alias, candidate.wanted)
        return _renamed(asked, node, alias, candidate.name)
    if isinstance(node, ast.Import) and candidate.source == "module-name":
        start, _ = source.span(alias, asked.site.offset)
        edits = [Edit(start, start + len(alias.name), candidate.text)]
        if alias.asname is None:
            uses = _uses(asked, alias.name)
            if uses is None:
                return None
            edits += [Edit(s, e, candidate.text) for s, e in uses]
        return "rename-import", f"Import `{candidate.text}`", edits, True
    return None


def _base(target: str, module: str | None) -> str:
    base = target.removesuffix(module or "") if module else target + "."
    return base if base.endswith(".") or not base else base + "."


def _renamed(asked: Asked, node: ast.ImportFrom, alias: ast.alias, name: str) -> _Made | None:
    source, offset = asked.source, asked.site.offset
    start, _ = source.span(alias, offset)
    known = _already(asked, node, alias, name)
    if known is not None and alias.asname is None:
        uses = _uses(asked, alias.name)
        if uses is None:
            return None
        edits = [imports.taken_out(source, node, offset, alias, _block(asked))]
        edits += [Edit(s, e, known) for s, e in uses]
        if not uses:
            return (
                "remove-import",
                f"Drop the import of `{alias.name}`: `{known}` is imported, nothing uses it",
                edits,
                True,
            )
        return "use-existing", f"Use `{known}`, which is imported already", edits, True
    if alias.asname is not None:
        return "rename-import", f"Import `{name}`", [Edit(start, start + len(alias.name), name)], True
    uses = _uses(asked, alias.name)
    if uses is None or _taken(asked, name):
        # The file binds one of the names elsewhere too: the name in the file stays.
        written = f"{name} as {alias.name}"
        return "rename-import", f"Import `{written}`", [Edit(start, start + len(alias.name), written)], True
    edits = [Edit(start, start + len(alias.name), name), *(Edit(s, e, name) for s, e in uses)]
    return "rename-import", f"Import `{name}`" + (" and use it" if uses else ""), edits, True


def _moved(asked: Asked, node: ast.ImportFrom, alias: ast.alias, wanted: ImportWanted) -> _Made | None:
    """The same name out of the module where it is now."""
    source, offset = asked.source, asked.site.offset
    if len(node.names) == 1:
        span = imports.module_span(source, node, offset)
        if span is None:
            return None
        start, end = source.span(alias, offset)
        edits = [Edit(*span, wanted.module)]
        bound = alias.asname or alias.name
        if wanted.name != alias.name:
            edits.append(Edit(start, end, wanted.name if wanted.name == bound else f"{wanted.name} as {bound}"))
        return "rename-import", f"Import it by `{wanted.text}`", edits, True
    kept = alias.asname or alias.name
    named = wanted if wanted.name == kept else wanted._replace(alias=kept)
    brought = imports.bring(source, named, aliased=True)
    edits = [imports.taken_out(source, node, offset, alias, _block(asked)), *brought.edits]
    return "rename-import", f"Import it by `{named.text}`", edits, True


def _already(asked: Asked, node: ast.ImportFrom, alias: ast.alias, name: str) -> str | None:
    """The name under which the file has the real thing in scope without this import; None when it has not."""
    source = asked.source
    target = imports.absolute(source, node)
    if target == source.module:
        return None
    rows = [(n, n.asname) for n in node.names if n is not alias and n.name == name]
    if rows:
        return rows[0][1] or name
    for other, _offset in source.body:
        if isinstance(other, ast.ImportFrom) and other is not node and imports.absolute(source, other) == target:
            for each in other.names:
                if each.name == name:
                    return each.asname or name
        # A definition of that name in the module itself cannot be what is imported from elsewhere.
    index = source.evaluator.index(asked.site.unit.file)
    for _piece, b in index.bindings(name):
        if b.kind == "from" and b.path == name:
            # By another way, as `from .x import name` for `from package.x import name`.
            if _same_module(asked, b.value or "", target):
                return name
    return None


def _same_module(asked: Asked, written: str, target: str | None) -> bool:
    from callground.resolve.modules import absolute

    return target is not None and absolute(asked.site.unit.module, written) == target


def _unused(asked: Asked, ranked: Sequence[Ranked]) -> Iterator[Repair]:
    """An imported name that does not exist and that nothing uses can go."""
    node, alias = asked.site.node, asked.site.alias
    if not isinstance(node, (ast.Import, ast.ImportFrom)) or alias is None or alias.name == "*":
        return
    uses = _uses(asked, alias.asname or alias.name)
    if uses is None or uses or _exported(asked, alias.asname or alias.name):
        return
    edit = imports.taken_out(asked.source, node, asked.site.offset, alias, _block(asked))
    change = FileEdits(asked.source.path, (edit,))
    best = ranked[0] if ranked else None
    yield Repair(
        "remove-import",
        f"Drop the import of `{alias.name}`, which nothing uses",
        (change,),
        ("nothing in the file uses the name",),
        (best.score if best is not None and best.near else 60.0) - 1,
        certain=best is None or not best.near,
    )


def _exported(asked: Asked, name: str) -> bool:
    """Whether others may import the name from this file: it is listed, or the file is a package's face."""
    if asked.source.path.rsplit("/", 1)[-1].startswith("__init__."):
        return True
    listed = asked.source.evaluator.index(asked.site.unit.file).exports().names
    return listed is not None and name in listed


def _region(asked: Asked) -> list[tuple[ast.AST, int]]:
    """The trees in which the import's name is in scope, each with what is added to its lines."""
    functions = [n for n in asked.site.chain if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if functions:
        return [(functions[-1], asked.site.offset)]
    return [(node, offset) for node, offset in asked.source.body]


def _block(asked: Asked) -> list[ast.stmt] | None:
    """The statements among which the site's own statement stands."""
    node = asked.site.node
    for parent in asked.parents[:1] or []:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(parent, field, None)
            if isinstance(block, list) and node in block:
                return block
    return None


def _uses(asked: Asked, name: str) -> list[tuple[int, int]] | None:
    """Where the imported name is used; None when it is also bound in another way, so that uses are not certain."""
    found: list[tuple[int, int]] = []
    own = asked.site.alias
    for tree, offset in _region(asked):
        for node in ast.walk(tree):
            if isinstance(node, ast.alias) and node is not own and (node.asname or node.name) == name:
                return None
            if isinstance(node, ast.arg) and node.arg == name:
                return None
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
                return None
            if isinstance(node, ast.Name) and node.id == name.split(".")[0]:
                if not isinstance(node.ctx, ast.Load):
                    return None
                if "." in name:
                    continue
                found.append(asked.source.span(node, offset))
            if "." in name and isinstance(node, ast.Attribute) and imports.dotted(node) == name:
                found.append(asked.source.span(node, offset))
    return found


def _taken(asked: Asked, name: str) -> bool:
    """Whether the file binds that name already."""
    for tree, _offset in _region(asked):
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                return True
            if isinstance(node, ast.alias) and (node.asname or node.name) == name:
                return True
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
                return True
    return False
