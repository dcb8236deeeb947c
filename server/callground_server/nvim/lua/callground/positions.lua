--- Between the editor's byte columns and the units that the server counts in.
local M = {}

local function line_of(buffer, number)
  return vim.api.nvim_buf_get_lines(buffer, number, number + 1, false)[1] or ""
end

--- A place of the buffer (0-based line, byte column) as the protocol has it.
function M.position(client, buffer, line, column)
  local text = line_of(buffer, line)
  local units = vim.str_utfindex(text, client.offset_encoding, math.min(column, #text), false)
  return { line = line, character = units }
end

--- A range of the buffer as the protocol has it.
function M.range(client, buffer, line, column, end_line, end_column)
  return {
    start = M.position(client, buffer, line, column),
    ["end"] = M.position(client, buffer, end_line, end_column),
  }
end

--- The line and byte column of a position; positions past the end are moved to it.
function M.bytes(client, buffer, position)
  local text = line_of(buffer, position.line)
  return position.line, vim.str_byteindex(text, client.offset_encoding, position.character, false)
end

return M
