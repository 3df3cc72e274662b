-- What the person is told: one sentence, through `vim.notify`, in a way that takes no key.
--
-- Owns that a sentence which does not fit the command line never ends in the hit-enter prompt, which would take the
-- next key of somebody who types: it is shown in a small window without focus. `:Agent notices` lists what was said.

local state = require('agent_ls.state')

local M = {}

local TITLE = 'agent-ls'
local WIDEST, READ_MS, TOGETHER_MS, MOST_KEPT = 64, 1500, 100, 100
local HIGHLIGHT = {
  [vim.log.levels.ERROR] = 'DiagnosticError',
  [vim.log.levels.WARN] = 'DiagnosticWarn',
}

--- Neovim's own, which echoes. Another one is a plugin of the person, and shows it as they like it.
local function is_stock()
  return debug.getinfo(vim.notify, 'S').source:find('vim/_[%w_/]*editor%.lua$') ~= nil
end

--- Two that come together do not fit either: the second scrolls the first one up.
local function fits(sentence)
  local fit = not state.notice.echoed
    and not sentence:find('\n')
    and vim.fn.strdisplaywidth(sentence) <= vim.v.echospace
    and vim.fn.getcmdwintype() == ''
  state.notice.echoed = true
  vim.defer_fn(function()
    state.notice.echoed = false
  end, TOGETHER_MS)
  return fit
end

local function close()
  local window = state.notice.window
  state.notice.window, state.notice.lines = nil, {}
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
end

--- Closed when there was time to read it, or when the person goes on to something else; a later sentence begins anew.
local function close_later(length)
  local count, began = (state.notice.count or 0) + 1, vim.uv.now()
  state.notice.count = count
  local function over()
    if state.notice.count == count then
      pcall(close)
    end
    return true
  end
  vim.defer_fn(over, 4000 + 60 * length)
  vim.api.nvim_create_autocmd({ 'CursorMoved', 'InsertEnter', 'CmdlineLeave', 'WinEnter' }, {
    group = vim.api.nvim_create_augroup('agent_ls_notice', {}),
    callback = function()
      if vim.uv.now() - began > READ_MS then
        vim.schedule(over)
        return true
      end
    end,
  })
end

local function wrapped(sentence, width)
  local lines, line = {}, ''
  for word in sentence:gmatch('%S+') do
    if line ~= '' and vim.fn.strdisplaywidth(line .. ' ' .. word) > width then
      lines[#lines + 1], line = line, ''
    end
    line = line == '' and word or line .. ' ' .. word
  end
  lines[#lines + 1] = line
  return lines
end

--- In the upper corner, where no card, list or answer grows; what has not been read yet stays above it.
local function show(sentence, level)
  local width = math.min(WIDEST, vim.o.columns - 4)
  local lines = vim.list_extend(state.notice.lines, wrapped(sentence, width))
  local room = math.max(1, vim.o.lines - vim.o.cmdheight - 6)
  lines = vim.list_slice(lines, math.max(1, #lines - room + 1))
  close()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  local window = vim.api.nvim_open_win(buf, false, {
    relative = 'editor',
    anchor = 'NE',
    row = vim.o.showtabline > 0 and vim.fn.tabpagenr('$') > 1 and 1 or 0,
    col = vim.o.columns,
    width = width,
    height = #lines,
    style = 'minimal',
    border = 'rounded',
    title = (' %s '):format(TITLE),
    focusable = false,
    noautocmd = true,
    zindex = 200,
  })
  local colour = HIGHLIGHT[level] or 'DiagnosticInfo'
  vim.wo[window].winhighlight = ('NormalFloat:Normal,FloatBorder:%s,FloatTitle:%s'):format(colour, colour)
  vim.wo[window].wrap, vim.wo[window].linebreak = true, true
  state.notice.window, state.notice.lines = window, lines
  close_later(#sentence)
end

---@param sentence string
---@param level? integer
function M.say(sentence, level)
  level = level or vim.log.levels.ERROR
  local told = state.notice.told
  told[#told + 1] = sentence
  if #told > MOST_KEPT then
    table.remove(told, 1)
  end
  if not is_stock() or fits(sentence) then
    return vim.notify(sentence, level, { title = TITLE })
  end
  -- From the command-line window none can be opened.
  if vim.fn.getcmdwintype() == '' then
    show(sentence, level)
  end
end

--- Said once for each Neovim, however often there is reason to.
function M.once(sentence)
  if not state.said[sentence] then
    state.said[sentence] = true
    M.say(sentence, vim.log.levels.WARN)
  end
end

return M
