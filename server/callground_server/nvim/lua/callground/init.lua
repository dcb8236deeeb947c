--- callground in Neovim: settings, what the server tells, and what is attached to a buffer.
local M = {}

--- The settings, with their defaults.  `require("callground").setup({...})` changes some.
M.settings = {
  --- Start the server for Python files.
  enable = true,
  --- Signs beside text that an assistant inserted: "sign", "line" (background), or false.
  marks = "sign",
  --- Text of the sign.
  sign = "▎",
  --- Tell the local server what the editor knows about edits (paste, completion).
  signals = true,
  --- Ghost text for the server's inline suggestions, where it has any.
  inline = true,
  --- Fields of vim.lsp.config("callground", ...).
  lsp = {},
}

M.documents = {}
M.folders = {}

local function highlights()
  vim.api.nvim_set_hl(0, "CallgroundAi", { default = true, link = "DiagnosticInfo" })
  vim.api.nvim_set_hl(0, "CallgroundAiLine", { default = true, link = "CursorLine" })
  vim.api.nvim_set_hl(0, "CallgroundSuggestion", { default = true, link = "Comment" })
end

--- Change settings, and start the server for Python files.
function M.setup(settings)
  M.settings = vim.tbl_deep_extend("force", M.settings, settings or {})
  if next(M.settings.lsp) ~= nil then
    vim.lsp.config("callground", M.settings.lsp)
  end
  if M.settings.enable then
    vim.lsp.enable("callground")
  end
end

--- The client of a buffer, if it is attached.
function M.client(buffer)
  return vim.lsp.get_clients({ bufnr = buffer or 0, name = "callground" })[1]
end

--- Counts of a buffer for a status line: "5 grounded, 1 ungrounded, 2 abstained"; "" where nothing is known.
function M.status(buffer)
  local uri = vim.uri_from_bufnr(buffer or 0)
  local counts = M.documents[uri]
  local words = {}
  if counts then
    local text = "%d grounded, %d ungrounded, %d abstained"
    table.insert(words, text:format(counts.grounded, counts.ungrounded, counts.abstained))
  end
  for _, folder in ipairs(M.folders) do
    if folder.indexing then
      table.insert(words, ("indexing %d/%d"):format(folder.done, folder.total))
      break
    end
  end
  return table.concat(words, ", ")
end

--- The environment that a buffer's calls are judged by: "Python 3.12.1 (/path/python)", with the doubt where there is one.
function M.environment(buffer)
  local uri = vim.uri_from_bufnr(buffer or 0)
  local best
  for _, folder in ipairs(M.folders) do
    local inside = vim.startswith(uri, folder.uri:gsub("/?$", "/", 1))
    if inside and type(folder.environment) == "table" and (not best or #folder.uri > #best.uri) then
      best = folder
    end
  end
  if not best then
    return ""
  end
  local found = best.environment
  local text = "Python " .. (found.version ~= "" and found.version or "of unknown version")
  if type(found.python) == "string" then
    text = text .. " (" .. found.python .. ")"
  end
  if type(found.doubtful) == "string" then
    text = text .. ", doubtful: " .. found.doubtful
  end
  return text
end

--- Called for each buffer that the server is attached to.
function M.attach(client, buffer)
  highlights()
  client.handlers["callground/status"] = function(_, message)
    M.folders = message.folders
    vim.cmd.redrawstatus({ bang = true })
  end
  client.handlers["callground/documentStatus"] = function(_, message)
    M.documents[message.uri] = message
    vim.cmd.redrawstatus({ bang = true })
  end
  client.handlers["callground/provenance"] = function(_, message)
    require("callground.marks").show(client, message)
  end
  if M.settings.signals then
    require("callground.signals").attach(client, buffer)
  end
  if M.settings.inline then
    require("callground.inline").attach(client, buffer)
  end
end

return M
