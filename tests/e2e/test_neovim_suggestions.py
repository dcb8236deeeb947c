"""Ghost text in a real Neovim: a comment gives a grounded call, taking it brings the import, typing on takes it away."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pynvim
import pytest

import callground_server
from callground.caller.code_suggestions import CodeCaller
from editor import PATIENCE, server_command
from test_neovim import neovim

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        CodeCaller().unavailable() is not None, reason=f"no suggestions here: {CodeCaller().unavailable()}"
    ),
]

RUNTIME = Path(callground_server.__file__).parent / "nvim"
MAIL = '''def load_config(path: str) -> dict[str, str]:
    """Read the configuration file."""
    return {}


def send_message(recipient: str, subject: str) -> bool:
    """Send one message to a recipient."""
    return bool(recipient)
'''
MAIN = '''from mail import send_message


def run(path: str, recipient: str, subject: str) -> None:
    """Run it."""
    send_message(recipient, subject)
'''
SHOWN = "return require('callground.inline').shown()"


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Neovim with the plugin on its runtime path, and a project open in it."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    (root / "mail.py").write_text(MAIL)
    (root / "main.py").write_text(MAIN)
    for name in ("STATE", "CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "nvim" / name.lower()))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    vim = pynvim.attach("child", argv=[neovim(), "--embed", "--headless", "--clean"])
    try:
        vim.command("filetype plugin on")
        vim.command(f"set runtimepath+={RUNTIME}")
        vim.command("runtime plugin/callground.lua")
        vim.command(f"cd {root}")
        vim.exec_lua(
            "require('callground').setup({ lsp = { cmd = ... } })",
            server_command("--cache-dir", str(tmp_path / "cache")),
        )
        vim.command("edit main.py")
        vim.command("setlocal autoindent indentexpr= formatoptions=")
        vim.command("imap <C-y> <Plug>(callground-accept)")
        wait(lambda: "grounded" in vim.exec_lua("return require('callground').status()"), "counts")
        wait(lambda: "indexing" not in vim.exec_lua("return require('callground').status()"), "an index")
        yield vim
    finally:
        try:
            vim.command("qa!")
        except OSError:
            pass  # it is gone, as it should be
        vim.close()


def wait(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.05)


def ghost(vim: Any) -> Callable[[], Any]:
    return lambda: vim.exec_lua(SHOWN)


def marked(vim: Any) -> bool:
    answer = vim.exec_lua(
        """
        local client = require('callground').client(0)
        local parameters = { command = 'callground.provenance', arguments = { vim.uri_from_bufnr(0) } }
        local answer = client:request_sync('workspace/executeCommand', parameters, 20000, 0)
        return answer and answer.result or {}
        """
    )
    return any(each["origin"] == "ai" for each in answer)


def test_a_comment_gives_a_call_and_taking_it_brings_the_import(editor: Any) -> None:
    editor.current.window.cursor = (5, 0)
    editor.input("o# Load the config from the path<CR>")
    assert wait(ghost(editor), "ghost text") == "load_config(path)"
    editor.input("<C-y><Esc>")
    wait(lambda: "load_config" in editor.current.buffer[0], "the import")
    assert editor.current.buffer[0] == "from mail import load_config, send_message"
    assert editor.current.buffer[5:7] == ["    # Load the config from the path", "    load_config(path)"]
    assert editor.exec_lua("return require('callground.inline').accepted") == 1
    wait(lambda: marked(editor), "the mark of what was taken")
    wait(lambda: "2 grounded, 0 ungrounded" in editor.exec_lua("return require('callground').status()"), "a judgement")


def test_typing_on_takes_it_away(editor: Any) -> None:
    editor.current.window.cursor = (5, 0)
    editor.input("o# Load the config from the path<CR>")
    wait(ghost(editor), "ghost text")
    editor.input("x")
    wait(lambda: editor.current.line.strip() == "x", "the letter")
    assert editor.exec_lua(SHOWN) is None


def test_a_request_that_fits_nothing_gives_nothing(editor: Any) -> None:
    editor.current.window.cursor = (5, 0)
    editor.input("o# paint the moon green<CR>")
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        assert editor.exec_lua(SHOWN) is None
        time.sleep(0.1)
    # The server does answer here: another comment on the same line gives a call.
    editor.input("<Esc>kcc    # Load the config from the path<Esc>jA")
    editor.input("<Space><BS>")
    assert wait(ghost(editor), "ghost text") == "load_config(path)"


def test_the_list_is_asked_for_in_words(editor: Any) -> None:
    editor.exec_lua(
        """
        listed = {}
        vim.ui.select = function(items, options, choose)
          for _, item in ipairs(items) do
            table.insert(listed, options.format_item(item))
          end
          choose(items[1])
        end
        """
    )
    editor.current.window.cursor = (6, 0)
    editor.input("o<Esc>")
    editor.command("Callground suggest read the configuration file")
    listed = wait(lambda: editor.exec_lua("return listed"), "a list")
    assert listed[0] == "load_config(path)    from mail import load_config"
    wait(lambda: "    load_config(path)" in list(editor.current.buffer), "the call")
