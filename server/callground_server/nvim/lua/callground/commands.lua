--- :Callground
local M = {}
local positions = require("callground.positions")

local function client_or_say()
  local client = require("callground").client()
  if not client then
    vim.notify("callground: the server is not attached to this buffer", vim.log.levels.WARN)
  end
  return client
end

local function command(client, name, parameters, done)
  client:request("workspace/executeCommand", { command = name, arguments = parameters }, function(problem, answer)
    if problem then
      vim.notify("callground: " .. problem.message, vim.log.levels.ERROR)
    else
      done(answer)
    end
  end)
end

local function uri()
  return vim.uri_from_bufnr(0)
end

local function mark(given, origin)
  local client = client_or_say()
  if client then
    local last = vim.api.nvim_buf_get_lines(0, given.line2 - 1, given.line2, false)[1] or ""
    client:notify("callground/mark", {
      uri = uri(),
      ranges = { positions.range(client, 0, given.line1 - 1, 0, given.line2 - 1, #last) },
      origin = origin,
    })
  end
end

local SEVERITY = { error = "E", warning = "W", hint = "N" }

local function to_quickfix(answer)
  local items = {}
  for name, findings in pairs(answer.files) do
    for _, finding in ipairs(findings) do
      table.insert(items, {
        filename = vim.uri_to_fname(name),
        lnum = finding.range.start.line + 1,
        col = finding.range.start.character + 1,
        text = finding.message:gsub("\n", " "),
        type = SEVERITY[finding.severity],
      })
    end
  end
  vim.fn.setqflist({}, " ", { title = "callground: changed since HEAD", items = items })
  for _, problem in ipairs(answer.problems) do
    vim.notify("callground: " .. problem, vim.log.levels.WARN)
  end
  if #items > 0 then
    vim.cmd("botright copen")
  else
    vim.notify("callground: nothing ungrounded on the changed lines")
  end
end

local function scratch(text)
  vim.cmd("botright new")
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden, vim.bo[buffer].swapfile = "nofile", "wipe", false
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(vim.trim(text), "\n"))
  vim.bo[buffer].modifiable = false
  vim.api.nvim_win_set_height(0, math.min(15, vim.api.nvim_buf_line_count(buffer)))
  vim.keymap.set("n", "q", "<cmd>close<cr>", { buffer = buffer })
end

M.subcommands = {
  --- Show every finding of this file, whatever the scope.
  check = function()
    local client = client_or_say()
    if client then
      command(client, "callground.checkFile", { uri() }, function(number)
        vim.notify(("callground: %s ungrounded"):format(type(number) == "number" and number or "?"))
      end)
    end
  end,
  --- The findings on lines that differ from HEAD, in the quickfix list.
  changes = function()
    local client = client_or_say()
    if client then
      command(client, "callground.checkChanges", {}, function(answer)
        if type(answer) == "table" then
          to_quickfix(answer)
        end
      end)
    end
  end,
  --- Repair what can only be meant in one way.
  fix = function()
    vim.lsp.buf.code_action({ context = { only = { "source.fixAll.callground" }, diagnostics = {} }, apply = true })
  end,
  --- How each call of the line was decided.
  explain = function()
    local client = client_or_say()
    if client then
      local line = vim.api.nvim_win_get_cursor(0)[1] - 1
      command(client, "callground.explain", { uri(), line }, function(text)
        scratch(type(text) == "string" and text or "this line could not be explained; see the log")
      end)
    end
  end,
  --- Calls that can be written here, for what the comment above (or the text given) asks for; the one chosen is put in.
  suggest = function(given)
    local client = client_or_say()
    if not client then
      return
    end
    local buffer = vim.api.nvim_get_current_buf()
    local cursor = vim.api.nvim_win_get_cursor(0)
    local column = #vim.api.nvim_get_current_line()
    local place = positions.position(client, buffer, cursor[1] - 1, column)
    local request = table.concat(vim.list_slice(given.fargs, 2), " ")
    local tick = vim.api.nvim_buf_get_changedtick(buffer)
    command(client, "callground.suggest", { uri(), place, request }, function(answer)
      if type(answer) ~= "table" or #answer == 0 then
        vim.notify("callground: nothing here fits")
        return
      end
      local shown = function(each)
        local import = type(each.import) == "string" and each.import ~= "" and "    " .. each.import or ""
        return each.call .. import
      end
      vim.ui.select(answer, { prompt = "callground", format_item = shown }, function(each)
        if not each or vim.api.nvim_buf_get_changedtick(buffer) ~= tick then
          return
        end
        vim.lsp.util.apply_text_edits(each.edits, buffer, client.offset_encoding)
        command(client, each.command.command, each.command.arguments, function() end)
      end)
    end)
  end,
  --- The lines were written by an assistant.
  ["mark-ai"] = function(given)
    mark(given, "ai")
  end,
  --- The lines are the person's own.
  ["mark-mine"] = function(given)
    mark(given, "human")
  end,
  --- The counts of this file, and the environment that it is judged by.
  status = function()
    local callground = require("callground")
    local text, environment = callground.status(), callground.environment()
    text = text ~= "" and text or "nothing is known of this file"
    vim.notify("callground: " .. text .. (environment ~= "" and "; " .. environment or ""))
  end,
  --- End the server and start it again.
  restart = function()
    vim.lsp.enable("callground", false)
    vim.defer_fn(function()
      vim.lsp.enable("callground")
    end, 500)
  end,
  --- Open the log of Neovim's client.
  log = function()
    vim.cmd.tabnew(vim.lsp.log.get_filename())
  end,
}

function M.run(given)
  local name = given.fargs[1]
  local run = M.subcommands[name]
  if run then
    run(given)
  else
    vim.notify("callground: no such command: " .. tostring(name), vim.log.levels.ERROR)
  end
end

function M.complete(lead)
  local names = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(M.subcommands))
  table.sort(names)
  return names
end

return M
