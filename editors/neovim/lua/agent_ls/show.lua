-- One request in a window of its own, opened because the person asked to see it: the one place that takes the focus.

local card = require('agent_ls.card')
local render = require('agent_ls.render')

local M = {}

--- A request, complete, in a window of its own.
---@param held agent_ls.Held
function M.open(held)
  local name = ('agent-ls://request/%d'):format(held.request.number)
  local lines = {}
  for _, line in ipairs(card.lines(held.request)) do
    lines[#lines + 1] = render.SIGN.card .. ' ' .. line[1]
  end
  local old = vim.fn.bufnr('^' .. name .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable, vim.bo[buf].bufhidden, vim.bo[buf].filetype = false, 'wipe', 'agent-ls'
  local height = math.min(#lines, math.floor(vim.o.lines / 2))
  local window = vim.api.nvim_open_win(buf, true, { split = 'below', win = -1, height = height })
  vim.wo[window].wrap, vim.wo[window].number, vim.wo[window].winfixheight = true, false, true
  require('agent_ls.leave').by_key(buf, 'Close the card')
  held.since = held.since or vim.uv.now()
end

return M
