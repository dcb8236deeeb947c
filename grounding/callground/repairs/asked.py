"""One finding, asked about again: its call site, the proof, and the evaluator that gave it.

Everything in this room starts from here.  Questions load the modules that they need, as the judgement does;
the overlay of an editor or a plan is whatever the snapshot shows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from callground.graph.driver import MAX_LOADS, planned
from callground.graph.interface import NotLoaded
from callground.graph.snapshot import Snapshot
from callground.resolve.evaluator import Evaluator, OverBudget
from callground.resolve.memo import Memo
from callground.resolve.scopes import Scope
from callground.text.lines import UTF8, LineIndex
from callground.verdict.findings import Proof
from callground.verdict.model import Range, Verdict
from callground.verdict.sites import Site
from callground.verdict.verify import outcome_of, scope_of

T = TypeVar("T")


class Source:
    """One file as a snapshot shows it, ready to be asked about its findings."""

    def __init__(self, path: str, text: str, snapshot: Snapshot, memo: Memo | None = None) -> None:
        self.path = path
        self.text = text
        """The text with its own line ends: edits refer to this one."""
        self.snapshot = snapshot
        self.evaluator = Evaluator(snapshot, memo)
        self.evaluator.raise_not_loaded = True

    @cached_property
    def lines(self) -> LineIndex:
        """The text by lines."""
        return LineIndex(self.text)

    @cached_property
    def sites(self) -> list[Site]:
        """Every call site and reference."""
        return planned(self.path, self.snapshot)

    @cached_property
    def body(self) -> list[tuple[ast.stmt, int]]:
        """The top-level statements, each with what is added to its lines to make them absolute."""
        if self.sites:
            unit = self.sites[0].unit
            return list(zip(unit.body, unit.offsets, strict=True))
        return []

    @cached_property
    def newline(self) -> str:
        """The line end that the file uses."""
        end = self.text.find("\n")
        if end > 0 and self.text[end - 1] == "\r":
            return "\r\n"
        return "\n" if end >= 0 or "\r" not in self.text else "\r"

    @cached_property
    def module(self) -> str:
        """The file's dotted name, or its path."""
        return self.snapshot.module_of_path(self.path) or self.path

    def find(self, verdict: Verdict) -> Asked | None:
        """The finding of a verdict, proved again; None when it does not hold for this text."""
        for site in self.sites:
            if site.range == verdict.range and site.kind == verdict.site and site.callee == verdict.callee:
                asked = self.about(site)
                if asked is not None:
                    return asked
        return None

    def about(self, site: Site) -> Asked | None:
        """The proof of what is wrong at a site; None when nothing is."""
        proof = self.ask(lambda: outcome_of(site, self.evaluator))
        return Asked(self, site, proof) if isinstance(proof, Proof) else None

    def ask(self, question: Callable[[], T]) -> T | None:
        """The answer to a question, with what it needs loaded; None when that cannot be had."""
        loaded: set[str] = set()
        while len(loaded) < MAX_LOADS:
            self.evaluator.begin()
            try:
                return question()
            except NotLoaded as missing:
                if missing.module in loaded:
                    return None
                loaded.add(missing.module)
                self.snapshot.space.load(missing.module)
            except (OverBudget, RecursionError):
                return None
        return None

    def offset(self, line: int, byte: int) -> int:
        """The offset of a place that a tree names (absolute line, UTF-8 column)."""
        return self.lines.offset(line, byte, UTF8)

    def span(self, node: ast.AST, offset: int) -> tuple[int, int]:
        """The offsets of a node whose lines are `offset` above the file's."""
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_column = getattr(node, "end_col_offset", None) or 0
        return self.offset(line + offset, column), self.offset(end_line + offset, end_column)

    def range_span(self, span: Range) -> tuple[int, int]:
        """The offsets of a range of a report."""
        return (
            self.lines.offset(span.line, span.column),
            self.lines.offset(span.end_line, span.end_column),
        )


class Asked:
    """One finding with its proof."""

    def __init__(self, source: Source, site: Site, proof: Proof) -> None:
        self.source = source
        self.site = site
        self.proof = proof

    @property
    def code(self) -> str:
        """The rule that is broken."""
        return self.proof.code

    @property
    def name(self) -> str:
        """The wrong name."""
        return self.proof.name

    @property
    def call(self) -> ast.Call | None:
        """The call, where the site is one."""
        return self.site.node if isinstance(self.site.node, ast.Call) else None

    @cached_property
    def scope(self) -> Scope | None:
        """Where its expressions are evaluated."""
        return self.source.ask(lambda: scope_of(self.site, self.source.evaluator))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """The offsets of a node of the site."""
        return self.source.span(node, self.site.offset)

    def text(self, node: ast.AST) -> str:
        """The source text of a node of the site."""
        start, end = self.span(node)
        return self.source.text[start:end]

    @cached_property
    def parents(self) -> list[ast.AST]:
        """The nodes around the site's own, the innermost first, up to the statement of the scope it stands in."""
        node = self.site.node
        chain = self.site.chain
        roots: list[ast.AST] = [chain[-1]] if chain else [s for s, o in self.source.body if o == self.site.offset]
        for root in roots:
            found = _way_down(root, node)
            if found is not None:
                return found[::-1]
        return []

    @property
    def is_raised(self) -> bool:
        """Whether the site is what a ``raise`` raises."""
        return self.site.role == "raise" or bool(self.parents and isinstance(self.parents[0], ast.Raise))

    @cached_property
    def calls_it(self) -> ast.Call | None:
        """The call whose callee the wrong name is the last part of; None when it is only named."""
        call = self.call
        return call if call is not None and call.func is self.proof.node else None


def _way_down(root: ast.AST, node: ast.AST) -> list[ast.AST] | None:
    """The nodes from `root` down to the parent of `node`; None when it is not in there."""
    stack: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(root, ())]
    while stack:
        current, above = stack.pop()
        if current is node:
            return list(above)
        way = (*above, current)
        stack.extend((child, way) for child in ast.iter_child_nodes(current))
    return None
