-- Opens a file of a project, puts a block in by one edit, and reports what stands under which bytes.
-- Arguments come as JSON in $CALLGROUND_E2E: command, root, file, block, mended.
local given = vim.json.decode(os.getenv("CALLGROUND_E2E"))
local out = { steps = {} }

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

local function seen()
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    local line = vim.api.nvim_buf_get_lines(0, diagnostic.lnum, diagnostic.lnum + 1, false)[1] or ""
    table.insert(found, {
      line = diagnostic.lnum,
      column = diagnostic.col,
      text = line:sub(diagnostic.col + 1, diagnostic.end_col),
      code = diagnostic.code,
      message = diagnostic.message,
      severity = diagnostic.severity,
    })
  end
  table.sort(found, function(a, b) return a.line < b.line or (a.line == b.line and a.column < b.column) end)
  return found
end

local function wait_for(count, what)
  local reached = vim.wait(60000, function() return #vim.diagnostic.get(0) == count end, 20)
  table.insert(out.steps, { what = what, reached = reached, diagnostics = seen() })
  return reached
end

local ok, problem = pcall(function()
  vim.cmd("filetype on")
  vim.lsp.config("callground", {
    cmd = given.command,
    cmd_env = given.env,
    filetypes = { "python" },
    root_dir = given.root,
  })
  vim.lsp.enable("callground")
  vim.cmd.edit(given.root .. "/" .. given.file)
  assert(vim.wait(30000, function() return #vim.lsp.get_clients({ bufnr = 0 }) > 0 end, 20), "no client")
  out.encoding = vim.lsp.get_clients({ bufnr = 0 })[1].offset_encoding
  -- Wait for the first result before anything is edited: the file must be clean.
  vim.wait(given.settle, function() return false end, 20)
  table.insert(out.steps, { what = "opened", reached = true, diagnostics = seen() })

  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_buf_set_lines(0, last, last, false, vim.split(given.block, "\n"))
  if not wait_for(3, "block put in") then return finish(false) end
  vim.cmd("let &undolevels = &undolevels") -- what follows is undone by itself
  for number, line in ipairs(vim.split(given.block, "\n")) do
    local mended = vim.split(given.mended, "\n")[number]
    if mended ~= line then
      vim.api.nvim_buf_set_lines(0, last + number - 1, last + number, false, { mended })
    end
  end
  if not wait_for(0, "mended") then return finish(false) end
  vim.cmd("silent undo")
  wait_for(3, "undone")
end)
if not ok then out.problem = tostring(problem) end
finish(ok)
