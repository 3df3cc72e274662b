-- The buffer in which a message is written: one for each workspace, with completion and what was said before.
--
-- Owns the text until it is sent; closing the window keeps it, and only a key or a command of the person sends it.

local client = require('agent_ls.client')
local commands = require('agent_ls.commands')
local context = require('agent_ls.context')
local state = require('agent_ls.state')

local M = {}

local MOST_FILES, DEEPEST, MOST_HISTORY = 5000, 8, 100
local SKIPPED = { node_modules = true, target = true, build = true, dist = true, __pycache__ = true }
local ROWS = 5

---@class agent_ls.Prompt
---@field buf integer
---@field history string[]
---@field at integer the place in the history; one past the end is what is being written
---@field draft string
---@field beside table[] what goes along that was put there by a command

local function of_buffer(buf)
  for root, prompt in pairs(state.prompts) do
    if prompt.buf == buf then
      return prompt, root
    end
  end
end

local function text_of(buf)
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n'))
end

local function set(buf, said)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(said, '\n', { plain = true }))
  for _, window in ipairs(vim.fn.win_findbuf(buf)) do
    local last = vim.api.nvim_buf_line_count(buf)
    vim.api.nvim_win_set_cursor(window, { last, #vim.api.nvim_buf_get_lines(buf, -2, -1, false)[1] })
  end
end

--- Sends what stands in the prompt that one is in. Text that could not be sent comes back.
---@param dispatch? string
---@return boolean? sent nothing where one is in no prompt, or it is empty
function M.send(dispatch)
  local buf = vim.api.nvim_get_current_buf()
  local prompt = of_buffer(buf)
  local said = prompt and text_of(buf) or ''
  if not prompt or said == '' then
    return nil
  end
  -- Alone or before a blank: `/log/file is empty` is a message.
  local word, words = (said .. ' '):match('^/(%a+)%s+(.*)$')
  prompt.history[#prompt.history + 1] = said
  if #prompt.history > MOST_HISTORY then
    table.remove(prompt.history, 1)
  end
  prompt.at, prompt.draft = #prompt.history + 1, ''
  set(buf, '')
  if word and commands.VERBS[word] then
    commands.run({ args = word .. ' ' .. words, range = 0 })
    return true
  end
  local beside = prompt.beside
  prompt.beside = {}
  M.marked(prompt)
  require('agent_ls.verbs.talk').send(said, {
    dispatch = dispatch,
    context = vim.deepcopy(beside),
    failed = function(sentence)
      prompt.beside = vim.list_extend(beside, prompt.beside)
      if vim.api.nvim_buf_is_valid(buf) and text_of(buf) == '' then
        set(buf, said)
        M.marked(prompt)
      end
      client.say(sentence)
    end,
  })
  return true
end

--- Further back (-1) or forward (1) in what was said before.
function M.recall(step)
  local buf = vim.api.nvim_get_current_buf()
  local prompt = of_buffer(buf)
  if not prompt then
    return
  end
  local last = #prompt.history + 1
  if prompt.at == last then
    prompt.draft = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  end
  prompt.at = math.max(1, math.min(last, prompt.at + step))
  set(buf, prompt.at == last and prompt.draft or prompt.history[prompt.at])
end

local function files(root)
  local found = {}
  local skip = function(name)
    local base = vim.fs.basename(name)
    return not SKIPPED[base] and base:sub(1, 1) ~= '.'
  end
  for name, kind in vim.fs.dir(root, { depth = DEEPEST, skip = skip }) do
    if kind == 'file' and vim.fs.basename(name):sub(1, 1) ~= '.' then
      found[#found + 1] = name
      if #found == MOST_FILES then
        break
      end
    end
  end
  return found
end

--- Words for `@` and `/`, as a 'completefunc' gives them.
function M.complete(find, base)
  local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
  local start = before:find('[@/][^%s@]*$')
  while start and before:sub(start, start) == '/' and start > 1 do
    -- A slash within a word belongs to the path that began before it.
    start = before:sub(1, start):find('@[^%s@]*$')
  end
  if tonumber(find) == 1 then
    return start and start - 1 or -3
  end
  local sign, lead = base:sub(1, 1), base:sub(2)
  local found = {}
  if sign == '/' then
    for _, verb in ipairs(commands.TABLE) do
      if vim.startswith(verb[1], lead) then
        found[#found + 1] = { word = '/' .. verb[1], menu = verb[4] }
      end
    end
    return found
  end
  for word, what in vim.spairs(context.WORDS) do
    if vim.startswith(word, lead) then
      found[#found + 1] = { word = '@' .. word, menu = what }
    end
  end
  local _, root = of_buffer(vim.api.nvim_get_current_buf())
  local names = files(root or client.here())
  table.sort(names)
  for _, name in ipairs(lead == '' and names or vim.fn.matchfuzzy(names, lead)) do
    found[#found + 1] = { word = '@' .. name }
  end
  return found
end

local namespace = vim.api.nvim_create_namespace('agent_ls_prompt')

--- What goes along is written above the text, where it can be seen.
function M.marked(prompt)
  vim.api.nvim_buf_clear_namespace(prompt.buf, namespace, 0, -1)
  local words = vim.tbl_map(function(item)
    local range = item.range and require('agent_ls.render').range(item.range) or ''
    return require('agent_ls.text').one_line(item.uri and require('agent_ls.text').path(item.uri) or item.type) .. range
  end, prompt.beside)
  if #words > 0 then
    vim.api.nvim_buf_set_extmark(prompt.buf, namespace, 0, 0, {
      virt_text = { { 'with ' .. table.concat(words, ', '), 'AgentLsDim' } },
      virt_text_pos = 'right_align',
    })
  end
end

local function made(root)
  local known = state.prompts[root]
  if known and vim.api.nvim_buf_is_loaded(known.buf) then
    return known
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, 'agent-ls://prompt' .. root)
  vim.bo[buf].bufhidden, vim.bo[buf].filetype = 'hide', 'markdown'
  vim.bo[buf].completefunc = "v:lua.require'agent_ls.prompt'.complete"
  local history = known and known.history or {}
  local prompt = { buf = buf, history = history, at = #history + 1, draft = '', beside = {} }
  state.prompts[root] = prompt
  require('agent_ls.keys').prompt(buf)
  return prompt
end

--- The prompt of this workspace in a window, the cursor in it; `beside` goes with what is written there.
---@param beside? table[]
---@param said? string what it begins with, behind what stands there
function M.open(beside, said)
  local root = client.here()
  local prompt = made(root)
  if said then
    local already = text_of(prompt.buf)
    set(prompt.buf, already == '' and said or already .. '\n' .. said)
  end
  vim.list_extend(prompt.beside, beside or {})
  M.marked(prompt)
  local window = vim.fn.win_findbuf(prompt.buf)[1]
  if window then
    return vim.api.nvim_set_current_win(window)
  end
  local shown = require('agent_ls.window').windows()[1]
  window = vim.api.nvim_open_win(prompt.buf, true, { split = 'below', win = shown or -1, height = ROWS })
  vim.wo[window].winfixheight, vim.wo[window].wrap, vim.wo[window].linebreak = true, true, true
  vim.wo[window].number, vim.wo[window].relativenumber, vim.wo[window].signcolumn = false, false, 'no'
  vim.wo[window].winbar = ' your message%=Enter sends · <C-x><C-u> completes @ and / · q closes '
end

return M
