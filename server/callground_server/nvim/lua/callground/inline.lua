--- Ghost text for the server's inline suggestions, where it has any.
local M = {}
local positions = require("callground.positions")
local space = vim.api.nvim_create_namespace("callground.inline")
local METHOD = "textDocument/inlineCompletion"
local DELAY = 150
local timer = nil
--- What is shown: buffer, line, column, text, item, client.
local shown = nil
M.accepted = 0

--- Take the ghost text away.
function M.clear()
  if shown and vim.api.nvim_buf_is_valid(shown.buffer) then
    vim.api.nvim_buf_clear_namespace(shown.buffer, space, 0, -1)
  end
  shown = nil
end

--- What is shown just now, or nil.
function M.shown()
  return shown and shown.text or nil
end

local function text_of(item)
  return type(item.insertText) == "table" and item.insertText.value or item.insertText
end

--- Show the first item of an answer at the cursor.
function M.show(client, buffer, answer)
  M.clear()
  local items = answer and (answer.items or answer) or {}
  local item = items[1]
  if not item then
    return
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  local line, column = cursor[1] - 1, cursor[2]
  local text = text_of(item)
  if item.range then
    -- What stands before the cursor already is not shown again.
    local start_line, start_column = positions.bytes(client, buffer, item.range.start)
    local typed = vim.api.nvim_buf_get_text(buffer, start_line, start_column, line, column, {})
    local prefix = table.concat(typed, "\n")
    if not vim.startswith(text, prefix) then
      return
    end
    text = text:sub(#prefix + 1)
  end
  if text == "" then
    return
  end
  local rows = vim.split(text, "\n")
  local below = {}
  for number = 2, #rows do
    table.insert(below, { { rows[number], "CallgroundSuggestion" } })
  end
  vim.api.nvim_buf_set_extmark(buffer, space, line, column, {
    virt_text = { { rows[1], "CallgroundSuggestion" } },
    virt_text_pos = "inline",
    virt_lines = #below > 0 and below or nil,
  })
  shown = { buffer = buffer, line = line, column = column, text = text, item = item, client = client }
end

--- Put the suggestion in; false where none is shown.
function M.accept()
  local taken = shown
  if not taken then
    return false
  end
  M.clear()
  local rows = vim.split(taken.text, "\n")
  vim.api.nvim_buf_set_text(taken.buffer, taken.line, taken.column, taken.line, taken.column, rows)
  local last = taken.line + #rows - 1
  local column = #rows == 1 and taken.column + #taken.text or #rows[#rows]
  vim.api.nvim_win_set_cursor(0, { last + 1, column })
  M.accepted = M.accepted + 1
  local signals = require("callground.signals")
  signals.did_insert(taken.buffer, taken.line, taken.column, last, column, "ai", "callground")
  if taken.item.command then
    taken.client:exec_cmd(taken.item.command, { bufnr = taken.buffer })
  end
  return true
end

local function ask(client, buffer)
  if vim.api.nvim_get_current_buf() ~= buffer or vim.api.nvim_get_mode().mode:sub(1, 1) ~= "i" then
    return
  end
  local cursor = vim.api.nvim_win_get_cursor(0)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buffer) },
    position = positions.position(client, buffer, cursor[1] - 1, cursor[2]),
    context = { triggerKind = 2 },
  }
  local tick = vim.api.nvim_buf_get_changedtick(buffer)
  client:request(METHOD, params, function(_, answer)
    local here = vim.api.nvim_get_current_buf() == buffer
    local now = vim.api.nvim_win_get_cursor(0)
    if here and vim.api.nvim_buf_get_changedtick(buffer) == tick and vim.deep_equal(now, cursor) then
      M.show(client, buffer, answer)
    end
  end, buffer)
end

--- Ask while somebody types.  A server that offers no suggestions is never asked.
function M.attach(client, buffer)
  if not client.server_capabilities.inlineCompletionProvider then
    return
  end
  if vim.lsp.inline_completion then
    vim.lsp.inline_completion.enable(true, { client_id = client.id })
    return
  end
  local group = vim.api.nvim_create_augroup("callground.inline." .. buffer, { clear = true })
  vim.api.nvim_create_autocmd({ "TextChangedI", "CursorMovedI", "InsertEnter" }, {
    group = group,
    buffer = buffer,
    callback = function()
      M.clear()
      timer = timer or assert(vim.uv.new_timer())
      timer:start(DELAY, 0, vim.schedule_wrap(function()
        ask(client, buffer)
      end))
    end,
  })
  vim.api.nvim_create_autocmd("InsertLeave", { group = group, buffer = buffer, callback = M.clear })
end

return M
