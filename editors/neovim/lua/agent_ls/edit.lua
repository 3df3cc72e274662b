-- "Edit, then allow": what the agent wants to do, in a buffer that the person changes before it is allowed.
--
-- Owns how an input becomes a text and the text an input again. Closing the buffer, or `:w`, decides nothing.

local approvals = require('agent_ls.approvals')
local client = require('agent_ls.client')
local literal = require('agent_ls.literal')
local state = require('agent_ls.state')
local typing = require('agent_ls.typing')

local M = {}

---@class agent_ls.Draft
---@field text string
---@field filetype string
---@field input fun(edited: string): table?, string? the input, or what is wrong with it

--- `preview` is the answer of `agent/request/preview`.
---@return agent_ls.Draft
function M.draft(preview)
  local input = type(preview.input) == 'table' and preview.input or {}
  local change = type(preview.change) == 'table' and preview.change or nil
  local function with(name, value)
    return vim.tbl_extend('force', input, { [name] = value })
  end
  if type(input.command) == 'string' then
    return {
      text = input.command,
      filetype = 'sh',
      input = function(edited)
        local command = edited:gsub('\n+$', '')
        if not command:find('%S') then
          return nil, 'The command is empty; deny it instead.'
        end
        return with('command', command)
      end,
    }
  elseif type(input.markdown) == 'string' then
    return {
      text = input.markdown,
      filetype = 'markdown',
      input = function(edited)
        return with('markdown', edited)
      end,
    }
  end
  local filetype = change and vim.filetype.match({ filename = change.path }) or ''
  if type(input.content) == 'string' and type(input.path) == 'string' then
    return {
      text = input.content,
      filetype = filetype,
      input = function(edited)
        return with('content', edited)
      end,
    }
  elseif type(input.edits) == 'table' and change and change.after then
    return {
      text = change.after,
      filetype = filetype,
      input = function(edited)
        local edit = literal.one(change.before, edited)
        if not edit then
          return nil, 'That is the file as it is already; deny the change instead.'
        end
        return with('edits', { edit })
      end,
    }
  end
  return {
    text = vim.json.encode(input),
    filetype = 'json',
    input = function(edited)
      local read, value = pcall(vim.json.decode, edited)
      if not read or type(value) ~= 'table' then
        return nil, 'This is no JSON object; correct it, then allow it.'
      end
      return value
    end,
  }
end

local function allow(held, digest, draft, buf)
  local now = state.requests[held.request.id]
  if not now then
    return client.say(('#%d waits no more.'):format(held.request.number), vim.log.levels.INFO)
  elseif now.request.digest ~= digest then
    return client.say(
      ('#%d has changed since; `:Agent edit %d` shows it as it is now.'):format(now.request.number, now.request.number)
    )
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local ended = draft.text:sub(-1) == '\n'
  local input, trouble = draft.input(table.concat(lines, '\n') .. (ended and '\n' or ''))
  if not input then
    return client.say(trouble)
  end
  local plan = now.request.kind == 'plan'
  local said = { decision = 'allow', scope = not plan and 'once' or nil, input = input }
  approvals.answer(now, said, function()
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end)
end

local function shown(held, preview, there)
  local number = held.request.number
  local name = ('agent-ls://edit/%d'):format(number)
  local old = vim.fn.bufnr('^' .. name .. '$')
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local draft = M.draft(preview)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  local lines = vim.split(draft.text, '\n', { plain = true })
  if #lines > 1 and lines[#lines] == '' then
    lines[#lines] = nil
  end
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'wipe', draft.filetype
  local height = math.max(3, math.min(#lines + 1, math.floor(vim.o.lines / 2)))
  local window = vim.api.nvim_open_win(buf, there, { split = 'below', win = -1, height = height })
  local help = ' #%d: change it, then allow it%%=Enter allows it as it stands here · q closes '
  vim.wo[window].winbar = help:format(number)
  held.since = held.since or vim.uv.now()
  vim.keymap.set('n', '<CR>', function()
    allow(held, preview.digest, draft, buf)
  end, { buffer = buf, desc = 'Allow it as it stands here' })
  require('agent_ls.leave').by_key(buf, 'Close; nothing is decided')
end

---@param held agent_ls.Held
function M.open(held)
  local link = client.link(held.root)
  if not link then
    return client.say('The link to the daemon is down and comes back by itself; try again in a moment.')
  end
  local there = typing.watch()
  client.request(link, 'agent/request/preview', { requestId = held.request.id }, function(preview)
    shown(held, preview, there())
  end)
end

return M
