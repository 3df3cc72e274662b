-- A call of a tool as lines: what it is called, what became of it, its card, its diff or what it has put out. Pure.

local card = require('agent_ls.card')
local signs = require('agent_ls.signs')
local text = require('agent_ls.text')

local M = {}

local SIGN = signs.SIGN
local RUNNING_BODY = 100

--- `read hello.py`, `$ make test`: what a person would call it.
local function call_title(payload)
  local given = type(payload.input) == 'table' and payload.input or {}
  if type(given.command) == 'string' then
    return '$ ' .. text.one_line(given.command, 100)
  end
  local target = given.path or given.pattern or given.url
  if type(target) == 'string' then
    return text.one_line(('%s %s'):format(payload.tool, target), 100)
  end
  return text.one_line(payload.title or payload.tool or 'tool', 100)
end

--- `allowed by ann in neovim`
function M.decided(verb, by, place)
  return verb .. (by and ' by ' .. text.one_line(by) or '') .. (place and ' in ' .. text.one_line(place) or '')
end

local function count(diff)
  local added, removed = 0, 0
  for line in vim.gsplit(diff, '\n', { plain = true }) do
    if line:find('^%+') and not line:find('^%+%+%+') then
      added = added + 1
    elseif line:find('^%-') and not line:find('^%-%-%-') then
      removed = removed + 1
    end
  end
  return ('+%d -%d'):format(added, removed)
end

local function outcome(payload, request, output)
  local parts = {}
  local result = type(payload.result) == 'table' and payload.result or {}
  if result.status and result.status ~= 'ok' and result.status ~= 'denied' then
    parts[1] = (result.status:gsub('_', ' '))
  end
  if result.exitCode and result.exitCode ~= 0 then
    parts[#parts + 1] = ('exit %d'):format(result.exitCode)
  end
  if #output > 0 then
    parts[#parts + 1] = #output == 1 and '1 line' or ('%d lines'):format(#output)
  end
  if payload.state == 'awaiting_approval' then
    parts[#parts + 1] = request and ('waits for you: #%d'):format(request.number) or 'waits for you'
  elseif payload.state == 'denied' then
    parts[#parts + 1] = M.decided('denied', payload.decidedBy, payload.decidedFrom)
  elseif payload.decidedBy and payload.decidedFrom then
    parts[#parts + 1] = M.decided('allowed', payload.decidedBy, payload.decidedFrom)
  end
  return #parts > 0 and '  · ' .. table.concat(parts, ' · ') or ''
end

---@param item agent_ls.wire.Item
---@param known { request?: agent_ls.wire.Request, output?: string } what is known beside the item
function M.lines(item, known)
  local payload = item.payload or {}
  local result = type(payload.result) == 'table' and payload.result or {}
  local said = result.output or known.output or ''
  local output = said:find('%S') and text.lines(text.named(said)) or {}
  local diff = payload.diff or ''
  local shown_diff = diff ~= '' and (not result.status or result.status == 'ok')
  if shown_diff then
    output = {}
  end
  local sign = SIGN[item.status] or SIGN.pending
  local changes = diff ~= '' and '  ' .. count(diff) or ''
  local lines = { ('%s %s%s%s'):format(sign, call_title(payload), changes, outcome(payload, known.request, output)) }
  if payload.state == 'awaiting_approval' and known.request then
    for _, line in ipairs(card.lines(known.request)) do
      signs.prefixed(SIGN.card, { line[1] }, lines)
    end
    return lines
  end
  if shown_diff then
    for _, line in ipairs(card.diff(diff)) do
      signs.prefixed(SIGN.diff, { line[1] }, lines)
    end
    return lines
  end
  local whole = type(payload.input) == 'table' and payload.input.command
  if type(whole) == 'string' and (whole:find('\n') or #whole > 100) then
    signs.prefixed(SIGN.output, vim.split('$ ' .. text.escaped(whole), '\n', { plain = true }), lines)
  end
  local running = not result.status
  return signs.prefixed(
    SIGN.output,
    signs.shortened(output, running and RUNNING_BODY or signs.LONGEST_BODY, running or item.kind == 'command'),
    lines
  )
end

return M
