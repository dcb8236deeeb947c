--- :checkhealth callground
local M = {}

function M.check()
  local health = vim.health
  health.start("callground")
  if vim.fn.has("nvim-0.11") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim 0.11 or newer is needed")
    return
  end
  local config = vim.lsp.config["callground"]
  if not config then
    health.error("there is no configuration", { "put the folder that `callground nvim-path` prints on the runtime path" })
    return
  end
  local cmd = config.cmd
  local program = type(cmd) == "table" and cmd[1] or nil
  if not program then
    health.info("the server is started by a function")
  elseif vim.fn.executable(program) == 1 then
    local done = vim.system({ program, "--version" }, { text = true }):wait(10000)
    local said = vim.trim(done.stdout or "")
    health.ok(("%s (%s)"):format(vim.fn.exepath(program), said ~= "" and said or "its version is not known"))
  else
    health.error(program .. " was not found", { "install it: pip install callground" })
  end
  if vim.lsp.is_enabled and vim.lsp.is_enabled("callground") then
    health.ok("enabled for Python files")
  else
    health.warn("not enabled", { 'call require("callground").setup() or vim.lsp.enable("callground")' })
  end
  local clients = vim.lsp.get_clients({ name = "callground" })
  for _, client in ipairs(clients) do
    local version = client.server_info and client.server_info.version or "unknown"
    health.ok(("running in %s, version %s, positions in %s"):format(client.root_dir or "no folder", version, client.offset_encoding))
    local offered = client.server_capabilities.inlineCompletionProvider and "offered" or "not offered by this server"
    health.info("inline suggestions: " .. offered)
  end
  if #clients == 0 then
    health.info("not running: no Python file is open")
  end
end

return M
