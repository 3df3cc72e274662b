-- Going somewhere because the person said so: to the prompt, to what waits.

local client = require('agent_ls.client')
local jump = require('agent_ls.jump')

local M = {}

function M.prompt()
  require('agent_ls.prompt').open()
end

local function go(step)
  local trouble = jump.pending(step)
  if trouble then
    client.say(trouble, vim.log.levels.INFO)
  end
end

function M.next()
  go(1)
end

function M.previous()
  go(-1)
end

return M
