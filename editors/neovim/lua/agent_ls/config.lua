-- Options and their defaults, and which program is the server.
--
-- Owns that no program of a workspace is ever started: the command comes from the options, from the environment, from
-- the PATH or from the copy of agent-ls that this plugin is a part of, nowhere else.

local M = {}

---@class agent_ls.Options
M.defaults = {
  ---@type string[]? The server's whole command line, for example { '/opt/agent-ls/bin/agent-ls', 'connect' }.
  cmd = nil,
  ---@type boolean Join the daemon as soon as a file of a workspace is opened; false: with the first `:Agent`.
  auto_start = true,
  ---@type string[] What marks the root of a workspace; without one the current folder is it.
  root_markers = { '.git', '.jj', '.hg', '.agent-ls' },
  ---@type boolean `:Agent ask` shows the transcript. The cursor stays where it is.
  open_on_ask = true,
  ---@type integer Columns from which on the transcript opens beside the text instead of below it.
  beside_from = 120,
  ---@type boolean Outputs and diffs in the transcript begin folded.
  folded = true,
  ---@type integer The most lines that a card may take within a text; `:Agent show` shows a longer one.
  card_lines = 30,
}

---@type agent_ls.Options
M.options = vim.deepcopy(M.defaults)

local function words(value, least)
  return vim.islist(value)
    and #value >= least
    and vim.iter(value):all(function(one)
      return type(one) == 'string' and one ~= ''
    end)
end

local function whole(least)
  return function(value)
    return type(value) == 'number' and value >= least and value < 2 ^ 31 and value % 1 == 0
  end
end

local function flag(value)
  return type(value) == 'boolean'
end

--- What each may be, and how that is said to somebody who gave something else.
local KINDS = {
  cmd = {
    function(value)
      return words(value, 1)
    end,
    "a list of words such as { 'agent-ls', 'connect' }",
  },
  root_markers = {
    function(value)
      return words(value, 0)
    end,
    'a list of file names',
  },
  auto_start = { flag, 'true or false' },
  open_on_ask = { flag, 'true or false' },
  folded = { flag, 'true or false' },
  beside_from = { whole(0), 'a whole number of columns' },
  card_lines = { whole(2), 'a whole number of lines, 2 or more' },
}

--- Where one of them is wrong, all of them stay as they were.
---@param given? agent_ls.Options
---@return string? trouble
function M.set(given)
  given = given == nil and {} or given
  if type(given) ~= 'table' then
    return 'agent-ls: the options have to be a table; see :help agent-ls-options.'
  end
  for name, value in pairs(given) do
    local kind = KINDS[name]
    if not kind then
      return ('agent-ls has no option `%s`; see :help agent-ls-options.'):format(tostring(name))
    elseif not kind[1](value) then
      return ('agent-ls: the option `%s` has to be %s.'):format(name, kind[2])
    end
  end
  M.options = vim.tbl_extend('force', vim.deepcopy(M.defaults), given)
end

local MISSING = 'agent-ls was not found. Run `make install` in its folder, or name it: '
  .. "require('agent_ls').setup({ cmd = { '/path/to/agent-ls', 'connect' } })."

--- Of the copy of agent-ls that this plugin stands in, where it was set up there.
local function beside_plugin()
  local here = debug.getinfo(1, 'S').source:sub(2)
  local program = vim.fs.joinpath(vim.fs.dirname(here), '../../../../.venv/bin/agent-ls')
  return vim.fn.executable(program) == 1 and vim.fs.normalize(vim.fn.resolve(program)) or nil
end

--- The command line of the server, or why there is none.
---@return string[]? cmd
---@return string? trouble
function M.command()
  local cmd = M.options.cmd
  if not cmd then
    local named = vim.env.AGENT_LS_CMD
    local program = named ~= '' and named or nil
    if not program and vim.fn.exepath('agent-ls') == '' then
      program = beside_plugin()
    end
    cmd = { program or 'agent-ls', 'connect' }
  end
  local program = vim.fn.exepath(cmd[1] or '')
  if program == '' then
    return nil, MISSING
  end
  -- A PATH that holds `.` must not make a file of the folder one works in the server.
  if
    not (cmd[1] or ''):find('/', 1, true)
    and vim.iter(vim.split(vim.env.PATH or '', ':')):any(function(folder)
      return folder:sub(1, 1) ~= '/' and vim.fs.dirname(program) == vim.fs.normalize(vim.fs.abspath(folder))
    end)
  then
    local sentence = 'agent-ls was found only in %s, by a relative entry of your PATH, and is not started from there.'
    return nil, sentence:format(vim.fs.dirname(program))
  end
  return vim.list_extend({ program }, vim.list_slice(cmd, 2))
end

--- The root of the workspace that a buffer belongs to; nil where it belongs to none.
---@param buf integer
---@return string?
function M.root(buf)
  local file = vim.api.nvim_buf_get_name(buf)
  local cwd = vim.uv.cwd()
  local normal = vim.bo[buf].buftype == '' and file ~= '' and not file:find('^%a[%w+.-]+://')
  local root = normal and vim.fs.root(buf, M.options.root_markers) or nil
  if not root then
    -- A folder that was deleted under one's feet is the workspace of nothing.
    if not cwd or (normal and not vim.fs.relpath(cwd, file)) then
      return nil
    end
    root = normal and cwd or (vim.fs.root(cwd, M.options.root_markers) or cwd)
  end
  return vim.uv.fs_realpath(root) or root
end

return M
