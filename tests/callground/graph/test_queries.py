"""Questions by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from callground.environment.model import Environment
from callground.graph.queries import CodeGraph
from callground.graph.workspace import Workspace

FILES = {
    "pkg/__init__.py": "from .session import Session\n",
    "pkg/session.py": (
        "class Session:\n"
        "    def __init__(self, host, *, timeout=None): ...\n\n"
        "    def send_request(self, url, /, body=None, *rest, retry, **more): ...\n\n"
        "    @staticmethod\n"
        "    def make(kind): ...\n\n\n"
        "def send_requests(urls): ...\n\n\n"
        "DEFAULT = Session('x', timeout=1)\n"
    ),
    "use.py": "from pkg import Session\n\n'é'; Session('h').send_request('u', retry=1)\nsend = Session.send_request\n",
}


@pytest.fixture
def graph(tmp_path: Path) -> CodeGraph:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    workspace = Workspace.open(str(tmp_path), Environment.described((3, 11)), cache=str(tmp_path / ".cache"))
    workspace.index()
    return CodeGraph(workspace.snapshot())


def test_definition_sites(graph: CodeGraph) -> None:
    sites = graph.definition_sites("Session")
    assert [(site.module, site.kind, site.line) for site in sites] == [
        ("pkg", "import", 1),
        ("pkg.session", "class", 1),
        ("use", "import", 1),
    ]
    assert [site.qualname for site in graph.definition_sites("Session.send_request")] == ["Session.send_request"]
    assert [site.line for site in graph.definition_sites("pkg.session.send_requests")] == [10]
    assert graph.definition_sites("nothing") == []


def test_files_defining(graph: CodeGraph, tmp_path: Path) -> None:
    assert graph.files_defining("Session") == [str(tmp_path / "pkg" / "session.py")]


def test_references(graph: CodeGraph) -> None:
    found = [(Path(ref.path).name, ref.line, ref.column) for ref in graph.references("send_request")]
    assert found == [("use.py", 3, 18), ("use.py", 4, 15)]
    assert ("use.py", 1, 16) in [(Path(r.path).name, r.line, r.column) for r in graph.references("Session")]
    assert [(Path(r.path).name, r.line) for r in graph.references("timeout")] == [("session.py", 13)]


def test_signatures(graph: CodeGraph) -> None:
    (made,) = graph.signatures("Session")
    assert made.name == "Session"
    assert made.max_positional == 1
    assert made.accepted_kwargs == {"host", "timeout"}
    assert made.required == ("host",)
    assert made.text == "(host, *, timeout=None)"
    (send,) = graph.signatures("send_request")
    assert send.max_positional is None
    assert send.accepted_kwargs is None
    assert send.positional_only == ("url",)
    assert send.required_keywords == ("retry",)
    assert send.text == "(url, /, body=None, *rest, retry, **more)"
    (static,) = graph.signatures("Session.make")
    assert static.required == ("kind",)


def test_related_symbols(graph: CodeGraph) -> None:
    names = [site.qualname for site in graph.related_symbols("request_send")]
    assert names[0] == "Session.send_request"
    assert "send_requests" in [site.qualname for site in graph.related_symbols("send_request")]


def test_locate(graph: CodeGraph) -> None:
    assert graph.locate("Session.make()")[0].site.qualname == "Session.make"
    assert {answer.site.qualname for answer in graph.locate("send request")} >= {"Session.send_request"}
    assert graph.locate("xyzzy") == []
