-- Everything that this Neovim knows, in one table; the other modules keep nothing.

---@class agent_ls.Link
---@field id integer the LSP client
---@field root string
---@field hello? table what the daemon said of itself
---@field began integer milliseconds
---@field locks? agent_ls.wire.Lock[] what is held in this workspace

---@class agent_ls.Held
---@field request agent_ls.wire.Request as the daemon sent it
---@field root string the workspace whose link said so
---@field since? integer when this card, with this digest, was first on the screen
---@field read? integer how many of its lines have been on the screen, from the first one on

---@class agent_ls.Drawn
---@field buf integer
---@field mark integer
---@field number integer
---@field digest string
---@field width integer
---@field whole boolean all of it is drawn
---@field count integer virtual lines

---@class agent_ls.Notice what the person is told
---@field told string[] the last sentences, the newest one last
---@field echoed? boolean one stands on the command line since a moment
---@field window? integer the window of those that did not fit there
---@field lines string[] what it shows
---@field count? integer how often it was opened

return {
  ---@type table<integer, agent_ls.Link> by client
  links = {},
  ---@type table<string, fun(link?: agent_ls.Link, trouble?: string)[]> who waits for a link, by root
  waiting = {},
  ---@type table<string, integer> starts that came to nothing, by root
  failed = {},
  ---@type table<string, agent_ls.Conversation> by id
  conversations = {},
  ---@type table<string, string> the conversation that `:Agent` speaks of, by root
  current = {},
  ---@type table<string, string> the mode that the next conversation begins in, by root
  next_mode = {},
  ---@type table<string, agent_ls.Prompt> the buffer that a message is written in, by root
  prompts = {},
  ---@type table<string, agent_ls.wire.ModelView> models that can be chosen, by name
  models = {},
  ---@type table<string, agent_ls.wire.ConversationSummary> summaries, by id
  summaries = {},
  ---@type table<string, agent_ls.Held> what waits for the person, by request
  requests = {},
  ---@type integer what waits in the whole daemon
  pending = 0,
  ---@type integer? the file that the person was in last
  last_file = nil,
  ---@type table<integer, table> when the disk was last read or written, by buffer
  disk = {},
  ---@type table<integer, boolean> buffers that the daemon knows, while they get another name
  renamed = {},
  ---@type table<string, boolean> files that the agent has changed, by real path
  written = {},
  ---@type table<string, agent_ls.Drawn> cards in texts
  drawn = {},
  ---@type table<string, agent_ls.View> transcripts, by conversation
  views = {},
  ---@type table<string, table<string, string[]>> frames that are not drawn yet, by conversation and item
  undrawn = {},
  drawing = false,
  counting = false,
  loaded = false,
  ---@type table<integer, boolean> buffers whose diagnostics the daemon has
  told = {},
  ---@type table<integer, boolean> buffers whose diagnostics it is about to get
  remarked = {},
  ---@type agent_ls.Notice
  notice = { told = {}, lines = {} },
  ---@type table<string, boolean> sentences that are said once
  said = {},
}
