-- Opens files with one fault each, applies one quick fix in each as a user does, and reports what the files are then.
-- Arguments come as JSON in $CALLGROUND_E2E: command, root, cases (file, title, expected, line).
local given = vim.json.decode(os.getenv("CALLGROUND_E2E"))
local out = { results = {} }

local function finish(ok)
  out.ok = ok
  local file = assert(io.open(given.report, "w"))
  file:write(vim.json.encode(out))
  file:close()
  local client = vim.lsp.get_clients()[1]
  if client then
    client:stop()
    vim.wait(5000, function() return #vim.lsp.get_clients() == 0 end, 20)
  end
  os.exit(ok and 0 or 1)
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"
end

local ok, problem = pcall(function()
  vim.cmd("filetype on")
  vim.lsp.config("callground", { cmd = given.command, filetypes = { "python" }, root_dir = given.root })
  vim.lsp.enable("callground")
  for _, case in ipairs(given.cases) do
    vim.cmd.edit(given.root .. "/" .. case.file)
    assert(vim.wait(30000, function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end, 20), "no client")
    local result = { file = case.file }
    table.insert(out.results, result)
    result.flagged = vim.wait(60000, function() return #vim.diagnostic.get(0) == 1 end, 20)
    local found = vim.diagnostic.get(0)[1]
    if found then
      result.message = found.message
      vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
      local titles = {}
      vim.lsp.buf.code_action({
        apply = true,
        filter = function(action)
          table.insert(titles, action.title)
          return vim.startswith(action.title, case.title)
        end,
      })
      result.applied = vim.wait(30000, function() return text() == case.expected end, 20)
      result.titles = titles
      result.text = text()
      result.clean = vim.wait(30000, function() return #vim.diagnostic.get(0) == 0 end, 20)
      vim.cmd("silent write")
    end
  end
end)
if not ok then out.problem = tostring(problem) end
finish(ok)
