"""The README's picture is what the command prints today.

``CALLGROUND_DRAW=1 pytest tests/server/cli/test_picture.py`` draws it anew.
"""

from __future__ import annotations

import os
import re
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

from callground_server.cli import main
from pictures import picture
from projects import write_files

HERE = Path(__file__).parent
PICTURE = HERE / "check.svg"

SHOP = {
    "shop/client.py": '''
        import json


        class Client:
            """Talks to the shop."""

            def __init__(self, host: str, *, timeout: float = 3.0) -> None:
                self.host = host

            def fetch(self, path: str, retries: int = 2) -> str:
                return self.host + path


        def decode(text: str) -> dict:
            return json.loads(text)
        ''',
    "app.py": """
        import json

        from shop.client import Client, decode

        client = Client("shop.example", timeout=10)


        def main() -> None:
            page = client.fetch_page("/items")
            items = decode(client.fetch("/items", max_retries=3))
            print(json.parse(page), items)
        """,
}


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    """What the command prints for the little shop, with a stand-in for this machine's Python."""
    write_files(tmp_path, {name: text.lstrip("\n") for name, text in SHOP.items()})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("CALLGROUND_CACHE_DIR", str(tmp_path / "cache"))
    assert main(["check", "--python", sys.executable]) == 1
    out = capsys.readouterr().out
    out = re.sub(r"Python [\d.]+ \([^)]*\)", "Python 3.12.7 (.venv/bin/python)", out)
    return re.sub(r"\bpython3\.\d+/json", "python3.12/json", out)


def test_the_picture_is_current(shown):
    drawn = picture("\x1b[2m$ callground check\x1b[0m\n" + shown, "callground check")
    if os.environ.get("CALLGROUND_DRAW"):
        PICTURE.write_text(drawn, "utf-8")
    assert PICTURE.read_text("utf-8") == drawn


def test_the_picture_shows_what_the_readme_says():
    text = "".join(xml.etree.ElementTree.parse(PICTURE).getroot().itertext())
    assert "has no member `fetch_page`" in text
    assert "has no parameter `max_retries`" in text
    assert "json" in text
    readme = (HERE.parents[2] / "README.md").read_text("utf-8")
    assert PICTURE.relative_to(HERE.parents[2]).as_posix() in readme
