-- The help file of the Neovim plugin, made from what is annotated there: the words of `:Agent`, the options with their
-- defaults, the keys.
--
--   nvim -l scripts/neovim_help.lua [--check]

local PLUGIN, FILE = 'editors/neovim', 'editors/neovim/doc/agent_ls.txt'
local WIDTH, TEXT = 78, 32
vim.opt.runtimepath:append(PLUGIN)

local out = {}
local function put(line)
  out[#out + 1] = line or ''
end

local function wrapped(text, width)
  local lines, line = {}, ''
  for word in text:gmatch('%S+') do
    if line ~= '' and #line + 1 + #word > width then
      lines[#lines + 1], line = line, ''
    end
    line = line == '' and word or line .. ' ' .. word
  end
  lines[#lines + 1] = line
  return lines
end

--- A name and its text in two columns; a name that is too long stands alone.
local function entry(name, text)
  local lines = wrapped(text, WIDTH - TEXT)
  if #name < TEXT - 1 then
    put((name .. (' '):rep(TEXT - #name) .. table.remove(lines, 1)))
  else
    put(name)
  end
  for _, line in ipairs(lines) do
    put((' '):rep(TEXT) .. line)
  end
end

local function section(title, tag)
  put()
  put(('='):rep(WIDTH))
  put(title .. (' '):rep(WIDTH - #title - #tag - 2) .. '*' .. tag .. '*')
  put()
end

local function paragraph(text)
  for _, line in ipairs(wrapped(text, WIDTH)) do
    put(line)
  end
  put()
end

put('*agent_ls.txt*  One daemon for conversations with coding agents')
section('AGENT-LS', 'agent-ls')
paragraph(
  'Everything is one command. Nothing opens, takes the focus or reads a key by itself; closing a window or |:w| decides '
    .. 'nothing. The whole guide with pictures is docs/neovim.md in the repository. |:checkhealth| agent_ls says what is '
    .. 'there and what is missing. Made by scripts/neovim_help.lua; do not edit.'
)

section('COMMANDS', ':Agent')
entry(':Agent', 'Show the transcript, or hide it.')
for _, verb in ipairs(require('agent_ls.commands').TABLE) do
  local name = (verb.range and ':[range]Agent ' or ':Agent ') .. verb[1]
  entry(name .. (verb[2] ~= '' and ' ' .. verb[2] or ''), verb[4])
end
put()
paragraph(
  'Without N the card under the cursor is meant, or the only one. The stock |gra| offers the same answers. What was not '
    .. 'on the screen is shown before it is allowed, and an answer within 0.4 s after a card came up is not taken.'
)

section('KEYS', 'agent-ls-keys')
paragraph(
  'Only ]g and [g are set, where nothing else has them, and not with `vim.g.agent_ls_no_maps = true`. Everything else '
    .. 'is a <Plug> map to choose a key for:'
)
for _, plug in ipairs(require('agent_ls.keys').PLUGS) do
  entry(('<Plug>(agent-ls-%s)'):format(plug[1]), plug[4] .. '.')
end
for _, place in ipairs(require('agent_ls.keys').PLACES) do
  put()
  put(place[1] .. ': ~')
  for _, key in ipairs(place[2]) do
    entry(key[1], key[2] .. '.')
  end
end

section('OPTIONS', 'agent-ls-options')
paragraph("Calling `require('agent_ls').setup({})` is optional.")
local kind, said
for line in io.lines(PLUGIN .. '/lua/agent_ls/config.lua') do
  local annotated, text = line:match('^  %-%-%-@type (%S+) (.*)$')
  local name, value = line:match('^  ([%w_]+) = (.*),$')
  if annotated then
    kind, said = annotated, text
  elseif name and kind then
    entry(('%s  %s'):format(name, kind), ('%s (%s)'):format(said, value))
    kind = nil
  end
end

section('STATUSLINE', 'agent-ls-status')
paragraph(
  "`require('agent_ls').status()` is \"agent: running · 1 to answer\", or empty. |User| autocommands, with values in "
    .. '`data`: AgentLsChanged (status), AgentLsRequest (number, title, conversation), AgentLsAttached (conversation), '
    .. 'AgentLsEnded (run, status).'
)
put(' vim:tw=78:ts=8:ft=help:norl:')

local made = table.concat(out, '\n') .. '\n'
if arg[1] == '--check' then
  local file = assert(io.open(FILE))
  local known = file:read('a')
  file:close()
  if known ~= made then
    io.stderr:write(FILE, ' is not what the plugin says now; run `make format-editors`\n')
    os.exit(1)
  end
else
  local file = assert(io.open(FILE, 'w'))
  file:write(made)
  file:close()
end
