-- Items as lines of the transcript. Pure: takes items as they came from the daemon.
--
-- The first sign of a line says what it is; colours (syntax/agent-ls.vim) and folds follow from it alone, so that a
-- transcript of any length opens at once. Text of others never begins with one of these signs (`plain`).

local call = require('agent_ls.call')
local card = require('agent_ls.card')
local signs = require('agent_ls.signs')
local text = require('agent_ls.text')

local M = {}

M.SIGN = signs.SIGN
M.plain = signs.plain
local prefixed, shortened = signs.prefixed, signs.shortened
local LONGEST_BODY = signs.LONGEST_BODY

function M.prose(said)
  local lines = text.lines(text.prose(said))
  for place, line in ipairs(lines) do
    lines[place] = M.plain(line)
  end
  return lines
end

function M.blocks(content)
  local lines = {}
  for _, block in ipairs(content or {}) do
    if block.type == 'text' then
      vim.list_extend(lines, text.lines(text.prose(block.text or '')))
    elseif block.type == 'file' then
      lines[#lines + 1] = '@' .. text.one_line(text.path(block.uri or ''))
    else
      lines[#lines + 1] = ('[%s]'):format(text.one_line(block.type or '?'))
    end
  end
  return lines
end

--- `:2`, `:2-5`: the lines of which a range holds something.
function M.range(range)
  local first, last = range.start.line + 1, range['end'].line + (range['end'].character > 0 and 1 or 0)
  return last <= first and (':%d'):format(first) or (':%d-%d'):format(first, last)
end

local function user(payload)
  local lines = M.blocks(payload.content)
  for _, item in ipairs(payload.context or {}) do
    local place = item.uri and text.one_line(text.path(item.uri)) or item.type
    local range = type(item.range) == 'table' and item.range or nil
    lines[#lines + 1] = ('with %s%s'):format(place, range and M.range(range) or '')
  end
  return prefixed(M.SIGN.user, lines, {})
end

function M.thought(said)
  local lines = text.lines(text.prose(said))
  local head = ('%s Thought  · %s'):format(M.SIGN.thought, #lines == 1 and '1 line' or #lines .. ' lines')
  return prefixed(M.SIGN.thinking, lines, { head })
end

local function notice(payload)
  local lines = { ('%s %s'):format(M.SIGN.notice, text.one_line(payload.message or '', 500)) }
  if type(payload.hint) == 'string' and payload.hint ~= '' then
    lines[2] = ('%s %s'):format(M.SIGN.notice, text.one_line(payload.hint, 500))
  end
  return lines
end

local function todo(payload)
  local lines = {}
  for _, step in ipairs(payload.steps or {}) do
    local tick = step.status == 'done' and 'x' or step.status == 'active' and '~' or ' '
    lines[#lines + 1] = ('- [%s] %s'):format(tick, text.one_line(step.text or ''))
  end
  return lines
end

--- A plan that is settled, and a subagent: what it is about, and the rest beneath.
local function plan(payload)
  local lines = { ('%s Plan  · %s'):format(M.SIGN.thought, payload.state or 'proposed') }
  return prefixed(M.SIGN.thinking, text.lines(text.prose(payload.markdown or '')), lines)
end

--- What came of a fork, as the model is told of it.
local function handoff(payload)
  local lines = { ('%s Merged back from a fork; it goes with the next message'):format(M.SIGN.thought) }
  return prefixed(M.SIGN.thinking, text.lines(text.prose(payload.text or '')), lines)
end

local function subagent(item, payload)
  local sign = M.SIGN[item.status] or M.SIGN.pending
  local head = ('%s task %s'):format(sign, text.one_line(payload.task or '', 100))
  local numbers = vim.tbl_map(function(number)
    return '#' .. number
  end, payload.requests or {})
  local waits = #numbers > 0 and '  · waits for you: ' .. table.concat(numbers, ', ') or ''
  local lines = { head .. waits }
  for _, step in ipairs(payload.steps or {}) do
    local said = type(step) == 'table' and (step.title or step.text) or step
    prefixed(M.SIGN.output, { text.one_line(tostring(said or ''), 200) }, lines)
  end
  if type(payload.result) == 'string' and payload.result:find('%S') then
    prefixed(M.SIGN.output, shortened(text.lines(text.prose(payload.result)), LONGEST_BODY), lines)
  end
  return lines
end

--- The lines of an item, and whether blank lines belong around it (`text`) or not (`call`).
---@param item agent_ls.wire.Item
---@param known? { request?: agent_ls.wire.Request, output?: string } what is known beside the item
---@return string[] lines
---@return 'text'|'call' group
function M.item(item, known)
  local payload = item.payload or {}
  local kind = item.kind
  if kind == 'user_message' then
    return user(payload), 'text'
  elseif kind == 'assistant_message' then
    local said = payload.text or ''
    return said:find('%S') and M.prose(said) or {}, 'text'
  elseif kind == 'reasoning' then
    local said = payload.text or ''
    return said:find('%S') and M.thought(said) or {}, 'call'
  elseif kind == 'tool_call' or kind == 'command' or kind == 'file_change' then
    return call.lines(item, known or {}), 'call'
  elseif kind == 'notice' or kind == 'error' then
    return notice(payload), 'text'
  elseif kind == 'interrupt' then
    return { ('%s %s.'):format(M.SIGN.notice, call.decided('Stopped', payload.by, payload.from)) }, 'text'
  elseif kind == 'plan' and not (known and known.request and known.request.status == 'pending') then
    return plan(payload), 'text'
  elseif (kind == 'question' or kind == 'plan') and known and known.request and known.request.status == 'pending' then
    local lines = {}
    for _, line in ipairs(card.lines(known.request)) do
      prefixed(M.SIGN.card, { line[1] }, lines)
    end
    return lines, 'call'
  elseif kind == 'subagent' then
    return subagent(item, payload), 'call'
  elseif kind == 'todo_list' then
    return todo(payload), 'text'
  elseif kind == 'handoff' then
    return handoff(payload), 'text'
  elseif kind == 'compaction' then
    local how = payload.madeBy == 'digest' and ' (a digest: the model wrote none)' or ''
    local head = '%s Compacted: a summary stands for %d items%s.'
    return { head:format(M.SIGN.notice, payload.summarized or 0, how) }, 'text'
  end
  return {}, 'text'
end

--- Messages that join at the next step, and those that wait for their turn.
function M.queue(runs, joining)
  local lines = {}
  for _, message in ipairs(joining or {}) do
    prefixed(M.SIGN.queued, M.blocks(message.content), lines)
    lines[#lines] = lines[#lines] .. '  · joins at the next step'
  end
  for _, run in ipairs(runs) do
    prefixed(M.SIGN.queued, M.blocks(run.content), lines)
    lines[#lines] = lines[#lines] .. '  · queued'
  end
  return lines
end

return M
