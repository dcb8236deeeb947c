"""A small project with an evaluator over it: for tests that ask it directly."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from callground.graph.interface import NotLoaded
from callground.resolve import expressions
from callground.resolve.evaluator import Evaluator
from callground.resolve.scopes import Scope
from callground.resolve.values import Ref, Values
from callground.session import Session
from projects import write_files

T = TypeVar("T")


class Desk:
    """An indexed project.  Modules that a question needs are loaded, then it is asked again."""

    def __init__(self, root: Path, files: Mapping[str, str], cache: Path | None = None) -> None:
        write_files(root, files)
        self.session = Session.open(str(root), python=sys.executable, cache=str(cache) if cache is not None else None)
        self.session.index()
        self.snapshot = self.session.workspace.snapshot()
        self.evaluator = Evaluator(self.snapshot)

    def __enter__(self) -> Desk:
        self.session.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.session.__exit__(kind, error, trace)

    def ask(self, question: Callable[[Evaluator], T]) -> T:
        """The answer, as from a fresh start."""
        while True:
            self.evaluator.begin()
            try:
                return question(self.evaluator)
            except NotLoaded as missing:
                self.snapshot.space.load(missing.module)

    def scope(self, module: str = "main") -> Scope:
        """The scope of a module after it has run."""

        def question(ev: Evaluator) -> Scope:
            found = ev.module(module)
            assert found is not None
            assert found.source is not None
            return ev.module_scope(found, found.source)

        return self.ask(question)

    def value(self, text: str, module: str = "main") -> Values:
        """What an expression is at the end of a module."""
        node = ast.parse(text, mode="eval").body
        scope = self.scope(module)
        return self.ask(lambda ev: expressions.value(ev, node, scope))


def main(qualname: str) -> Ref:
    """A class or function of the module ``main``."""
    return Ref("main", qualname)
