-- A model in trouble that is asked again: how long that still takes, counted down where the state is shown.
--
-- Owns the clock of it, which goes only while something is waited for. Does not own the wait (the daemon).

local state = require('agent_ls.state')

local M = {}

local DAYS_TO_1970 = 719468

--- Seconds since 1970 of `2026-11-30T02:20:00.5Z`.
---@param at string
---@return integer?
local function seconds(at)
  local year, month, day, hour, minute, second = at:match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)')
  if not year then
    return nil
  end
  -- Years that begin in March, so that a leap day is the last one.
  local y, m = tonumber(year) - (tonumber(month) <= 2 and 1 or 0), (tonumber(month) + 9) % 12
  local days = 365 * y + math.floor(y / 4) - math.floor(y / 100) + math.floor(y / 400)
  days = days + math.floor((153 * m + 2) / 5) + tonumber(day) - 1 - DAYS_TO_1970
  return ((days * 24 + hour) * 60 + minute) * 60 + second
end

--- `asks again in 9 s`, while it is waited.
---@param conversation? agent_ls.Conversation
---@return string?
function M.said(conversation)
  local ends = conversation and conversation.run and conversation.retry_at
  local left = ends and ends - os.time()
  if not left then
    return nil
  elseif left >= 120 then
    return ('asks again in %d minutes'):format(math.floor(left / 60 + 0.5))
  end
  return left > 0 and ('asks again in %d s'):format(left) or 'asks again'
end

local function waits()
  return vim.iter(state.conversations):any(function(_, conversation)
    return M.said(conversation) ~= nil
  end)
end

local function tick()
  if waits() then
    vim.cmd('redrawstatus!')
    vim.defer_fn(tick, 1000)
  else
    state.counting = false
  end
end

--- The run that goes on, as it is now.
---@param conversation agent_ls.Conversation
---@param run? agent_ls.wire.Run
function M.note(conversation, run)
  local retry = run and type(run.retry) == 'table' and run.retry or nil
  conversation.retry_at = retry and seconds(tostring(retry['until'])) or nil
  if conversation.retry_at and not state.counting then
    state.counting = true
    vim.defer_fn(tick, 1000)
  end
end

return M
