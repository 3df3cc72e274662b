-- Keys: `<Plug>` maps for everything, `]g` and `[g` where nobody has taken them, and those of the plugin's own buffers.
--
-- Owns which key does what. No key of an insert mode outside the prompt is ever mapped.

local M = {}

local function agent(words)
  return '<Cmd>Agent ' .. words .. '<CR>'
end

--- Name, modes, what it runs, what it does.
M.PLUGS = {
  { 'toggle', 'n', '<Cmd>Agent<CR>', 'Show the transcript, or hide it' },
  { 'ask', { 'n', 'x' }, ':Agent ask ', 'Ask, with the lines that are selected' },
  { 'prompt', 'n', agent('prompt'), 'Write a message' },
  { 'stop', 'n', agent('stop'), 'Stop the run' },
  { 'resume', 'n', agent('resume'), 'Go on' },
  { 'approve', 'n', agent('approve'), 'Allow once' },
  { 'approve-conversation', 'n', agent('approve conversation'), 'Allow for this conversation' },
  { 'approve-workspace', 'n', agent('approve workspace'), 'Allow in this workspace' },
  { 'edit', 'n', agent('edit'), 'Edit, then allow' },
  { 'deny', 'n', ':Agent deny ', 'Deny, with a reason' },
  { 'answer', 'n', agent('answer'), 'Answer a question' },
  { 'plan', 'n', agent('plan'), 'Read the plan' },
  { 'show', 'n', agent('show'), 'Show the whole card' },
  { 'pending', 'n', agent('pending'), 'List what waits' },
  { 'next', 'n', agent('next'), 'To the next place where something waits' },
  { 'previous', 'n', agent('previous'), 'To the one before' },
  { 'review', 'n', agent('review'), 'Review what was changed' },
  { 'conversations', 'n', agent('conversations'), 'List the conversations' },
}

--- Defined when Neovim starts; costs no other module.
function M.define()
  for _, plug in ipairs(M.PLUGS) do
    vim.keymap.set(plug[2], ('<Plug>(agent-ls-%s)'):format(plug[1]), plug[3], { desc = 'agent-ls: ' .. plug[4] })
  end
  for key, name in pairs({ [']g'] = 'next', ['[g'] = 'previous' }) do
    local plug = ('<Plug>(agent-ls-%s)'):format(name)
    if not vim.g.agent_ls_no_maps and vim.fn.maparg(key, 'n') == '' and vim.fn.hasmapto(plug, 'n') == 0 then
      vim.keymap.set('n', key, plug, { remap = true, desc = 'agent-ls: ' .. name .. ' place where something waits' })
    end
  end
end

--- Keys of the plugin's own buffers, for the help; the modules that open a buffer set them.
M.PLACES = {
  {
    'In the transcript',
    {
      { '<CR>', 'Go to the file that this line is about' },
      { 'i', 'Write a message' },
      { 'za zR zM', 'Open and close what a call has put out, as everywhere' },
      { 'q', 'Close' },
    },
  },
  {
    'In the prompt',
    {
      { '<CR>, in insert mode <C-s>', 'Send' },
      { '<LocalLeader>q', 'Queue it behind the run that goes on' },
      { '<LocalLeader>s', 'Steer: the run that goes on reads it next' },
      { '<LocalLeader>x', 'Stop the run' },
      { '<C-x><C-u>', 'Complete @file, @buffers, @diagnostics, /word' },
      { '<C-Up> <C-Down>', 'What was said before, and back' },
      { 'q', 'Close; the text stays' },
    },
  },
  {
    'In the review',
    {
      { 'a A', 'Keep the hunk, the whole file' },
      { 'x X', 'Undo the hunk, the whole file' },
      { 'c', 'Comment: write a message about the hunk' },
      { 'd', 'The hunk before and after, side by side' },
    },
  },
  {
    'In a plan',
    {
      { 'a', 'Accept' },
      { 'e', 'Accept; its edits are not asked for' },
      { 'c', 'Change it, then accept' },
      { 'd', 'Refuse, with a reason' },
    },
  },
  {
    'In a question',
    {
      { '1 to 9', 'Pick this option' },
      { 'i', 'Answer in your own words' },
      { '<Tab> <S-Tab>', 'Of several questions the next one, the one before' },
      { '<CR>', 'Send what was picked, of several' },
      { 'd', 'Refuse to answer' },
    },
  },
  { 'In "edit, then allow"', { { '<CR>', 'Allow it as it stands there' } } },
}

local function set(buf, mode, key, work, desc)
  vim.keymap.set(mode, key, work, { buffer = buf, desc = desc, nowait = true })
end

function M.transcript(conversation, buf)
  require('agent_ls.leave').by_key(buf, 'Close the transcript')
  set(buf, 'n', 'i', agent('prompt'), 'Write a message')
  set(buf, 'n', '<CR>', function()
    local trouble = require('agent_ls.jump').file(conversation)
    if trouble then
      require('agent_ls.client').say(trouble, vim.log.levels.INFO)
    end
  end, 'Go to the file of this line')
end

function M.prompt(buf)
  local function send(dispatch)
    return function()
      require('agent_ls.prompt').send(dispatch)
    end
  end
  local function recall(step)
    return function()
      require('agent_ls.prompt').recall(step)
    end
  end
  set(buf, 'n', '<CR>', send(), 'Send')
  set(buf, { 'n', 'i' }, '<C-s>', send(), 'Send')
  set(buf, 'n', '<LocalLeader>q', send('queue'), 'Queue')
  set(buf, 'n', '<LocalLeader>s', send('steer'), 'Steer')
  set(buf, 'n', '<LocalLeader>x', agent('stop'), 'Stop')
  set(buf, { 'n', 'i' }, '<C-Up>', recall(-1), 'What was said before')
  set(buf, { 'n', 'i' }, '<C-Down>', recall(1), 'What was said after it')
  require('agent_ls.leave').by_key(buf, 'Close; the text stays')
end

return M
