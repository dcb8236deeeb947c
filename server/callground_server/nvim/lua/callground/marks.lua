--- Signs beside text that an assistant inserted.
local M = {}
local space = vim.api.nvim_create_namespace("callground.marks")
local MARKED = { ai = true, agent = true }

M.namespace = space

--- Show what the server tells of a document.
function M.show(client, message)
  local buffer = vim.uri_to_bufnr(message.uri)
  local settings = require("callground").settings
  if not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  if not settings.marks then
    return
  end
  local count = vim.api.nvim_buf_line_count(buffer)
  for _, each in ipairs(message.ranges) do
    if MARKED[each.origin] then
      local last = each.range["end"].line
      -- A range that ends at the start of a line has nothing on that line.
      if each.range["end"].character == 0 and last > each.range.start.line then
        last = last - 1
      end
      for line = each.range.start.line, math.min(last, count - 1) do
        vim.api.nvim_buf_set_extmark(buffer, space, line, 0, {
          sign_text = settings.marks == "sign" and settings.sign or nil,
          sign_hl_group = settings.marks == "sign" and "CallgroundAi" or nil,
          line_hl_group = settings.marks == "line" and "CallgroundAiLine" or nil,
          priority = 5,
        })
      end
    end
  end
  M.client = client
end

return M
