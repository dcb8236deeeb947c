"""``callground nvim-path``: the folder for Neovim's runtime path."""

from __future__ import annotations

from pathlib import Path

import pytest

from callground_server.cli import main


def test_the_folder_holds_what_neovim_looks_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nvim-path"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    for name in ("lsp/callground.lua", "plugin/callground.lua", "lua/callground/health.lua", "doc/tags"):
        assert (folder / name).is_file(), name
