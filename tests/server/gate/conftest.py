"""A small workspace, an engine on it, and no daemon unless a test wants one."""

from __future__ import annotations

import sys

import pytest

from callground_server.gate import link
from callground_server.gate.engine import Engine
from projects import write_files

FILES = {
    "pyproject.toml": "[project]\nname = 'x'\n",
    "app/__init__.py": "",
    "app/mail.py": """\
import json


class Client:
    def __init__(self, host: str) -> None:
        self.host = host

    def send(self, to, subject, *, cc=None):
        return json.dumps({"to": to})


def connect(host: str, port: int = 25) -> Client:
    client = Client(host)
    return client
""",
}


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """Facts of the standard library are worked out once for all of these tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _apart(cache, monkeypatch):
    """No test meets what the user of this machine has running."""
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(cache))
    monkeypatch.setenv(link.OFF, "1")
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "work space"
    folder.mkdir()
    write_files(folder, FILES)
    return folder


@pytest.fixture
def engine(root, cache):
    made = Engine(python=sys.executable, cache=str(cache), root=str(root))
    yield made
    made.close()
