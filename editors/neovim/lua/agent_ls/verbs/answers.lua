-- Answers of the person to what waits: approve, edit, deny, answer, plan, and the ways to look at it first.

local approvals = require('agent_ls.approvals')
local card = require('agent_ls.card')
local client = require('agent_ls.client')

local M = {}

local INFO = vim.log.levels.INFO
local SCOPES = { once = true, conversation = true, workspace = true }
local KINDS = { question = '`:Agent answer %d …`', plan = '`:Agent plan %d`', approval = '`:Agent approve %d`' }

local function of_kind(...)
  local kinds = { ... }
  return function(held)
    return vim.tbl_contains(kinds, held.request.kind)
  end
end

--- A number that nothing waits under here: what the daemon knows of it.
local function became(number, trouble)
  local link = client.link(client.here())
  if not number or not link or not link.hello then
    return client.say(trouble, INFO)
  end
  client.request(link, 'agent/request/list', { number = number }, function(answer)
    local found = answer.requests[1]
    if not found or found.number ~= number then
      trouble = ('There is no request #%d: it was never asked, or its conversation was deleted.'):format(number)
    elseif found.status == 'pending' then
      trouble = ('#%d waits in another workspace; `agent-ls show %d` in a terminal shows it.'):format(number, number)
    elseif type(found.decidedBy) == 'string' then
      local words = { allow = 'allowed', deny = 'denied', answer = 'answered', cancel = 'cancelled' }
      local where = type(found.decidedFrom) == 'string' and ' in ' .. found.decidedFrom or ''
      trouble = ('#%d was %s by %s%s.'):format(number, words[found.decision] or 'settled', found.decidedBy, where)
    end
    client.say(trouble, INFO)
  end)
end

---@return agent_ls.Held?
local function request(word, fits)
  local number = word and tonumber((word:gsub('^#', '')))
  if word and not number then
    return client.say(('`%s` is not the number of a request.'):format(word))
  end
  local held, trouble = approvals.find(number, fits)
  return held or became(number, trouble)
end

--- One of another kind is named with the word that answers it.
local function wrong_kind(held, is)
  local kind = held.request.kind
  local number = held.request.number
  client.say(('#%d is %s: %s.'):format(number, is, (KINDS[kind] or KINDS.approval):format(number)))
end

function M.approve(words)
  local scope, option, number = nil, nil, nil
  for word in words:gmatch('%S+') do
    if SCOPES[word] then
      scope = word
    elseif word == 'edits' or word:find('^%a[%w_]*$') then
      option = word == 'edits' and 'accept_edits' or word
    else
      number = word
    end
  end
  local held = request(number, of_kind('approval', 'plan'))
  if not held then
    return
  end
  if held.request.kind == 'question' then
    return wrong_kind(held, 'a question')
  end
  if
    option
    and not vim.iter(held.request.options or {}):any(function(one)
      return one.id == option and one.decision == 'allow'
    end)
  then
    return client.say(('#%d has no such choice as `%s`.'):format(held.request.number, option))
  end
  if held.request.kind == 'plan' then
    return approvals.answer(held, { decision = 'allow', optionId = option })
  end
  approvals.answer(held, { decision = 'allow', scope = not option and (scope or 'once') or nil, optionId = option })
end

function M.deny(words)
  local number, reason = words:match('^#?(%d+)%s*(.*)$')
  local held = request(number)
  if held then
    reason = vim.trim(number and reason or words)
    approvals.answer(held, { decision = 'deny', reason = reason ~= '' and reason or nil })
  end
end

function M.answer(words)
  -- A number that stands alone is an option of the question, as in the chat, unless it is the question's own.
  local number, said = words:match('^#?(%d+)%s+(.+)$')
  local alone = tonumber((vim.trim(words):gsub('^#', '')))
  local whole = not number and words:find('%S')
  if whole and not (alone and approvals.find(alone)) then
    said = vim.trim(words)
  end
  local held = request(number or (whole and not said and tostring(alone)) or nil, of_kind('question'))
  if not held then
    return
  end
  if held.request.kind ~= 'question' then
    return wrong_kind(held, 'not a question')
  end
  if not said then
    return require('agent_ls.question').open(held)
  end
  local answers, option = require('agent_ls.spelled').answers(held.request, said)
  approvals.answer(held, { decision = 'answer', answers = answers, optionId = option })
end

function M.plan(words)
  local held = request(words:match('%S+'), of_kind('plan'))
  if held and held.request.kind ~= 'plan' then
    return wrong_kind(held, 'not a plan')
  end
  if held then
    require('agent_ls.float').plan(held)
  end
end

function M.edit(words)
  local held = request(words:match('%S+'), of_kind('approval', 'plan'))
  if held and held.request.kind == 'question' then
    return wrong_kind(held, 'a question')
  end
  if held then
    require('agent_ls.edit').open(held)
  end
end

function M.show(words)
  local held = request(words:match('%S+'))
  if held then
    require('agent_ls.show').open(held)
  end
end

--- What waits, in the quickfix list; the focus stays.
function M.pending()
  local items = {}
  for _, held in ipairs(approvals.pending()) do
    local shown = type(held.request.card) == 'table' and held.request.card or {}
    items[#items + 1] = {
      filename = shown.type == 'edit' and shown.uri and vim.uri_to_fname(shown.uri) or nil,
      lnum = shown.type == 'edit' and card.first_changed(shown.diff or '') + 1 or nil,
      text = ('#%d  %s'):format(held.request.number, require('agent_ls.text').one_line(held.request.title or '')),
      type = 'W',
    }
  end
  if #items == 0 then
    return client.say('Nothing waits for you.', INFO)
  end
  vim.fn.setqflist({}, ' ', { title = 'What waits for you', items = items })
  local before = vim.api.nvim_get_current_win()
  vim.cmd('botright copen ' .. math.min(#items + 1, 10))
  vim.api.nvim_set_current_win(before)
end

M.approvals = M.pending

return M
