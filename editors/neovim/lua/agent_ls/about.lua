-- What a conversation says of itself, as events change it.

local M = {}

--- Takes over what is new. Returns whether it was being compacted and is no more.
function M.changed(conversation, entity)
  local compacting = conversation.about.compacting
  conversation.about = vim.tbl_extend('force', conversation.about, entity)
  conversation.about.compacting = entity.compacting
  return compacting ~= nil and entity.compacting == nil
end

return M
