-- The first sign of a line says what it is; what others say never begins with one of these (`plain`).

local M = {}

M.SIGN = {
  user = '▌',
  queued = '▏',
  pending = '○',
  running = '◐',
  completed = '●',
  failed = '✗',
  cancelled = '⊘',
  interrupted = '⊘',
  thought = '◌',
  notice = '▲',
  card = '┃',
  output = '│',
  diff = '┆',
  thinking = '┊',
}
M.LONGEST_BODY = 400

local marks = {}
for _, sign in pairs(M.SIGN) do
  marks[sign] = true
end

local function first_char(line)
  return line:match('^[\194-\244][\128-\191]*')
end

--- A line of the model as it may stand at the beginning of a line.
function M.plain(line)
  return marks[first_char(line) or ''] and ' ' .. line or line
end

--- Each line behind a sign.
function M.prefixed(sign, lines, into)
  for _, line in ipairs(lines) do
    into[#into + 1] = line == '' and sign or sign .. ' ' .. line
  end
  return into
end

--- No more lines than that; `tail`: the last ones.
function M.shortened(lines, limit, tail)
  if #lines <= limit then
    return lines
  end
  local hidden = ('… %d more lines'):format(#lines - limit)
  if tail then
    return vim.list_extend({ hidden .. ' above' }, vim.list_slice(lines, #lines - limit + 1))
  end
  return vim.list_extend(vim.list_slice(lines, 1, limit), { hidden .. ' below' })
end

return M
