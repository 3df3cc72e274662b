-- What the agent changed, hunk by hunk, in the quickfix list: keep, undo, comment, diff.
--
-- Owns the list and its keys; they mean something only while that list is shown. Does not own what a hunk is (the
-- daemon), nor the files: an undo comes through the buffer that has the file open.

local client = require('agent_ls.client')
local text = require('agent_ls.text')
local typing = require('agent_ls.typing')

local M = {}

local INFO = vim.log.levels.INFO
local CONTEXT = 'agent-ls-review'
-- Neovim 0.12 has it under another name.
local difference = vim.text.diff or vim.diff
local SIGN = { open = '○', kept = '●', undone = '⊘', stale = '◌' }

local function first_line(hunk)
  for line in vim.gsplit(hunk.new ~= '' and hunk.new or hunk.old, '\n', { plain = true }) do
    if line:find('%S') then
      return (hunk.new ~= '' and '+ ' or '- ') .. text.one_line(vim.trim(line), 80)
    end
  end
  return hunk.new ~= '' and '+' or '-'
end

local function count(part)
  local _, ends = part:gsub('\n', '')
  return ends + ((part ~= '' and part:sub(-1) ~= '\n') and 1 or 0)
end

local function items_of(changes, all)
  local items = {}
  for _, file in ipairs(changes) do
    for _, hunk in ipairs(file.hunks) do
      if all or hunk.state == 'open' then
        local size = ('+%d -%d'):format(count(hunk.new), count(hunk.old))
        items[#items + 1] = {
          filename = vim.uri_to_fname(file.uri),
          lnum = hunk.range.start.line + 1,
          text = ('%s %-5s %s'):format(SIGN[hunk.state] or '?', size, first_line(hunk)),
          user_data = { uri = file.uri, path = file.path, hash = file.hash, hunk = hunk },
        }
      end
    end
  end
  return items
end

local function listed()
  local list = vim.fn.getqflist({ context = 0, id = 0, items = 0, idx = 0 })
  local ours = type(list.context) == 'table' and list.context.of == CONTEXT
  return ours and list or nil
end

local function fill(conversation, all, done)
  client.with(conversation.root, function(link)
    client.request(link, 'agent/change/list', { conversationId = conversation.id }, function(answer)
      done(items_of(answer.changes or {}, all), link)
    end)
  end)
end

local function again(conversation, all)
  fill(conversation, all, function(items)
    local list = listed()
    if list then
      vim.fn.setqflist({}, 'r', { id = list.id, items = items, idx = math.max(1, math.min(list.idx, #items)) })
    end
    if #items == 0 then
      client.say('Nothing is left to review.', INFO)
    end
  end)
end

local function decide(conversation, what, all, whole)
  return function(data)
    client.with(conversation.root, function(link)
      local params = { conversationId = conversation.id, uri = data.uri, hash = data.hash ~= '' and data.hash or nil }
      params.hunkId = not whole and data.hunk.id or nil
      client.command(link, 'agent/change/' .. what, params, function(answer)
        if type(answer.note) == 'string' and answer.note ~= '' then
          client.say(answer.note, INFO)
        end
        again(conversation, all)
      end)
    end)
  end
end

--- The hunk before and after, side by side in a tab page of its own.
local function diff(data)
  local filetype = vim.filetype.match({ filename = data.path }) or ''
  vim.cmd('tabnew')
  local function side(part, name)
    local buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, text.lines(part))
    vim.bo[buf].modifiable, vim.bo[buf].bufhidden, vim.bo[buf].filetype = false, 'wipe', filetype
    vim.api.nvim_win_set_buf(0, buf)
    vim.cmd('diffthis')
    vim.wo.winbar = (' %s: %s%%=q closes '):format(text.one_line(data.path):gsub('%%', '%%%%'), name)
    vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = buf, desc = 'Close the diff', nowait = true })
  end
  local empty = vim.api.nvim_get_current_buf()
  side(data.hunk.old, 'before')
  vim.cmd('rightbelow vsplit')
  side(data.hunk.new, 'by the agent')
  pcall(vim.api.nvim_buf_delete, empty, { force = true })
end

local function comment(data)
  require('agent_ls.prompt').open({
    { type = 'diff', uri = data.uri, range = data.hunk.range, text = difference(data.hunk.old, data.hunk.new) },
  })
end

--- A key of the quickfix window: ours while our list is shown, and what it always was in any other.
local function key(buf, name, desc, work)
  vim.keymap.set('n', name, function()
    local list = listed()
    if not list then
      return vim.api.nvim_feedkeys(vim.keycode(name), 'n', false)
    end
    local item = list.items[vim.api.nvim_win_get_cursor(0)[1]]
    if item and type(item.user_data) == 'table' then
      work(item.user_data)
    end
  end, { buffer = buf, desc = desc, nowait = true })
end

---@param conversation agent_ls.Conversation
---@param which? string `all` shows what is decided too
function M.open(conversation, which)
  local all, there = which == 'all', typing.watch()
  fill(conversation, all, function(items)
    if #items == 0 then
      return client.say('There is nothing to review here; `:Agent review all` shows what is decided, too.', INFO)
    end
    vim.fn.setqflist({}, ' ', {
      title = 'review · a keep x undo c comment d diff',
      items = items,
      context = { of = CONTEXT },
    })
    local stay, before = there(), vim.api.nvim_get_current_win()
    vim.cmd('botright copen ' .. math.min(#items + 1, 10))
    local buf = vim.api.nvim_get_current_buf()
    key(buf, 'a', 'Keep this hunk', decide(conversation, 'keep', all))
    key(buf, 'x', 'Undo this hunk', decide(conversation, 'undo', all))
    key(buf, 'A', 'Keep the whole file', decide(conversation, 'keep', all, true))
    key(buf, 'X', 'Undo the whole file', decide(conversation, 'undo', all, true))
    key(buf, 'c', 'Comment on this hunk', comment)
    key(buf, 'd', 'Show this hunk before and after', diff)
    if not stay then
      vim.api.nvim_set_current_win(before)
    end
  end)
end

return M
