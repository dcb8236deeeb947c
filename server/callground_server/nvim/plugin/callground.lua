if vim.g.loaded_callground then
  return
end
vim.g.loaded_callground = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.notify("callground: the plugin needs Neovim 0.11 or newer", vim.log.levels.WARN)
  return
end

vim.api.nvim_create_user_command("Callground", function(given)
  require("callground.commands").run(given)
end, {
  nargs = "+",
  range = true,
  desc = "callground: check, repair, mark, explain",
  complete = function(lead, line)
    return require("callground.commands").complete(lead, line)
  end,
})

vim.keymap.set({ "i" }, "<Plug>(callground-accept)", function()
  require("callground.inline").accept()
end, { desc = "callground: accept the suggestion" })

vim.api.nvim_create_autocmd("LspAttach", {
  group = vim.api.nvim_create_augroup("callground", { clear = true }),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == "callground" then
      require("callground").attach(client, event.buf)
    end
  end,
})
