-- One literal edit between two texts, as the tool `edit` takes it. Pure.

local M = {}

local function lines_of(text)
  local lines = {}
  for line in text:gmatch('[^\n]*\n?') do
    if line ~= '' then
      lines[#lines + 1] = line
    end
  end
  return lines
end

local function unique(text, part)
  local first = text:find(part, 1, true)
  return first ~= nil and text:find(part, first + 1, true) == nil
end

--- Whole lines, and as many around them as make their place unique; nil where the texts are the same or nothing fits.
---@return { old: string, new: string }?
function M.one(before, after)
  if before == after then
    return nil
  end
  local old, made = lines_of(before), lines_of(after)
  local head, tail = 0, 0
  while head < #old and head < #made and old[head + 1] == made[head + 1] do
    head = head + 1
  end
  while tail < #old - head and tail < #made - head and old[#old - tail] == made[#made - tail] do
    tail = tail + 1
  end
  while true do
    local wanted = table.concat(old, '', head + 1, #old - tail)
    if wanted ~= '' and unique(before, wanted) then
      return { old = wanted, new = table.concat(made, '', head + 1, #made - tail) }
    end
    if head == 0 and tail == 0 then
      return nil
    end
    head, tail = math.max(0, head - 1), math.max(0, tail - 1)
  end
end

return M
