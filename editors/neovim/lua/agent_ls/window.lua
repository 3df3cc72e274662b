-- Windows that show transcripts: opened by a command of the person, without focus; dressed, folded and refolded.

local config = require('agent_ls.config')
local render = require('agent_ls.render')
local transcript = require('agent_ls.transcript')
local view = require('agent_ls.view')

local M = {}

local NARROWEST = 40

local function dress_window(window)
  local options = {
    wrap = true,
    linebreak = true,
    breakindent = true,
    breakindentopt = 'list:-1',
    number = false,
    relativenumber = false,
    signcolumn = 'no',
    foldcolumn = '0',
    list = false,
    spell = false,
    cursorline = false,
    foldmethod = 'expr',
    foldexpr = "v:lua.require'agent_ls.window'.fold(v:lnum)",
    foldtext = '',
    foldlevel = config.options.folded and 0 or 9,
    foldenable = true,
    fillchars = 'fold: ,eob: ',
    winhighlight = 'Folded:Normal',
    statusline = ' agent-ls',
    winbar = "%{%v:lua.require'agent_ls.window'.winbar()%}",
  }
  -- A split of another window, or a narrower terminal, takes nothing from it.
  options[vim.api.nvim_win_get_width(window) < vim.o.columns and 'winfixwidth' or 'winfixheight'] = true
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { scope = 'local', win = window })
  end
end

--- What the call's line says stays to be seen, what is beneath it folds away.
function M.fold(row)
  local line = vim.fn.getline(row)
  local sign = line:match('^[\194-\244][\128-\191]*')
  if not sign then
    return '0'
  end
  local s = render.SIGN
  if sign == s.output or sign == s.diff or sign == s.thinking then
    return '1'
  end
  local begins = sign == s.completed or sign == s.failed or sign == s.running or sign == s.cancelled
  return (begins or sign == s.thought) and '>1' or '0'
end

function M.winbar()
  local conversation = require('agent_ls.conversation').of_buffer(vim.api.nvim_win_get_buf(vim.g.statusline_winid or 0))
  if not conversation then
    return ''
  end
  local about = conversation.about
  local also, own = {}, true
  for _, window in ipairs(conversation.windows or {}) do
    if own and window.client == 'neovim' then
      own = false
    else
      also[#also + 1] = require('agent_ls.text').one_line(window.client)
    end
  end
  local beside = #also > 0 and '· also in ' .. table.concat(also, ', ') or ''
  local retry = require('agent_ls.countdown').said(conversation)
  local status = about.status == 'waiting' and 'waits for you' or about.status or ''
  status = retry and retry .. ' · :Agent hurry' or status
  local model = type(about.model) == 'string' and about.model or ''
  local left, right = (status .. '  ' .. beside):gsub('%%', '%%%%'), model:gsub('%%', '%%%%')
  return (' agent  %s%%=%s '):format(left, right)
end

--- Windows of this tab page that show a transcript.
function M.windows()
  return vim.tbl_filter(function(window)
    local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(window))
    return name:find('^agent%-ls://conversation/') ~= nil
  end, vim.api.nvim_tabpage_list_wins(0))
end

--- Shows a conversation, in the window that shows one already if there is one. The cursor stays where it is.
function M.open(conversation)
  -- In the command-line window Neovim opens none.
  if vim.fn.getcmdwintype() ~= '' then
    return
  end
  local buf = transcript.buffer(conversation)
  local window = M.windows()[1]
  if window then
    vim.api.nvim_win_set_buf(window, buf)
  else
    local beside = vim.o.columns >= config.options.beside_from
    window = vim.api.nvim_open_win(buf, false, {
      split = beside and 'right' or 'below',
      win = -1,
      width = beside and math.floor(vim.o.columns * 0.45) or nil,
      height = not beside and math.floor(vim.o.lines * 0.45) or nil,
    })
  end
  dress_window(window)
  view.to_end(window, vim.api.nvim_buf_line_count(buf))
end

--- After the terminal has changed its size: a transcript beside the text can still be read, and so can the text.
function M.fit()
  local least = math.min(NARROWEST, math.floor(vim.o.columns / 2))
  for _, window in ipairs(M.windows()) do
    local width = vim.api.nvim_win_get_width(window)
    local wanted = math.max(least, math.min(width, vim.o.columns - least - 1))
    if vim.wo[window].winfixwidth and wanted ~= width then
      vim.api.nvim_win_set_width(window, wanted)
    end
  end
end

function M.close()
  vim.iter(M.windows()):each(require('agent_ls.leave').window)
end

--- Folds are not kept up while somebody types: afterwards they are made again, open ones stay open.
function M.refold()
  for _, window in ipairs(M.windows()) do
    vim.api.nvim_set_option_value('foldmethod', 'expr', { scope = 'local', win = window })
  end
end

return M
