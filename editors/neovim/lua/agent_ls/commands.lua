-- `:Agent …`: the words a person can say, what each takes, and its one line of help.
--
-- Owns the table: help file and completion are made from it. Everything ends in one sentence at the most; nothing here
-- asks back.

local M = {}

---@class agent_ls.Verb
---@field [1] string the word
---@field [2] string what it takes
---@field [3] string the module beneath `verbs` that does it
---@field [4] string what it does
---@field range? boolean

---@type agent_ls.Verb[] in the order of the help
M.TABLE = {
  { 'ask', 'TEXT', 'talk', 'Say something; with a range those lines go with it.', range = true },
  { 'queue', '[TEXT]', 'talk', 'Say what comes after the run that goes on; without words, what waits.', range = true },
  { 'steer', 'TEXT', 'talk', 'Say it to the run that goes on, now.', range = true },
  { 'prompt', '', 'windows', 'A buffer to write the message in.' },
  { 'stop', '', 'talk', 'Stop the run.' },
  { 'resume', '', 'talk', 'Go on: release a queue that is held, or ask again what was stopped or failed.' },
  { 'retry', '', 'talk', 'Ask again what failed or was stopped.' },
  { 'hurry', '', 'talk', 'Ask a model in trouble again now, instead of after the wait.' },
  { 'approve', '[once|conversation|workspace] [N]', 'answers', 'Allow what card N shows.' },
  { 'edit', '[N]', 'answers', 'Change it in a buffer of its own, then allow it as changed.' },
  { 'deny', '[N] [REASON]', 'answers', 'Refuse it; the agent is told why.' },
  { 'answer', '[N] [TEXT]', 'answers', 'Answer a question: `2`, words, `1=2 2=words`; without, in a window.' },
  { 'plan', '[N]', 'answers', 'Read a plan in a window, and accept, change or refuse it there.' },
  { 'show', '[N]', 'answers', 'The whole card in a window; q closes it.' },
  { 'pending', '', 'answers', 'What waits for you, in the quickfix list.' },
  { 'approvals', '', 'answers', 'The same.' },
  { 'next', '', 'windows', 'To the next place where something waits.' },
  { 'previous', '', 'windows', 'To the one before.' },
  { 'review', '[all]', 'lists', 'What the agent changed, hunk by hunk, in the quickfix list.' },
  { 'new', '[TEXT]', 'talk', 'Begin a new conversation.', range = true },
  { 'conversations', '', 'conversations', 'A list of them; Enter attaches, q closes.' },
  { 'attach', '[ID]', 'conversations', 'Go to a conversation, or to the newest one.' },
  { 'fork', '[TITLE]', 'conversations', 'A new conversation that goes on from here.' },
  { 'merge', '', 'conversations', 'Tell the one that this is a fork of what came of it.' },
  { 'compact', '[WORDS]', 'conversations', 'Make room: summarize what is older; words say what to keep.' },
  { 'rename', 'TITLE', 'conversations', 'Give the conversation another title.' },
  { 'mode', '[ask|edits|plan|auto]', 'conversations', 'How much is done without asking.' },
  { 'model', '[NAME]', 'conversations', 'Which model answers.' },
  { 'locks', '', 'lists', 'Files that are held; t takes one over.' },
  { 'rules', '', 'lists', 'What runs, asks and never runs; x removes a rule that was kept.' },
  { 'shells', '', 'lists', 'Background shells; x ends one.' },
  { 'log', '', 'lists', 'The log of the daemon.' },
  { 'notices', '', 'lists', 'What you were told before.' },
  { 'status', '', 'lists', 'How it stands, in a sentence.' },
}

---@type table<string, agent_ls.Verb>
M.VERBS = {}
for _, verb in ipairs(M.TABLE) do
  M.VERBS[verb[1]] = verb
end

function M.run(opts)
  require('agent_ls').load()
  local word, words = opts.args:match('^%s*(%S*)%s*(.*)$')
  if word == '' then
    return require('agent_ls.verbs.conversations').toggle()
  end
  local verb = M.VERBS[word]
  if not verb then
    local sentence = '`:Agent %s` is unknown; try `:Agent ask …` or `:help agent-ls`.'
    return require('agent_ls.client').say(sentence:format(word))
  end
  require('agent_ls.verbs.' .. verb[3])[word](words, opts)
end

return M
