"""A headless Neovim that is driven by keys and by its API, with a recorder where a language server would be.

The recorder is a client of Neovim's own LSP machinery, so that it sees what a server sees: the same changes,
cut out and put together the same way, at the same moments.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RECORDER = r"""
_G.trace = {}
local began = vim.uv.hrtime()
function _G.clock() return math.floor((vim.uv.hrtime() - began) / 1e6) end
local function recorder()
  local closing, id = false, 0
  return {
    request = function(method, _, callback)
      id = id + 1
      local result = vim.NIL
      if method == 'initialize' then
        result = { capabilities = { positionEncoding = 'utf-8',
          textDocumentSync = { openClose = true, change = 2, save = { includeText = false } } } }
      end
      vim.schedule(function() callback(nil, result) end)
      return true, id
    end,
    notify = function(method, params)
      table.insert(_G.trace, { _G.clock(), method, vim.deepcopy(params) })
      return true
    end,
    is_closing = function() return closing end,
    terminate = function() closing = true end,
  }
end
vim.api.nvim_create_autocmd('FileType', { pattern = 'python', callback = function(event)
  vim.lsp.start({ name = 'recorder', cmd = recorder, root_dir = vim.fn.getcwd() }, { bufnr = event.buf })
end })
vim.cmd('filetype plugin indent on')
vim.o.swapfile, vim.o.hidden, vim.o.autoread, vim.o.expandtab = false, true, true, true
vim.o.shiftwidth, vim.o.autoindent, vim.o.more, vim.o.shortmess = 4, true, false, vim.o.shortmess .. 'AIc'
"""

AUTOPAIRS = r"""
for open, close in pairs({ ['('] = ')', ['['] = ']', ['{'] = '}', ['"'] = '"' }) do
  vim.keymap.set('i', open, function()
    local rest = vim.api.nvim_get_current_line():sub(vim.fn.col('.'), vim.fn.col('.'))
    if open == close and rest == close then return '<Right>' end
    return open .. close .. '<C-g>U<Left>'
  end, { expr = true, buffer = true })
  if open ~= close then
    vim.keymap.set('i', close, function()
      local rest = vim.api.nvim_get_current_line():sub(vim.fn.col('.'), vim.fn.col('.'))
      return rest == close and '<C-g>U<Right>' or close
    end, { expr = true, buffer = true })
  end
end
"""


class Neovim:
    """One editor in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        import pynvim

        self.folder = folder
        environment = {
            **os.environ,
            **{f"XDG_{kind}_HOME": str(folder / ".xdg" / kind) for kind in ("STATE", "CACHE", "DATA", "CONFIG")},
        }
        binary = shutil.which("nvim", path=os.path.dirname(sys.executable)) or shutil.which("nvim") or "nvim"
        previous = dict(os.environ)
        os.environ.update(environment)
        try:
            self.nvim = pynvim.attach(
                "child", argv=[binary, "--clean", "--headless", "--embed", "--cmd", f"cd {folder}"]
            )
        finally:
            os.environ.clear()
            os.environ.update(previous)
        self.lua(RECORDER)

    def close(self) -> None:
        """End it."""
        try:
            self.nvim.command("qa!")
        except (EOFError, OSError):
            # It is gone before it has answered.
            pass
        self.nvim.close()

    # -- what people do

    def lua(self, code: str, *arguments: Any) -> Any:
        """Run Lua; `arguments` are its ``...``."""
        return self.nvim.exec_lua(code, *arguments)

    def command(self, command: str) -> None:
        """An Ex command."""
        self.nvim.command(command)

    def edit(self, name: str) -> None:
        """Open a file, and wait until the recorder has seen it."""
        self.nvim.command(f"edit {self.folder / name}")
        self.wait(
            "return #vim.lsp.get_clients({ bufnr = 0 }) > 0 and vim.lsp.get_clients({ bufnr = 0 })[1].initialized"
        )

    def keys(self, keys: str, pause: float = 0.0) -> None:
        """Press keys (``<Esc>`` and so on by name), and wait until Neovim has taken them."""
        self.nvim.input(keys)
        self.nvim.eval("1")
        if pause:
            time.sleep(pause)

    def type(self, text: str, pause: float = 0.004) -> None:
        """Press the key of each character."""
        for character in text:
            self.keys({"<": "<lt>", "\n": "<CR>"}.get(character, character), pause)

    def wait(self, condition: str, seconds: float = 10.0) -> None:
        """Wait until a Lua condition holds."""
        done = self.lua(f"return vim.wait({int(seconds * 1000)}, function() {condition} end, 5)")
        assert done, condition

    def settle(self, seconds: float = 0.25) -> None:
        """Wait until Neovim has sent what it has to send (it gathers changes for 150 ms)."""
        self.lua(f"vim.wait({int(seconds * 1000)}, function() return false end, 5)")

    def text(self) -> str:
        """The text of the current buffer."""
        return "\n".join(self.nvim.current.buffer[:]) + "\n"

    def at(self, line: int, column: int = 0) -> None:
        """Put the cursor on a line (0-based)."""
        self.nvim.current.window.cursor = (line + 1, column)

    def line_of(self, text: str) -> int:
        """Number (0-based) of the line that holds `text`."""
        return next(number for number, line in enumerate(self.nvim.current.buffer[:]) if text in line)

    # -- the recording

    def begin(self) -> None:
        """Forget what was recorded, and close every buffer."""
        self.command("silent! %bwipeout!")
        self.settle(0.02)
        self.lua("_G.trace = {}")

    def recorded(self) -> list[Any]:
        """(milliseconds, method, parameters) of every notification."""
        taken: list[Any] = self.lua("local t = _G.trace; _G.trace = {}; return t")
        return taken

    def now(self) -> int:
        """Milliseconds on the recorder's clock."""
        return int(self.lua("return _G.clock()"))


@contextmanager
def neovim(folder: Path) -> Iterator[Neovim]:
    """An editor that is ended in any case."""
    editor = Neovim(folder)
    try:
        yield editor
    finally:
        editor.close()
