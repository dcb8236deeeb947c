"""What real editors announce: bundled with pytest-lsp, and ours in ``tests/data/clients``."""

from __future__ import annotations

import json
from pathlib import Path

from lsprotocol import types as lsp
from lsprotocol.converters import get_converter

DATA = Path(__file__).parents[1] / "data" / "clients"


def capabilities(name: str) -> lsp.ClientCapabilities:
    """The announcement of ``neovim`` or ``vscode``."""
    data = json.loads((DATA / f"{name}.json").read_text("utf-8"))
    found: lsp.ClientCapabilities = get_converter().structure(data["capabilities"], lsp.ClientCapabilities)
    return found
