"""Imports of packages that are not installed: an error when nobody knows the name, a note when it may be optional."""

from __future__ import annotations

import ast

from callground.resolve import modules
from callground.resolve.evaluator import Evaluator
from callground.verdict.findings import Proof
from callground.verdict.sites import Site

_FAR = 12
"""So many imports away from a file, another one counts as needed."""
_MISSING = ("ImportError", "ModuleNotFoundError")


def optional(ev: Evaluator, site: Site, proof: Proof) -> str:
    """Why an import of a top-level package that is not there may be meant so; empty when nothing says it."""
    if proof.code != "unknown-import" or proof.owner_object is not None:
        return ""
    top = proof.name.split(".")[0]
    if ev.snapshot.exists(top):
        return ""
    declared = ev.snapshot.declared(top)
    if declared:
        return f"the project declares `{declared}`, which is not installed here"
    module = site.unit.module.name
    owner = ev.snapshot.extra(module.split(".")[0], top)
    if owner:
        return f"{owner} names it among what its parts require; it is not installed here"
    if site.tests:
        return "it is imported under a condition"
    if any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in site.chain):
        return "it is imported only where it is needed"
    for file in ev.faces(site.unit.module):
        for name in ev.index(file).names():
            for _piece, b in ev.index(file).bindings(name):
                same = b.kind in ("import", "from") and (b.value or "").split(".")[0] == top
                if same and any(g.startswith("try:") and any(e in g for e in _MISSING) for g in b.guards):
                    return "the file also imports it where its absence is expected"
    if "." in module and not _needed(ev, module):
        return f"no other file plainly imports `{module}`: it may be a part with needs of its own"
    return ""


def _needed(ev: Evaluator, name: str, above: frozenset[str] = frozenset()) -> bool:
    """Whether using the workspace needs the module: another file imports it outside of every condition and function.

    That file must be needed in its turn, be it from inside a function: what only a part for one platform imports is
    needed there alone.  A file that nobody imports is where a program starts.
    """
    if "." not in name or name.rpartition(".")[2] == "__main__" or len(above) > _FAR:
        return True
    above |= {name}
    for importer in ev.snapshot.importers(name):
        if importer in above or importer.startswith(name + "."):
            continue  # A part of a package does not make the package needed.
        if not _plainly(ev, importer, name) and not (len(above) > 1 and _inside(ev, importer, name)):
            continue
        others = set(ev.snapshot.importers(importer)) - {importer}
        if not others or "." not in importer or (others - above and _needed(ev, importer, above)):
            return True
    return False


def _plainly(ev: Evaluator, importer: str, name: str) -> bool:
    """Whether a module imports another outside of every condition and function."""
    module = ev.module(importer)
    if module is None:
        return False
    for file in ev.faces(module):
        index = ev.index(file)
        for bound in (*index.names(), "*"):
            for _piece, b in index.bindings(bound):
                if b.guards or b.kind not in ("import", "from", "star"):
                    continue
                target = modules.absolute(module, b.value or "") or ""
                if target == name or (b.kind == "from" and f"{target}.{b.path}" == name):
                    return True
                if b.kind == "import" and (b.value or "").startswith(name + "."):
                    return True
    return False


def _inside(ev: Evaluator, importer: str, name: str) -> bool:
    """Whether a module imports another in a function and nowhere on a condition: late, for speed or for a cycle."""
    module = ev.module(importer)
    if module is None:
        return False
    found = False
    for file in ev.faces(module):
        for piece in file.facts.pieces:
            for source, names in piece.imports:
                target = modules.absolute(module, source) or ""
                if target == name or target.startswith(name + ".") or any(f"{target}.{n}" == name for n in names):
                    found = True
        index = ev.index(file)
        for bound in (*index.names(), "*"):
            for _piece, b in index.bindings(bound):
                target = modules.absolute(module, b.value or "") or "" if b.kind in ("import", "from", "star") else ""
                if target == name or (b.kind == "from" and f"{target}.{b.path}" == name):
                    return False
    return found
