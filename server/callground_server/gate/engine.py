"""The one engine behind every face of the gate: warm graphs, kept in step with the disk, one question at a time."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from callground import __version__
from callground.config import find_root
from callground.facts.store import Store
from callground.gate import Answer, Request, answer
from callground.graph.changes import never
from callground.graph.driver import Stopped
from callground.graph.queries import CodeGraph, DefinitionSite
from callground.session import Session
from callground.verdict.report import known_path, relative
from callground_server.gate.suggest import Suggester
from callground_server.gate.watch import DiskWatch
from callground_server.gate.wire import RequestError, read_request

MAX_WORKSPACES = 3
"""Workspaces that are kept warm; the least recently used one goes first."""

Stop = Callable[[], bool]


class TooSlow(Exception):
    """The time that was allowed for a question is over."""


class Desk:
    """One workspace, opened for questions."""

    def __init__(self, root: str, *, python: str | None = None, trusted: bool = True, cache: str | None = None) -> None:
        self.root = root
        self._python = python
        self._trusted = trusted
        self._cache = cache
        self._session: Session | None = None
        self._watch: DiskWatch | None = None
        self.answered = 0

    @property
    def session(self) -> Session:
        """The workspace, opened."""
        if self._session is None:
            self._session = Session.open(self.root, python=self._python, trusted=self._trusted, cache=self._cache)
            self._watch = None
        return self._session

    @property
    def warm(self) -> bool:
        """Whether the graph is there and complete."""
        return self._session is not None and self._session.workspace.complete

    def fresh(self, stop: Stop = never) -> Session:
        """The workspace as it is on disk right now.  Raises TooSlow when `stop()` says so meanwhile."""
        watch = self._watch
        if watch is not None and (watch.settings_changed() or watch.packages_changed):
            # Another interpreter, other packages, other settings: everything is asked anew.
            self.close()
        session = self.session
        if self._watch is None:
            self._watch = DiskWatch(session.workspace)
        if not session.workspace.complete:
            session.workspace.index(stop=stop)
            if not session.workspace.complete:
                raise TooSlow("the workspace is not indexed yet")
        self._watch.look()
        return session

    def close(self) -> None:
        """Let go of the workspace."""
        if self._session is not None:
            self._session.workspace.close()
        self._session = None
        self._watch = None


class Engine:
    """Several workspaces; every question goes through here, one after the other."""

    def __init__(
        self,
        *,
        python: str | None = None,
        trusted: bool = True,
        cache: str | None = None,
        confined: bool = False,
        root: str | None = None,
    ) -> None:
        self._python = python
        self._trusted = trusted
        self._cache = cache
        self._confined = confined
        self.root = os.path.abspath(root) if root is not None else None
        """The only workspace, if there is to be only one."""
        self._lock = threading.RLock()
        self._desks: OrderedDict[tuple[str, str | None, bool], Desk] = OrderedDict()
        self._suggester: Suggester | None = None
        self._suggester_lock = threading.Lock()
        self.last_used = time.monotonic()

    # -- workspaces

    def desk(self, near: str | None = None, *, python: str | None = None, trusted: bool | None = None) -> Desk:
        """The workspace that a path lies in (or the only one)."""
        root = self.root if self.root is not None else find_root(near or os.getcwd())
        key = (root, python or self._python, self._trusted if trusted is None else trusted)
        desk = self._desks.get(key)
        if desk is None:
            desk = Desk(root, python=key[1], trusted=key[2], cache=self._cache)
            self._desks[key] = desk
            while len(self._desks) > MAX_WORKSPACES:
                self._desks.popitem(last=False)[1].close()
        self._desks.move_to_end(key)
        return desk

    def ask(
        self,
        request: Mapping[str, Any] | Request,
        *,
        near: str | None = None,
        python: str | None = None,
        trusted: bool | None = None,
        limit: float | None = None,
    ) -> tuple[Answer, Request]:
        """Judge a request (JSON, or read already).  Raises RequestError, TooSlow."""
        deadline = _Deadline(limit)
        with self._lock:
            self.last_used = time.monotonic()
            desk = self.desk(near, python=python, trusted=trusted)
            if not isinstance(request, Request):
                request = read_request(request, desk.root, confined=self._confined)
            session = desk.fresh(deadline)
            try:
                made = answer(session, request, stop=deadline)
            except Stopped:
                raise TooSlow(f"it took more than {limit} seconds") from None
            desk.answered += 1
            return made, request

    @contextmanager
    def opened(
        self, near: str | None = None, *, python: str | None = None, trusted: bool | None = None
    ) -> Iterator[Session]:
        """A workspace as it is now, nobody else's for as long as the block runs."""
        with self._lock:
            self.last_used = time.monotonic()
            yield self.desk(near, python=python, trusted=trusted).fresh()

    def verify(self, data: Any, **options: Any) -> dict[str, Any]:
        """The answer to a JSON request, as JSON."""
        verdicts = isinstance(data, Mapping) and data.get("verdicts") is True
        made, _ = self.ask(data, **options)
        result = made.to_json()
        if verdicts:
            result["verdicts"] = made.report.verdicts_json()
        return result

    def suggest(self, data: Any, near: str | None = None) -> dict[str, Any]:
        """The call that a request means, of the tools that come with it.  Raises RequestError."""
        from callground.config import load

        root = self.root if self.root is not None else find_root(near or os.getcwd())
        settings = load(root)[0].caller
        if settings.path is not None:
            settings = replace(settings, path=os.path.join(root, settings.path))
        with self._suggester_lock:
            if self._suggester is None:
                self._suggester = Suggester(Store(Path(self._cache) if self._cache is not None else None))
        self.last_used = time.monotonic()
        return self._suggester.suggest(data, settings)

    # -- questions by name

    def signature_of(self, name: str, near: str | None = None) -> dict[str, Any]:
        """The signatures of everything of that name: in the workspace, else in the environment."""
        with self._lock:
            desk = self.desk(near)
            session = desk.fresh()
            graph = CodeGraph(session.workspace.snapshot())
            found = []
            for each in graph.signatures(name):
                module = session.workspace.snapshot().module_of_path(each.path)
                effective = _effective_signature(session, f"{module}.{each.name}") if module else []
                plain = {
                    "name": each.name,
                    "signature": f"{each.name.rpartition('.')[2]}{each.text}",
                    "file": relative(each.path, desk.root),
                    "line": each.line,
                }
                found.append({**plain, "signature": effective[0]["signature"]} if effective else plain)
            result: dict[str, Any] = {"name": name, "signatures": found}
            if not found:
                result["signatures"] = _effective_signature(session, name)
            if not result["signatures"]:
                result["related"] = [_site(site, desk.root) for site in graph.related_symbols(name, 5)]
            return result

    def find_symbol(self, query: str, limit: int = 10, near: str | None = None) -> dict[str, Any]:
        """Where things are defined whose name fits a query."""
        with self._lock:
            desk = self.desk(near)
            graph = CodeGraph(desk.fresh().workspace.snapshot())
            return {
                "query": query,
                "found": [{**_site(hit.site, desk.root), "score": hit.score} for hit in graph.locate(query, limit)],
            }

    def related(self, name: str, limit: int = 10, near: str | None = None) -> dict[str, Any]:
        """What has a similar name."""
        with self._lock:
            desk = self.desk(near)
            graph = CodeGraph(desk.fresh().workspace.snapshot())
            return {
                "name": name,
                "defined": [_site(site, desk.root) for site in graph.definition_sites(name)],
                "related": [_site(site, desk.root) for site in graph.related_symbols(name, limit)],
            }

    def health(self) -> dict[str, Any]:
        """What is warm."""
        return {
            "status": "ok",
            "version": __version__,
            "workspaces": [
                {"root": desk.root, "warm": desk.warm, "answered": desk.answered} for desk in list(self._desks.values())
            ],
        }

    def warm_up(self, near: str | None = None) -> None:
        """Open and index a workspace before anybody asks."""
        with self._lock:
            self.desk(near).fresh()

    def close(self) -> None:
        """Let go of everything."""
        with self._lock:
            for desk in self._desks.values():
                desk.close()
            self._desks.clear()


class _Deadline:
    """Says "stop" when the time is over."""

    def __init__(self, limit: float | None) -> None:
        self._end = time.monotonic() + limit if limit is not None else None

    def __call__(self) -> bool:
        return self._end is not None and time.monotonic() > self._end


def _site(site: DefinitionSite, root: str) -> dict[str, Any]:
    return {
        "name": site.qualname,
        "kind": site.kind,
        "module": site.module,
        "file": relative(site.path, root),
        "line": site.line,
    }


def _effective_signature(session: Session, name: str) -> list[dict[str, Any]]:
    """The signature of something by its dotted name, as a call of it meets it.

    A call that fits nothing is judged: what does not bind says what would.
    """
    parts = name.split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        return []
    snapshot = session.workspace.snapshot()
    module = parts[0]
    for end in range(1, len(parts)):
        candidate = ".".join(parts[:end])
        session.workspace.load(candidate)
        if snapshot.exists(candidate):
            module = candidate
    code = f"import {module}\n{name}({', '.join(['0'] * 99)}, callground_no_such_argument=0)"
    made = answer(session, Request(code=code))
    for entry in made.report.findings:
        finding = entry.finding
        if finding.kind == "arity" and finding.evidence and finding.evidence_location is not None:
            path, line = finding.evidence_location
            text = finding.evidence[0].partition(" is defined at ")[0]
            return [{"name": name, "signature": text, "file": known_path(path, session.root), "line": line}]
    return []


__all__ = ["Desk", "Engine", "RequestError", "TooSlow"]
