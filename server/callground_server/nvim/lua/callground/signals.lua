--- What the editor knows about where text comes from: pasted text and accepted completions.
--- Undo and redo need no word: the server knows the text that comes back.
local M = {}
local positions = require("callground.positions")
local space = vim.api.nvim_create_namespace("callground.signals")
local attached = {}
--- What is going on just now: "unknown" while something is pasted.
local going_on = nil
local WAIT, TRIES = 60, 20

--- Tell the server once it has the text: the range moves with the text until then.
local function tell(client, buffer, mark, origin, tool, tries)
  vim.defer_fn(function()
    if not vim.api.nvim_buf_is_valid(buffer) or client:is_stopped() then
      return
    end
    if vim.lsp.util.buf_versions[buffer] ~= vim.api.nvim_buf_get_changedtick(buffer) and tries > 0 then
      return tell(client, buffer, mark, origin, tool, tries - 1)
    end
    local place = vim.api.nvim_buf_get_extmark_by_id(buffer, space, mark, { details = true })
    vim.api.nvim_buf_del_extmark(buffer, space, mark)
    if not place[3] then
      return
    end
    client:notify("callground/didInsert", {
      uri = vim.uri_from_bufnr(buffer),
      range = positions.range(client, buffer, place[1], place[2], place[3].end_row, place[3].end_col),
      origin = origin,
      tool = tool,
    })
  end, WAIT)
end

--- Say where a range of a buffer (0-based lines, byte columns) came from; for other plugins too.
function M.did_insert(buffer, line, column, end_line, end_column, origin, tool)
  local client = require("callground").client(buffer)
  if client then
    local mark = vim.api.nvim_buf_set_extmark(buffer, space, line, column, {
      end_row = end_line,
      end_col = end_column,
      strict = false,
    })
    tell(client, buffer, mark, origin, tool or "", TRIES)
  end
end

local function watch(client, buffer)
  vim.api.nvim_buf_attach(buffer, false, {
    on_bytes = function(_, _, _, row, column, _, _, _, _, new_rows, new_columns)
      if not attached[buffer] then
        return true
      end
      if going_on and (new_rows > 0 or new_columns > 0) then
        local end_column = new_rows == 0 and column + new_columns or new_columns
        local origin = going_on
        -- The buffer must not be touched from here.
        vim.schedule(function()
          if vim.api.nvim_buf_is_valid(buffer) then
            M.did_insert(buffer, row, column, row + new_rows, end_column, origin, "paste")
          end
        end)
      end
    end,
    on_detach = function()
      attached[buffer] = nil
    end,
  })
  vim.api.nvim_create_autocmd("CompleteDone", {
    buffer = buffer,
    callback = function()
      local word = (vim.v.completed_item or {}).word or ""
      local cursor = vim.api.nvim_win_get_cursor(0)
      local before = vim.api.nvim_get_current_line():sub(1, cursor[2])
      if word ~= "" and not word:find("\n") and vim.endswith(before, word) then
        local line = cursor[1] - 1
        M.did_insert(buffer, line, cursor[2] - #word, line, cursor[2], "completion", "")
      end
    end,
  })
end

--- vim.paste, with the pasted text known as such.
local original = nil
local function wrap_paste()
  if original then
    return
  end
  original = vim.paste
  vim.paste = function(lines, phase)
    going_on = "unknown"
    local ok, result = pcall(original, lines, phase)
    going_on = nil
    if not ok then
      error(result, 0)
    end
    return result
  end
end

--- Watch a buffer.
function M.attach(client, buffer)
  wrap_paste()
  if not attached[buffer] then
    attached[buffer] = true
    watch(client, buffer)
  end
end

return M
