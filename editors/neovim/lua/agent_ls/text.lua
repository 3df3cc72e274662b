-- Text as a person may safely judge it: nothing in it can hide, reorder or overwrite what will run.
--
-- Owns which characters are shown by name (the same ones as in the daemon's own cards) and how text becomes lines.

local M = {}

-- Control, format, private and surrogate characters, every space but the plain one, variation selectors, and letters
-- that are drawn as nothing.
local HIDDEN = {
  { 0x0, 0x8 },
  { 0xb, 0x1f },
  { 0x7f, 0xa0 },
  { 0xad, 0xad },
  { 0x34f, 0x34f },
  { 0x600, 0x605 },
  { 0x61c, 0x61c },
  { 0x6dd, 0x6dd },
  { 0x70f, 0x70f },
  { 0x890, 0x891 },
  { 0x8e2, 0x8e2 },
  { 0x115f, 0x1160 },
  { 0x1680, 0x1680 },
  { 0x17b4, 0x17b5 },
  { 0x180e, 0x180e },
  { 0x2000, 0x200f },
  { 0x2028, 0x202f },
  { 0x205f, 0x2064 },
  { 0x2066, 0x206f },
  { 0x2800, 0x2800 },
  { 0x3000, 0x3000 },
  { 0x3164, 0x3164 },
  { 0xd800, 0xf8ff },
  { 0xfe00, 0xfe0f },
  { 0xfeff, 0xfeff },
  { 0xffa0, 0xffa0 },
  { 0xfff9, 0xfffb },
  { 0x110bd, 0x110bd },
  { 0x110cd, 0x110cd },
  { 0x13430, 0x13438 },
  { 0x1bca0, 0x1bca3 },
  { 0x1d173, 0x1d17a },
  { 0xe0001, 0xe0001 },
  { 0xe0020, 0xe007f },
  { 0xe0100, 0xe01ef },
  { 0xf0000, 0xffffd },
  { 0x100000, 0x10fffd },
}

-- Harmless in prose, where they make emoji and typography; a command or a path has no use for them.
local IN_PROSE = { [0xfe0f] = true, [0x200d] = true, [0xa0] = true, [0x202f] = true, [0x3000] = true }

local LONGEST_BLANK = 8
local TITLE = 160

local function hidden(code)
  local low, high = 1, #HIDDEN
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local range = HIDDEN[middle]
    if code < range[1] then
      high = middle - 1
    elseif code > range[2] then
      low = middle + 1
    else
      return true
    end
  end
  return false
end

local function name(code)
  return ('⟨U+%04X⟩'):format(code)
end

--- The code point of one character. Bytes that are none are taken for one that has to be named.
local function code_of(char)
  local first, size = char:byte(1), #char
  if first < 0x80 then
    return first
  end
  local wanted = first > 0xf4 and 0 or first >= 0xf0 and 4 or first >= 0xe0 and 3 or first >= 0xc2 and 2 or 0
  if size ~= wanted then
    return 0xdc80 + first % 0x80
  end
  local code = first % 2 ^ (7 - size)
  for place = 2, size do
    code = code * 64 + char:byte(place) % 64
  end
  return code
end

--- What stands for a character, looked up once for each that there is: a text may be long, and is shown in one go.
local function spelling(kept, found)
  return setmetatable({}, {
    __index = function(known, char)
      local code = code_of(char)
      local said = hidden(code) and not (kept and kept[code]) and name(code)
      known[char] = said
      if said and found then
        found[#found + 1] = said
      end
      return said
    end,
  })
end

---@param text string
---@param kept? table<integer, boolean> code points that stay as they are
---@param found? string[] collects the names, each once
local function named(text, kept, found)
  if not text:find('[^\n\t\32-\126]') then
    return text
  end
  -- One character: a byte that begins one and those that go on. A byte of neither kind is shown by its value.
  return (text:gsub('[%z\1-\8\11-\31\127-\255][\128-\191]*', spelling(kept, found)))
end

--- With unseen characters by name; blanks stay: for a diff or an output.
function M.named(text)
  return named(text)
end

--- What a model says: signs of ordinary typography stay.
function M.prose(text)
  return named(text, IN_PROSE)
end

--- With unseen characters by name and long blanks counted; lines stay lines.
function M.escaped(text)
  local shown = named(text)
  for sign, word in pairs({ [' '] = 'spaces', ['\t'] = 'tabs', ['\n'] = 'line ends' }) do
    shown = shown:gsub(sign:rep(LONGEST_BLANK + 1) .. sign .. '*', function(blank)
      return (' ⟨%d %s⟩ '):format(#blank, word)
    end)
  end
  return shown
end

--- A title: on one line, its middle left out when it is long, so that its end is always seen.
---@param limit? integer
function M.one_line(text, limit)
  limit = limit or TITLE
  local line = M.escaped(text):gsub('\n', '⏎'):gsub('\t', ' ')
  local length = vim.fn.strchars(line)
  if length <= limit then
    return line
  end
  local tail = math.floor(limit / 2)
  local head = limit - tail
  return ('%s …%d more… %s'):format(
    vim.fn.strcharpart(line, 0, head),
    length - limit,
    vim.fn.strcharpart(line, length - tail)
  )
end

--- The sentence that goes with a card whose text holds unseen characters.
---@return string?
function M.warning(text)
  local found = {}
  named(text, nil, found)
  if #found == 0 then
    return nil
  end
  local some = table.concat(vim.list_slice(found, 1, 5), ', ') .. (#found > 5 and ', …' or '')
  return ('Holds characters that would not be seen; they are shown by name: %s.'):format(some)
end

--- Without the blanks at its end, which `%s+$` would look for from every blank of the text.
---@return string[]
function M.lines(text)
  return vim.split(text:match('^(.*%S)') or '', '\n', { plain = true })
end

--- Cut into pieces that fit, none of it left out.
---@return string[]
function M.wrapped(line, width)
  if vim.fn.strdisplaywidth(line) <= width then
    return { line }
  end
  local pieces, piece, used = {}, {}, 0
  for _, char in ipairs(vim.fn.split(line, '\\zs')) do
    local size = vim.fn.strdisplaywidth(char, used)
    if used + size > width and used > 0 then
      pieces[#pieces + 1] = table.concat(piece)
      piece, used = {}, 0
    end
    piece[#piece + 1] = char
    used = used + size
  end
  pieces[#pieces + 1] = table.concat(piece)
  return pieces
end

--- A path as a person writes it.
function M.path(uri_or_path)
  local path = uri_or_path:find('^file://') and vim.uri_to_fname(uri_or_path) or uri_or_path
  return vim.fn.fnamemodify((path:gsub('%z', '␀')), ':~:.')
end

return M
