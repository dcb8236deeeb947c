-- The plugin as its users have it: on the runtime path, with a server, driven through its own commands.
-- Arguments come as JSON in $CALLGROUND_E2E: command, root, file, runtime, fake (a server with suggestions).
local given = vim.json.decode(os.getenv("CALLGROUND_E2E"))
local out = { steps = {} }

local function finish(ok)
  out.ok = ok
  local file = assert(io.open(given.report, "w"))
  file:write(vim.json.encode(out))
  file:close()
  for _, client in ipairs(vim.lsp.get_clients()) do
    client:stop(true)
  end
  os.exit(ok and 0 or 1)
end

local function step(name, value)
  table.insert(out.steps, { name = name, value = value })
end

local function until_(what, condition)
  if not vim.wait(60000, condition, 20) then
    error("waited in vain: " .. what)
  end
end

local said = {}
vim.notify = function(text)
  table.insert(said, text)
end

local function heard(pattern)
  for _, text in ipairs(said) do
    if text:find(pattern) then
      return text
    end
  end
end

local function codes()
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, diagnostic.code)
  end
  table.sort(found)
  return table.concat(found, " ")
end

local function signs()
  local space = require("callground.marks").namespace
  local lines = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, space, 0, -1, {})) do
    table.insert(lines, mark[2])
  end
  return lines
end

local function keys(text)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(text, true, false, true), "xt", false)
end

local ok, problem = xpcall(function()
  vim.cmd("filetype plugin on")
  vim.opt.runtimepath:append(given.runtime)
  vim.cmd.runtime("plugin/callground.lua")
  vim.cmd.cd(given.root)
  require("callground").setup({ lsp = { cmd = given.command } })
  vim.cmd.edit(given.root .. "/" .. given.file)
  until_("a client", function() return require("callground").client(0) ~= nil end)
  until_("counts", function() return require("callground").status():find("2 grounded") end)
  until_("an index", function() return not require("callground").status():find("indexing") end)
  step("status", require("callground").status())

  -- An assistant's insertion: diagnostics, signs beside its lines, hover.
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_buf_set_lines(0, last, last, false, { "", "tools.inventd(1)", "tools.real('b')" })
  until_("a diagnostic", function() return codes() == "unknown-member" end)
  require("callground.signals").did_insert(0, last, 0, last + 2, 16, "ai", "probe")
  until_("signs", function() return #signs() >= 2 end)
  step("signs", signs())
  vim.api.nvim_win_set_cursor(0, { last + 2, 8 })
  local client = require("callground").client(0)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local hover = client:request_sync("textDocument/hover", params, 20000, 0)
  step("hover", hover.result.contents.value)

  -- By hand: mine, then AI again.
  vim.cmd(("%d,%dCallground mark-mine"):format(last + 1, last + 3))
  until_("no signs", function() return #signs() == 0 end)
  vim.cmd(("%dCallground mark-ai"):format(last + 2))
  until_("one sign", function() return vim.deep_equal(signs(), { last + 1 }) end)
  step("marked by hand")

  -- Explain, changes, fix.
  vim.cmd("Callground explain")
  until_("an explanation", function()
    return vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]:find(given.file .. ":" .. (last + 2), 1, true)
  end)
  step("explanation", table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"))
  vim.cmd.close()
  vim.cmd("Callground changes")
  until_("the quickfix list", function() return #vim.fn.getqflist() > 0 end)
  local listed = {}
  for _, item in ipairs(vim.fn.getqflist()) do
    table.insert(listed, vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr)) .. ":" .. item.lnum)
  end
  table.sort(listed)
  step("changes", listed)
  vim.cmd.cclose()
  vim.cmd("Callground check")
  until_("a count", function() return heard("1 ungrounded") end)
  vim.cmd("Callground fix")
  until_("the repair", function() return codes() == "" end)
  step("fixed", vim.api.nvim_buf_get_lines(0, last + 1, last + 2, false)[1])

  -- A paste is told as such: in scope, but not as an assistant's.
  last = vim.api.nvim_buf_line_count(0)
  vim.cmd("normal! G$") -- a paste inside of a line would break it
  vim.cmd("let &undolevels = &undolevels") -- what follows is undone by itself
  vim.paste({ "", "tools.pasted(1)", "tools.real('c')", "" }, -1)
  until_("a diagnostic in pasted text", function() return codes() == "unknown-member" end)
  local function sources()
    local answer = client:request_sync("workspace/executeCommand", {
      command = "callground.provenance", arguments = { vim.uri_from_bufnr(0) },
    }, 20000, 0)
    local found = {}
    for _, each in ipairs(answer.result or {}) do
      found[each.origin .. " " .. each.source] = true
    end
    return found
  end
  until_("the paste's origin", function() return sources()["unknown client"] end)
  step("paste", vim.tbl_keys(sources()))
  vim.cmd("silent undo")
  until_("nothing left of the paste", function() return codes() == "" end)

  -- Completion of the command line.
  step("completion", vim.fn.getcompletion("Callground mark", "cmdline"))

  -- Health.
  vim.cmd("checkhealth callground")
  local health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  step("health", health)
  vim.cmd("bwipeout!")

  -- Help.
  vim.cmd("help callground-commands")
  step("help", vim.fs.basename(vim.api.nvim_buf_get_name(0)))
  vim.cmd("bwipeout!")

  -- The server is killed: a restart finds the same.
  vim.cmd("edit! " .. given.root .. "/" .. given.file)
  vim.api.nvim_buf_set_lines(0, 3, -1, false, { "tools.invnted(2)" })
  until_("a diagnostic before the end", function() return codes() == "unknown-member" end)
  for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    vim.uv.kill(pid, "sigkill")
  end
  until_("the end of the server", function() return require("callground").client(0) == nil end)
  vim.cmd("Callground restart")
  until_("another client", function()
    local now = require("callground").client(0)
    return now ~= nil and now.id ~= client.id
  end)
  vim.cmd("Callground check")
  until_("the finding again", function() return codes() == "unknown-member" end)
  step("restarted")

  -- Ghost text, from a server that has suggestions.
  local fake = vim.lsp.start({
    name = "fake",
    cmd = function()
      return {
        request = function(method, _, callback)
          if method == "initialize" then
            callback(nil, { capabilities = { inlineCompletionProvider = true } })
          elseif method == "textDocument/inlineCompletion" then
            callback(nil, { items = { { insertText = "tools.real(\n    'x')" } } })
          else
            callback(nil, nil)
          end
          return true, 1
        end,
        notify = function() return true end,
        is_closing = function() return false end,
        terminate = function() end,
      }
    end,
  }, { bufnr = 0 })
  until_("the second server", function()
    local second = vim.lsp.get_client_by_id(fake)
    return second and second.initialized
  end)
  local second = vim.lsp.get_client_by_id(fake)
  local inline = require("callground.inline")
  inline.attach(second, 0)
  last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_buf_set_lines(0, last, last, false, { "answer = " })
  vim.api.nvim_win_set_cursor(0, { last + 1, 9 })
  vim.wo.virtualedit = "onemore"
  vim.api.nvim_win_set_cursor(0, { last + 1, 9 })
  inline.show(second, 0, { items = { { insertText = "tools.real(\n    'x')" } } })
  local placed = vim.api.nvim_win_get_cursor(0)
  step("ghost", inline.shown())
  assert(inline.accept(), "nothing to accept")
  assert(not inline.accept(), "accepted twice")
  step("accepted", vim.api.nvim_buf_get_lines(0, placed[1] - 1, placed[1] + 1, false))
end, debug.traceback)
if not ok then
  out.problem = tostring(problem)
  out.said = said
end
finish(ok)
