-- Questions in a floating window that the person has opened: one is answered by a key, several one after the other.
--
-- Owns what has been picked so far; it is sent by Enter, or at once where there is but one thing to pick, and closing
-- the window forgets it.

local card = require('agent_ls.card')
local client = require('agent_ls.client')
local float = require('agent_ls.float')
local spelled = require('agent_ls.spelled')
local text = require('agent_ls.text')

local M = {}

local MOST_KEYS = 9

---@class agent_ls.Asked
---@field held agent_ls.Held
---@field questions agent_ls.wire.Question[]
---@field picked table<integer, table<integer, boolean>> places of options, by place of the question
---@field at integer the question that the keys mean
---@field buf integer
---@field window integer

local function choices(asked, place)
  local options = asked.questions[place].options
  return options or {}
end

local function lines_of(asked)
  local lines, rows = {}, {}
  for place, question in ipairs(asked.questions) do
    lines[#lines + 1] = place > 1 and '' or nil
    rows[place] = #lines + 1
    local said = text.lines(text.escaped(question.text or question.header or ''))
    for row, line in ipairs(said) do
      local mark = row > 1 and '     ' or ('%s %d  '):format(place == asked.at and '▸' or ' ', place)
      lines[#lines + 1] = mark .. line
    end
    for number, option in ipairs(choices(asked, place)) do
      local more = type(option.description) == 'string' and ': ' .. option.description or ''
      local sign = (asked.picked[place] or {})[number] and '●' or '○'
      lines[#lines + 1] = ('     %s %d. %s'):format(sign, number, text.one_line(option.label .. more))
    end
    if #choices(asked, place) == 0 then
      lines[#lines + 1] = '     in your own words: i'
    end
  end
  return lines, rows[asked.at]
end

local function draw(asked)
  local lines, row = lines_of(asked)
  vim.bo[asked.buf].modifiable = true
  vim.api.nvim_buf_set_lines(asked.buf, 0, -1, false, lines)
  vim.bo[asked.buf].modifiable = false
  vim.api.nvim_win_set_cursor(asked.window, { row, 0 })
end

--- The next question, from this one on, that has no answer yet.
local function open_one(asked)
  for step = 0, #asked.questions - 1 do
    local place = (asked.at - 1 + step) % #asked.questions + 1
    if not next(asked.picked[place] or {}) then
      return place
    end
  end
end

local function pick(asked, number)
  local question = asked.questions[asked.at]
  if not choices(asked, asked.at)[number] then
    return
  end
  if question.multi then
    local picked = asked.picked[asked.at] or {}
    picked[number] = not picked[number] or nil
    asked.picked[asked.at] = picked
  else
    asked.picked[asked.at] = { [number] = true }
    asked.at = open_one(asked) or asked.at
  end
  draw(asked)
end

--- What was picked, as one would type it: `1=2 2=1,3`.
local function typed(asked)
  local words = {}
  for place = 1, #asked.questions do
    local picked = vim.tbl_keys(asked.picked[place] or {})
    table.sort(picked)
    if #picked > 0 then
      words[#words + 1] = ('%d=%s'):format(place, table.concat(picked, ','))
    end
  end
  return words
end

local function send(asked)
  local place = open_one(asked)
  if place then
    asked.at = place
    draw(asked)
    return client.say(('Question %d has no answer yet; nothing is sent.'):format(place), vim.log.levels.INFO)
  end
  local answers = vim.empty_dict()
  for at, question in ipairs(asked.questions) do
    local picked = vim.tbl_keys(asked.picked[at])
    table.sort(picked)
    local ids = vim.tbl_map(function(number)
      return choices(asked, at)[number].id
    end, picked)
    answers[spelled.id(question)] = question.multi and ids or ids[1]
  end
  float.answer(asked.held, asked.window, { decision = 'answer', answers = answers })
end

--- The command line with all that was picked, for the words of the person.
local function own_words(asked)
  local words = typed(asked)
  if #asked.questions > 1 then
    words = vim.tbl_filter(function(word)
      return not vim.startswith(word, asked.at .. '=')
    end, words)
    words[#words + 1] = asked.at .. '='
  else
    words = { '' }
  end
  float.say_more(asked.window, (':Agent answer %d %s'):format(asked.held.request.number, table.concat(words, ' ')))
end

local function several(held, key)
  local questions = held.request.questions
  local asked = { held = held, questions = questions, picked = {}, at = 1 }
  local help = '1-9 picks · i own words · Enter sends · d refuses · q closes'
  if #questions > 1 then
    help = '1-9 picks · Tab next · i own words · Enter sends · d refuses · q closes'
  end
  asked.buf, asked.window = float.open(held, (lines_of(asked)), '', help)
  draw(asked)
  local function turn(step)
    return function()
      asked.at = (asked.at - 1 + step) % #questions + 1
      draw(asked)
    end
  end
  for number = 1, MOST_KEYS do
    key(asked.buf, tostring(number), 'Pick this option', function()
      pick(asked, number)
    end)
  end
  key(asked.buf, '<Tab>', 'The next question', turn(1))
  key(asked.buf, '<S-Tab>', 'The question before', turn(-1))
  key(asked.buf, '<CR>', 'Send the answers', function()
    send(asked)
  end)
  key(asked.buf, 'i', 'Answer in your own words', function()
    own_words(asked)
  end)
  return asked.buf, asked.window
end

--- One thing to pick: the key is the answer.
local function single(held, key)
  local request = held.request
  local asked = request.questions or {}
  local lines = vim.tbl_map(function(line)
    return line[1]
  end, card.body(request))
  local offered = asked[1] and #(asked[1].options or {}) > 0 and asked[1].options or request.options or {}
  local picks = math.min(MOST_KEYS, #offered)
  local help = (picks > 0 and ('1-%d picks · '):format(picks) or '') .. 'i own words · d refuses · q closes'
  local buf, window = float.open(held, lines, '', help)
  for place = 1, picks do
    key(buf, tostring(place), 'Pick this option', function()
      local answers, option = spelled.answers(request, tostring(place))
      float.answer(held, window, { decision = 'answer', answers = answers, optionId = option })
    end)
  end
  key(buf, 'i', 'Answer in your own words', function()
    float.say_more(window, (':Agent answer %d '):format(request.number))
  end)
  return buf, window
end

---@param held agent_ls.Held
function M.open(held)
  local asked = held.request.questions or {}
  local function key(buf, name, desc, work)
    vim.keymap.set('n', name, work, { buffer = buf, desc = desc, nowait = true })
  end
  local many = #asked > 1 or (asked[1] and asked[1].multi)
  local buf, window = (many and several or single)(held, key)
  key(buf, 'd', 'Refuse to answer', function()
    float.say_more(window, (':Agent deny %d '):format(held.request.number))
  end)
end

return M
