-- What vim.lsp.enable("callground") starts; every field can be overridden by vim.lsp.config.
return {
  cmd = { "callground", "lsp" },
  filetypes = { "python" },
  root_markers = { "pyproject.toml", "setup.py", "setup.cfg", ".git" },
  settings = { callground = vim.empty_dict() },
  capabilities = {
    workspace = { didChangeWatchedFiles = { dynamicRegistration = true } },
    experimental = { callground = { status = true, provenance = true } },
  },
}
