"""``callground related`` and ``callground locate``: the workspace asked by name."""

from __future__ import annotations

import argparse
import os
import sys

from callground.graph.queries import CodeGraph, DefinitionSite
from callground.session import Session
from callground_server.cli.progress import ProgressBar
from callground_server.cli.style import style_for
from callground_server.cli.text import Look, place


def run_related(options: argparse.Namespace) -> int:
    """Definitions with a like name, the nearest first; the exit status is 1 when there are none."""
    with _opened(options) as session:
        graph = _graph(session, options)
        exact = [site for site in graph.definition_sites(options.name) if site.kind != "import"]
        return _print(graph, exact + graph.related_symbols(options.name, options.limit), options)


def run_locate(options: argparse.Namespace) -> int:
    """Definitions that a text finds, best first; the exit status is 1 when there are none."""
    with _opened(options) as session:
        graph = _graph(session, options)
        found = graph.locate(" ".join(options.text), options.limit)
        return _print(graph, [each.site for each in found], options)


def _opened(options: argparse.Namespace) -> Session:
    return Session.open(options.root, python=options.python, trusted=not options.untrusted)


def _graph(session: Session, options: argparse.Namespace) -> CodeGraph:
    with ProgressBar(sys.stderr, wanted=not options.no_progress) as bar:
        session.index(bar.update)
    return CodeGraph(session.workspace.snapshot())


def _print(graph: CodeGraph, sites: list[DefinitionSite], options: argparse.Namespace) -> int:
    style = style_for(sys.stdout)
    look = Look(style, 160, os.getcwd())
    for site in sites[: options.limit]:
        name = f"{site.module}.{site.qualname}" if site.module else site.qualname
        where = style("where", f"{place(site.path, look)}:{site.line}")
        print(f"{where}: {site.kind} {style('name', name)}{_signature(graph, site)}")
    if not sites:
        print("nothing found", file=sys.stderr)
    return 0 if sites else 1


def _signature(graph: CodeGraph, site: DefinitionSite) -> str:
    if site.kind not in ("function", "class"):
        return ""
    name = site.qualname.rpartition(".")[2]
    for signature in graph.signatures(name):
        if signature.path == site.path and (signature.line == site.line or signature.name == site.qualname):
            return signature.text
    return ""
