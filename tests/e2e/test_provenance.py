"""A person and an assistant in a real Neovim: only what the assistant put in is looked at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from editor import server_command
from traces.case import Case, dump
from traces.kinds import KINDS
from traces.nvim import Neovim, neovim
from traces.replay import read, score

pytestmark = pytest.mark.e2e

TOOLS = "def real(a):\n    return a\n"
USER = "import tools\n\n\ndef run(rows):\n    return tools.real(rows)\n"


def shown(editor: Neovim) -> list[str]:
    """The texts under diagnostics."""
    found: list[str] = editor.lua(
        """local found = {}
        for _, d in ipairs(vim.diagnostic.get(0)) do
          local line = vim.api.nvim_buf_get_lines(0, d.lnum, d.lnum + 1, false)[1] or ''
          table.insert(found, line:sub(d.col + 1, d.end_col))
        end
        table.sort(found)
        return found"""
    )
    return found


def shows(editor: Neovim, *wanted: str, seconds: float = 40.0) -> None:
    for _ in range(int(seconds / 0.1)):
        if shown(editor) == sorted(wanted):
            return
        editor.settle(0.1)
    assert shown(editor) == sorted(wanted)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '0'\n")
    (folder / "tools.py").write_text(TOOLS)
    (folder / "user.py").write_text(USER)
    return folder


def test_typed_is_let_alone_and_inserted_is_checked(project: Path, tmp_path: Path) -> None:
    command = [*server_command(), "--cache-dir", str(tmp_path / "cache")]
    with neovim(project) as editor:
        editor.edit("user.py")
        editor.lua(
            "vim.lsp.start({ name = 'callground', cmd = ..., root_dir = vim.fn.getcwd() }, { bufnr = 0 })", command
        )
        editor.keys("Go<CR><CR>")
        editor.type("tools.typed_wrong(1, 2)", 0.01)
        editor.keys("<Esc>")
        editor.settle(3.0)
        assert shown(editor) == []
        editor.lua("vim.api.nvim_buf_set_lines(0, 4, 4, false, { '    tools.invented(rows, 1)' })")
        shows(editor, "invented")
        editor.keys("u")
        shows(editor)
        editor.keys("<C-r>")
        shows(editor, "invented")
        editor.at(editor.line_of("typed_wrong"))
        editor.keys("dd")
        editor.settle(0.3)
        editor.at(2)
        editor.keys("p")
        editor.settle(1.5)
        assert shown(editor) == ["invented"]
        editor.command("silent write")
        (project / "user.py").write_text("\n".join(editor.text().split("\n")) + "tools.by_agent(1, 3)\n")
        editor.command("checktime")
        shows(editor, "by_agent", "invented")


@pytest.mark.parametrize("kind", ["block", "inline", "move_lines", "agent_open", "checkout"])
def test_the_recorder_records(kind: str, tmp_path: Path) -> None:
    """One recording of a few kinds, replayed: the script that made the corpus still works."""
    folder = tmp_path / "work"
    folder.mkdir()
    with neovim(folder) as editor:
        case = Case(editor, kind, 7)
        KINDS[kind](case)
        dump([case.finish()], tmp_path / "out.jsonl")
    (recording,) = read(tmp_path / "out.jsonl")
    result = score(recording)
    assert result.human > 0
    assert result.misses == ()


def test_the_script_says_what_it_can() -> None:
    script = Path(__file__).parents[1] / "data" / "traces" / "record_neovim.py"
    done = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=True)
    assert "stream" in done.stdout
