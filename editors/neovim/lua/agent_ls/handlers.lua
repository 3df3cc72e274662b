-- What the daemon sends, and who takes it.
--
-- Owns the table that the LSP client gets. Does not own what becomes of any of it.

local state = require('agent_ls.state')

local M = {}

local function to(work)
  return function(_, params, ctx)
    local link = state.links[ctx.client_id]
    if link and params then
      return work(link, params)
    end
  end
end

local function nothing() end

---@return table<string, lsp.Handler>
function M.table()
  return {
    ['agent/hello'] = to(function(link, params)
      require('agent_ls.client').greeted(link, params)
    end),
    ['agent/event'] = to(function(_, params)
      require('agent_ls.conversation').on_events(params)
    end),
    ['agent/stream'] = to(function(_, params)
      require('agent_ls.in_flight').on_stream(params)
    end),
    ['agent/conversation/windows'] = to(function(_, params)
      local conversation = state.conversations[params.conversationId]
      if conversation then
        conversation.windows = params.windows
        require('agent_ls.status').changed()
      end
    end),
    ['agent/resync'] = to(function(_, params)
      require('agent_ls.conversation').resync(params.conversationId)
    end),
    ['agent/request/changed'] = to(function(link, params)
      require('agent_ls.approvals').on_changed(link, params)
    end),
    ['agent/conversation/changed'] = to(function(_, params)
      require('agent_ls.conversation').on_summaries(params.conversations, params.deleted)
    end),
    ['workspace/applyEdit'] = function(_, params, ctx)
      local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
      return require('agent_ls.apply').edit(params, client.offset_encoding)
    end,
    ['agent/lock/changed'] = to(function(link, params)
      link.locks = params.locks
      require('agent_ls.status').changed()
    end),
    ['agent/drain'] = nothing,
    ['agent/document/save'] = to(function(_, params)
      return require('agent_ls.documents').save(params.uri)
    end),
    ['agent/lsp/request'] = to(function(link, params)
      return require('agent_ls.language').answer(link, params)
    end),
  }
end

return M
