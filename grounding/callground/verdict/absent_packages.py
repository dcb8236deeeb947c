"""Imports of packages that are not installed: an error when nobody knows the name, a note when it may be optional."""

from __future__ import annotations

import ast

from callground.resolve.evaluator import Evaluator
from callground.verdict.findings import Proof
from callground.verdict.sites import Site

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
    module = site.unit.module.name
    if "." in module and not ev.snapshot.imported_anywhere(module):
        ev.read("module", module)
        return f"no other file imports `{module}`: it may be a plugin with needs of its own"
    return ""
