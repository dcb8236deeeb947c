"""A verdict depends on nothing but the code: not on the order of questions, nor on what was asked before."""

from __future__ import annotations

import importlib
import random
from pathlib import Path

import pytest

from callground.graph.driver import judge_sites, planned
from callground.graph.workspace import Workspace
from callground.resolve.memo import Memo
from callground.session import Session

# Real code of several kinds: parsers, hierarchies, generated names, dynamic attributes.
MODULES = ("configparser", "textwrap", "http.cookiejar", "enum", "shelve")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Copies of modules of the standard library, as a project's own files."""
    root = tmp_path_factory.mktemp("order")
    for name in MODULES:
        source = Path(importlib.import_module(name).__file__ or "")
        (root / f"own_{name.replace('.', '_')}.py").write_text(source.read_text("utf-8"), "utf-8")
    cache = tmp_path_factory.mktemp("cache")
    with Session.open(str(root), cache=str(cache)) as session:
        session.index()
        yield session.workspace


def files(workspace: Workspace) -> list[str]:
    return sorted(workspace.paths())


def said(verdicts):
    return {
        (v.range, v.site, v.callee): (v.status, v.reason, v.detail, v.finding and v.finding.message) for v in verdicts
    }


def fresh(workspace: Workspace, path: str):
    snapshot = workspace.snapshot()
    return said(judge_sites(planned(path, snapshot), snapshot, Memo()))


@pytest.fixture(scope="module")
def plain(workspace):
    """The verdicts of each file, asked from a fresh start in the order of its lines."""
    return {path: fresh(workspace, path) for path in files(workspace)}


def test_the_order_of_sites_does_not_matter(workspace, plain):
    for path in files(workspace):
        snapshot = workspace.snapshot()
        sites = planned(path, snapshot)
        random.Random(1).shuffle(sites)
        assert differences(said(judge_sites(sites, snapshot, Memo())), plain[path]) == []


def test_what_was_judged_before_does_not_matter(workspace, plain):
    order = files(workspace)
    random.Random(3).shuffle(order)
    memo = Memo()
    for path in order:
        snapshot = workspace.snapshot()
        got = said(judge_sites(planned(path, snapshot), snapshot, memo))
        assert differences(got, plain[path]) == []


def test_one_site_alone_is_judged_as_among_others(workspace, plain):
    path = next(p for p in files(workspace) if p.endswith("own_configparser.py"))
    snapshot = workspace.snapshot()
    for site in random.Random(5).sample(planned(path, snapshot), 40):
        got = said(judge_sites([site], snapshot, Memo()))
        assert {key: plain[path][key] for key in got} == got


def differences(got, expected):
    assert got.keys() == expected.keys()
    return [(key, expected[key], got[key]) for key in expected if expected[key] != got[key]]
