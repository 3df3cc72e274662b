-- What a person types as the answer to questions, as the daemon takes it: by question id, choices by their id.
--
-- Owns the spellings, which are those of `agent-ls answer`: `2`, `pg`, `Postgres`, `1,3`, and for several questions
-- `1=2 2=in words`. Whether it is an answer is for the daemon to say. Pure.

local M = {}

function M.id(asked)
  return tostring(asked.id or 'answer')
end

local function same(one, other)
  return vim.fn.tolower(one) == vim.fn.tolower(other)
end

--- The id of a choice by its id, its place or its label; else the words as they are.
local function resolved(choices, said)
  local place = said:find('^%d+$') and choices[tonumber(said)]
  local found = place and place.id or said
  for _, choice in ipairs(choices) do
    if choice.id == said then
      return said
    elseif not place and same(tostring(choice.label), said) then
      found, place = choice.id, choice
    end
  end
  return found
end

local function parts_of(said)
  local parts = {}
  for _, piece in ipairs(vim.split(said, ',', { plain = true })) do
    local split = (piece .. ' '):gsub('%s+(%d+)%f[%s]', '\n%1')
    for part in vim.gsplit(split, '\n', { plain = true }) do
      parts[#parts + 1] = vim.trim(part) ~= '' and vim.trim(part) or nil
    end
  end
  return parts
end

local function value(asked, said)
  local choices = asked.options or {}
  if not asked.multi then
    return resolved(choices, said)
  end
  local picked, all_known = {}, true
  for place, part in ipairs(parts_of(said)) do
    picked[place] = resolved(choices, part)
    all_known = all_known and vim.iter(choices):any(function(choice)
      return choice.id == picked[place]
    end)
  end
  return (not asked.free or (#picked > 1 and all_known)) and picked or { resolved(choices, said) }
end

--- Where `NAME=` stands at the beginning of a word: for each place, what is named.
local function marks(questions, said)
  local named, names = {}, {}
  for place, asked in ipairs(questions) do
    named[tostring(place)] = named[tostring(place)] or asked
  end
  for _, asked in ipairs(questions) do
    named[M.id(asked)] = asked
  end
  names = vim.tbl_keys(named)
  table.sort(names, function(one, other)
    return #one > #other
  end)
  local found = {}
  for at in (' ' .. said):gmatch('%s()%S') do
    for _, name in ipairs(names) do
      if said:sub(at - 1, at + #name - 1) == name .. '=' then
        found[#found + 1] = { asked = named[name], from = at - 1, to = at + #name }
        break
      end
    end
  end
  return found
end

---@param request agent_ls.wire.Request
---@param said string
---@return table<string, string|string[]> answers
---@return string? option the id of the request's own option that this is
function M.answers(request, said)
  local questions = #(request.questions or {}) > 0 and request.questions or { {} }
  local answers, first = vim.empty_dict(), questions[1]
  said = vim.trim(said)
  if #questions > 1 then
    local found = marks(questions, said)
    if #found == 0 then
      answers[M.id(first)] = value(first, said)
    end
    for place, mark in ipairs(found) do
      local ends = found[place + 1] and found[place + 1].from - 1 or #said
      answers[M.id(mark.asked)] = value(mark.asked, vim.trim(said:sub(mark.to, ends)))
    end
    return answers
  end
  if vim.startswith(said, M.id(first) .. '=') then
    said = said:sub(#M.id(first) + 2)
  end
  local offered = vim.tbl_filter(function(option)
    return option.decision == nil or option.decision == 'answer'
  end, request.options or {})
  local own = #(first.options or {}) == 0 and #offered > 0
  local answer = own and resolved(offered, said) or value(first, said)
  answers[M.id(first)] = answer
  for _, option in ipairs(offered) do
    if option.id == answer then
      return answers, option.id
    end
  end
  return answers
end

return M
