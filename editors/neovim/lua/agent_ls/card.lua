-- Requests as cards: all that an answer would allow, as lines with a kind each.
--
-- Owns that nothing of it is cut and nothing in it can hide: an approval is worth what was shown. Pure.

local text = require('agent_ls.text')

local M = {}

---@class agent_ls.CardLine
---@field [1] string
---@field kind 'head'|'command'|'dim'|'add'|'delete'|'hunk'|'plain'|'warn'|'foot'

M.HIGHLIGHT = {
  head = 'AgentLsCard',
  command = 'AgentLsCommand',
  dim = 'AgentLsDim',
  add = 'AgentLsAdded',
  delete = 'AgentLsRemoved',
  hunk = 'AgentLsHunk',
  plain = 'Normal',
  warn = 'AgentLsWarning',
  foot = 'AgentLsDim',
}

local function warned(lines, said)
  local warning = text.warning(said)
  if warning then
    lines[#lines + 1] = { warning, kind = 'warn' }
  end
end

--- Lines of a diff without the two that name the files.
---@return agent_ls.CardLine[]
function M.diff(diff)
  local lines = {}
  for _, line in ipairs(text.lines(text.named(diff))) do
    if not (#lines == 0 and line:find('^%-%-%- ')) and not (#lines == 0 and line:find('^%+%+%+ ')) then
      local sign = line:sub(1, 1)
      local kind = sign == '+' and 'add' or sign == '-' and 'delete' or sign == '@' and 'hunk' or 'plain'
      lines[#lines + 1] = { line, kind = kind }
    end
  end
  return lines
end

--- The line, counted from 0, of the first change that a diff makes in the old text.
---@return integer
function M.first_changed(diff)
  local row = 0
  for line in vim.gsplit(diff, '\n', { plain = true }) do
    local start = line:match('^@@ %-(%d+)')
    if start then
      row = math.max(0, tonumber(start) - 1)
    elseif line:find('^[-+]') and not line:find('^%-%-%- ') and not line:find('^%+%+%+ ') then
      return row
    elseif line:find('^ ') then
      row = row + 1
    end
  end
  return row
end

local function command(card)
  local lines = {}
  for place, line in ipairs(vim.split(text.escaped(card.command), '\n', { plain = true })) do
    lines[#lines + 1] = { (place == 1 and '$ ' or '  ') .. line, kind = 'command' }
  end
  lines[#lines + 1] = { 'in ' .. text.one_line(text.path(card.cwd or ''), 1000), kind = 'dim' }
  if card.background == true then
    lines[#lines + 1] = { 'in the background: it goes on when the run has ended', kind = 'warn' }
  end
  if card.outside == true then
    lines[#lines + 1] = { 'outside the sandbox', kind = 'warn' }
  end
  if type(card.failed) == 'string' then
    lines[#lines + 1] = { text.escaped(card.failed), kind = 'warn' }
    for _, line in ipairs(vim.split(text.escaped(card.output or ''), '\n', { plain = true })) do
      lines[#lines + 1] = { '  ' .. line, kind = 'dim' }
    end
  end
  for word, place in vim.spairs(card.targets or {}) do
    lines[#lines + 1] = { ('%s is %s'):format(text.one_line(word, 1000), text.one_line(place, 1000)), kind = 'warn' }
  end
  for name, value in vim.spairs(card.environment or {}) do
    local said = value == vim.NIL and 'without ' .. name or ('with %s=%s'):format(name, value)
    lines[#lines + 1] = { text.one_line(said, 1000), kind = 'warn' }
  end
  warned(lines, card.command)
  return lines
end

local function choices(options, lines)
  for place, option in ipairs(options) do
    local more = type(option.description) == 'string' and ': ' .. option.description or ''
    lines[#lines + 1] = { ('  %d. %s'):format(place, text.one_line(option.label .. more)), kind = 'plain' }
  end
end

local function questions(request)
  local lines, offered = {}, false
  local several = #(request.questions or {}) > 1
  for place, asked in ipairs(request.questions or {}) do
    for row, line in ipairs(text.lines(text.escaped(asked.text or asked.header or ''))) do
      local number = several and (row == 1 and place .. '  ' or '   ') or ''
      lines[#lines + 1] = { number .. line, kind = 'command' }
    end
    offered = offered or #(asked.options or {}) > 0
    choices(asked.options or {}, lines)
  end
  if not offered then
    choices(request.options or {}, lines)
  end
  return lines
end

--- The plan as it was proposed, all of it.
---@return agent_ls.CardLine[]
function M.plan(request)
  local input = type(request.input) == 'table' and request.input or {}
  return vim.tbl_map(function(line)
    return { line, kind = 'plain' }
  end, text.lines(text.named(tostring(input.markdown or ''))))
end

---@return agent_ls.CardLine[]
function M.body(request)
  local card = type(request.card) == 'table' and request.card or {}
  if request.kind == 'question' then
    return questions(request)
  elseif request.kind == 'plan' then
    return M.plan(request)
  elseif card.type == 'command' then
    return command(card)
  elseif card.type == 'edit' then
    local lines = M.diff(card.diff or '')
    warned(lines, card.diff or '')
    return lines
  end
  local lines = {}
  for name, value in vim.spairs(type(request.input) == 'table' and request.input or card) do
    local said = type(value) == 'string' and value or vim.json.encode(value)
    for _, line in ipairs(vim.split(text.escaped(('%s: %s'):format(name, said)), '\n', { plain = true })) do
      lines[#lines + 1] = { line, kind = 'plain' }
    end
  end
  return lines
end

--- A command stands in the body, complete; its title would say it twice, and cut.
function M.head(request)
  local title = text.one_line(request.title or '')
  return ('#%d  %s'):format(request.number, title:find('^%$ ') and 'Run a command' or title)
end

function M.foot(request)
  local number = request.number
  if request.kind == 'question' then
    local asked = request.questions or {}
    local offered = #asked ~= 1 or #(asked[1].options or {}) > 0
    local said = #asked > 1 and '1=… 2=…' or offered and (asked[1].multi and '1,2' or '1') or 'words'
    local free = #asked == 1 and offered and asked[1].free and ' · or in your own words' or ''
    return (':Agent answer %d %s%s · :Agent deny %d why'):format(number, said, free, number)
  end
  if request.kind == 'plan' then
    return (':Agent approve [edits] %d · :Agent plan %d · :Agent deny %d why'):format(number, number, number)
  end
  local wider = {}
  for _, option in ipairs(request.options or {}) do
    local scope = option.scope
    if (scope == 'conversation' or scope == 'workspace') and not vim.tbl_contains(wider, scope) then
      wider[#wider + 1] = scope
    end
  end
  local also = #wider > 0 and ('[%s] '):format(table.concat(wider, '|')) or ''
  return (':Agent approve %s%d · :Agent edit %d · :Agent deny %d why'):format(also, number, number, number)
end

--- The whole card as lines of text.
---@return agent_ls.CardLine[]
function M.lines(request)
  local lines = { { M.head(request), kind = 'head' } }
  if type(request.origin) == 'table' then
    local task = text.one_line(request.origin.task or '', 200)
    lines[2] = { 'asked by a subagent, whose task is: ' .. task, kind = 'dim' }
  end
  vim.list_extend(lines, M.body(request))
  for _, option in ipairs(request.options or {}) do
    if option.rule then
      local rule = text.one_line(option.rule, 10100)
      lines[#lines + 1] = { ('%s: keeps the rule %s'):format(text.one_line(option.label), rule), kind = 'dim' }
    end
  end
  lines[#lines + 1] = { M.foot(request), kind = 'foot' }
  return lines
end

return M
