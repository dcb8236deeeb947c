"""Comments found statement by statement are those of the whole text."""

from __future__ import annotations

import pytest

from callground.facts.extract import extract_module
from callground.graph.interface import SourceFile
from callground.rules.ignores import comments
from callground.source.pieces import normalized
from callground_server.lsp.marks import Marks

TEXTS = {
    "above all code": "# type: ignore\nimport os\n\n# type: ignore\nx = os.f()\n",
    "at line ends": "import os  # noqa\n\n\ndef f():\n    os.f()  # callground: ignore[unknown-member]\n",
    "before the next line": "import os\n\n\ndef f():\n    # callground: ignore\n\n    os.f()\n",
    "above a statement": "import os\n# callground: ignore[unknown-member]\nos.f()\n",
    "at the end": "import os\n\nos.f()\n# callground: ignore\n",
    "for the file": "import os\n\nx = 1\n# ruff: noqa\nos.f()\n",
    "in strings": "x = '# callground: ignore'\ny = '''\n# noqa\n'''\n",
    "twice": "f()  # noqa # callground: ignore\ng()  # noqa # callground: ignore\n",
    "half typed": "import os\n\nx = (\n\ndef f():\n    os.f()  # noqa\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_they_are_the_same(name: str) -> None:
    text = normalized(TEXTS[name])
    file = SourceFile("a.py", text, extract_module(text), "")
    marks = Marks()
    assert marks.of(file) == comments(text)
    assert marks.of(file) == comments(text)
